/* dnnl.h - oneDNN, version 2 or 3, opened on first use. Included by cpu/products/dnnl_plan.h and
 * src/lua. */
#ifndef LT_DNNL_H
#define LT_DNNL_H

#include <stdbool.h>

#include "dnnl_api.h"
#include "openmp.h"

/* Valid after lt_dnnl_found(). */
typedef struct lt_dnnl_library {
#define X(name, type, arguments) type(*name) arguments;
    DNNL_FUNCTIONS(X)
    DNNL_FUNCTIONS_2(X)
    DNNL_FUNCTIONS_3(X)
#undef X
    dnnl_engine_t engine;
    lt_openmp openmp;
    int major;     /* 2 or 3; 0: the library is absent */
    char text[96]; /* the version and the name of the file */
} lt_dnnl_library;

extern lt_dnnl_library lt_dnnl;

/* Whether the library is installed and usable. */
bool lt_dnnl_found(void);

/* The version and the name of the library; "none" without it. */
const char *lt_dnnl_config(void);

#endif
