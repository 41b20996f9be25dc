/* user_kernel.cu - kernels from a user's CUDA source text (devices/user_kernel.h): the table, a
 * cache in memory by device and source, and on disk (cache.cuh). */
#include <map>
#include <mutex>
#include <new>
#include <string.h>

#include "cache.cuh"
#include "cuda.h"
#include "libraries/user_kernel_engine.h"

struct lt_user_kernel {
    int device;
    void *kernel; /* the engine's */
};

namespace {

struct known_kernels {
    std::mutex mutex;
    std::map<std::string, lt_user_kernel> by_identity;
};

/* Never destroyed: kernels may run until the process ends. */
known_kernels &all()
{
    static known_kernels &instance = *new known_kernels;
    return instance;
}

lt_status architecture_of(int device, int *architecture)
{
    int major = 0, minor = 0;
    CUDA_TRY(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    CUDA_TRY(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    *architecture = 10 * major + minor;
    return LT_OK;
}

/* All inputs of the compilation. */
std::string identity_of(const lt_kernel_source &source, const std::string &compiler,
                        int architecture)
{
    std::string identity = "user " + compiler + " sm_" + std::to_string(architecture);
    for (int i = 0; i < source.n_options; i++) identity += std::string(" ") + source.options[i];
    return identity + "\n" + source.file + "\n" + source.name + "\n" + source.text;
}

lt_status make(const lt_kernel_source &source, int architecture, const std::string &identity,
               void **kernel)
{
    std::string image = lt_fused_cached(identity);
    if (!image.empty()) {
        if (lt_user_load(source, image, kernel) == cudaSuccess) return LT_OK;
        (void)cudaGetLastError();
    }
    if (!lt_user_compile(source, architecture, &image))
        return lt_cuda_core->error(LT_ERR_RUNTIME, "Kernel compilation failed:\n%s", image.c_str());
    CUDA_TRY(lt_user_load(source, image, kernel));
    lt_fused_keep(identity, image);
    return LT_OK;
}

lt_status find_kernel(int device, const lt_kernel_source &source, lt_user_kernel **kernel)
{
    cudaStream_t stream;
    std::string compiler;
    int architecture = source.architecture;
    LT_TRY(lt_cuda_enter(device, &stream));
    const lt_status status = lt_user_identify(source, &compiler);
    if (status != LT_OK)
        return compiler.empty() ? status : lt_cuda_core->error(status, "%s", compiler.c_str());
    if (architecture == 0) LT_TRY(architecture_of(device, &architecture));
    const std::string identity = identity_of(source, compiler, architecture);
    const std::string key = std::to_string(device) + " " + identity;
    std::lock_guard<std::mutex> lock(all().mutex);
    auto known = all().by_identity.find(key);
    if (known == all().by_identity.end()) {
        LT_TRY(lt_cuda_refuse_recording()); /* loading may synchronize the device */
        void *made = nullptr;
        LT_TRY(make(source, architecture, identity, &made));
        known = all().by_identity.emplace(key, lt_user_kernel{device, made}).first;
    }
    *kernel = &known->second;
    return LT_OK;
}

lt_status compile(int device, const lt_kernel_source *source, lt_user_kernel **kernel)
{
    try {
        return find_kernel(device, *source, kernel);
    } catch (const std::bad_alloc &) {
        return lt_cuda_core->error(LT_ERR_MEMORY, "out of memory for the kernel '%s'",
                                   source->name);
    }
}

lt_status launch(const lt_user_kernel *kernel, const lt_kernel_launch *launched)
{
    cudaStream_t current;
    std::string reports;
    LT_TRY(lt_cuda_enter(kernel->device, &current));
    const auto stream = reinterpret_cast<cudaStream_t>(static_cast<uintptr_t>(launched->stream));
    const cudaError_t error = lt_user_launch(kernel->kernel, *launched, stream, &reports);
    if (!reports.empty()) {
        (void)cudaGetLastError();
        return lt_cuda_core->error(LT_ERR_RUNTIME, "%s", reports.c_str());
    }
    CUDA_TRY(error);
    return LT_OK;
}

} // namespace

extern "C" LT_API const lt_user_kernels lt_user_kernels_of_library = {compile, launch};
