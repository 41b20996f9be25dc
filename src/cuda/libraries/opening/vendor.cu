/* vendor.cu - see vendor.h. Only in the backend for real GPUs.
 *
 * Search order: the dynamic loader's own rules, then the directories of the CUDA Toolkit
 * ($CUDA_HOME, $CUDA_PATH, /usr/local/cuda). */
#include "libraries/vendor.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda.h"

static void *open_in(const char *directory, const lt_cuda_library *library)
{
    const bool newest = CUDART_VERSION >= 13000;
    const char *const names[] = {newest ? library->cuda_13 : library->cuda_12,
                                 newest ? library->cuda_12 : library->cuda_13, library->plain};
    for (const char *name : names) {
        char path[1024];
        snprintf(path, sizeof path, "%s%s%s", directory, directory[0] != '\0' ? "/" : "", name);
        void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (handle != nullptr) return handle;
    }
    return nullptr;
}

lt_status lt_cuda_library_open(const lt_cuda_library *library, void **handle)
{
    LT_TRY(lt_cuda_core->authorize_library(library->plain));
    *handle = open_in("", library);
    for (const char *variable : {"CUDA_HOME", "CUDA_PATH"}) {
        const char *home = getenv(variable);
        char directory[1000];
        if (*handle != nullptr || home == nullptr) continue;
        snprintf(directory, sizeof directory, "%s/lib64", home);
        *handle = open_in(directory, library);
    }
    if (*handle == nullptr) *handle = open_in("/usr/local/cuda/lib64", library);
    if (*handle != nullptr) return LT_OK;
    return lt_cuda_core->error(LT_ERR_DEVICE,
                               "%s needs NVIDIA's library %s: neither %s nor %s was found "
                               "(LD_LIBRARY_PATH, CUDA_HOME). It comes "
                               "with the CUDA Toolkit, or as the Python package %s",
                               library->purpose, library->title, library->cuda_13, library->cuda_12,
                               library->package);
}

lt_status lt_cuda_library_incomplete(const lt_cuda_library *library, const char *symbol)
{
    return lt_cuda_core->error(
        LT_ERR_DEVICE,
        "%s needs NVIDIA's library %s, but the one that was found is too old: it has no %s",
        library->purpose, library->title, symbol);
}
