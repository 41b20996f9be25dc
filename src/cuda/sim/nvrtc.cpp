/* nvrtc.cpp - NVRTC for simulated GPUs: the host's C++ compiler compiles the same source to a
 * shared object, and the simulator calls its kernel function for each thread. Also the runtime
 * calls that load and launch such kernels.
 *
 * An image is "ltensor\0", the size of the shared object and its bytes. NVRTC counts as missing if
 * there is no compiler (CXX, c++, g++, clang++), and in a build with checks (check/), which cannot
 * observe the memory accesses of code compiled later. */
#include "compiler.h"
#include "libraries/nvrtc_api.h"
#include "sim.h"

#include <dlfcn.h>
#include <new>
#include <string.h>

struct _nvrtcProgram {
    std::string source, image;
    std::vector<std::string> names, texts;
};

struct CUlib_st {
    void *object;
};

/* A kernel: the library's symbols NAME and NAME_bytes (size of the arguments). Valid while the
 * library is loaded. */
struct CUkern_st {
    void (*run)(const void *arguments, uint32_t thread);
    size_t bytes;
};

using namespace lt_sim;

namespace {

constexpr char magic[8] = "ltensor";

/* ---- compiling ------------------------------------------------------------------------------- */

/* Compiles to a shared object in a temporary folder, and deletes the folder. */
std::string object_of(const _nvrtcProgram &program)
{
    TemporaryFolder folder;
    const std::string source = folder.file("fusion.cpp"), object = folder.file("fusion.so");
    bool good = write_file(source, program.source);
    for (size_t i = 0; i < program.names.size() && good; i++)
        good = write_file(folder.file(program.names[i]), program.texts[i]);
    good = good && run_program({find_compiler(), "-std=c++17", "-O1", "-fPIC", "-shared", "-w",
                                "-ffp-contract=off", "-I" + folder.path, source, "-o", object},
                               "");
    return good ? read_file(object) : "";
}

/* ---- NVRTC's functions ----------------------------------------------------------------------- */

/* Independent of the compiler: images of all compilers are interchangeable. */
nvrtcResult version(int *major, int *minor)
{
    *major = CUDART_VERSION / 1000;
    *minor = CUDART_VERSION % 1000 / 10;
    return NVRTC_SUCCESS;
}

nvrtcResult create(nvrtcProgram *program, const char *source, const char *, int headers,
                   const char *const *texts, const char *const *names)
{
    if (program == nullptr || source == nullptr || headers < 0) return NVRTC_ERROR_INVALID_INPUT;
    *program = new _nvrtcProgram{source, "", {names, names + headers}, {texts, texts + headers}};
    return NVRTC_SUCCESS;
}

nvrtcResult destroy(nvrtcProgram *program)
{
    if (program == nullptr || *program == nullptr) return NVRTC_ERROR_INVALID_INPUT;
    delete *program;
    *program = nullptr;
    return NVRTC_SUCCESS;
}

nvrtcResult compile(nvrtcProgram program, int, const char *const *)
{
    const std::string object = object_of(*program);
    if (object.empty()) return NVRTC_ERROR_COMPILATION;
    const uint64_t bytes = object.size();
    program->image.assign(magic, sizeof magic);
    program->image.append(reinterpret_cast<const char *>(&bytes), sizeof bytes);
    program->image += object;
    return NVRTC_SUCCESS;
}

nvrtcResult image_size(nvrtcProgram program, size_t *bytes)
{
    *bytes = program->image.size();
    return NVRTC_SUCCESS;
}

nvrtcResult image(nvrtcProgram program, char *to)
{
    memcpy(to, program->image.data(), program->image.size());
    return NVRTC_SUCCESS;
}

/* ---- kernels --------------------------------------------------------------------------------- */

class GeneratedKernel final : public Kernel {
  public:
    GeneratedKernel(const CUkern_st &kernel, const void *given)
        : Kernel(sizeof(GeneratedKernel), kernel.bytes), body(kernel.run),
          arguments(static_cast<const char *>(given), kernel.bytes)
    {}
    void run_block() const override
    {
        for (ThreadOrder order(block); order.next();)
            body(arguments.data(), context.block.x * block.x + context.thread.x);
    }

  private:
    void (*const body)(const void *, uint32_t);
    const std::string arguments;
};

/* Loads the shared object of an image; null if the image is invalid. */
void *open_object(const char *code)
{
    uint64_t bytes;
    if (memcmp(code, magic, sizeof magic) != 0) return nullptr;
    memcpy(&bytes, code + sizeof magic, sizeof bytes);
    return load_object(std::string(code + sizeof magic + sizeof bytes, bytes));
}

} // namespace

extern "C" {

cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, enum cudaJitOption *,
                                void **, unsigned int, enum cudaLibraryOption *, void **,
                                unsigned int)
{
    cudaError_t error = begin_on_device(cudaErrorMemoryAllocation);
    if (error) return error;
    if (library == nullptr || code == nullptr) return finish(cudaErrorInvalidValue);
    error = refuse_waiting(*device_at(current_device())); /* loading may synchronize the device */
    if (error) return finish(error);
    void *object = open_object(static_cast<const char *>(code));
    if (object == nullptr) return finish(cudaErrorInvalidValue);
    *library = new CUlib_st{object};
    return cudaSuccess;
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
    cudaError_t error = begin_on_device(cudaErrorUnknown);
    if (error) return error;
    dlclose(library->object);
    delete library;
    return cudaSuccess;
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name)
{
    cudaError_t error = begin_on_device(cudaErrorUnknown);
    if (error) return error;
    const auto run =
        reinterpret_cast<void (*)(const void *, uint32_t)>(dlsym(library->object, name));
    const auto *bytes = static_cast<const uint64_t *>(
        dlsym(library->object, (std::string(name) + "_bytes").c_str()));
    if (run == nullptr || bytes == nullptr) return finish(cudaErrorInvalidValue);
    *kernel = new CUkern_st{run, (size_t)*bytes};
    return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                             size_t shared_bytes, cudaStream_t stream)
{
    const auto *found = static_cast<const CUkern_st *>(kernel);
    return submit_kernel(new GeneratedKernel(*found, arguments[0]),
                         {"a generated kernel", nullptr, "", false}, grid, block, shared_bytes,
                         stream);
}
}

lt_status lt_nvrtc_get(const lt_nvrtc **table)
{
    static const lt_nvrtc functions = {version, create, destroy, compile, image_size, image};
    *table = &functions;
    return monitor == nullptr && !find_compiler().empty() ? LT_OK : LT_ERR_DEVICE;
}
