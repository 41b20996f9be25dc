/* sim_device.h - memory and streams of a simulated GPU, for the tests of its libraries. */
#ifndef LT_SIM_DEVICE_H
#define LT_SIM_DEVICE_H

#include "sim/sim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

extern "C" {
#include <cmocka.h>
}

#include <vector>

#define OK(call) assert_int_equal(call, cudaSuccess)

inline cudaStream_t new_stream()
{
    cudaStream_t stream = nullptr;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

template <class T> T *device_new(const std::vector<T> &values)
{
    T *p = nullptr;
    OK(cudaMalloc(&p, values.size() * sizeof(T) + sizeof(T)));
    OK(cudaMemcpy(p, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return p;
}

template <class T> std::vector<T> host(const T *p, size_t n)
{
    std::vector<T> values(n);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(values.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
}

/* An address within p's allocation at which no element may begin. */
template <class T> T *askew(T *p) { return reinterpret_cast<T *>(reinterpret_cast<char *>(p) + 1); }

#endif
