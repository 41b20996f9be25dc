/* sim_test.cpp - the simulated CUDA runtime, and launch.cuh on it.
 *
 * Settings are read once per process, so each group of tests runs in a process of its own: the
 * program starts itself again with the group's name and environment. */
#include "kernels/launch.cuh"
#include "sim/sim.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern "C" {
#include <cmocka.h>
}

#include "emulated.h"

#include <vector>

#if defined(__SANITIZE_THREAD__)
#define WATCHES_RACES
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WATCHES_RACES
#endif
#endif

#define OK(call) assert_int_equal(call, cudaSuccess)

namespace {

cudaStream_t new_stream()
{
    cudaStream_t stream;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

template <class T> T *device_new(size_t n)
{
    T *p = nullptr;
    OK(cudaMalloc(&p, n * sizeof(T)));
    return p;
}

double seconds()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

template <class T> __global__ void fill(T *x, int n, T value)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) x[i] = value;
}

template <class T, int N> __global__ void add(const T *a, const T *b, T *c, int n)
{
    int start = (int)(blockIdx.x * blockDim.x + threadIdx.x) * N;
    for (int i = start; i < start + N && i < n; i++) c[i] = a[i] + b[i];
}

/* x[0] += 1, n times, slowly enough to be overtaken: a compiler may not shorten it. */
__global__ void count(volatile int *x, int n)
{
    for (int i = 0; i < n; i++) x[0] = x[0] + 1;
}

__global__ void block_sums(const float *x, double *sum, int n)
{
    __shared__ double warp_sums[32];
    double v = 0;
    for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < n;
         i += (int)(gridDim.x * blockDim.x))
        v += x[i];
    for (int offset = 16; offset; offset /= 2) v += __shfl_down_sync(0xffffffffu, v, offset);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    v = threadIdx.x < blockDim.x / 32 ? warp_sums[threadIdx.x] : 0;
    for (int offset = 16; offset; offset /= 2) v += __shfl_down_sync(0xffffffffu, v, offset);
    if (threadIdx.x == 0) atomicAdd(sum, v);
}

void vector_add(void **)
{
    const int n = 100003;
    float *a = device_new<float>(n), *b = device_new<float>(n), *c = device_new<float>(n);
    cudaStream_t stream = new_stream();
    LT_LAUNCH(fill<float>, 400, 256, stream, a, n, 1.5f);
    LT_LAUNCH(fill<float>, 400, 256, stream, b, n, 2);
    LT_LAUNCH((add<float, 4>), (n + 1023) / 1024, 256, stream, a, b, c, n);
    OK(cudaGetLastError());
    std::vector<float> host(n);
    OK(cudaMemcpyAsync(host.data(), c, n * sizeof(float), cudaMemcpyDeviceToHost, stream));
    for (float x : host) assert_true(x == 3.5f);
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(a));
    OK(cudaFree(b));
    OK(cudaFree(c));
}

void block_reduction(void **)
{
    const int n = 1000000;
    float *x = device_new<float>(n);
    double *sum = device_new<double>(1), result;
    cudaStream_t stream = new_stream();
    LT_LAUNCH(fill<float>, (n + 255) / 256, 256, stream, x, n, 0.25f);
    OK(cudaMemsetAsync(sum, 0, sizeof *sum, stream));
    OK(cudaStreamSynchronize(stream));
    double start = seconds();
    LT_LAUNCH_BARRIER(block_sums, (n + 255) / 256, 256, 0, stream, x, sum, n);
    OK(cudaStreamSynchronize(stream));
    print_message("block reduction of 1e6 elements: %.0f ms\n", (seconds() - start) * 1e3);
    OK(cudaMemcpyAsync(&result, sum, sizeof result, cudaMemcpyDeviceToHost, stream));
    assert_true(result == 250000);
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(x));
    OK(cudaFree(sum));
}

__global__ void reverse(int *x, int *poison)
{
    LT_DYNAMIC_SHARED(int, shared);
    int t = (int)threadIdx.x, n = (int)blockDim.x;
    if (t == 0) poison[blockIdx.x] = shared[n - 1];
    __syncthreads();
    shared[t] = x[blockIdx.x * n + t];
    __syncthreads();
    x[blockIdx.x * n + t] = shared[n - 1 - t];
}

void dynamic_shared_memory(void **)
{
    const int n = 96, blocks = 3;
    std::vector<int> host(n * blocks), poison(blocks);
    for (int i = 0; i < n * blocks; i++) host[i] = i;
    int *x = device_new<int>(n * blocks), *p = device_new<int>(blocks);
    OK(cudaMemcpy(x, host.data(), host.size() * sizeof(int), cudaMemcpyHostToDevice));
    LT_LAUNCH_BARRIER(reverse, blocks, n, n * sizeof(int), 0, x, p);
    OK(cudaMemcpy(host.data(), x, host.size() * sizeof(int), cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(poison.data(), p, poison.size() * sizeof(int), cudaMemcpyDeviceToHost));
    for (int b = 0; b < blocks; b++) {
        assert_int_equal(poison[b], -1);
        for (int t = 0; t < n; t++) assert_int_equal(host[b * n + t], b * n + n - 1 - t);
    }
    OK(cudaFree(x));
    OK(cudaFree(p));
}

/* One row of results per kind of warp operation. */
__global__ void warp_operations(int *out)
{
    int lane = (int)threadIdx.x, n = (int)blockDim.x;
    out[0 * n + lane] = __shfl_sync(0xffffffffu, lane * 10, 3);
    out[1 * n + lane] = __shfl_sync(0xffffffffu, lane, 1, 8);
    out[2 * n + lane] = __shfl_up_sync(0xffffffffu, lane, 2);
    out[3 * n + lane] = __shfl_down_sync(0xffffffffu, lane, 2, 16);
    out[4 * n + lane] = __shfl_xor_sync(0xffffffffu, lane, 5);
    out[5 * n + lane] = (int)__ballot_sync(0xffffffffu, lane % 3 == 0);
    out[6 * n + lane] = __any_sync(0xffffffffu, lane == 7) + 2 * __all_sync(0xffffffffu, lane < 31);
    if (lane % 2)
        out[7 * n + lane] = __shfl_sync(0xaaaaaaaau, lane, 31);
    else
        out[7 * n + lane] = __shfl_sync(0x55555555u, lane, 30);
    __syncwarp();
}

void shuffles(void **)
{
    int *x = device_new<int>(8 * 32), host[8][32];
    LT_LAUNCH_BARRIER(warp_operations, 1, 32, 0, 0, x);
    OK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    for (int lane = 0; lane < 32; lane++) {
        assert_int_equal(host[0][lane], 30);
        assert_int_equal(host[1][lane], lane / 8 * 8 + 1);
        assert_int_equal(host[2][lane], lane < 2 ? lane : lane - 2);
        assert_int_equal(host[3][lane], lane % 16 < 14 ? lane + 2 : lane);
        assert_int_equal(host[4][lane], lane ^ 5);
        assert_int_equal(host[5][lane], 0x49249249);
        assert_int_equal(host[6][lane], 1);
        assert_int_equal(host[7][lane], lane % 2 ? 31 : 30);
    }
    OK(cudaFree(x));
}

/* Threads leave one by one; those left still meet. */
__global__ void leave_early(int *rounds)
{
    for (int i = 0; i <= (int)threadIdx.x; i++) {
        __syncthreads();
        rounds[threadIdx.x]++;
    }
}

/* The lower half waits at the barrier, the upper half for the lower half's lanes. */
__global__ void deadlock()
{
    if (threadIdx.x < 16)
        __syncthreads();
    else
        __syncwarp();
}

void threads_that_end_count_as_arrived(void **)
{
    int *x = device_new<int>(100), host[100];
    OK(cudaMemset(x, 0, sizeof host));
    LT_LAUNCH_BARRIER(leave_early, 1, 100, 0, 0, x);
    OK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 100; i++) assert_int_equal(host[i], i + 1);
    OK(cudaFree(x));
}

__global__ void trap_at(int thread)
{
    if ((int)threadIdx.x == thread) __trap();
}

void errors_of_kernels_stay(void **)
{
    OK(cudaSetDevice(1));
    LT_LAUNCH(trap_at, 1, 64, 0, 5);
    assert_int_equal(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    assert_int_equal(cudaGetLastError(), cudaErrorLaunchFailure);
    assert_int_equal(cudaGetLastError(), cudaErrorLaunchFailure);
    void *p;
    assert_int_equal(cudaMalloc(&p, 16), cudaErrorLaunchFailure);
    OK(cudaSetDevice(0));
    /* this thread's, of the cudaMalloc */
    assert_int_equal(cudaGetLastError(), cudaErrorLaunchFailure);
    OK(cudaGetLastError());
    OK(cudaMalloc(&p, 16));
    OK(cudaFree(p));
    OK(cudaSetDevice(1));
    OK(cudaDeviceReset());
    LT_LAUNCH_BARRIER(deadlock, 1, 32, 0, 0);
    assert_int_equal(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
    OK(cudaDeviceReset());
    LT_LAUNCH(deadlock, 1, 32, 0); /* says so on stderr: it should be LT_LAUNCH_BARRIER */
    assert_int_equal(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    OK(cudaDeviceReset());
    LT_LAUNCH_BARRIER(trap_at, 1, 64, 0, 0, 5);
    assert_int_equal(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    OK(cudaDeviceReset());
    OK(cudaDeviceSynchronize());
    OK(cudaSetDevice(0));
}

void wrong_configurations(void **)
{
    struct {
        dim3 grid, block;
        size_t shared;
    } wrong[] = {
        {0, 1, 0},    {1, 0, 0}, {1, 1025, 0}, {1, dim3(64, 32), 0}, {dim3(1, 65536), 1, 0},
        {1, 1, 49153}};
    for (auto &w : wrong) {
        LT_LAUNCH_BARRIER(deadlock, w.grid, w.block, w.shared, 0);
        assert_int_equal(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
        assert_int_equal(cudaGetLastError(), cudaErrorInvalidConfiguration);
        OK(cudaGetLastError());
    }
    cudaStream_t stream = new_stream();
    OK(cudaSetDevice(1));
    LT_LAUNCH(trap_at, 1, 1, stream, 0);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidResourceHandle);
    OK(cudaSetDevice(0));
    OK(cudaStreamDestroy(stream));
    assert_int_equal(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
    cudaGetLastError();
}

void events(void **)
{
    int *x = device_new<int>(1), host = 0;
    cudaStream_t a = new_stream(), b = new_stream();
    cudaEvent_t start, end, untimed;
    float ms = -1;
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&end));
    OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    OK(cudaEventQuery(untimed));
    OK(cudaMemsetAsync(x, 0, sizeof *x, a));
    OK(cudaEventRecord(start, a));
    LT_LAUNCH(count, 1, 1, a, x, 5000000);
    OK(cudaEventRecord(end, a));
    OK(cudaEventRecord(untimed, a));
    assert_int_equal(cudaEventQuery(end), cudaErrorNotReady);
    assert_int_equal(cudaStreamQuery(a), cudaErrorNotReady);
    assert_int_equal(cudaGetLastError(), cudaErrorNotReady);
    OK(cudaStreamWaitEvent(b, untimed, 0));
    OK(cudaMemcpyAsync(&host, x, sizeof host, cudaMemcpyDeviceToHost, b));
    assert_int_equal(host, 5000000);
    OK(cudaEventSynchronize(end));
    OK(cudaEventElapsedTime(&ms, start, end));
    assert_true(ms > 0.1f && ms < 10000);
    assert_int_equal(cudaEventElapsedTime(&ms, start, untimed), cudaErrorInvalidResourceHandle);
    OK(cudaSetDevice(1));
    assert_int_equal(cudaEventRecord(end, 0), cudaErrorInvalidResourceHandle);
    OK(cudaSetDevice(0));
    cudaGetLastError();
    OK(cudaEventDestroy(start));
    OK(cudaEventDestroy(end));
    OK(cudaEventDestroy(untimed));
    OK(cudaStreamDestroy(a));
    OK(cudaStreamDestroy(b));
    OK(cudaFree(x));
}

/* Streams without cudaStreamNonBlocking and the default stream wait for each other. */
void the_default_stream(void **)
{
    int *x = device_new<int>(1), host = 0;
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    OK(cudaMemset(x, 0, sizeof *x));
    for (int i = 0; i < 100; i++) LT_LAUNCH(count, 1, 1, i % 2 ? stream : 0, x, 1000);
    OK(cudaMemcpy(&host, x, sizeof host, cudaMemcpyDeviceToHost));
    assert_int_equal(host, 100000);
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(x));
}

void enlarge(void *data) { *static_cast<int *>(data) *= 2; }

void host_functions(void **)
{
    int value = 21;
    cudaStream_t stream = new_stream();
    OK(cudaLaunchHostFunc(stream, enlarge, &value));
    OK(cudaStreamSynchronize(stream));
    assert_int_equal(value, 42);
    OK(cudaStreamDestroy(stream));
}

void copies_of_pageable_and_pinned_memory(void **)
{
    const int n = 1000;
    int *x = device_new<int>(n), *pinned;
    int *slow = device_new<int>(1);
    OK(cudaMallocHost(&pinned, n * sizeof(int)));
    std::vector<int> pageable(n, 7), back(n, 0);
    cudaStream_t stream = new_stream();
    cudaPointerAttributes attributes;
    OK(cudaPointerGetAttributes(&attributes, pinned + 5));
    assert_int_equal(attributes.type, cudaMemoryTypeHost);
    OK(cudaPointerGetAttributes(&attributes, pageable.data()));
    assert_int_equal(attributes.type, cudaMemoryTypeUnregistered);
    OK(cudaPointerGetAttributes(&attributes, x + 5));
    assert_int_equal(attributes.type, cudaMemoryTypeDevice);
    assert_int_equal(attributes.device, 0);

    /* The source may be changed as soon as the call returns ... */
    LT_LAUNCH(count, 1, 1, stream, slow, 3000000);
    OK(cudaMemcpyAsync(x, pageable.data(), n * sizeof(int), cudaMemcpyHostToDevice, stream));
    for (int &v : pageable) v = 8;
    OK(cudaMemcpyAsync(back.data(), x, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
    for (int v : back) assert_int_equal(v, 7);
    /* ... but not if it is pinned. */
    for (int i = 0; i < n; i++) pinned[i] = 1;
    LT_LAUNCH(count, 1, 1, stream, slow, 3000000);
    OK(cudaMemcpyAsync(x, pinned, n * sizeof(int), cudaMemcpyHostToDevice, stream));
    assert_int_equal(cudaStreamQuery(stream), cudaErrorNotReady);
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemcpyAsync(pinned, x, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    for (int i = 0; i < n; i++) assert_int_equal(pinned[i], 1);
    cudaGetLastError();

    assert_int_equal(cudaMemcpy(x, pinned, 8, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpy(x, pinned, 8192, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    assert_int_equal(cudaFree(x + 1), cudaErrorInvalidValue);
    cudaGetLastError();
    OK(cudaFreeHost(pinned));
    OK(cudaFree(x));
    OK(cudaFree(slow));
    OK(cudaStreamDestroy(stream));
}

void copies_between_devices(void **)
{
    int value = 0, can = 0, count = 0;
    OK(cudaGetDeviceCount(&count));
    assert_int_equal(count, 2);
    int *x = device_new<int>(256), *z = device_new<int>(256);
    OK(cudaSetDevice(1));
    int *y = device_new<int>(256);
    cudaPointerAttributes attributes;
    OK(cudaPointerGetAttributes(&attributes, y));
    assert_int_equal(attributes.device, 1);
    OK(cudaSetDevice(0));
    LT_LAUNCH(fill<int>, 1, 256, 0, x, 256, 9);
    OK(cudaMemcpyPeerAsync(y, 1, x, 0, 256 * sizeof(int), 0));
    OK(cudaDeviceSynchronize());
    OK(cudaSetDevice(1));
    OK(cudaMemcpy(&value, y + 255, sizeof value, cudaMemcpyDeviceToHost));
    assert_int_equal(value, 9);

    /* Without peer access an ordinary copy is an illegal access, which stays. */
    OK(cudaMemcpyAsync(y, x, 4, cudaMemcpyDeviceToDevice, 0));
    assert_int_equal(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    assert_int_equal(cudaFree(y), cudaErrorIllegalAddress);
    OK(cudaDeviceReset());
    y = device_new<int>(256);

    OK(cudaDeviceCanAccessPeer(&can, 1, 0));
    assert_int_equal(can, 1);
    OK(cudaDeviceEnablePeerAccess(0, 0));
    assert_int_equal(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessAlreadyEnabled);
    cudaGetLastError();
    LT_LAUNCH((add<int, 1>), 1, 256, 0, x, x, y, 256);
    OK(cudaMemcpy(&value, y + 3, sizeof value, cudaMemcpyDeviceToHost));
    assert_int_equal(value, 18);
    OK(cudaFree(y));
    OK(cudaSetDevice(0));
    OK(cudaFree(x));
    OK(cudaFree(z));
}

__global__ void convert(const float *x, __half *h, __nv_bfloat16 *b, int n)
{
    int i = (int)threadIdx.x;
    if (i >= n) return;
    h[i] = __float2half(x[i]);
    b[i] = __float2bfloat16(x[i]);
}

void half_types(void **)
{
    const float in[] = {0,     -0.0f,   1,          65504, 65519,     65520,
                        6e-8f, 2.9e-8f, 1.0009766f, NAN,   -INFINITY, 1e30f};
    const float half_out[] = {0, -0.0f,      1,   65504,     65504,   INFINITY, 5.9604645e-8f,
                              0, 1.0009766f, NAN, -INFINITY, INFINITY};
    for (size_t i = 0; i < sizeof in / sizeof *in; i++) {
        float out = __half2float(__float2half(in[i]));
        assert_true(isnan(in[i]) ? isnan(out)
                                 : out == half_out[i] && signbit(out) == signbit(in[i]));
        float rough = __bfloat162float(__float2bfloat16(in[i]));
        assert_true(isnan(in[i]) ? isnan(rough)
                                 : rough == in[i] || fabsf(rough / in[i] - 1) <= 1 / 256.0f);
    }
    for (unsigned u = 0; u < 65536; u++) { /* every half but NaN survives the way through float */
        float value = __half2float(__ushort_as_half((unsigned short)u));
        if (!isnan(value)) assert_int_equal(__half_as_ushort(__float2half(value)), u);
    }
    assert_int_equal(__half_as_ushort(__double2half(1.00048828125 + 1e-12)), 0x3c01);
    LT_LAUNCH(convert, 1, 32, 0, (const float *)nullptr, (__half *)nullptr,
              (__nv_bfloat16 *)nullptr, 0);
    OK(cudaDeviceSynchronize());
}

void inverse_error_function(void **)
{
    const double x[] = {0, 1e-10, 0.1, 0.5, -0.9, 0.999, 0.999999999};
    for (double v : x) assert_true(fabs(erf(erfinv(v)) - v) <= 1e-15);
    assert_true(fabs(erfinv(0.999999999) - 4.320005384913445) < 1e-6);
    assert_true(isinf(erfinv(1.0)) && isnan(erfinv(1.5)));
}

void many_small_works(void **)
{
    int *x = device_new<int>(1), host = 0;
    cudaStream_t stream = new_stream();
    OK(cudaMemsetAsync(x, 0, sizeof *x, stream));
    OK(cudaStreamSynchronize(stream));
    const int n = 20000;
    double start = seconds();
    for (int i = 0; i < n; i++) LT_LAUNCH(count, 1, 1, stream, x, 1);
    double queued = seconds();
    OK(cudaStreamSynchronize(stream));
    print_message("small works: %.2f us to queue, %.2f us to run\n", (queued - start) / n * 1e6,
                  (seconds() - start) / n * 1e6);
    OK(cudaMemcpyAsync(&host, x, sizeof host, cudaMemcpyDeviceToHost, stream));
    assert_int_equal(host, n);
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(x));
}

/* How often a copy on another stream misses what the first stream writes. */
int misses(bool wait)
{
    int *x = device_new<int>(1), *host, wrong = 0;
    OK(cudaMallocHost(&host, sizeof *host));
    cudaStream_t writer = new_stream(), reader = new_stream();
    cudaEvent_t written;
    OK(cudaEventCreateWithFlags(&written, cudaEventDisableTiming));
    for (int i = 1; i <= 40; i++) {
        LT_LAUNCH(fill<int>, 1, 1, writer, x, 1, i);
        OK(cudaEventRecord(written, writer));
        if (wait) OK(cudaStreamWaitEvent(reader, written, 0));
        OK(cudaMemcpyAsync(host, x, sizeof *host, cudaMemcpyDeviceToHost, reader));
        OK(cudaStreamSynchronize(reader));
        wrong += *host != i;
        OK(cudaDeviceSynchronize());
    }
    OK(cudaEventDestroy(written));
    OK(cudaStreamDestroy(writer));
    OK(cudaStreamDestroy(reader));
    OK(cudaFreeHost(host));
    OK(cudaFree(x));
    return wrong;
}

#ifndef WATCHES_RACES /* the race is real */
void a_missing_wait_gives_wrong_results(void **) { assert_true(misses(false) > 0); }
#endif
void a_wait_gives_right_results(void **) { assert_int_equal(misses(true), 0); }

void out_of_memory(void **)
{
    size_t free_bytes, total;
    void *a, *b, *c;
    OK(cudaMemGetInfo(&free_bytes, &total));
    assert_int_equal(total, 1 << 20);
    assert_int_equal(free_bytes, total);
    OK(cudaMalloc(&a, 1));
    OK(cudaMemGetInfo(&free_bytes, &total));
    assert_int_equal(free_bytes, total - 512);
    OK(cudaMalloc(&b, 600 << 10));
    assert_int_equal((uintptr_t)b % 512, 0);
    assert_int_equal(cudaMalloc(&c, 600 << 10), cudaErrorMemoryAllocation);
    assert_string_equal(cudaGetErrorString(cudaGetLastError()), "out of memory");
    OK(cudaGetLastError());
    OK(cudaFree(a));
    OK(cudaFree(b));
    OK(cudaFree(nullptr));
    OK(cudaMalloc(&c, 1 << 20));
    OK(cudaFree(c));
}

void injected_faults(void **)
{
    void *p;
    int *x = device_new<int>(1);
    lt_sim_set_fault(2);
    OK(cudaSetDevice(0));
    assert_int_equal(cudaMalloc(&p, 16), cudaErrorMemoryAllocation);
    assert_int_equal(cudaGetLastError(), cudaErrorMemoryAllocation);
    OK(cudaMalloc(&p, 16));
    lt_sim_set_fault(1);
    LT_LAUNCH(count, 1, 1, 0, x, 1);
    assert_int_equal(cudaGetLastError(), cudaErrorLaunchOutOfResources);
    long before = lt_sim_calls();
    OK(cudaFree(p));
    assert_int_equal(lt_sim_calls(), before + 1);
    OK(cudaFree(x));
}

void the_environment_injects_too(void **)
{
    int count;
    assert_int_equal(cudaGetDeviceCount(&count), cudaErrorInitializationError);
    OK(cudaGetDeviceCount(&count));
}

int signal_of_child(volatile int *read)
{
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        _exit(*read == 12345);
    }
    int status;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

void device_memory_is_not_the_hosts(void **)
{
    int *x = device_new<int>(1000), host;
    OK(cudaMemcpy(&host, x, sizeof host, cudaMemcpyDeviceToHost));
    assert_int_equal(host, -1); /* new memory is poisoned */
    LT_LAUNCH(fill<int>, 4, 256, 0, x, 1000, 3);
    OK(cudaMemcpy(&host, x + 999, sizeof host, cudaMemcpyDeviceToHost));
    assert_int_equal(host, 3);
    OK(cudaDeviceSynchronize());
    assert_int_equal(signal_of_child(x), SIGSEGV);
    assert_int_equal(signal_of_child(&host), 0);
    OK(cudaFree(x));
}

void a_forked_child_has_no_gpu(void **)
{
    int *x = device_new<int>(1);
    pid_t child = fork();
    if (child == 0) _exit(cudaFree(x) == cudaErrorInitializationError ? 0 : 1);
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    OK(cudaFree(x));
}

void no_devices(void **)
{
    int count = 7;
    assert_int_equal(cudaGetDeviceCount(&count), cudaErrorNoDevice);
    assert_int_equal(count, 0);
    assert_int_equal(cudaGetLastError(), cudaErrorNoDevice);
    assert_int_equal(cudaSetDevice(0), cudaErrorNoDevice);
}

void visible_devices(void **)
{
    int count = 0;
    cudaDeviceProp properties;
    OK(cudaGetDeviceCount(&count));
    assert_int_equal(count, 2); /* 2,0; 9 is none and ends the list */
    OK(cudaGetDeviceProperties(&properties, 0));
    assert_string_equal(properties.name, "Simulated GPU");
    assert_int_equal(properties.major, 9);
    assert_int_equal(properties.pciBusID, 3);
    assert_int_equal(cudaSetDevice(2), cudaErrorInvalidDevice);
}

const CMUnitTest plain[] = {
    cmocka_unit_test(vector_add),
    cmocka_unit_test(block_reduction),
    cmocka_unit_test(dynamic_shared_memory),
    cmocka_unit_test(shuffles),
    cmocka_unit_test(threads_that_end_count_as_arrived),
    cmocka_unit_test(wrong_configurations),
    cmocka_unit_test(events),
    cmocka_unit_test(the_default_stream),
    cmocka_unit_test(host_functions),
    cmocka_unit_test(copies_of_pageable_and_pinned_memory),
    cmocka_unit_test(copies_between_devices),
    cmocka_unit_test(half_types),
    cmocka_unit_test(inverse_error_function),
    cmocka_unit_test(many_small_works),
    cmocka_unit_test(errors_of_kernels_stay),
};

const CMUnitTest jitter[] = {
#ifndef WATCHES_RACES
    cmocka_unit_test(a_missing_wait_gives_wrong_results),
#endif
    cmocka_unit_test(a_wait_gives_right_results),
    cmocka_unit_test(the_default_stream),
};

const CMUnitTest protect[] = {
    cmocka_unit_test(device_memory_is_not_the_hosts),
    cmocka_unit_test(vector_add),
    cmocka_unit_test(copies_between_devices),
    cmocka_unit_test(a_forked_child_has_no_gpu),
};

const CMUnitTest memory[] = {cmocka_unit_test(out_of_memory), cmocka_unit_test(injected_faults)};
const CMUnitTest fault[] = {cmocka_unit_test(the_environment_injects_too)};
const CMUnitTest none[] = {cmocka_unit_test(no_devices)};
const CMUnitTest visible[] = {cmocka_unit_test(visible_devices)};

#define RUN(group) cmocka_run_group_tests_name("sim: " #group, group, nullptr, nullptr)

struct Group {
    const char *name;
    int (*run)();
    std::vector<const char *> environment; /* name, value, name, value */
};

const Group groups[] = {
    {"plain", [] { return RUN(plain); }, {"LTENSOR_SIM_GPUS", "2", "LTENSOR_SIM_THREADS", "3"}},
    {"jitter", [] { return RUN(jitter); }, {"LTENSOR_SIM_GPUS", "1", "LTENSOR_SIM_JITTER", "1"}},
    {"protect", [] { return RUN(protect); }, {"LTENSOR_SIM_GPUS", "2", "LTENSOR_SIM_PROTECT", "1"}},
    {"memory", [] { return RUN(memory); }, {"LTENSOR_SIM_GPUS", "1", "LTENSOR_SIM_MEMORY", "1M"}},
    {"fault", [] { return RUN(fault); }, {"LTENSOR_SIM_GPUS", "1", "LTENSOR_CUDA_FAULT", "1"}},
    {"none", [] { return RUN(none); }, {"LTENSOR_SIM_GPUS", "0"}},
    {"visible",
     [] { return RUN(visible); },
     {"LTENSOR_SIM_GPUS", "3", "CUDA_VISIBLE_DEVICES", "2,0,9,1"}},
};

const char *const settings[] = {
    "LTENSOR_SIM_GPUS",   "LTENSOR_SIM_THREADS",  "LTENSOR_SIM_JITTER",
    "LTENSOR_SIM_MEMORY", "LTENSOR_CUDA_FAULT",   "LTENSOR_SIM_PROTECT",
    "LTENSOR_SIM_PEER",   "CUDA_VISIBLE_DEVICES", "CUDA_LAUNCH_BLOCKING"};

int run_in_child(const Group &group)
{
    pid_t child = fork();
    if (child == 0) {
        for (const char *name : settings) unsetenv(name);
        for (size_t i = 0; i < group.environment.size(); i += 2)
            setenv(group.environment[i], group.environment[i + 1], 1);
        char own[4200], command[4300];
        write_own_command(own, sizeof own);
        snprintf(command, sizeof command, "%s %s", own, group.name);
        execl("/bin/sh", "sh", "-c", command, (char *)nullptr);
        _exit(127);
    }
    int status;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) fprintf(stderr, "%s: signal %d\n", group.name, WTERMSIG(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

} // namespace

int main(int argc, char **argv)
{
    int failed = 0;
    for (const Group &group : groups) {
        if (argc < 2)
            failed += run_in_child(group);
        else if (!strcmp(argv[1], group.name))
            return group.run();
    }
    return failed != 0;
}
