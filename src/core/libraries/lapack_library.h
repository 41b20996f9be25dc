/* lapack_library.h - the shared library with BLAS and LAPACK: OpenBLAS, MKL, the reference library or
 * libFLAME with BLIS, the first one found, or the one that LTENSOR_LAPACK names. Included only by
 * lapack.c. */
#ifndef LT_LAPACK_LIBRARY_H
#define LT_LAPACK_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#include "openmp.h"

typedef struct lt_lapack_library {
    void *handle, *blas; /* blas: a library with the BLAS that handle lacks; NULL: none */
    void (*set_num_threads)(int n);
    void (*set_num_threads_wide)(int64_t n); /* both NULL: the library uses the calling thread */
    lt_openmp openmp;
    bool one_thread; /* the process has too little address space for more */
    /* OpenBLAS with OpenMP: the number of threads of the calling thread applies, but only one after
     * set_num_threads(1) */
    bool follows_openmp;
    char description[256]; /* name and version */
    char reason[640];      /* if none was opened: the loader's messages */
} lt_lapack_library;

/* Opens the first library of which accept() returns NULL; else accept() returns the name of a
 * symbol that the library lacks. handle is NULL if there is none. Runs under the lock of
 * lt_library_need. */
void lt_lapack_library_open(lt_lapack_library *out,
                            const char *(*accept)(const lt_lapack_library *library));

/* Address of a function in the library or its BLAS; NULL: absent. */
void *lt_lapack_library_symbol(const lt_lapack_library *library, const char *name);

#endif
