/* report.cu - failures: messages for failed runtime calls and for the faults that kernels recorded.
 */
#include <atomic>
#include <mutex>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda.h"
#include "kernels/launch.cuh"
#include "report.cuh"

/* "Float", "Long", "Bool": the names PyTorch's messages use. */
static const char *scalar_name(lt_dtype dtype)
{
    static const char *const names[LT_DTYPE_COUNT] = {
        "Bool",          "Byte",         "Char",          "Short",           "Int",
        "Long",          "Half",         "BFloat16",      "Float",           "Double",
        "ComplexHalf",   "ComplexFloat", "ComplexDouble", "UInt16",          "UInt32",
        "UInt64",        "Float8_e5m2",  "Float8_e4m3fn", "Float8_e5m2fnuz", "Float8_e4m3fnuz",
        "Float8_e8m0fnu"};
    return dtype >= 0 && dtype < LT_DTYPE_COUNT ? names[dtype] : "Undefined";
}

lt_status lt_cuda_unsupported(const char *op, lt_dtype dtype)
{
    return lt_cuda_core->error(LT_ERR_RUNTIME, "\"%s\" not implemented for '%s'", op,
                               scalar_name(dtype));
}

static bool launches_block()
{
    static const bool blocking = [] {
        const char *text = getenv("CUDA_LAUNCH_BLOCKING");
        return text != nullptr && atoi(text) != 0;
    }();
    return blocking;
}

/* These errors leave the device's context unusable; a kernel launched before the call caused them.
 */
static bool of_earlier_work(cudaError_t error)
{
    switch (error) {
    case cudaErrorECCUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure: return true;
    default: return false;
    }
}

/* The process that loaded the backend. CUDA does not work in a forked child of it. */
static const pid_t loaded_by = getpid();

lt_status lt_cuda_failed(cudaError_t error, const char *call)
{
    (void)cudaGetLastError();
    if (error == cudaErrorInitializationError && getpid() != loaded_by)
        return lt_cuda_core->error(
            LT_ERR_DEVICE,
            "Cannot re-initialize CUDA in forked subprocess %d: process %d used the GPUs before "
            "the fork. "
            "Fork before the first use of a GPU, or use GPUs in new processes (%s)",
            (int)getpid(), (int)loaded_by, call);
    lt_status status = error == cudaErrorMemoryAllocation ? LT_ERR_MEMORY : LT_ERR_DEVICE;
    const char *late =
        of_earlier_work(error) && !launches_block()
            ? " (reported asynchronously: an earlier operation on the GPU may have caused it; "
              "CUDA_LAUNCH_BLOCKING=1 shows which)"
            : "";
    return lt_cuda_core->error(status, "CUDA error: %s (%s in %s)%s", cudaGetErrorString(error),
                               cudaGetErrorName(error), call, late);
}

/* ---- faults recorded by kernels -------------------------------------------------------------- */

static std::atomic<lt_cuda_report *> reports[LT_CUDA_MAX_DEVICES];
static std::mutex reports_mutex;

lt_status lt_cuda_report_of(int device, lt_cuda_report **report)
{
    *report = reports[device].load(std::memory_order_acquire);
    if (*report != nullptr) return LT_OK;
    std::lock_guard<std::mutex> lock(reports_mutex);
    *report = reports[device].load(std::memory_order_relaxed);
    if (*report != nullptr) return LT_OK;
    void *memory = nullptr;
    CUDA_TRY(cudaHostAlloc(&memory, sizeof(lt_cuda_report), cudaHostAllocPortable));
    *report = new (memory) lt_cuda_report();
    reports[device].store(*report, std::memory_order_release);
    return LT_OK;
}

/* The prefix with which core's message for these ops starts when the call itself fails. */
static const char *late_words(const char *op)
{
    if (launches_block()) return "";
    return strcmp(op, "index_select") == 0 || strcmp(op, "embedding") == 0
               ? "index out of range in self: "
               : "";
}

lt_status lt_cuda_reported(int device)
{
    lt_cuda_report *report = reports[device].load(std::memory_order_acquire);
    if (report == nullptr || __atomic_load_n(&report->state, __ATOMIC_ACQUIRE) != 2) return LT_OK;
    lt_cuda_report found = *report;
    unsigned complete = 2;
    if (!__atomic_compare_exchange_n(&report->state, &complete, 0u, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return LT_OK; /* another thread cleared it */
    if (found.text != nullptr) {
        char number[32] = "";
        if (found.shown) snprintf(number, sizeof number, "%g", found.number);
        return lt_cuda_core->error(
            LT_ERR_RUNTIME, "%s%s%s", found.text, number,
            launches_block()
                ? ""
                : " (reported asynchronously: an earlier operation on the GPU was given it; "
                  "CUDA_LAUNCH_BLOCKING=1 shows which)");
    }
    char where[256];
    snprintf(where, sizeof where, " in %s%s", found.op,
             launches_block() ? ""
                              : " (reported asynchronously: an earlier operation on the GPU used "
                                "it and left the element out; "
                                "CUDA_LAUNCH_BLOCKING=1 shows which)");
    return lt_cuda_core->index_error(late_words(found.op), found.value, found.dim, found.size,
                                     where);
}

lt_status lt_cuda_launched(int device, cudaStream_t stream, const char *kernel)
{
    cudaError_t error = lt_launch_failure;
    lt_launch_failure = cudaSuccess;
    if (error != cudaSuccess) return lt_cuda_failed(error, kernel);
    if (!launches_block() || lt_cuda_recording()) return LT_OK;
    error = cudaStreamSynchronize(stream);
    if (error != cudaSuccess) return lt_cuda_failed(error, kernel);
    return lt_cuda_reported(device);
}
