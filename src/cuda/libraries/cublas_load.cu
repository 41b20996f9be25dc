/* cublas_load.cu - finds cuBLAS, when the first product is asked for. Only in the backend for real GPUs.
 *
 * Looked for by the loader's rules, then where the CUDA Toolkit puts it ($CUDA_HOME, $CUDA_PATH,
 * /usr/local/cuda). It is never unloaded. The newest version comes first. */
#include <atomic>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "cublas_api.h"
#include "cuda.h"

static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so"};

static void *open_in(const char *directory)
{
    for (const char *name : names) {
        char path[1024];
        snprintf(path, sizeof path, "%s%s%s", directory, directory[0] != '\0' ? "/" : "", name);
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (library != nullptr) return library;
    }
    return nullptr;
}

static void *open_library()
{
    void *library = open_in("");
    for (const char *variable : {"CUDA_HOME", "CUDA_PATH"}) {
        const char *home = getenv(variable);
        char directory[1000];
        if (library != nullptr || home == nullptr) continue;
        snprintf(directory, sizeof directory, "%s/lib64", home);
        library = open_in(directory);
    }
    return library != nullptr ? library : open_in("/usr/local/cuda/lib64");
}

template <class F> static bool find(void *library, const char *name, F *function)
{
    *function = reinterpret_cast<F>(dlsym(library, name));
    return *function != nullptr;
}

/* Why there is no cuBLAS; null: it is loaded. */
static const char *load(lt_cublas *table)
{
    void *library = open_library();
    if (library == nullptr) return "libcublas.so.13 and libcublas.so.12 were not found (LD_LIBRARY_PATH, CUDA_HOME)";
    bool complete = find(library, "cublasCreate_v2", &table->create) &&
                    find(library, "cublasDestroy_v2", &table->destroy) &&
                    find(library, "cublasSetStream_v2", &table->set_stream) &&
                    find(library, "cublasSetMathMode", &table->set_math_mode) &&
                    find(library, "cublasGemmEx_64", &table->gemm) &&
                    find(library, "cublasGemmStridedBatchedEx_64", &table->gemm_batched);
    return complete ? nullptr : "it is older than version 12";
}

lt_status lt_cublas_get(const lt_cublas **table)
{
    static lt_cublas loaded;
    static std::atomic<bool> tried{false};
    if (!tried) LT_TRY(lt_cuda_core->authorize_library("libcublas.so"));
    static const char *const reason = load(&loaded);
    tried = true;
    if (reason != nullptr)
        return lt_cuda_core->error(LT_ERR_DEVICE, "matrix products on a GPU need NVIDIA's cuBLAS library: %s", reason);
    *table = &loaded;
    return LT_OK;
}
