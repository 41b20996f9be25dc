/* compile.cpp - users' kernels on simulated GPUs (libraries/user_kernel_engine.h): the host's
 * C++ compiler compiles the source with -fsanitize=thread, so that each memory access is checked
 * (check/).
 *
 * The functions that the object calls are in the object itself (user/preamble.h); they reach the
 * checker through a table that is set when the object is loaded. So no symbol of this library is
 * exported, and ThreadSanitizer is not linked. */
#include "../check/checker.h"
#include "../compiler.h"
#include "libraries/user_kernel_engine.h"
#include "source.h"

#include "user_kernel_sources.h" /* generated: the files that a source includes */

#include <algorithm>
#include <dlfcn.h>
#include <string.h>

using namespace lt_sim;

namespace {

/* A loaded kernel. */
struct Loaded {
    UserEntry entry;
    Places places;
    std::string name;
};

const Context *running_context() { return &context; }

const Host host = {
    [](uintptr_t address, size_t bytes, AccessKind kind, bool aligned, uintptr_t code) {
        the_checker().access(address, bytes, kind, aligned, code);
    },
    running_context,
    sync_block,
    sync_warp,
    exchange,
    lane};

bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* nvcc's options that the host's compiler has, too. */
std::vector<std::string> common_options(const lt_kernel_source &source)
{
    std::vector<std::string> options;
    bool standard = false;
    for (int i = 0; i < source.n_options; i++) {
        const char *const option = source.options[i];
        standard = standard || begins_with(option, "-std=");
        for (const char *start : {"-D", "-U", "-I", "-std="})
            if (begins_with(option, start)) options.push_back(option);
    }
    if (!standard) options.push_back("-std=c++17");
    return options;
}

/* The first lines of the compiler's messages, without the chains of #include and the paths of the
 * temporary folder. */
std::string shortened(std::string log, const std::string &folder)
{
    for (size_t at; (at = log.find(folder + "/")) != log.npos;) log.erase(at, folder.size() + 1);
    for (const char *start : {"In file included from ", "                 from "})
        for (size_t at = 0; (at = log.find(start, at)) != log.npos;)
            log.erase(at, log.find('\n', at) + 1 - at);
    log.erase(std::min(log.find("\nlaunch:"), log.size())); /* follows from errors above */
    if (log.size() > 900) log.erase(log.rfind('\n', 900));
    while (!log.empty() && log.back() == '\n') log.pop_back();
    return log;
}

} // namespace

lt_status lt_user_identify(const lt_kernel_source &source, std::string *identity)
{
    const std::string compiler = find_compiler();
    identity->clear();
    if (compiler.empty()) {
        *identity =
            "torch.cuda._compile_kernel() on a simulated GPU needs a C++ compiler, and none "
            "was found (CXX, c++, g++, clang++); install one or set CXX to its path";
        return LT_ERR_DEVICE;
    }
    lt_status status = source.authorize(LT_ACCESS_PROCESS, compiler.c_str());
    if (status == LT_OK)
        status = source.authorize(LT_ACCESS_FILE_WRITE, temporary_folder().c_str());
    if (status == LT_OK) status = source.authorize(LT_ACCESS_LIBRARY, source.file);
    if (status == LT_OK) *identity = compiler + " " + std::to_string(LT_USER_SOURCES_HASH);
    return status;
}

bool lt_user_compile(const lt_kernel_source &source, int architecture, std::string *image)
{
    TemporaryFolder folder;
    const std::string text = folder.file("kernel.cpp"), object = folder.file("kernel.o"),
                      library = folder.file("kernel.so"), log = folder.file("log"),
                      compiler = find_compiler();
    bool good =
        write_file(text, std::string("#include \"preamble.h\"\n#line 1 \"") + source.file + "\"\n" +
                             host_source(source.text, source.file) +
                             "\n#line 1 \"launch\"\nLT_SIM_USER_KERNEL(" + source.name + ")\n");
    for (int i = 0; i < LT_USER_SOURCES && good; i++)
        good = write_file(folder.file(lt_user_source_names[i]), lt_user_source_texts[i]);
    if (!good) {
        *image = "cannot write to " + temporary_folder();
        return false;
    }
    std::vector<std::string> command = {compiler,
                                        "-Og",
                                        "-g1",
                                        "-fPIC",
                                        "-fvisibility=hidden",
                                        "-w",
                                        "-fsanitize=thread",
                                        "-ffp-contract=off",
                                        "-fdiagnostics-color=never",
                                        "-D__CUDA_ARCH__=" + std::to_string(10 * architecture),
                                        "-I" + folder.path};
    for (const std::string &option : common_options(source)) command.push_back(option);
    command.insert(command.end(), {"-c", text, "-o", object});
    if (!run_program(command, log) ||
        !run_program({compiler, "-shared", object, "-o", library}, log)) {
        *image = shortened(read_file(log), folder.path);
        return false;
    }
    *image = read_file(library);
    return true;
}

cudaError_t lt_user_load(const lt_kernel_source &source, const std::string &image, void **kernel)
{
    void *const object = load_object(image);
    if (object == nullptr) return cudaErrorInvalidValue;
    auto *const table = static_cast<const Host **>(dlsym(object, "lt_sim_host"));
    const auto entry = reinterpret_cast<UserEntry (*)()>(dlsym(object, "lt_sim_user_entry"));
    if (table == nullptr || entry == nullptr) {
        dlclose(object);
        return cudaErrorInvalidValue;
    }
    *table = &host;
    *kernel = new Loaded{entry(), Places(table, image, source.file), source.name};
    return cudaSuccess;
}

cudaError_t lt_user_launch(void *kernel, const lt_kernel_launch &launch, cudaStream_t handle,
                           std::string *reports)
{
    auto *const loaded = static_cast<Loaded *>(kernel);
    size_t bytes = 0;
    for (int i = 0; i < launch.n_arguments; i++) bytes += launch.arguments[i].bytes;
    CUstream_st *const stream = find_stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    const bool waited = !stream->recording;
    auto *const made = new UserKernel(loaded->entry.run, bytes, &loaded->places, waited);
    for (int i = 0; i < launch.n_arguments; i++) {
        const lt_kernel_argument &argument = launch.arguments[i];
        made->add_argument(argument.value, argument.bytes);
        if (argument.memory == nullptr) continue;
        const auto *memory = static_cast<const char *>(argument.memory);
        const char *start;
        memcpy(&start, argument.value, sizeof start);
        made->regions.push_back(
            {{memory, memory + argument.memory_bytes}, start, argument.element, argument.name});
    }
    const std::shared_ptr<Outcome> outcome = made->outcome;
    const uint32_t *const g = launch.grid, *const b = launch.block;
    cudaError_t error = submit_kernel(
        made,
        {loaded->name.c_str(), loaded->entry.code, "", launch.shared_bytes > default_shared_limit},
        dim3(g[0], g[1], g[2]), dim3(b[0], b[1], b[2]), launch.shared_bytes, handle);
    if (error == cudaSuccess && waited) {
        sync(newest(stream));
        error = outcome->error;
    }
    *reports = outcome->reports;
    return error;
}
