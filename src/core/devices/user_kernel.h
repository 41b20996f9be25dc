/* user_kernel.h - kernels from a user's CUDA source text: an optional table of a backend.
 *
 * The binding converts the arguments; the backend compiles, caches and launches. A backend library
 * exports the table as data, beside lt_backend_open. */
#ifndef LT_USER_KERNEL_H
#define LT_USER_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "ltensor.h"

typedef struct lt_user_kernel lt_user_kernel; /* a compiled kernel of one device */

/* text: of the whole program. name: of the kernel, with template arguments if it is a template.
 * file: name of the text in messages. options: nvcc's. architecture: 90 for sm_90; 0: the device's.
 * authorize: called before a file is written and a process or a library is used (LT_ACCESS_*);
 * its failure is the result. */
typedef struct lt_kernel_source {
    const char *text, *name, *file;
    const char *const *options;
    int n_options, architecture;
    lt_status (*authorize)(int access, const char *name);
} lt_kernel_source;

/* An argument, copied at the launch. For a pointer: memory is the storage that the kernel may
 * access; element: bytes of an element; name: of the parameter. Only a simulated GPU uses these. */
typedef struct lt_kernel_argument {
    const void *value;
    size_t bytes;
    const void *memory; /* NULL: not a pointer */
    size_t memory_bytes, element;
    const char *name;
} lt_kernel_argument;

typedef struct lt_kernel_launch {
    uint32_t grid[3], block[3]; /* x, y, z */
    size_t shared_bytes;        /* dynamic shared memory of a block */
    uint64_t stream;
    const lt_kernel_argument *arguments;
    int n_arguments;
} lt_kernel_launch;

typedef struct lt_user_kernels {
    /* Compiles the source for the device, unless it did so before. The kernel lives until the end
     * of the process. Errors: LT_ERR_RUNTIME with the compiler's output; LT_ERR_DEVICE if there is no
     * compiler; LT_ERR_PERMISSION. */
    lt_status (*compile)(int device, const lt_kernel_source *source, lt_user_kernel **kernel);
    /* Launches it on its device. On a simulated GPU, the call waits for the kernel, unless the
     * stream is being captured, and fails with a report if the kernel accessed memory wrongly. */
    lt_status (*launch)(const lt_user_kernel *kernel, const lt_kernel_launch *launch);
} lt_user_kernels;
#define LT_USER_KERNELS "lt_user_kernels_of_library"

/* The table of the loaded GPU backend; NULL if it has none. Precondition: the backend is loaded. */
const lt_user_kernels *lt_backend_user_kernels(void);

#endif
