/* copy.cpp - memcpy and memset in stream order.
 *
 * As on a GPU, a copy from or to pageable host memory is synchronous: the source is read, or the
 * destination complete, before the call returns. Only copies between devices and with pinned memory
 * are queued. A device pointer outside any allocation is rejected at once. Memory of a device that
 * the stream's device cannot access is an illegal address, reported when the copy runs. */
#include "sim.h"

#include <stdlib.h>

using namespace lt_sim;

namespace {

/* Up to this size, copying a pageable source to a buffer is cheaper than waiting for the stream. */
constexpr size_t snapshot_limit = 1u << 20;

class Copy final : public Work {
  public:
    Copy(void *dst, const void *src, size_t count, bool reachable)
        : dst(dst), src(src), count(count), reachable(reachable)
    {}
    ~Copy() override { free(snapshot); }
    bool take_snapshot()
    {
        snapshot = malloc(count);
        if (snapshot) src = memcpy(snapshot, src, count);
        return snapshot != nullptr;
    }
    cudaError_t run() override
    {
        if (!reachable) return cudaErrorIllegalAddress;
        Watched watched;
        memmove(dst, src, count);
        if (monitor) monitor->copied(dst, src, count);
        return cudaSuccess;
    }

  private:
    void *dst;
    const void *src;
    size_t count;
    bool reachable;
    void *snapshot = nullptr;
};

class Fill final : public Work {
  public:
    Fill(void *pointer, int value, size_t count, bool reachable)
        : pointer(pointer), value(value), count(count), reachable(reachable)
    {}
    cudaError_t run() override
    {
        if (!reachable) return cudaErrorIllegalAddress;
        Watched watched;
        memset(pointer, value, count);
        if (monitor) monitor->written(pointer, count);
        return cudaSuccess;
    }

  private:
    void *pointer;
    int value;
    size_t count;
    bool reachable;
};

bool direction_fits(enum cudaMemcpyKind kind, bool to_device, bool from_device)
{
    switch (kind) {
    case cudaMemcpyHostToHost: return !to_device && !from_device;
    case cudaMemcpyHostToDevice: return to_device && !from_device;
    case cudaMemcpyDeviceToHost: return !to_device && from_device;
    case cudaMemcpyDeviceToDevice: return to_device && from_device;
    case cudaMemcpyDefault: return true;
    }
    return false;
}

uint32_t bit_of(const Device *device) { return device ? 1u << device->index : 0; }

/* The arguments are checked; dst_device or src_device is null for host memory. */
cudaError_t copy(void *dst, Device *dst_device, const void *src, Device *src_device, size_t count,
                 CUstream_st *stream, bool reachable, bool wait)
{
    if (cudaError_t error = refuse_legacy(stream)) return finish(error);
    if (wait || (!dst_device && !is_pinned(dst)) || (!src_device && !is_pinned(src)))
        if (cudaError_t error = refuse_recording(stream)) return finish(error);
    auto *work = new Copy(dst, src, count, reachable);
    work->devices = bit_of(dst_device) | bit_of(src_device);
    if (!dst_device && !is_pinned(dst)) wait = true;
    if (!src_device && !wait && !is_pinned(src))
        wait = count > snapshot_limit || !work->take_snapshot();
    uint64_t number = submit(stream, work);
    if (!wait) return cudaSuccess;
    sync({stream, number});
    return finish((cudaError_t)stream->device->error.load());
}

cudaError_t checked_copy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
                         cudaStream_t handle, bool wait)
{
    if (cudaError_t error = begin_on_device(cudaErrorInvalidValue)) return error;
    CUstream_st *stream = find_stream(handle);
    if (!stream) return finish(cudaErrorInvalidResourceHandle);
    if (count == 0) return cudaSuccess;
    Device *to = owner(dst), *from = owner(src);
    if (!dst || !src || !direction_fits(kind, to, from)) return finish(cudaErrorInvalidValue);
    if ((to && !inside_allocation(*to, dst, count)) ||
        (from && !inside_allocation(*from, src, count)))
        return finish(cudaErrorInvalidValue);
    uint32_t reach = bit_of(stream->device) | stream->device->peers;
    bool reachable = !((bit_of(to) | bit_of(from)) & ~reach);
    return copy(dst, to, src, from, count, stream, reachable, wait);
}

cudaError_t checked_peer_copy(void *dst, int dst_device, const void *src, int src_device,
                              size_t count, cudaStream_t handle, bool wait)
{
    if (cudaError_t error = begin_on_device(cudaErrorInvalidValue)) return error;
    CUstream_st *stream = find_stream(handle);
    if (!stream) return finish(cudaErrorInvalidResourceHandle);
    Device *to = device_at(dst_device), *from = device_at(src_device);
    if (!to || !from) return finish(cudaErrorInvalidDevice);
    if (count == 0) return cudaSuccess;
    if (owner(dst) != to || owner(src) != from || !inside_allocation(*to, dst, count) ||
        !inside_allocation(*from, src, count))
        return finish(cudaErrorInvalidValue);
    return copy(dst, to, src, from, count, stream, true, wait);
}

} // namespace

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    return checked_copy(dst, src, count, kind, stream, false);
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
{
    return checked_copy(dst, src, count, kind, nullptr, true);
}

cudaError_t cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device,
                                size_t count, cudaStream_t stream)
{
    return checked_peer_copy(dst, dst_device, src, src_device, count, stream, false);
}

cudaError_t cudaMemcpyPeer(void *dst, int dst_device, const void *src, int src_device, size_t count)
{
    return checked_peer_copy(dst, dst_device, src, src_device, count, nullptr, true);
}

cudaError_t cudaMemsetAsync(void *pointer, int value, size_t count, cudaStream_t handle)
{
    if (cudaError_t error = begin_on_device(cudaErrorInvalidValue)) return error;
    CUstream_st *stream = find_stream(handle);
    if (!stream) return finish(cudaErrorInvalidResourceHandle);
    if (count == 0) return cudaSuccess;
    Device *device = owner(pointer);
    if (!device || !inside_allocation(*device, pointer, count))
        return finish(cudaErrorInvalidValue);
    if (cudaError_t error = refuse_legacy(stream)) return finish(error);
    bool reachable = bit_of(device) & (bit_of(stream->device) | stream->device->peers);
    auto *work = new Fill(pointer, value, count, reachable);
    work->devices = bit_of(device);
    submit(stream, work);
    return cudaSuccess;
}

cudaError_t cudaMemset(void *pointer, int value, size_t count)
{
    return cudaMemsetAsync(pointer, value, count, nullptr);
}
