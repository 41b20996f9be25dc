/* runtime.cpp - start and end of the runtime, settings, errors, fault injection.
 *
 * Errors follow CUDA. Each host thread has a last error, which cudaGetLastError clears. An error
 * that occurs while a work item runs belongs to the device: every later call on it fails until
 * cudaDeviceReset. */
#include "sim.h"

#include "exit_status.h"

#include <algorithm>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <thread>
#include <unistd.h>

namespace lt_sim {

namespace {

constexpr int fault_status = 86;
thread_local int device_of_thread = 0;
thread_local cudaError_t last_error = cudaSuccess;
std::atomic<bool> forked{false};
std::atomic<bool> stopped{false};
std::atomic<long> calls{0}, fault{0}, kernel_fault{0};

long number(const char *name, long fallback, long low, long high)
{
    const char *text = getenv(name);
    if (!text || !*text) return fallback;
    return std::min(std::max(strtol(text, nullptr, 10), low), high);
}

size_t bytes(const char *name, size_t fallback)
{
    const char *text = getenv(name);
    if (!text || !*text) return fallback;
    char *end;
    double value = strtod(text, &end);
    size_t unit = 1;
    if (*end == 'K' || *end == 'k') unit = 1u << 10;
    if (*end == 'M' || *end == 'm') unit = 1u << 20;
    if (*end == 'G' || *end == 'g') unit = 1u << 30;
    size_t size = value > 0 ? (size_t)(value * (double)unit) : 0;
    return std::max(size / 4096 * 4096, (size_t)4096);
}

Settings read_settings()
{
    Settings s;
#ifdef LT_NO_THREADS
    const long cores = 1;
#else
    const long cores = std::max(1u, std::thread::hardware_concurrency());
#endif
    s.gpus = (int)number("LTENSOR_SIM_GPUS", 0, 0, max_devices);
    s.memory = bytes("LTENSOR_SIM_MEMORY", s.memory);
    s.threads = (int)number("LTENSOR_SIM_THREADS", std::min(cores, 4L), 1, 64);
    s.protect = number("LTENSOR_SIM_PROTECT", 0, 0, 1) != 0;
    s.blocking = number("CUDA_LAUNCH_BLOCKING", 0, 0, 1) != 0;
    s.cudnn = number("LTENSOR_SIM_CUDNN", s.cudnn, 80000, s.cudnn);
    s.peer = number("LTENSOR_SIM_PEER", 1, 0, 1) != 0;
    s.jitter = (unsigned)number("LTENSOR_SIM_JITTER", 0, 0, 0x7fffffff);
    s.report = number("LTENSOR_SIM_REPORT", 0, 0, 1) != 0;
    if (const char *file = getenv("LTENSOR_SIM_USED")) s.used = file;
    s.fault = number("LTENSOR_CUDA_FAULT", 0, 0, 0x7fffffff);
    s.kernel_fault = number("LTENSOR_SIM_KERNEL_FAULT", 0, 0, 0x7fffffff);
    s.check = number("LTENSOR_SIM_CHECK", 0, 0, 1) != 0;
    s.index_limit = number("LTENSOR_SIM_INDEX_LIMIT", s.index_limit, 1, s.index_limit);
    s.seed = (uint64_t)number("LTENSOR_SIM_SEED", 0, 0, 0x7fffffff);
    s.kernel_error = (cudaError_t)number("LTENSOR_SIM_KERNEL_ERROR", cudaErrorIllegalAddress, 1,
                                         cudaErrorUnknown);
    return s;
}

/* Parsed as by CUDA: a list of numbers; the first invalid or repeated number ends it. */
std::vector<int> visible_devices(int gpus)
{
    std::vector<int> visible;
    const char *text = getenv("CUDA_VISIBLE_DEVICES");
    if (!text) {
        for (int i = 0; i < gpus; i++) visible.push_back(i);
        return visible;
    }
    while (*text) {
        char *end;
        long index = strtol(text, &end, 10);
        bool known = std::find(visible.begin(), visible.end(), index) != visible.end();
        if (end == text || index < 0 || index >= gpus || known) break;
        visible.push_back((int)index);
        text = end;
        while (*text == ' ') text++;
        if (*text != ',') break;
        text++;
    }
    return visible;
}

/* At exit. A kernel that still runs does not delay the process, as on a GPU; the memory that it
 * uses is not freed before the process has exited. */
void stop(int status)
{
    if (forked) return;
    stopped = true;
    runtime().stopping = true;
    const bool ended = stop_streams();
    if (ended) stop_pool();
    if (runtime().settings.report)
        fprintf(stderr, "simulated GPUs: %ld runtime calls\n", calls.load());
    const bool failed = runtime().settings.check && lt_sim_faults() > 0;
    if (failed) fprintf(stderr, "simulated GPUs: %ld faults\n", lt_sim_faults());
    if (!ended || failed) {
        fflush(nullptr);
        _exit(failed && status == 0 ? fault_status : status);
    }
}

Runtime *start()
{
    auto *r = new Runtime;
    r->settings = read_settings();
    fault = r->settings.fault;
    kernel_fault = r->settings.kernel_fault;
    for (int physical : visible_devices(r->settings.gpus)) {
        auto device = std::make_unique<Device>();
        device->index = (int)r->devices.size();
        device->physical = physical;
        r->devices.push_back(std::move(device));
    }
    if (r->devices.empty()) r->state = cudaErrorNoDevice;
    pthread_atfork(nullptr, nullptr, at_fork_child);
    return r;
}

} // namespace

/* Never freed: work items may finish while static objects are being destroyed. */
Runtime &runtime()
{
    static Runtime *instance = start();
    static const bool registered = (at_exit(stop), true);
    (void)registered;
    return *instance;
}

void at_fork_child() { forked = true; }

cudaError_t finish(cudaError_t error)
{
    if (error) last_error = error;
    return error;
}

cudaError_t begin(cudaError_t injected)
{
    if (stopped) return cudaErrorCudartUnloading;
    if (forked) return finish(cudaErrorInitializationError);
    Runtime &r = runtime();
    if (r.state) return finish(r.state);
    calls.fetch_add(1, std::memory_order_relaxed);
    if (fault.load(std::memory_order_relaxed) > 0 && fault.fetch_sub(1) == 1)
        return finish(injected);
    return cudaSuccess;
}

cudaError_t begin_on_device(cudaError_t injected)
{
    cudaError_t error = begin(injected);
    if (error) return error;
    return finish((cudaError_t)runtime().devices[device_of_thread]->error.load());
}

bool usable() { return !stopped && !forked && !runtime().state; }

bool kernel_fails()
{
    return kernel_fault.load(std::memory_order_relaxed) > 0 && kernel_fault.fetch_sub(1) == 1;
}

int64_t index_limit() { return runtime().settings.index_limit; }

int current_device() { return device_of_thread; }

Device *device_at(int index)
{
    Runtime &r = runtime();
    return index >= 0 && index < (int)r.devices.size() ? r.devices[index].get() : nullptr;
}

void set_device_error(Device &device, cudaError_t error)
{
    int none = cudaSuccess;
    device.error.compare_exchange_strong(none, error);
}

} // namespace lt_sim

using namespace lt_sim;

void lt_sim_set_fault(long n)
{
    runtime();
    fault = n;
}

long lt_sim_calls(void) { return calls; }

cudaError_t cudaSetDevice(int device)
{
    if (cudaError_t error = begin(cudaErrorDevicesUnavailable)) return error;
    if (!device_at(device)) return finish(cudaErrorInvalidDevice);
    device_of_thread = device;
    return cudaSuccess;
}

cudaError_t cudaPeekAtLastError(void)
{
    if (usable()) {
        int error = runtime().devices[device_of_thread]->error;
        if (error) return (cudaError_t)error;
    }
    return last_error;
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = cudaPeekAtLastError();
    last_error = cudaSuccess;
    return error;
}

struct ErrorText {
    cudaError_t error;
    const char *name, *text;
};

/* CUDA's own texts, which users search for. */
static const ErrorText error_texts[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorCudartUnloading, "cudaErrorCudartUnloading", "driver shutting down"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection",
     "invalid copy direction for memcpy"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorDevicesUnavailable, "cudaErrorDevicesUnavailable",
     "CUDA-capable device(s) is/are busy or unavailable"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorPeerAccessUnsupported, "cudaErrorPeerAccessUnsupported",
     "peer access is not supported between these two devices"},
    {cudaErrorOperatingSystem, "cudaErrorOperatingSystem",
     "OS call failed or operation not supported on this OS"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources",
     "too many resources requested for launch"},
    {cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled",
     "peer access is already enabled"},
    {cudaErrorPeerAccessNotEnabled, "cudaErrorPeerAccessNotEnabled",
     "peer access has not been enabled"},
    {cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered"},
    {cudaErrorECCUncorrectable, "cudaErrorECCUncorrectable", "uncorrectable ECC error encountered"},
    {cudaErrorHardwareStackError, "cudaErrorHardwareStackError", "hardware stack error"},
    {cudaErrorIllegalInstruction, "cudaErrorIllegalInstruction",
     "an illegal instruction was encountered"},
    {cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    {cudaErrorInvalidAddressSpace, "cudaErrorInvalidAddressSpace",
     "operation not supported on global/shared address space"},
    {cudaErrorInvalidPc, "cudaErrorInvalidPc", "invalid program counter"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorIllegalState, "cudaErrorIllegalState",
     "the operation cannot be performed in the present state"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureMerge, "cudaErrorStreamCaptureMerge",
     "operation would result in a merge of separate capture sequences"},
    {cudaErrorStreamCaptureUnmatched, "cudaErrorStreamCaptureUnmatched",
     "capture was not ended in the same stream as it began"},
    {cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined",
     "capturing stream has unjoined work"},
    {cudaErrorStreamCaptureIsolation, "cudaErrorStreamCaptureIsolation",
     "dependency created on uncaptured work in another stream"},
    {cudaErrorStreamCaptureImplicit, "cudaErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {cudaErrorCapturedEvent, "cudaErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
    {cudaErrorStreamCaptureWrongThread, "cudaErrorStreamCaptureWrongThread",
     "attempt to terminate a thread-local capture sequence from another thread"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
};

const char *cudaGetErrorName(cudaError_t error)
{
    for (const ErrorText &entry : error_texts)
        if (entry.error == error) return entry.name;
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    for (const ErrorText &entry : error_texts)
        if (entry.error == error) return entry.text;
    return "unrecognized error code";
}
