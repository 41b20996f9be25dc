/* programs.cu - see programs.cuh.
 *
 * NVRTC compiles a kernel for the current GPU's architecture only. If a kernel does not compile or
 * load, the failure is cached, and the fusion's steps run one by one. The same holds for new
 * fusions once MOST_PROGRAMS entries exist. */
#include "programs.cuh"

#include <atomic>
#include <mutex>
#include <new>
#include <stdio.h>
#include <unordered_map>

#include "cache.cuh"
#include "cuda.h"
#include "libraries/nvrtc_api.h"
#include "libraries/optional.cuh"

#include "fused_sources.h" /* generated: the files that a source includes */

#define GENERATES (CUDART_VERSION >= 12080) /* first runtime with cudaLibraryLoadData */

static lt_cuda_optional<lt_nvrtc> library("LTENSOR_NVRTC", lt_nvrtc_get);

const char *lt_fused_no_compiler()
{
    if (!GENERATES) return "the backend was built with a CUDA Toolkit before 12.8";
    return library.functions() != nullptr ? nullptr : LT_NVRTC_ABSENT;
}

#if GENERATES

namespace {

enum { MOST_PROGRAMS = 4096 }; /* each needs a few KB of device memory */

struct program {
    cudaLibrary_t library = nullptr;
    cudaKernel_t kernel = nullptr; /* of the library; null: none */
    uint64_t devices = 0;          /* bit mask of devices on which it has run */
};

struct programs {
    std::mutex mutex;
    std::unordered_map<std::string, program> by_key; /* key of the plan + architecture */
};

/* Never destroyed: kernels may run until the process ends. */
programs &all()
{
    static programs &instance = *new programs;
    return instance;
}

/* Queries each device once. */
lt_status architecture_of(int device, int *architecture)
{
    static std::atomic<int> known[LT_CUDA_MAX_DEVICES];
    int major = 0, minor = 0;
    *architecture = known[device].load(std::memory_order_relaxed);
    if (*architecture != 0) return LT_OK;
    CUDA_TRY(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    CUDA_TRY(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    *architecture = 10 * major + minor;
    known[device].store(*architecture, std::memory_order_relaxed);
    return LT_OK;
}

/* Returns an empty string if compilation fails. */
std::string compile(const lt_nvrtc *nvrtc, const std::string &source, const char *option)
{
    const char *const options[] = {"-std=c++17", option};
    nvrtcProgram made = nullptr;
    std::string image;
    size_t bytes = 0;
    if (nvrtc->create(&made, source.c_str(), "fused.cu", LT_FUSED_SOURCES, lt_fused_source_texts,
                      lt_fused_source_names) != NVRTC_SUCCESS)
        return image;
    if (nvrtc->compile(made, 2, options) == NVRTC_SUCCESS &&
        nvrtc->image_size(made, &bytes) == NVRTC_SUCCESS && bytes > 0) {
        image.resize(bytes);
        if (nvrtc->image(made, &image[0]) != NVRTC_SUCCESS) image.clear();
    }
    (void)nvrtc->destroy(&made);
    return image;
}

/* Returns false if the image cannot be loaded. */
bool load(const std::string &image, program *p)
{
    if (image.empty()) return false;
    if (cudaLibraryLoadData(&p->library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0) ==
            cudaSuccess &&
        cudaLibraryGetKernel(&p->kernel, p->library, "lt_fused_kernel") == cudaSuccess)
        return true;
    (void)cudaGetLastError();
    if (p->library != nullptr && cudaLibraryUnload(p->library) != cudaSuccess)
        (void)cudaGetLastError();
    *p = program();
    return false;
}

/* All inputs of the compilation; the embedded source files are included by their hash. */
std::string identity(const lt_nvrtc *nvrtc, const std::string &source, const char *option)
{
    int major = 0, minor = 0;
    char text[96];
    (void)nvrtc->version(&major, &minor);
    snprintf(text, sizeof text, "%s %d.%d %s %016llx\n", LT_NVRTC_NAME, major, minor, option,
             (unsigned long long)LT_FUSED_SOURCES_HASH);
    return text + source;
}

program make(const lt_fused_plan &plan, int architecture)
{
    const lt_nvrtc *nvrtc = library.functions();
    program p;
    char option[32];
    if (nvrtc == nullptr) return p;
    snprintf(option, sizeof option, "-arch=sm_%d", architecture);
    const std::string source = plan.source(), name = identity(nvrtc, source, option);
    if (load(lt_fused_cached(name), &p)) return p;
    const std::string image = compile(nvrtc, source, option);
    if (load(image, &p)) lt_fused_keep(name, image);
    return p;
}

} // namespace

static lt_status find_kernel(const lt_fused_plan &plan, int device, const void **kernel)
{
    int architecture;
    LT_TRY(architecture_of(device, &architecture));
    const bool recording = lt_cuda_recording();
    const std::string key =
        plan.key() + static_cast<char>(architecture) + static_cast<char>(architecture >> 8);
    std::lock_guard<std::mutex> lock(all().mutex);
    auto known = all().by_key.find(key);
    if (known == all().by_key.end()) {
        if (recording || all().by_key.size() >= MOST_PROGRAMS ||
            lt_cuda_core->authorize_library("libnvrtc.so") != LT_OK)
            return LT_OK; /* no kernel for this call; not cached */
        known = all().by_key.emplace(key, make(plan, architecture)).first;
    }
    program &p = known->second;
    const uint64_t here = uint64_t{1} << device;
    if (recording && (p.devices & here) == 0) return LT_OK;
    p.devices |= here;
    *kernel = reinterpret_cast<const void *>(p.kernel);
    return LT_OK;
}

lt_status lt_fused_program(const lt_fused_plan &plan, int device, const void **kernel)
{
    *kernel = nullptr;
    try {
        return find_kernel(plan, device, kernel);
    } catch (const std::bad_alloc &) {
        return lt_cuda_core->error(LT_ERR_MEMORY, "out of memory for a generated kernel");
    }
}

#else

lt_status lt_fused_program(const lt_fused_plan &, int, const void **kernel)
{
    *kernel = nullptr;
    return LT_OK;
}

#endif
