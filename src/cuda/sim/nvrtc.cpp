/* nvrtc.cpp - NVRTC for simulated GPUs: the host's C++ compiler compiles the same source to a
 * shared object, and the simulator calls its kernel function for each thread. Also the runtime
 * calls that load and launch such kernels.
 *
 * An image is "ltensor\0", the size of the shared object and its bytes. NVRTC counts as missing if
 * there is no compiler (CXX, c++, g++, clang++), and in a build with checks (check/), which cannot
 * observe the memory accesses of code compiled later. */
#include "libraries/nvrtc_api.h"
#include "sim.h"

#include <algorithm>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <new>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

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

/* Returns the path, or empty if none is found. If CXX is set, only that compiler is considered. */
std::string find_compiler()
{
    const char *const path = getenv("PATH"), *const chosen = getenv("CXX");
    std::vector<const char *> names = {"c++", "g++", "clang++"};
    if (chosen != nullptr && chosen[0] != '\0') names = {chosen};
    for (const char *name : names) {
        if (strchr(name, '/') != nullptr && access(name, X_OK) == 0) return name;
        const std::string all = path != nullptr ? path : "/usr/bin:/bin";
        for (size_t from = 0; from <= all.size();) {
            const size_t end = std::min(all.find(':', from), all.size());
            const std::string file = all.substr(from, end - from) + "/" + name;
            if (access(file.c_str(), X_OK) == 0) return file;
            from = end + 1;
        }
    }
    return "";
}

std::string temporary_folder()
{
    const char *const chosen = getenv("TMPDIR");
    return chosen != nullptr ? chosen : "/tmp";
}

bool write_file(const std::string &path, const std::string &text)
{
    FILE *file = fopen(path.c_str(), "we");
    if (file == nullptr) return false;
    const bool whole = fwrite(text.data(), 1, text.size(), file) == text.size();
    return fclose(file) == 0 && whole;
}

std::string read_file(const std::string &path)
{
    std::string text;
    char part[65536];
    FILE *file = fopen(path.c_str(), "re");
    if (file == nullptr) return text;
    for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;) text.append(part, n);
    fclose(file);
    return text;
}

bool run(const std::vector<std::string> &command)
{
    std::vector<char *> words;
    for (const std::string &word : command) words.push_back(const_cast<char *>(word.c_str()));
    words.push_back(nullptr);
    posix_spawn_file_actions_t quiet;
    pid_t child;
    int status = 0;
    posix_spawn_file_actions_init(&quiet);
    for (int stream : {1, 2})
        posix_spawn_file_actions_addopen(&quiet, stream, "/dev/null", O_WRONLY, 0);
    const int failed = posix_spawn(&child, words[0], &quiet, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&quiet);
    if (failed) return false;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Compiles to a shared object in a temporary folder, and deletes the folder. */
std::string object_of(const _nvrtcProgram &program)
{
    std::string folder = temporary_folder() + "/ltensor-XXXXXX";
    if (mkdtemp(&folder[0]) == nullptr) return "";
    const std::string source = folder + "/fusion.cpp", object = folder + "/fusion.so";
    bool good = write_file(source, program.source);
    for (size_t i = 0; i < program.names.size() && good; i++)
        good = write_file(folder + "/" + program.names[i], program.texts[i]);
    good = good && run({find_compiler(), "-std=c++17", "-O1", "-fPIC", "-shared", "-w",
                        "-ffp-contract=off", "-I" + folder, source, "-o", object});
    const std::string made = good ? read_file(object) : "";
    for (const std::string &name : program.names) (void)unlink((folder + "/" + name).c_str());
    (void)unlink(source.c_str());
    (void)unlink(object.c_str());
    (void)rmdir(folder.c_str());
    return made;
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
    /* each load needs its own file: the loader identifies open objects by file */
    std::string path = temporary_folder() + "/ltensor-XXXXXX";
    const int file = mkostemp(&path[0], O_CLOEXEC);
    if (file < 0) return nullptr;
    const char *const from = code + sizeof magic + sizeof bytes;
    const bool whole = write(file, from, bytes) == (ssize_t)bytes;
    close(file);
    void *object = whole ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
    (void)unlink(path.c_str());
    return object;
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
