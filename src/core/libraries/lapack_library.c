/* lapack_library.c - see lapack_library.h. */
#include "lapack_library.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/memory.h"
#include "system/process.h"
#include "system/shared_library.h"

/* The libraries in the order in which they are tried. libFLAME is the last: it resolves the BLAS
 * among the symbols of the whole process, so another library must provide them globally. */
typedef struct lapack_candidate {
    const char *name; /* value of LTENSOR_LAPACK */
    const char *file;
    const char *blas; /* opened first, for all libraries of the process; NULL: none is needed */
} lapack_candidate;

static const lapack_candidate candidates[] = {
    {"openblas", LT_SHARED_NAME("openblas", "0"), NULL},
    {"mkl", LT_SHARED_NAME("mkl_rt", "3"), NULL},
    {"mkl", LT_SHARED_NAME("mkl_rt", "2"), NULL},
    {"mkl", LT_SHARED_NAME("mkl_rt", "1"), NULL},
    {"lapack", LT_SHARED_NAME("lapack", "3"), NULL},
    {"flame", LT_SHARED_NAME("flame", "1"), LT_SHARED_NAME("blis", "4")},
    {"flame", LT_SHARED_NAME("flame", "1"), LT_SHARED_NAME("blas", "3")}};
enum { CANDIDATES = sizeof candidates / sizeof *candidates };

void *lt_lapack_library_symbol(const lt_lapack_library *library, const char *name)
{
    void *found = lt_shared_symbol(library->handle, name);
    return found == NULL && library->blas != NULL ? lt_shared_symbol(library->blas, name) : found;
}

static void add_reason(lt_lapack_library *out, const char *text)
{
    const size_t n = strlen(out->reason);
    snprintf(out->reason + n, sizeof out->reason - n, "%s%s", n > 0 ? "; " : "", text);
}

static void add_description(lt_lapack_library *out, const char *name, const char *version)
{
    const size_t n = strlen(out->description);
    snprintf(out->description + n, sizeof out->description - n, "%s%s%s%s", n > 0 ? ", " : "", name,
             version[0] != '\0' ? " " : "", version);
}

/* Functions of the libraries that set the number of threads; the last one has 64-bit arguments. */
static void find_threads(lt_lapack_library *out)
{
    *(void **)&out->set_num_threads = lt_lapack_library_symbol(out, "openblas_set_num_threads");
    out->follows_openmp = out->set_num_threads != NULL && out->openmp.set_num_threads != NULL;
    if (out->set_num_threads == NULL)
        *(void **)&out->set_num_threads = lt_lapack_library_symbol(out, "MKL_Set_Num_Threads");
    *(void **)&out->set_num_threads_wide =
        lt_lapack_library_symbol(out, "bli_thread_set_num_threads");
}

static void describe(lt_lapack_library *out, const char *file)
{
    const char *(*openblas)(void), *(*blis)(void);
    void (*mkl)(char *text, int size), (*reference)(int *major, int *minor, int *patch);
    char version[198] = "";
    *(void **)&openblas = lt_lapack_library_symbol(out, "openblas_get_config");
    *(void **)&blis = lt_lapack_library_symbol(out, "bli_info_get_version_str");
    *(void **)&mkl = lt_lapack_library_symbol(out, "MKL_Get_Version_String");
    *(void **)&reference = lt_lapack_library_symbol(out, "ilaver_");
    if (openblas != NULL) {
        add_description(out, openblas(), "");
    } else if (mkl != NULL) {
        mkl(version, (int)sizeof version - 1);
        version[strcspn(version, "\n")] = '\0';
        add_description(out, version, "");
    } else {
        if (reference != NULL) {
            int number[3] = {0};
            reference(&number[0], &number[1], &number[2]);
            snprintf(version, sizeof version, "(LAPACK %d.%d.%d)", number[0], number[1], number[2]);
        }
        add_description(out, file, version);
        if (blis != NULL) add_description(out, "BLIS", blis());
    }
}

/* The message when the loader has opened the file, but a routine is missing. */
static void refuse(lt_lapack_library *out, const char *file, const char *symbol)
{
    char text[200];
    snprintf(text, sizeof text, "%s: it has no function %s", file, symbol);
    add_reason(out, text);
    lt_shared_close(out->handle);
    out->handle = NULL;
}

static void open_candidate(lt_lapack_library *out, const char *file, const char *blas,
                           const char *(*accept)(const lt_lapack_library *library))
{
    out->blas = blas != NULL ? lt_shared_open_global(blas) : NULL;
    if (blas == NULL || out->blas != NULL) out->handle = lt_openmp_open(file, &out->openmp);
    if (out->handle == NULL) {
        add_reason(out, lt_shared_error());
        return;
    }
    const char *absent = accept(out);
    if (absent != NULL) {
        refuse(out, file, absent);
        return;
    }
    find_threads(out);
    describe(out, file);
}

/* OpenBLAS repeats a failed allocation of its buffers for ever: of 128 MB when it is loaded, with
 * 170 MB for itself, and of 128 MB for each thread. A host may limit the address space of its
 * processes (Dovecot: 256 MB); then the library is opened only if it fits, for one thread. */
static bool fits(lt_lapack_library *out)
{
    enum { MB = 1 << 20, NEEDED = 300 };
    const uint64_t limit = lt_address_space_limit();
    if (limit == UINT64_MAX) return true;
    out->one_thread = true;
    void *room = lt_addresses_reserve((size_t)NEEDED * MB);
    if (room != NULL) {
        lt_pages_free(room, (size_t)NEEDED * MB);
        return true;
    }
    snprintf(out->reason, sizeof out->reason,
             "OpenBLAS needs %d MB of address space, but the limit of the process is %llu MB: "
             "raise it (ulimit -v)",
             NEEDED, (unsigned long long)limit / MB);
    return false;
}

void lt_lapack_library_open(lt_lapack_library *out,
                            const char *(*accept)(const lt_lapack_library *library))
{
    if (!fits(out)) return;
    const char *wanted = getenv("LTENSOR_LAPACK");
    bool is_name = wanted == NULL || wanted[0] == '\0';
    for (int i = 0; i < CANDIDATES && out->handle == NULL; i++) {
        const lapack_candidate *c = &candidates[i];
        if (wanted != NULL && wanted[0] != '\0' && strcmp(wanted, c->name) != 0) continue;
        is_name = true;
        open_candidate(out, c->file, c->blas, accept);
    }
    if (!is_name) open_candidate(out, wanted, NULL, accept);
}
