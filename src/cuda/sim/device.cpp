/* device.cpp - devices: count, properties, synchronization, reset, peer access. */
#include "sim.h"

#include <stdio.h>

using namespace lt_sim;

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 0;
    if (cudaError_t error = begin(cudaErrorInitializationError)) return error;
    *count = (int)runtime().devices.size();
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    if (cudaError_t error = begin(cudaErrorInitializationError)) return error;
    *device = current_device();
    return cudaSuccess;
}

cudaError_t cudaSetDeviceFlags(unsigned int) { return begin(cudaErrorInitializationError); }

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int index)
{
    if (cudaError_t error = begin(cudaErrorInitializationError)) return error;
    Device *device = device_at(index);
    if (!device) return finish(cudaErrorInvalidDevice);
    *p = cudaDeviceProp();
    snprintf(p->name, sizeof p->name, "Simulated GPU");
    p->totalGlobalMem = runtime().settings.memory;
    p->sharedMemPerBlock = default_shared_limit;
    p->totalConstMem = 64 * 1024;
    p->regsPerBlock = 65536;
    p->warpSize = 32;
    p->maxThreadsPerBlock = 1024;
    p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 0x7fffffff;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->major = 9;
    p->minor = 0;
    p->multiProcessorCount = 8;
    p->maxThreadsPerMultiProcessor = 2048;
    p->pciBusID = device->physical + 1;
    p->concurrentKernels = p->unifiedAddressing = 1;
    p->asyncEngineCount = 1;
    p->l2CacheSize = 1 << 20;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int index)
{
    cudaDeviceProp p;
    if (cudaError_t error = cudaGetDeviceProperties(&p, index)) return error;
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = p.maxThreadsPerBlock; break;
    case cudaDevAttrMaxBlockDimX: *value = p.maxThreadsDim[0]; break;
    case cudaDevAttrMaxBlockDimY: *value = p.maxThreadsDim[1]; break;
    case cudaDevAttrMaxBlockDimZ: *value = p.maxThreadsDim[2]; break;
    case cudaDevAttrMaxGridDimX: *value = p.maxGridSize[0]; break;
    case cudaDevAttrMaxGridDimY: *value = p.maxGridSize[1]; break;
    case cudaDevAttrMaxGridDimZ: *value = p.maxGridSize[2]; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = (int)p.sharedMemPerBlock; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)wide_shared_limit; break;
    case cudaDevAttrWarpSize: *value = p.warpSize; break;
    case cudaDevAttrMultiProcessorCount: *value = p.multiProcessorCount; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = p.maxThreadsPerMultiProcessor; break;
    case cudaDevAttrUnifiedAddressing: *value = p.unifiedAddressing; break;
    case cudaDevAttrComputeCapabilityMajor: *value = p.major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = p.minor; break;
    default: return finish(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void)
{
    if (cudaError_t error = begin_on_device(cudaErrorLaunchFailure)) return error;
    Device &device = *device_at(current_device());
    if (cudaError_t error = refuse_waiting(device)) return finish(error);
    sync_device(device);
    return finish((cudaError_t)device.error.load());
}

/* Drops the device's streams, memory, peer access and error. */
cudaError_t cudaDeviceReset(void)
{
    if (cudaError_t error = begin(cudaErrorInitializationError)) return error;
    Device &device = *device_at(current_device());
    sync_device(device);
    std::vector<CUstream_st *> streams;
    {
        std::lock_guard<std::mutex> lock(device.mutex);
        for (CUstream_st *stream : device.streams)
            if (stream != device.default_stream) streams.push_back(stream);
    }
    for (CUstream_st *stream : streams) retire_stream(stream);
    free_all(device);
    device.peers = 0;
    device.error = cudaSuccess;
    cudaGetLastError();
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    if (cudaError_t error = begin(cudaErrorInitializationError)) return error;
    if (!device_at(device) || !device_at(peer)) return finish(cudaErrorInvalidDevice);
    *can = device != peer && runtime().settings.peer;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
    if (cudaError_t error = begin_on_device(cudaErrorPeerAccessUnsupported)) return error;
    if (!device_at(peer) || peer == current_device()) return finish(cudaErrorInvalidDevice);
    if (flags) return finish(cudaErrorInvalidValue);
    if (!runtime().settings.peer) return finish(cudaErrorPeerAccessUnsupported);
    uint32_t bit = 1u << peer;
    if (device_at(current_device())->peers.fetch_or(bit) & bit)
        return finish(cudaErrorPeerAccessAlreadyEnabled);
    return cudaSuccess;
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    if (cudaError_t error = begin_on_device(cudaErrorPeerAccessNotEnabled)) return error;
    if (!device_at(peer)) return finish(cudaErrorInvalidDevice);
    uint32_t bit = 1u << peer;
    if (!(device_at(current_device())->peers.fetch_and(~bit) & bit))
        return finish(cudaErrorPeerAccessNotEnabled);
    return cudaSuccess;
}
