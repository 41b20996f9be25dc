/* dnnl.c - see dnnl.h. */
#include "dnnl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build_config.h" /* generated */
#include "library.h"
#include "system/shared_library.h"

lt_dnnl_library lt_dnnl;

static bool find_functions(void *library)
{
    bool complete = true;
#define X(name, type, arguments)                                                                   \
    *(void **)&lt_dnnl.name = lt_shared_symbol(library, "dnnl_" #name);                            \
    complete = complete && lt_dnnl.name != NULL;
    DNNL_FUNCTIONS(X)
    if (!complete) return false;
    lt_dnnl.major = lt_dnnl.version()->major;
    if (lt_dnnl.major == 2) {
        DNNL_FUNCTIONS_2(X)
    } else {
        DNNL_FUNCTIONS_3(X)
    }
#undef X
    return complete && (lt_dnnl.major == 2 || lt_dnnl.major == 3);
}

static bool open_dnnl(const char *file)
{
    void *library = lt_openmp_open(file, &lt_dnnl.openmp);
    if (library == NULL) return false;
    if (!find_functions(library) ||
        lt_dnnl.engine_create(&lt_dnnl.engine, dnnl_cpu, 0) != dnnl_success) {
        lt_dnnl.major = 0;
        return false;
    }
    const dnnl_version_t *v = lt_dnnl.version();
    snprintf(lt_dnnl.text, sizeof lt_dnnl.text, "%d.%d.%d (%.60s)", v->major, v->minor, v->patch,
             file);
    return true;
}

/* Opens the library of LTENSOR_ONEDNN; else the version of the build or another one. Distributions
 * name it after its major version or after a part of it (libdnnl.so.3.6). */
static void load_dnnl(const lt_library *self)
{
    (void)self;
    const char *wanted = getenv("LTENSOR_ONEDNN");
    char file[32];
    if (wanted != NULL && wanted[0] != '\0') {
        if (strcmp(wanted, "0") != 0) open_dnnl(wanted);
        return;
    }
    if (strcmp(LT_BUILD_ONEDNN, "none") == 0 || open_dnnl(LT_BUILD_ONEDNN) ||
        open_dnnl(LT_SHARED_NAME("dnnl", "3")) || open_dnnl(LT_SHARED_NAME("dnnl", "2")))
        return;
    for (int minor = 20; minor >= 0; minor--) {
        snprintf(file, sizeof file, LT_SHARED_NAME("dnnl", "3.%d"), minor);
        if (open_dnnl(file)) return;
    }
}

static lt_library dnnl = LT_LIBRARY("libdnnl.so", load_dnnl);

bool lt_dnnl_found(void) { return lt_library_need(&dnnl) == LT_OK && lt_dnnl.major != 0; }

const char *lt_dnnl_config(void) { return lt_dnnl_found() ? lt_dnnl.text : "none"; }
