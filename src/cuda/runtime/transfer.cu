/* transfer.cu - copies of contiguous memory between host and device, within a device, and between
 * devices.
 *
 * A copy runs on the current stream of its device. A copy between devices runs on the source's
 * stream; both devices' streams wait for each other before and after it, as in PyTorch, without
 * blocking the host. With the host, a blocking copy waits for the stream. A non-blocking copy
 * returns at once if the host memory is page-locked, else as soon as the runtime has read or
 * written it. */
#include <atomic>

#include "assertion.h"
#include "system/clock.h"
#include "cuda.h"

/* A copy between the host and a device. */
static lt_status with_host(const lt_transfer &t, double *waited)
{
    const bool to_device = t.src_device.type == LT_CPU;
    const int device = to_device ? t.dst_device.index : t.src_device.index;
    cudaStream_t stream;
    LT_TRY(lt_cuda_enter(device, &stream));
    const double start = lt_clock();
    const bool returns_at_once = t.mode == LT_COPY_NON_BLOCKING && t.pinned;
    if (!returns_at_once) LT_TRY(lt_cuda_refuse_recording());
    if (!to_device && !returns_at_once)
        return lt_cuda_read(device, stream, t.dst, t.src, t.nbytes, waited);
    if (t.mode == LT_COPY_BLOCKING) LT_TRY(lt_cuda_wait(device, stream));
    CUDA_TRY(cudaMemcpyAsync(t.dst, t.src, t.nbytes,
                             to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, stream));
    /* replays use the block: the caller keeps it alive */
    if (returns_at_once && lt_cuda_recording()) return LT_OK;
    if (returns_at_once) return lt_cuda_pinned_used(to_device ? t.src : t.dst, device, stream);
    if (t.mode == LT_COPY_BLOCKING) CUDA_TRY(cudaStreamSynchronize(stream));
    *waited = lt_clock() - start;
    return LT_OK;
}

/* ---- between devices ------------------------------------------------------------------------- */

/* Enables access to the other device's memory, so that copies are direct; without it, the runtime
 * copies through the host. Precondition: `device` is current. */
static lt_status enable_peer_access(int device, int other)
{
    static std::atomic<uint64_t> asked[LT_CUDA_MAX_DEVICES];
    LT_ASSERT(other >= 0 && other < 64 && other != device, "devices %d, %d", device, other);
    const uint64_t bit = (uint64_t)1 << other;
    int can = 0;
    if (asked[device].load(std::memory_order_relaxed) & bit) return LT_OK;
    CUDA_TRY(cudaDeviceCanAccessPeer(&can, device, other));
    if (can != 0) {
        cudaError_t error = cudaDeviceEnablePeerAccess(other, 0);
        if (error == cudaErrorPeerAccessAlreadyEnabled)
            (void)cudaGetLastError();
        else if (error != cudaSuccess)
            return lt_cuda_failed(error, "cudaDeviceEnablePeerAccess");
    }
    asked[device].fetch_or(bit, std::memory_order_relaxed);
    return LT_OK;
}

/* Orders work queued later on `waiting` after all work queued on `first` so far. */
static lt_status stream_wait(int first_device, cudaStream_t first, int waiting_device,
                             cudaStream_t waiting)
{
    cudaStream_t ignored;
    cudaEvent_t event;
    LT_TRY(lt_cuda_enter(first_device, &ignored));
    LT_TRY(lt_cuda_event_alloc(first_device, &event));
    cudaError_t error = cudaEventRecord(event, first);
    lt_status status = error == cudaSuccess ? lt_cuda_enter(waiting_device, &ignored) : LT_OK;
    if (error == cudaSuccess && status == LT_OK) error = cudaStreamWaitEvent(waiting, event, 0);
    lt_cuda_event_free(first_device, event);
    return error == cudaSuccess ? status
                                : lt_cuda_failed(error, "cudaEventRecord, cudaStreamWaitEvent");
}

static lt_status between_devices(void *dst, int to, const void *src, int from, size_t nbytes)
{
    cudaStream_t to_stream, from_stream;
    LT_TRY(lt_cuda_enter(to, &to_stream));
    LT_TRY(enable_peer_access(to, from));
    LT_TRY(lt_cuda_enter(from, &from_stream));
    LT_TRY(enable_peer_access(from, to));
    LT_TRY(stream_wait(to, to_stream, from, from_stream));
    LT_TRY(lt_cuda_enter(from, &from_stream));
    CUDA_TRY(cudaMemcpyPeerAsync(dst, to, src, from, nbytes, from_stream));
    return stream_wait(from, from_stream, to, to_stream);
}

lt_status lt_cuda_transfer(const lt_transfer *t, double *waited)
{
    cudaStream_t stream;
    const int to = t->dst_device.index, from = t->src_device.index;
    const bool to_host = t->dst_device.type == LT_CPU, from_host = t->src_device.type == LT_CPU;
    LT_ASSERT(!to_host || !from_host, "%zu bytes", t->nbytes);
    LT_ASSERT(t->nbytes == 0 || (t->dst != nullptr && t->src != nullptr), "%zu bytes", t->nbytes);
    *waited = 0;
    if (t->nbytes == 0) return LT_OK;
    if (to_host || from_host) return with_host(*t, waited);
    if (to != from) return between_devices(t->dst, to, t->src, from, t->nbytes);
    LT_TRY(lt_cuda_enter(to, &stream));
    CUDA_TRY(cudaMemcpyAsync(t->dst, t->src, t->nbytes, cudaMemcpyDeviceToDevice, stream));
    return LT_OK;
}
