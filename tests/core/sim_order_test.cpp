/* sim_order_test.cpp - what CUDA leaves open is left to chance by a seed, what it forbids while a
 * graph is captured is refused, and numbers are converted as GPUs do it.
 *
 * Settings are read once per process: what a seed gives is printed by this program, started
 * again. */
#include "kernels/launch.cuh"
#include "sim/sim.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern "C" {
#include <cmocka.h>
}

#include "emulated.h"

#include <algorithm>
#include <string>

#define OK(call) assert_int_equal(call, cudaSuccess)

namespace {

/* ---- orders ---------------------------------------------------------------------------------- */

constexpr int count = 64;

__global__ void enlist(int *list, int *length)
{
    list[atomicAdd(length, 1)] = (int)(blockIdx.x * blockDim.x + threadIdx.x);
}

__global__ void enlist_after_barrier(int *list, int *length)
{
    __syncthreads();
    list[atomicAdd(length, 1)] = (int)threadIdx.x;
}

void print_list(int *memory)
{
    int list[count + 1];
    if (cudaMemcpy(list, memory, sizeof list, cudaMemcpyDeviceToHost)) exit(2);
    for (int i = 0; i < count; i++) printf("%d ", list[i]);
    printf("\n");
}

/* The order of blocks, of threads, of threads after a barrier; of works on two streams. */
int print_orders()
{
    int *memory = nullptr;
    const size_t bytes = (count + 1) * sizeof(int);
    if (cudaMalloc(&memory, bytes)) return 2;
    for (int kind = 0; kind < 3; kind++) {
        cudaMemset(memory, 0, bytes);
        if (kind == 0) LT_LAUNCH(enlist, count, 1, 0, memory, memory + count);
        if (kind == 1) LT_LAUNCH(enlist, 1, count, 0, memory, memory + count);
        if (kind == 2)
            LT_LAUNCH_BARRIER(enlist_after_barrier, 1, count, 0, 0, memory, memory + count);
        print_list(memory);
    }
    cudaStream_t streams[2];
    for (auto &stream : streams)
        if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)) return 2;
    cudaMemset(memory, 0, bytes);
    cudaDeviceSynchronize();
    for (int i = 0; i < count; i++) {
        static int numbers[count];
        numbers[i] = i;
        static std::atomic<int> length{0};
        static int *list = memory;
        cudaLaunchHostFunc(
            streams[i % 2], [](void *data) { list[length++] = *static_cast<int *>(data); },
            &numbers[i]);
    }
    cudaDeviceSynchronize();
    print_list(memory);
    return 0;
}

/* This program, started again with these settings. */
FILE *started(const char *settings, const char *what)
{
    char own[4200], command[4400];
    write_own_command(own, sizeof own);
    snprintf(command, sizeof command, "%s %s %s", settings, own, what);
    return popen(command, "r");
}

struct Orders {
    std::vector<int> of[4];
};

Orders orders_by(int seed)
{
    char settings[100];
    snprintf(settings, sizeof settings, "LTENSOR_SIM_THREADS=1 LTENSOR_SIM_SEED=%d", seed);
    FILE *out = started(settings, "orders");
    Orders orders;
    for (auto &order : orders.of)
        for (int i = 0, value; i < count && fscanf(out, "%d", &value) == 1; i++)
            order.push_back(value);
    assert_int_equal(pclose(out), 0);
    return orders;
}

std::vector<int> in_order()
{
    std::vector<int> list(count);
    for (int i = 0; i < count; i++) list[i] = i;
    return list;
}

void blocks_and_threads_run_in_an_order_by_a_seed(void **)
{
    const Orders plain = orders_by(0), one = orders_by(1), again = orders_by(1), two = orders_by(2);
    for (int kind = 0; kind < 3; kind++) {
        if (kind < 2) assert_true(plain.of[kind] == in_order());
        assert_true(one.of[kind] != in_order());
        assert_true(one.of[kind] == again.of[kind]);
        assert_true(one.of[kind] != two.of[kind]);
        std::vector<int> sorted = one.of[kind];
        std::sort(sorted.begin(), sorted.end());
        assert_true(sorted == in_order());
    }
}

/* Where in the list the stream is further than the other, which was given its works at the same
 * time. */
void streams_overtake_each_other(void **)
{
    int most[2] = {0, 0};
    for (int seed = 1; seed <= 12; seed++) {
        const std::vector<int> order = orders_by(seed).of[3];
        int done[2] = {0, 0};
        for (int i : order) {
            assert_int_equal(i / 2, done[i % 2]); /* a stream keeps its own order */
            done[i % 2]++;
            for (int s = 0; s < 2; s++) most[s] = std::max(most[s], done[s] - done[1 - s]);
        }
    }
    assert_true(most[0] > 4 && most[1] > 4);
}

/* ---- large tensors --------------------------------------------------------------------------- */

/* The last place of a tensor; the fault is that of the 64-bit kernel: it is one too low. */
template <class Index> __global__ void last_place(int64_t *out, Index n)
{
    *out = sizeof(Index) == 8 ? n - 2 : n - 1;
}

int print_last_place()
{
    int64_t *memory = nullptr, place = 0, n = 1000;
    if (cudaMalloc(&memory, sizeof place)) return 2;
    if (n >= LT_INDEX_LIMIT)
        LT_LAUNCH(last_place<int64_t>, 1, 1, 0, memory, n);
    else
        LT_LAUNCH(last_place<int32_t>, 1, 1, 0, memory, (int32_t)n);
    if (cudaMemcpy(&place, memory, sizeof place, cudaMemcpyDeviceToHost)) return 2;
    printf("%d\n", (int)place);
    return 0;
}

/* A small tensor meets the kernels for more than 2^31 elements where the limit is lowered. */
void large_tensors_are_met_by_a_lowered_limit(void **)
{
    const char *const settings[] = {"LTENSOR_SIM_GPUS=1", "LTENSOR_SIM_INDEX_LIMIT=1001",
                                    "LTENSOR_SIM_INDEX_LIMIT=1000"};
    const int places[] = {999, 999, 998};
    for (int i = 0; i < 3; i++) {
        int place = 0;
        FILE *out = started(settings[i], "place");
        assert_int_equal(fscanf(out, "%d", &place), 1);
        assert_int_equal(pclose(out), 0);
        assert_int_equal(place, places[i]);
    }
}

/* ---- captures -------------------------------------------------------------------------------- */

__global__ void nothing() {}

struct Call {
    const char *name;
    cudaError_t (*make)();
    /* What it gives while another stream of the device is captured in the modes global, by another
     * thread than ours; by this thread; and relaxed. */
    cudaError_t global, own, relaxed;
};

cudaStream_t captured, other;
cudaEvent_t recorded_inside, recorded_outside;
void *memory, *pinned;

const cudaError_t refused = cudaErrorStreamCaptureUnsupported;
const Call calls[] = {
    {"cudaMalloc", [] { return cudaMalloc(&memory, 512); }, refused, refused, cudaSuccess},
    {"cudaFree", [] { return cudaFree(memory); }, refused, refused, cudaSuccess},
    {"cudaHostAlloc", [] { return cudaHostAlloc(&pinned, 512, 0); }, refused, refused, cudaSuccess},
    {"cudaFreeHost", [] { return cudaFreeHost(pinned); }, refused, refused, cudaSuccess},
    {"cudaStreamSynchronize", [] { return cudaStreamSynchronize(other); }, refused, refused,
     cudaSuccess},
    {"cudaStreamQuery", [] { return cudaStreamQuery(other); }, refused, refused, cudaSuccess},
    {"cudaEventQuery", [] { return cudaEventQuery(recorded_outside); }, refused, refused,
     cudaSuccess},
    {"cudaEventSynchronize", [] { return cudaEventSynchronize(recorded_outside); }, refused,
     refused, cudaSuccess},
    {"cudaDeviceSynchronize", cudaDeviceSynchronize, refused, refused, refused},
    {"cudaStreamSynchronize of the captured one", [] { return cudaStreamSynchronize(captured); },
     refused, refused, refused},
    {"cudaStreamQuery of the captured one", [] { return cudaStreamQuery(captured); }, refused,
     refused, refused},
    {"cudaEventQuery of an event inside", [] { return cudaEventQuery(recorded_inside); },
     cudaErrorCapturedEvent, cudaErrorCapturedEvent, cudaErrorCapturedEvent},
    {"cudaEventSynchronize of an event inside",
     [] { return cudaEventSynchronize(recorded_inside); }, cudaErrorCapturedEvent,
     cudaErrorCapturedEvent, cudaErrorCapturedEvent},
    {"a launch on the other stream",
     [] {
         LT_LAUNCH(nothing, 1, 1, other);
         return cudaGetLastError();
     },
     cudaSuccess, cudaSuccess, cudaSuccess},
    {"cudaMemGetInfo",
     [] {
         size_t free, total;
         return cudaMemGetInfo(&free, &total);
     },
     cudaSuccess, cudaSuccess, cudaSuccess},
};

/* The call is made while a graph is captured; what is refused also spoils the graph. */
void expect_in_capture(const Call &call, cudaStreamCaptureMode mode, bool elsewhere,
                       cudaError_t expected)
{
    cudaGraph_t graph = nullptr;
    cudaError_t result = cudaSuccess;
    OK(cudaMalloc(&memory, 512));
    OK(cudaHostAlloc(&pinned, 512, 0));
    void *first[] = {memory, pinned};
    OK(cudaStreamBeginCapture(captured, mode));
    LT_LAUNCH(nothing, 1, 1, captured);
    OK(cudaEventRecord(recorded_inside, captured));
    if (elsewhere)
        std::thread([&] { result = call.make(); }).join();
    else
        result = call.make();
    if (result != expected)
        fail_msg("%s: %s instead of %s", call.name, cudaGetErrorName(result),
                 cudaGetErrorName(expected));
    const cudaError_t end = cudaStreamEndCapture(captured, &graph);
    const cudaError_t wanted =
        expected == cudaSuccess ? cudaSuccess : cudaErrorStreamCaptureInvalidated;
    if (end != wanted)
        fail_msg("after %s the capture ends with %s", call.name, cudaGetErrorName(end));
    if (graph) OK(cudaGraphDestroy(graph));
    cudaGetLastError();
    if (result != cudaSuccess || strcmp(call.name, "cudaFree")) OK(cudaFree(first[0]));
    if (result != cudaSuccess || strcmp(call.name, "cudaFreeHost")) OK(cudaFreeHost(first[1]));
    if (memory && memory != first[0]) OK(cudaFree(memory));
    if (pinned && pinned != first[1]) OK(cudaFreeHost(pinned));
}

void calls_that_a_capture_forbids(void **)
{
    OK(cudaStreamCreateWithFlags(&captured, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&recorded_inside, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&recorded_outside, cudaEventDisableTiming));
    OK(cudaEventRecord(recorded_outside, other));
    for (const Call &call : calls) {
        expect_in_capture(call, cudaStreamCaptureModeGlobal, true, call.global);
        expect_in_capture(call, cudaStreamCaptureModeThreadLocal, false, call.own);
        expect_in_capture(call, cudaStreamCaptureModeRelaxed, false, call.relaxed);
        /* What only another thread does is not a thread-local capture's concern. */
        expect_in_capture(call, cudaStreamCaptureModeThreadLocal, true, call.relaxed);
    }
}

void the_default_stream_beside_a_capture(void **)
{
    cudaStream_t blocking;
    cudaGraph_t graph = nullptr;
    OK(cudaStreamCreate(&blocking));
    LT_LAUNCH(nothing, 1, 1, 0);
    OK(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeRelaxed));
    LT_LAUNCH(nothing, 1, 1, 0);
    assert_int_equal(cudaGetLastError(), cudaErrorStreamCaptureImplicit);
    assert_int_equal(cudaStreamEndCapture(blocking, &graph), cudaErrorStreamCaptureInvalidated);
    assert_null(graph);
    OK(cudaStreamDestroy(blocking));
    cudaGetLastError();
}

void a_capture_ends_where_it_began(void **)
{
    cudaStream_t stream;
    cudaGraph_t graph = nullptr;
    cudaError_t end = cudaSuccess;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    std::thread([&] { end = cudaStreamEndCapture(stream, &graph); }).join();
    assert_int_equal(end, cudaErrorStreamCaptureWrongThread);
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(stream));
}

/* ---- numbers --------------------------------------------------------------------------------- */

void floating_numbers_beyond_integers(void **)
{
    using lt_sim::truncated;
    assert_int_equal(truncated<int32_t>(1e10f), INT32_MAX);
    assert_int_equal(truncated<int32_t>(-1e10f), INT32_MIN);
    assert_int_equal(truncated<int32_t>(NAN), 0);
    assert_int_equal(truncated<int32_t>(2147483647.0), INT32_MAX);
    assert_int_equal(truncated<int32_t>(2147483648.0f), INT32_MAX);
    assert_int_equal(truncated<int32_t>(-2.9f), -2);
    assert_true(truncated<int64_t>(INFINITY) == INT64_MAX);
    assert_true(truncated<int64_t>(-1e300) == INT64_MIN);
    assert_true(truncated<int64_t>((double)NAN) == INT64_MIN);
    assert_true(truncated<int64_t>(-9223372036854775808.0) == INT64_MIN);
    assert_true(truncated<uint32_t>(-1.5f) == 0 && truncated<uint32_t>(1e10) == UINT32_MAX);
    assert_true(truncated<uint64_t>(1e30f) == UINT64_MAX && truncated<uint64_t>(NAN) == 0);
}

void tensor_cores_take_ten_bits(void **)
{
    using lt_sim::tf32;
    assert_true(tf32(1) == 1 && tf32(-3.5f) == -3.5f);
    assert_true(tf32(1 + ldexpf(1, -10)) == 1 + ldexpf(1, -10));
    assert_true(tf32(1 + ldexpf(1, -11)) == 1 + ldexpf(1, -10)); /* a tie */
    assert_true(tf32(1 + ldexpf(1, -12)) == 1);
    assert_true(isinf(tf32(INFINITY)) && isnan(tf32(NAN)));
}

const CMUnitTest tests[] = {
    cmocka_unit_test(blocks_and_threads_run_in_an_order_by_a_seed),
    cmocka_unit_test(streams_overtake_each_other),
    cmocka_unit_test(large_tensors_are_met_by_a_lowered_limit),
    cmocka_unit_test(calls_that_a_capture_forbids),
    cmocka_unit_test(the_default_stream_beside_a_capture),
    cmocka_unit_test(a_capture_ends_where_it_began),
    cmocka_unit_test(floating_numbers_beyond_integers),
    cmocka_unit_test(tensor_cores_take_ten_bits),
};

} // namespace

int main(int argc, char **argv)
{
    setenv("LTENSOR_SIM_GPUS", "1", 1);
    if (argc > 1) return strcmp(argv[1], "place") == 0 ? print_last_place() : print_orders();
    unsetenv("LTENSOR_SIM_SEED");
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
