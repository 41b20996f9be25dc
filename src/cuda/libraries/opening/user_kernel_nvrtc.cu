/* user_kernel_nvrtc.cu - users' kernels on real GPUs (libraries/user_kernel_engine.h), compiled by
 * NVRTC for the GPU's architecture. Only in the backend for real GPUs.
 *
 * An image is the kernel's name in the machine code, "\0" and the machine code. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <vector>

#include "libraries/nvrtc_api.h"
#include "libraries/user_kernel_engine.h"
#include "load.cuh"

#if CUDART_VERSION >= 12080 /* first runtime with cudaLibraryLoadData */

namespace {

struct nvrtc_functions {
#define X(field, symbol, arguments) nvrtcResult(*field) arguments;
    LT_NVRTC_FUNCTIONS(X)
    LT_NVRTC_USER_FUNCTIONS(X)
#undef X
};

const char *fill_table(void *handle, nvrtc_functions &table)
{
    const char *missing = nullptr;
    LT_NVRTC_FUNCTIONS(LT_FIND)
    LT_NVRTC_USER_FUNCTIONS(LT_FIND)
    return missing;
}

lt_status get_functions(const nvrtc_functions **table)
{
    static const lt_cuda_library library = LT_NVRTC_LIBRARY("torch.cuda._compile_kernel()");
    static lt_cuda_table<nvrtc_functions> &functions = *new lt_cuda_table<nvrtc_functions>;
    return functions.get(&library, fill_table, table);
}

bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* The user's options, the architecture, and the toolkit's headers if they are installed. */
std::vector<std::string> options_of(const lt_kernel_source &source, int architecture)
{
    std::vector<std::string> options = {"-arch=sm_" + std::to_string(architecture)};
    bool standard = false;
    for (int i = 0; i < source.n_options; i++) {
        standard = standard || begins_with(source.options[i], "-std=");
        options.push_back(source.options[i]);
    }
    if (!standard) options.push_back("-std=c++17");
    const char *const home = getenv("CUDA_HOME");
    const std::string headers =
        std::string(home != nullptr ? home : "/usr/local/cuda") + "/include";
    if (access(headers.c_str(), R_OK) == 0) options.push_back("-I" + headers);
    return options;
}

std::string log_of(const nvrtc_functions *nvrtc, nvrtcProgram program)
{
    size_t bytes = 0;
    std::string log;
    if (nvrtc->log_size(program, &bytes) != NVRTC_SUCCESS || bytes == 0) return log;
    log.resize(bytes);
    if (nvrtc->log(program, &log[0]) != NVRTC_SUCCESS) return "";
    return log.c_str();
}

/* Returns false with the log if the source does not compile. */
bool compile(const nvrtc_functions *nvrtc, nvrtcProgram program, const lt_kernel_source &source,
             int architecture, std::string *image)
{
    const std::vector<std::string> options = options_of(source, architecture);
    std::vector<const char *> words;
    const char *name = nullptr;
    size_t bytes = 0;
    for (const std::string &option : options) words.push_back(option.c_str());
    if (nvrtc->add_name(program, source.name) != NVRTC_SUCCESS ||
        nvrtc->compile(program, static_cast<int>(words.size()), words.data()) != NVRTC_SUCCESS ||
        nvrtc->lowered_name(program, source.name, &name) != NVRTC_SUCCESS ||
        nvrtc->image_size(program, &bytes) != NVRTC_SUCCESS) {
        *image = log_of(nvrtc, program);
        return false;
    }
    *image = std::string(name) + '\0';
    const size_t before = image->size();
    image->resize(before + bytes);
    return nvrtc->image(program, &(*image)[before]) == NVRTC_SUCCESS;
}

} // namespace

lt_status lt_user_identify(const lt_kernel_source &source, std::string *identity)
{
    const nvrtc_functions *nvrtc = nullptr;
    int major = 0, minor = 0;
    identity->clear();
    LT_TRY(source.authorize(LT_ACCESS_LIBRARY, "libnvrtc.so"));
    LT_TRY(get_functions(&nvrtc));
    (void)nvrtc->version(&major, &minor);
    *identity = "nvrtc " + std::to_string(major) + "." + std::to_string(minor);
    return LT_OK;
}

bool lt_user_compile(const lt_kernel_source &source, int architecture, std::string *image)
{
    const nvrtc_functions *nvrtc = nullptr;
    nvrtcProgram program = nullptr;
    if (get_functions(&nvrtc) != LT_OK ||
        nvrtc->create(&program, source.text, source.file, 0, nullptr, nullptr) != NVRTC_SUCCESS) {
        *image = "NVRTC could not be used";
        return false;
    }
    const bool good = compile(nvrtc, program, source, architecture, image);
    (void)nvrtc->destroy(&program);
    return good;
}

cudaError_t lt_user_load(const lt_kernel_source &, const std::string &image, void **kernel)
{
    cudaLibrary_t library = nullptr;
    cudaKernel_t found = nullptr;
    const std::string name = image.c_str();
    if (name.size() + 1 >= image.size()) return cudaErrorInvalidValue;
    cudaError_t error = cudaLibraryLoadData(&library, image.data() + name.size() + 1, nullptr,
                                            nullptr, 0, nullptr, nullptr, 0);
    if (error == cudaSuccess) error = cudaLibraryGetKernel(&found, library, name.c_str());
    if (error != cudaSuccess && library != nullptr) (void)cudaLibraryUnload(library);
    *kernel = reinterpret_cast<void *>(found);
    return error;
}

cudaError_t lt_user_launch(void *kernel, const lt_kernel_launch &launch, cudaStream_t stream,
                           std::string *)
{
    constexpr size_t without_opt_in = 48 * 1024;
    const uint32_t *const g = launch.grid, *const b = launch.block;
    std::vector<void *> arguments;
    for (int i = 0; i < launch.n_arguments; i++)
        arguments.push_back(const_cast<void *>(launch.arguments[i].value));
    arguments.push_back(nullptr);
    if (launch.shared_bytes > without_opt_in) {
        const cudaError_t error =
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(launch.shared_bytes));
        if (error != cudaSuccess) return error;
    }
    return cudaLaunchKernel(kernel, dim3(g[0], g[1], g[2]), dim3(b[0], b[1], b[2]),
                            arguments.data(), launch.shared_bytes, stream);
}

#else

lt_status lt_user_identify(const lt_kernel_source &, std::string *identity)
{
    *identity = "torch.cuda._compile_kernel() needs a GPU backend that was built with CUDA Toolkit "
                "12.8 or later";
    return LT_ERR_DEVICE;
}
bool lt_user_compile(const lt_kernel_source &, int, std::string *) { return false; }
cudaError_t lt_user_load(const lt_kernel_source &, const std::string &, void **)
{
    return cudaErrorNotSupported;
}
cudaError_t lt_user_launch(void *, const lt_kernel_launch &, cudaStream_t, std::string *)
{
    return cudaErrorNotSupported;
}

#endif
