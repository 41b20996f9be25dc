/* backend_abi.h - ABI check between the program and a backend library, made before any call.
 *
 * Kernels are identified by number and called through structs, so a library built from other
 * declarations would silently compute another op. A library exports this struct as data, which is
 * compared before any of its code runs. The hash covers the names of the kernels, in order, and the
 * headers that both sides include. */
#ifndef LT_BACKEND_ABI_H
#define LT_BACKEND_ABI_H

#include "backend.h"
#include "backend_hash.h" /* generated: LT_BACKEND_HASH */

typedef struct lt_backend_abi {
    /* sizeof lt_backend_abi, lt_backend and lt_core_services */
    uint32_t size, table, services;
    char version[20]; /* LT_VERSION */
    char hash[20];    /* LT_BACKEND_HASH */
} lt_backend_abi;

/* The name of the symbol, and its value in code compiled with these headers. */
#define LT_BACKEND_ABI "lt_backend_abi_of_library"
#define LT_BACKEND_ABI_HERE                                                                        \
    {                                                                                              \
        sizeof(lt_backend_abi), sizeof(lt_backend), sizeof(lt_core_services), LT_VERSION,          \
            LT_BACKEND_HASH                                                                        \
    }

#endif
