/* vendor.h - how the vendor's libraries are opened: when they are first needed, by soname, of the
 * CUDA release that this backend was compiled for or of the one beside it. None is needed to build,
 * so that the headers here declare what is used of them: names, values and signatures are the
 * vendor's, checked against their own headers by tests/vendor/check.sh (which compiles these with
 * LT_VENDOR_HEADERS defined: the types are then the vendor's).
 *
 * Each header has lists of its numbers and of its functions, from which come the types, the table
 * that the loader fills (src/cuda/libraries/opening/<name>_load.cu) or the simulation's stand-in
 * (src/cuda/sim/<name>.cpp), and the names in messages. */
#ifndef LT_CUDA_VENDOR_H
#define LT_CUDA_VENDOR_H

#include "ltensor.h"

/* Of the lists: an entry of an enum, of a switch over one that gives its name, and a member of a
 * table. */
#define LT_ENUM(name, value) name = value,
#define LT_NAME_CASE(name, value)                                                                  \
    case value: return #name;

/* What one is looked for by, newest first, and what to tell somebody who does not have it. */
typedef struct lt_cuda_library {
    const char *title;   /* "cuSOLVER" */
    const char *purpose; /* "factorizations of matrices on a GPU" */
    const char *cuda_13, *cuda_12,
        *plain;          /* "libcusolver.so.12", "libcusolver.so.11", "libcusolver.so" */
    const char *package; /* of Python's index, which has it too: "nvidia-cusolver" */
} lt_cuda_library;

/* Opens it for ever; *handle is dlopen's. */
lt_status lt_cuda_library_open(const lt_cuda_library *library, void **handle);
/* The error for one that lacks what is used of it. */
lt_status lt_cuda_library_incomplete(const lt_cuda_library *library, const char *symbol);

#endif
