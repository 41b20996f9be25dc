/* driver.c - two backends of a machine whose driver is old: one that finds it too old, and (with
 * SIMULATED, a path) one for older drivers, which hands on what the simulated backend gives. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "devices/backend_abi.h"

LT_API const lt_backend_abi lt_backend_abi_of_library = LT_BACKEND_ABI_HERE;

LT_API const lt_backend *lt_backend_open(const lt_core_services *core, char *reason, size_t n)
{
#ifdef SIMULATED
    setenv("LTENSOR_SIM_GPUS", "1", 1);
    void *library = dlopen(SIMULATED, RTLD_NOW | RTLD_LOCAL);
    lt_backend_open_fn open =
        library != NULL ? (lt_backend_open_fn)(uintptr_t)dlsym(library, LT_BACKEND_OPEN) : NULL;
    return open != NULL ? open(core, reason, n) : NULL;
#else
    (void)core;
    snprintf(reason, n, "the driver is too old");
    return NULL;
#endif
}
