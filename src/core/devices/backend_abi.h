/* backend_abi.h - what a program and a backend library must agree on before one calls the other.
 *
 * Kernels are found by number and called through structs: a library made for other declarations
 * would compute another op without a word. So a library exports this as data, which is looked at
 * before anything in it runs. The hash is of the kernels' names, in order, and of the headers that
 * both sides include. */
#ifndef LT_BACKEND_ABI_H
#define LT_BACKEND_ABI_H

#include "backend.h"
#include "backend_hash.h" /* generated: LT_BACKEND_HASH */

typedef struct lt_backend_abi {
    /* bytes of this struct, of lt_backend and of lt_core_services */
    uint32_t size, table, services;
    char version[20]; /* LT_VERSION */
    char hash[20];    /* LT_BACKEND_HASH */
} lt_backend_abi;

/* The symbol's name, and the value for whoever is compiled with these headers. */
#define LT_BACKEND_ABI "lt_backend_abi_of_library"
#define LT_BACKEND_ABI_HERE                                                                        \
    {                                                                                              \
        sizeof(lt_backend_abi), sizeof(lt_backend), sizeof(lt_core_services), LT_VERSION,          \
            LT_BACKEND_HASH                                                                        \
    }

#endif
