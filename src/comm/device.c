/* device.c - finds the engine between GPUs in the library that the backend of the GPUs is in. */
#include "device.h"

#include <dlfcn.h>
#include <stdint.h>

#include "devices/backend.h"
#include "devices/device.h"
#include "error.h"

lt_status lt_device_engine_get(const lt_device_engine **out)
{
    lt_device device = {LT_CUDA, 0};
    Dl_info info;
    LT_TRY(lt_device_resolve(&device));
    const lt_backend *backend = lt_backends[LT_CUDA];
    void *library = NULL;
    if (dladdr((void *)(uintptr_t)backend->device_count, &info) != 0 && info.dli_fname != NULL)
        library = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    lt_device_engine_open_fn open =
        library != NULL ? (lt_device_engine_open_fn)(uintptr_t)dlsym(library, LT_DEVICE_ENGINE_OPEN)
                        : NULL;
    *out = open != NULL ? open() : NULL;
    if (*out != NULL && (*out)->interface == LT_DEVICE_ENGINE_INTERFACE) return LT_OK;
    return lt_error(LT_ERR_DEVICE, "the backend of the GPUs has no operations between processes");
}
