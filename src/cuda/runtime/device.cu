/* device.cu - devices: their number, each thread's selected device, their properties.
 *
 * The thread's selection is stored here. The runtime's current device differs from it: it is the
 * device of the thread's last call. */
#include <atomic>
#include <stdio.h>
#include <string.h>

#include "cuda.h"
#include "assertion.h"

static thread_local int chosen = 0;

static std::atomic<int> known{0};

void lt_cuda_set_device_count(int count)
{
    known = count < LT_CUDA_MAX_DEVICES ? count : LT_CUDA_MAX_DEVICES;
}
int lt_cuda_device_count(void) { return known.load(std::memory_order_relaxed); }

/* A single device is always current. With several, the host program or another library may have
 * changed the current one. */
lt_status lt_cuda_make_current(int device)
{
    int now = -1;
    LT_ASSERT(device >= 0 && device < lt_cuda_device_count(), "device %d of %d", device,
              lt_cuda_device_count());
    if (lt_cuda_device_count() == 1) return LT_OK;
    CUDA_TRY(cudaGetDevice(&now));
    if (now != device) CUDA_TRY(cudaSetDevice(device));
    return LT_OK;
}

lt_status lt_cuda_enter(int device, cudaStream_t *stream)
{
    LT_TRY(lt_cuda_make_current(device));
    *stream = (cudaStream_t)(uintptr_t)lt_cuda_current_stream(device);
    return LT_OK;
}

int lt_cuda_current_device(void) { return chosen; }

lt_status lt_cuda_check_device(int device)
{
    int count = lt_cuda_device_count();
    if (device >= 0 && device < count) return LT_OK;
    return lt_cuda_core->error(
        LT_ERR_DEVICE,
        "CUDA error: invalid device ordinal: device %d was asked for, there %s %d GPU%s "
        "(device numbers count from 0)",
        device, count == 1 ? "is" : "are", count, count == 1 ? "" : "s");
}

lt_status lt_cuda_set_device(int device)
{
    LT_TRY(lt_cuda_check_device(device));
    CUDA_TRY(cudaSetDevice(device));
    chosen = device;
    return LT_OK;
}

lt_status lt_cuda_properties(int device, lt_device_properties *out)
{
    LT_TRY(lt_cuda_check_device(device));
    cudaDeviceProp p;
    CUDA_TRY(cudaGetDeviceProperties(&p, device));
    snprintf(out->name, sizeof out->name, "%s", p.name);
    out->major = p.major;
    out->minor = p.minor;
    out->multi_processor_count = p.multiProcessorCount;
    out->total_memory = p.totalGlobalMem;
    return LT_OK;
}

lt_status lt_cuda_memory_info(int device, size_t *free, size_t *total)
{
    cudaStream_t stream;
    LT_TRY(lt_cuda_check_device(device));
    LT_TRY(lt_cuda_enter(device, &stream));
    CUDA_TRY(cudaMemGetInfo(free, total));
    return LT_OK;
}

bool lt_cuda_can_access_peer(int device, int peer)
{
    int can = 0;
    if (cudaDeviceCanAccessPeer(&can, device, peer) != cudaSuccess) {
        (void)cudaGetLastError();
        return false;
    }
    return can != 0;
}
