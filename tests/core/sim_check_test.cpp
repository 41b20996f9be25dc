/* sim_check_test.cpp - what hardware punishes is found by the simulation: each test plants a fault
 * and reads what is told of it, beside the same without the fault.
 *
 * This file is compiled as kernels are in the build with checks (src/cuda/sim/check/). */
#include "kernels/launch.cuh"
#include "libraries/cusolver_api.h"
#include "runtime/marks.cuh"
#include "sim/sim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

extern "C" {
#include <cmocka.h>
}

#include <vector>

#define OK(call) assert_int_equal(call, cudaSuccess)

namespace {

template <class T> T *device_new(size_t n)
{
    T *p = nullptr;
    OK(cudaMalloc(&p, n * sizeof(T)));
    return p;
}

template <class T> T *device_zeros(size_t n)
{
    T *p = device_new<T>(n);
    OK(cudaMemset(p, 0, n * sizeof(T)));
    return p;
}

int as_new(void **)
{
    cudaDeviceReset();
    lt_sim_forget_faults();
    return 0;
}

/* The device did this, and nothing is wrong with it. */
void expect_none()
{
    OK(cudaDeviceSynchronize());
    if (lt_sim_faults()) fail_msg("%s", lt_sim_fault(0));
}

/* One fault was found, and told in these words. The device is as new. */
void expect_fault(cudaError_t error, std::vector<const char *> words)
{
    assert_int_equal(cudaDeviceSynchronize(), error);
    assert_int_equal(lt_sim_faults(), 1);
    for (const char *word : words)
        if (!strstr(lt_sim_fault(0), word)) fail_msg("\"%s\" is not in: %s", word, lt_sim_fault(0));
    lt_sim_forget_faults();
    OK(cudaDeviceReset());
}

/* ---- memcheck -------------------------------------------------------------------------------- */

struct alignas(16) four {
    float v[4];
};

__global__ void copy_fours(float *to, const float *from)
{
    if (threadIdx.x == 0) *reinterpret_cast<four *>(to) = *reinterpret_cast<const four *>(from);
}

void a_misaligned_vector(void **)
{
    float *x = device_zeros<float>(8), *y = device_zeros<float>(8);
    LT_LAUNCH(copy_fours, 1, 32, 0, y, x + 4);
    expect_none();
    LT_LAUNCH(copy_fours, 1, 32, 0, y, x + 1);
    expect_fault(cudaErrorMisalignedAddress,
                 {"memory: kernel copy_fours, block (0, 0, 0), thread (0, 0, 0): reads 16 bytes "
                  "that are not aligned to 16 at 0x",
                  "byte 4 of the 512", "sim_check_test.cpp:"});
}

__global__ void fill(int *x, int n)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) x[i] = i;
}

void memory_beyond_an_allocation(void **)
{
    int *x = device_new<int>(128);
    LT_LAUNCH(fill, 5, 32, 0, x, 128);
    expect_none();
    LT_LAUNCH(fill, 5, 32, 0, x, 129);
    expect_fault(cudaErrorIllegalAddress,
                 {"memory: kernel fill, block (4, 0, 0), thread (0, 0, 0): writes 4 bytes that ",
                  "beyond the end, byte 512 of the 512 allocated"});
}

void freed_memory_is_used(void **)
{
    int *x = device_new<int>(128);
    OK(cudaFree(x));
    LT_LAUNCH(fill, 4, 32, 0, x, 128);
    expect_fault(cudaErrorIllegalAddress, {"kernel fill", "writes 4 bytes that were freed"});
}

__global__ void add_one(int *x) { x[threadIdx.x]++; }

void host_memory_in_a_kernel(void **)
{
    std::vector<int> host(32);
    int *pinned;
    OK(cudaMallocHost(&pinned, 32 * sizeof(int)));
    LT_LAUNCH(add_one, 1, 32, 0, pinned);
    expect_none();
    LT_LAUNCH(add_one, 1, 32, 0, host.data());
    expect_fault(cudaErrorIllegalAddress,
                 {"kernel add_one", "thread (0, 0, 0)",
                  "reads 4 bytes of the host, which is neither device memory nor pinned"});
    OK(cudaFreeHost(pinned));
}

__attribute__((noinline)) int first_of(const int *x) { return *x; }

void device_memory_on_the_host(void **)
{
    int *x = device_zeros<int>(1), host = 0;
    assert_int_equal(first_of(&host), 0);
    expect_none();
    assert_int_equal(first_of(x), 0);
    expect_fault(cudaSuccess,
                 {"memory: the host reads 4 bytes of device 0 at 0x", "byte 0 of the 512"});
}

void memory_of_another_device(void **)
{
    OK(cudaSetDevice(1));
    int *x = device_zeros<int>(32);
    OK(cudaDeviceSynchronize());
    OK(cudaSetDevice(0));
    LT_LAUNCH(add_one, 1, 32, 0, x);
    expect_fault(cudaErrorIllegalAddress,
                 {"kernel add_one", "reads 4 bytes of device 1, which its own may not reach"});
    OK(cudaDeviceEnablePeerAccess(1, 0));
    LT_LAUNCH(add_one, 1, 32, 0, x);
    expect_none();
    OK(cudaDeviceReset());
    OK(cudaFree(x));
}

/* ---- initcheck ------------------------------------------------------------------------------- */

void memory_that_nothing_wrote(void **)
{
    int *x = device_new<int>(32), *y = device_zeros<int>(32);
    LT_LAUNCH(add_one, 1, 32, 0, y);
    expect_none();
    OK(cudaMemcpy(y, x, 16, cudaMemcpyDeviceToDevice)); /* what is not there is copied, too */
    LT_LAUNCH(fill, 1, 32, 0, x, 31);
    LT_LAUNCH(add_one, 1, 31, 0, x);
    expect_none();
    LT_LAUNCH(add_one, 1, 32, 0, x);
    expect_fault(cudaSuccess, {"init: kernel add_one, block (0, 0, 0), thread (31, 0, 0): reads 4 "
                               "bytes that nothing has written"});
    y = device_zeros<int>(32);
    x = device_new<int>(32);
    OK(cudaMemcpy(y, x, 16, cudaMemcpyDeviceToDevice));
    LT_LAUNCH(add_one, 1, 32, 0, y);
    expect_fault(cudaSuccess, {"init: kernel add_one", "thread (0, 0, 0)"});
}

__global__ void eight_bytes_at(int *x, int at)
{
    alignas(8) __shared__ int mine[63];
    mine[at] = x[at];
    *reinterpret_cast<volatile uint64_t *>(mine + at) = 0;
    x[at] = mine[at];
}

void shared_memory_beside_a_variable(void **)
{
    int *x = device_zeros<int>(63);
    LT_LAUNCH_BARRIER(eight_bytes_at, 1, 1, 0, 0, x, 60);
    expect_none();
    LT_LAUNCH_BARRIER(eight_bytes_at, 1, 1, 0, 0, x, 62);
    expect_fault(cudaErrorIllegalAddress,
                 {"eight_bytes_at", "writes 8 bytes beside its shared variables"});
}

__global__ void through_shared(int *x, int written)
{
    __shared__ int mine[64];
    LT_DYNAMIC_SHARED(int, more);
    const int t = (int)threadIdx.x;
    if (t < written) mine[t] = more[t] = x[t];
    __syncthreads();
    x[t] = mine[(t + 1) % 64] + more[t / 2];
}

void shared_memory_that_the_block_did_not_write(void **)
{
    int *x = device_zeros<int>(64);
    LT_LAUNCH_BARRIER(through_shared, 3, 64, 256, 0, x + 0, 64);
    OK(cudaDeviceSynchronize());
    lt_sim_forget_faults(); /* the blocks race */
    LT_LAUNCH_BARRIER(through_shared, 1, 64, 256, 0, x, 64);
    expect_none();
    LT_LAUNCH_BARRIER(through_shared, 1, 64, 256, 0, x, 63);
    expect_fault(cudaSuccess, {"init: kernel through_shared, block (0, 0, 0), thread (62, 0, 0): "
                               "reads 4 bytes of shared memory that the block has not written",
                               "byte 252 of ", "mine"});
    x = device_zeros<int>(64);
    LT_LAUNCH_BARRIER(through_shared, 1, 62, 256, 0, x, 62);
    expect_fault(cudaSuccess,
                 {"init: kernel through_shared", "thread (61, 0, 0)", "byte 248 of ", "mine"});
}

/* What a caching allocator does with the memory that it keeps. */
void a_block_that_is_handed_out_again(void **)
{
    int *x = device_zeros<int>(32);
    lt_sim::memory_given(0, 0, x, 512, false);
    lt_sim::memory_taken(0, 0, x, 100, false);
    LT_LAUNCH(fill, 1, 32, 0, x, 25);
    expect_none();
    LT_LAUNCH(add_one, 1, 25, 0, x);
    expect_none();
    lt_sim::memory_given(0, 0, x, 100, false);
    lt_sim::memory_taken(0, 0, x, 100, false);
    LT_LAUNCH(add_one, 1, 25, 0, x);
    expect_fault(cudaSuccess, {"init: kernel add_one, block (0, 0, 0), thread (0, 0, 0): reads 4 "
                               "bytes that nothing has written"});
    x = device_zeros<int>(32);
    lt_sim::memory_given(0, 0, x, 512, false);
    lt_sim::memory_taken(0, 0, x, 100, false);
    LT_LAUNCH(fill, 1, 32, 0, x, 26);
    expect_fault(cudaErrorIllegalAddress, {"memory: kernel fill, block (0, 0, 0), thread (25, 0, "
                                           "0): writes 4 bytes that were freed"});
}

/* A replay takes the graph's own memory anew. */
void a_replay_finds_its_memory_empty(void **)
{
    int *x = device_zeros<int>(32);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t program;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaDeviceSynchronize());
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    lt_sim::memory_taken(0, stream, x, 128, true);
    LT_LAUNCH(fill, 1, 32, stream, x, 32);
    LT_LAUNCH(add_one, 1, 32, stream, x);
    lt_sim::memory_given(0, stream, x, 128, true);
    lt_sim::memory_taken(0, stream, x, 128, true);
    LT_LAUNCH(fill, 1, 32, stream, x, 31);
    LT_LAUNCH(add_one, 1, 32, stream, x);
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&program, graph, 0));
    expect_none();
    OK(cudaGraphLaunch(program, stream));
    expect_fault(cudaSuccess, {"init: kernel add_one, block (0, 0, 0), thread (31, 0, 0): reads 4 "
                               "bytes that nothing has written"});
    OK(cudaGraphExecDestroy(program));
    OK(cudaGraphDestroy(graph));
}

__global__ void add_to_word(int *x) { atomicAdd(x, 1); }

__global__ void store_any(int *x) { LT_STORE_ANY(x, 1); }

void a_store_of_many_threads_is_a_write(void **)
{
    int *x = device_new<int>(1);
    LT_LAUNCH(store_any, 1, 32, 0, x);
    expect_none();
    LT_LAUNCH(add_to_word, 1, 1, 0, x);
    expect_none();
}

/* Small types are changed within their word, which may be longer than the tensor. */
void a_word_that_is_allocated_in_part(void **)
{
    int *x = device_new<int>(128);
    lt_sim::memory_new(x, 512);
    lt_sim::memory_taken(0, nullptr, x, 2, false);
    OK(cudaMemset(x, 0, 2));
    LT_LAUNCH(add_to_word, 1, 32, 0, x);
    expect_none();
    LT_LAUNCH(add_to_word, 1, 32, 0, x + 1);
    expect_fault(cudaErrorIllegalAddress, {"changes atomically 4 bytes that were freed"});
}

/* ---- racecheck ------------------------------------------------------------------------------- */

__global__ void reverse(int *x, bool wait)
{
    __shared__ int shared[64];
    const unsigned t = threadIdx.x;
    shared[t] = x[t];
    if (wait) __syncthreads();
    x[t] = shared[63 - t];
}

void a_race_on_shared_memory(void **)
{
    int *x = device_zeros<int>(64);
    LT_LAUNCH_BARRIER(reverse, 1, 64, 0, 0, x, true);
    expect_none();
    LT_LAUNCH_BARRIER(reverse, 1, 64, 0, 0, x, false);
    OK(cudaDeviceSynchronize());
    assert_true(lt_sim_faults() > 0); /* of the first half nothing was written yet, too */
    bool raced = false;
    for (long i = 0; i < lt_sim_faults(); i++)
        raced |= strstr(lt_sim_fault(i),
                        "race: kernel reverse, block (0, 0, 0), thread (32, 0, 0): reads 4 bytes "
                        "of shared memory that block (0, 0, 0), "
                        "thread (31, 0, 0) writes, with nothing that orders the two") != nullptr;
    assert_true(raced);
    lt_sim_forget_faults();
    OK(cudaFree(x));
}

__global__ void pairs(int *x, bool wait)
{
    __shared__ int shared[32];
    const unsigned t = threadIdx.x;
    shared[t] = x[t];
    const int sum = __shfl_xor_sync(0xffffffffu, x[t], 1);
    if (wait) __syncwarp();
    x[t] = shared[t ^ 1] + sum;
}

void a_race_within_a_warp(void **)
{
    int *x = device_zeros<int>(32);
    LT_LAUNCH_BARRIER(pairs, 1, 32, 0, 0, x, true);
    expect_none();
    LT_LAUNCH_BARRIER(pairs, 1, 32, 0, 0, x, false); /* a shuffle orders no memory */
    expect_fault(cudaSuccess, {"race: kernel pairs",
                               "reads 4 bytes of shared memory that block (0, 0, 0), thread (",
                               "writes, with nothing that orders"});
}

__global__ void halves_of_a_warp(int *x)
{
    __shared__ int shared[32];
    const unsigned t = threadIdx.x, mask = t < 16 ? 0xffffu : 0xffff0000u;
    shared[t] = x[t];
    __syncwarp(mask);
    x[t] = shared[t ^ 8];
}

__global__ void halves_of_a_warp_mixed(int *x)
{
    __shared__ int shared[32];
    const unsigned t = threadIdx.x, mask = t < 16 ? 0xffffu : 0xffff0000u;
    shared[t] = x[t];
    __syncwarp(mask);
    x[t] = shared[t ^ 16];
}

void only_lanes_that_met_are_ordered(void **)
{
    int *x = device_zeros<int>(32);
    LT_LAUNCH_BARRIER(halves_of_a_warp, 1, 32, 0, 0, x);
    expect_none();
    LT_LAUNCH_BARRIER(halves_of_a_warp_mixed, 1, 32, 0, 0, x);
    OK(cudaDeviceSynchronize());
    assert_true(lt_sim_faults() > 0);
    lt_sim_forget_faults();
    OK(cudaFree(x));
}

enum way { plainly, atomically, mixed };

__global__ void sum_up(int *sum, way how)
{
    if (threadIdx.x > 0) return;
    if (how == atomically || (how == mixed && blockIdx.x == 0))
        atomicAdd(sum, 1);
    else
        *sum += 1;
}

void a_race_between_blocks(void **)
{
    int *x = device_zeros<int>(1);
    LT_LAUNCH(sum_up, 4, 32, 0, x, atomically);
    expect_none();
    LT_LAUNCH(sum_up, 4, 32, 0, x, plainly);
    OK(cudaDeviceSynchronize());
    assert_non_null(strstr(lt_sim_fault(0), "race: kernel sum_up, block (1, 0, 0), thread (0, 0, "
                                            "0): reads 4 bytes of global memory that "
                                            "block (0, 0, 0), thread (0, 0, 0) writes"));
    lt_sim_forget_faults();
    LT_LAUNCH(sum_up, 2, 32, 0, x, mixed);
    OK(cudaDeviceSynchronize());
    assert_non_null(strstr(lt_sim_fault(0), "of global memory that block (0, 0, 0), thread (0, 0, "
                                            "0) changes atomically, with nothing"));
}

__global__ void bytes_of_a_word(unsigned char *x, int step) { x[threadIdx.x * step / 4] = 1; }

void neighbours_in_a_word_do_not_race(void **)
{
    auto *x = device_zeros<unsigned char>(64);
    LT_LAUNCH(bytes_of_a_word, 1, 64, 0, x, 4);
    expect_none();
    LT_LAUNCH(bytes_of_a_word, 1, 64, 0, x, 2);
    expect_fault(cudaSuccess, {"race: kernel bytes_of_a_word, block (0, 0, 0), thread (1, 0, 0): "
                               "writes 1 bytes of global memory"});
}

/* Read by another block first, then written: in whatever order they run. */
__global__ void neighbour(int *x, int *y)
{
    const unsigned t = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    y[t] = x[(t + 32) % n];
    x[t] = 1;
}

void a_write_after_a_read(void **)
{
    int *x = device_zeros<int>(128), *y = device_zeros<int>(128);
    LT_LAUNCH(neighbour, 4, 32, 0, x, y);
    OK(cudaDeviceSynchronize());
    assert_true(lt_sim_faults() > 0);
    assert_non_null(strstr(lt_sim_fault(0), "kernel neighbour"));
    lt_sim_forget_faults();
    OK(cudaFree(x));
    OK(cudaFree(y));
}

/* ---- synccheck ------------------------------------------------------------------------------- */

__global__ void two_barriers(int *x)
{
    if (threadIdx.x < 32)
        __syncthreads();
    else
        __syncthreads();
    x[threadIdx.x] = 1;
}

void barriers_at_different_places(void **)
{
    int *x = device_zeros<int>(64);
    LT_LAUNCH_BARRIER(two_barriers, 1, 64, 0, 0, x);
    expect_fault(cudaSuccess, {"barrier: kernel two_barriers, block (0, 0, 0), thread (32, 0, 0): "
                               "comes to the barrier at ",
                               "while thread 0 of the block waits"});
}

__global__ void half_a_barrier(int *x)
{
    if (threadIdx.x < 32) __syncthreads();
    x[threadIdx.x] = 1;
}

void a_barrier_for_some_threads_only(void **)
{
    int *x = device_zeros<int>(64);
    LT_LAUNCH_BARRIER(half_a_barrier, 1, 64, 0, 0, x);
    expect_fault(cudaSuccess, {"barrier: kernel half_a_barrier",
                               "32 of the block's 64 threads ended before the barrier at ",
                               "sim_check_test.cpp:"});
}

__global__ void never_meet()
{
    if (threadIdx.x < 16)
        __syncthreads();
    else
        __syncwarp();
}

void threads_that_wait_for_ever(void **)
{
    LT_LAUNCH_BARRIER(never_meet, 1, 32, 0, 0);
    expect_fault(cudaErrorLaunchTimeout,
                 {"barrier: kernel never_meet", "wait for each other for ever",
                  "16 (thread 0 first) wait at the barrier at ",
                  "lanes 0xffff0000 of warp 0 in a warp operation"});
}

__global__ void wrong_mask(int *x)
{
    x[threadIdx.x] = __shfl_sync(0xffu, (int)threadIdx.x, threadIdx.x < 8 ? 0 : 20);
}

void a_mask_that_leaves_the_caller_out(void **)
{
    int *x = device_zeros<int>(32);
    LT_LAUNCH_BARRIER(wrong_mask, 1, 9, 0, 0, x);
    OK(cudaDeviceSynchronize());
    assert_non_null(strstr(lt_sim_fault(0), "warp: kernel wrong_mask, block (0, 0, 0), thread (8, "
                                            "0, 0): lane 8 calls a warp operation with the mask "
                                            "0x000000ff, which leaves it out"));
    assert_non_null(
        strstr(lt_sim_fault(1), "lane 8 takes the value of lane 20, which takes no part"));
    lt_sim_forget_faults();
    OK(cudaFree(x));
}

/* ---- numbers --------------------------------------------------------------------------------- */

__global__ void to_integers(int *to, const float *from)
{
    to[threadIdx.x] = (int)from[threadIdx.x];
}

void an_integer_of_a_number_beyond_its_range(void **)
{
    const float numbers[2] = {2e9f, 3e9f};
    float *x = device_new<float>(2);
    int *y = device_new<int>(2);
    OK(cudaMemcpy(x, numbers, sizeof numbers, cudaMemcpyHostToDevice));
    LT_LAUNCH(to_integers, 1, 1, 0, y, x);
    expect_none();
    LT_LAUNCH(to_integers, 1, 2, 0, y, x);
    expect_fault(cudaSuccess, {"number: kernel to_integers, block (0, 0, 0), thread (1, 0, 0): "
                               "makes an integer of a floating number beyond its range"});
}

/* ---- launches -------------------------------------------------------------------------------- */

template <int N> __global__ void __launch_bounds__(N) bounded(int *x) { x[threadIdx.x] = N; }

struct large {
    char bytes[32760];
};
__global__ void takes_much(large, int *) {}
__global__ void takes_little(int *) {}

__global__ void shares_much(int *x)
{
    __shared__ int mine[64];
    mine[threadIdx.x] = (int)threadIdx.x;
    x[threadIdx.x] = mine[threadIdx.x];
}

void expect_refused(cudaError_t error, const char *words)
{
    assert_int_equal(cudaGetLastError(), error);
    expect_fault(cudaSuccess, {words});
}

void launches_beyond_limits(void **)
{
    int *x = device_zeros<int>(1024);
    LT_LAUNCH(bounded<64>, 1, 64, 0, x);
    LT_LAUNCH(takes_little, 0x7fffffff / 0x7fffffff, 1024, 0, x);
    LT_LAUNCH_BARRIER(shares_much, 1, 64, 48 * 1024 - 256, 0, x);
    expect_none();
    LT_LAUNCH(bounded<64>, 1, 96, 0, x);
    expect_refused(cudaErrorLaunchOutOfResources, "launch: kernel bounded<64>: threads in a block, "
                                                  "by its __launch_bounds__: 96, the limit is 64");
    LT_LAUNCH(takes_much, 1, 1, 0, large(), x);
    expect_refused(cudaErrorInvalidValue,
                   "launch: kernel takes_much: bytes of parameters: 32768, the limit is 32764");
    LT_LAUNCH(takes_little, dim3(1, 65536), 1, 0, x);
    expect_refused(cudaErrorInvalidConfiguration,
                   "launch: kernel takes_little: blocks in y: 65536, the limit is 65535");
    LT_LAUNCH(takes_little, 0, 1, 0, x);
    expect_refused(cudaErrorInvalidConfiguration, "launch: kernel takes_little: blocks in x: 0");
    LT_LAUNCH_BARRIER(shares_much, 1, 64, 48 * 1024 + 1, 0, x);
    expect_refused(cudaErrorInvalidConfiguration,
                   "launch: kernel shares_much: bytes of shared memory: 49153, the limit is 49152");
    x = device_zeros<int>(1024);
    LT_LAUNCH_BARRIER(shares_much, 1, 64, 48 * 1024 - 252, 0, x);
    expect_fault(cudaErrorLaunchOutOfResources,
                 {"kernel shares_much",
                  "uses 49156 bytes of shared memory, 48900 of them dynamic, the limit is 49152"});
}

/* ---- libraries ------------------------------------------------------------------------------- */

void a_library_that_reads_what_nothing_has_written(void **)
{
    const lt_cusolver *f;
    cusolverDnHandle_t handle;
    float *a = device_new<float>(4), *work = device_new<float>(1000);
    int *info = device_new<int>(1), size = 0;
    assert_int_equal(lt_cusolver_get(&f), LT_OK);
    assert_int_equal(f->create(&handle), CUSOLVER_STATUS_SUCCESS);
    assert_int_equal(f->s.potrf_size(handle, CUBLAS_FILL_MODE_UPPER, 2, a, 2, &size),
                     CUSOLVER_STATUS_SUCCESS);
    const auto factor = [&](cublasFillMode_t triangle) {
        assert_int_equal(f->s.potrf(handle, triangle, 2, a, 2, work, size, info),
                         CUSOLVER_STATUS_SUCCESS);
    };
    /* All but the element below the diagonal. */
    OK(cudaMemset(a, 0, sizeof *a));
    OK(cudaMemset(a + 2, 0, 2 * sizeof *a));
    factor(CUBLAS_FILL_MODE_UPPER);
    expect_none();
    factor(CUBLAS_FILL_MODE_LOWER);
    OK(cudaDeviceSynchronize());
    assert_int_equal(f->destroy(handle), CUSOLVER_STATUS_SUCCESS);
    expect_fault(cudaSuccess, {"init: cusolverDnPotrf reads memory that nothing has written",
                               "(byte 4 of the 512 allocated at"});
}

const CMUnitTest tests[] = {
    cmocka_unit_test_setup(a_misaligned_vector, as_new),
    cmocka_unit_test_setup(memory_beyond_an_allocation, as_new),
    cmocka_unit_test_setup(freed_memory_is_used, as_new),
    cmocka_unit_test_setup(host_memory_in_a_kernel, as_new),
    cmocka_unit_test_setup(device_memory_on_the_host, as_new),
    cmocka_unit_test_setup(memory_of_another_device, as_new),
    cmocka_unit_test_setup(memory_that_nothing_wrote, as_new),
    cmocka_unit_test_setup(shared_memory_beside_a_variable, as_new),
    cmocka_unit_test_setup(shared_memory_that_the_block_did_not_write, as_new),
    cmocka_unit_test_setup(a_block_that_is_handed_out_again, as_new),
    cmocka_unit_test_setup(a_replay_finds_its_memory_empty, as_new),
    cmocka_unit_test_setup(a_store_of_many_threads_is_a_write, as_new),
    cmocka_unit_test_setup(a_word_that_is_allocated_in_part, as_new),
    cmocka_unit_test_setup(a_race_on_shared_memory, as_new),
    cmocka_unit_test_setup(a_race_within_a_warp, as_new),
    cmocka_unit_test_setup(only_lanes_that_met_are_ordered, as_new),
    cmocka_unit_test_setup(a_race_between_blocks, as_new),
    cmocka_unit_test_setup(neighbours_in_a_word_do_not_race, as_new),
    cmocka_unit_test_setup(a_write_after_a_read, as_new),
    cmocka_unit_test_setup(barriers_at_different_places, as_new),
    cmocka_unit_test_setup(a_barrier_for_some_threads_only, as_new),
    cmocka_unit_test_setup(threads_that_wait_for_ever, as_new),
    cmocka_unit_test_setup(a_mask_that_leaves_the_caller_out, as_new),
    cmocka_unit_test_setup(an_integer_of_a_number_beyond_its_range, as_new),
    cmocka_unit_test_setup(launches_beyond_limits, as_new),
    cmocka_unit_test_setup(a_library_that_reads_what_nothing_has_written, as_new),
};

} // namespace

int main()
{
    setenv("LTENSOR_SIM_GPUS", "2", 1);
    setenv("LTENSOR_SIM_CHECK", "1", 1);
    unsetenv("LTENSOR_SIM_SEED");
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
