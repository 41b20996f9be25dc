/* lapack_library.c - see lapack_library.h. */
#include "lapack_library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* The libraries in the order in which they are tried. libFLAME is the last: it resolves the BLAS
 * among the symbols of the whole process, so another library must provide them globally. */
typedef struct lapack_candidate {
    const char *name; /* value of LTENSOR_LAPACK */
    const char *file;
    const char *blas; /* opened first, for all libraries of the process; NULL: none is needed */
} lapack_candidate;

static const lapack_candidate candidates[] = {
    {"openblas", "libopenblas.so.0", NULL},    {"mkl", "libmkl_rt.so.3", NULL},
    {"mkl", "libmkl_rt.so.2", NULL},           {"mkl", "libmkl_rt.so.1", NULL},
    {"lapack", "liblapack.so.3", NULL},        {"flame", "libflame.so.1", "libblis.so.4"},
    {"flame", "libflame.so.1", "libblas.so.3"}};
enum { CANDIDATES = sizeof candidates / sizeof *candidates };

void *lt_lapack_library_symbol(const lt_lapack_library *library, const char *name)
{
    void *found = dlsym(library->handle, name);
    return found == NULL && library->blas != NULL ? dlsym(library->blas, name) : found;
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
    dlclose(out->handle);
    out->handle = NULL;
}

static void open_candidate(lt_lapack_library *out, const char *file, const char *blas,
                           const char *(*accept)(const lt_lapack_library *library))
{
    out->blas = blas != NULL ? dlopen(blas, RTLD_LAZY | RTLD_GLOBAL) : NULL;
    if (blas == NULL || out->blas != NULL) out->handle = lt_openmp_dlopen(file, &out->openmp);
    if (out->handle == NULL) {
        const char *error = dlerror();
        add_reason(out, error != NULL ? error : file);
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
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return true;
    out->one_thread = true;
    void *room = mmap(NULL, (size_t)NEEDED * MB, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room != MAP_FAILED) {
        munmap(room, (size_t)NEEDED * MB);
        return true;
    }
    snprintf(out->reason, sizeof out->reason,
             "OpenBLAS needs %d MB of address space, but the limit of the process is %llu MB: "
             "raise it (ulimit -v)",
             NEEDED, (unsigned long long)limit.rlim_cur / MB);
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
