/* vendor.h - NVIDIA's libraries, opened by soname on first use: the version for the CUDA release
 * that this backend was compiled for, else the other supported release. None is needed to build, so
 * the headers of this folder declare the names, values and signatures in use. tests/vendor/check.sh
 * checks them against NVIDIA's headers by compiling them with LT_VENDOR_HEADERS defined, which
 * takes the types from NVIDIA.
 *
 * Each header has X-macro lists of constants and functions. They generate the types, the table that
 * the loader fills (src/cuda/libraries/opening/<name>_load.cu) or the simulator's stand-in
 * (src/cuda/sim/<name>.cpp), and the names in messages. */
#ifndef LT_CUDA_VENDOR_H
#define LT_CUDA_VENDOR_H

#include "ltensor.h"

/* For the lists: an enumerator, and a case of a switch that returns its name. */
#define LT_ENUM(name, value) name = value,
#define LT_NAME_CASE(name, value)                                                                  \
    case value: return #name;

/* The names under which a library is searched, and the texts for the error if it is missing. */
typedef struct lt_cuda_library {
    const char *title;   /* "cuSOLVER" */
    const char *purpose; /* "a factorization of matrices on a GPU" */
    const char *cuda_13, *cuda_12,
        *plain;          /* "libcusolver.so.12", "libcusolver.so.11", "libcusolver.so" */
    const char *package; /* Python package that contains it: "nvidia-cusolver" */
} lt_cuda_library;

/* Opens the library; it is never closed. *handle: from dlopen. */
lt_status lt_cuda_library_open(const lt_cuda_library *library, void **handle);
/* Returns the error for a library that lacks a required function. */
lt_status lt_cuda_library_incomplete(const lt_cuda_library *library, const char *symbol);

#endif
