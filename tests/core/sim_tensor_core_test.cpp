/* sim_tensor_core_test.cpp - what stands in for tensor cores: fragments lie as PTX has them,
 * matrices come from shared memory as they are and turned around, and sums are cut off, as on a
 * GPU. */
#include "kernels/tensor_core.cuh"
#include "kernels/launch.cuh"
#include "sim/sim.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

extern "C" {
#include <cmocka.h>
}

#define OK(call) assert_int_equal(call, cudaSuccess)

namespace {

/* c (16 x 8) = a (16 x 16) b (16 x 8), b given by rows or by columns. */
template <class S, bool BY_ROWS> __global__ void multiply(float *c, const float *a, const float *b)
{
    LT_DYNAMIC_SHARED(S, left);
    S *const right = left + 16 * 16;
    const int l = (int)threadIdx.x;
    for (int i = l; i < 16 * 16; i += 32) left[i] = S(a[i]);
    /* Eight more columns that nobody uses. */
    for (int i = l; i < 16 * 16; i += 32)
        right[i] = S(BY_ROWS ? (i % 16 < 8 ? b[i / 16 * 8 + i % 16] : 0)
                             : (i / 16 < 8 ? b[i % 16 * 8 + i / 16] : 0));
    __syncthreads();
    uint32_t x[4], y[4];
    lt_load_matrices<false>(x, left + l % 16 * 16 + l / 16 * 8);
    if (BY_ROWS)
        lt_load_matrices<true>(y, right + l % 16 * 16 + l / 16 * 8);
    else
        lt_load_matrices<false>(y, right + (l % 8 + l / 16 * 8) * 16 + l / 8 % 2 * 8);
    float sum[4] = {};
    lt_multiply(sum, x, {y[0], y[1]}, S());
    for (int i = 0; i < 4; i++) c[(l / 4 + i / 2 * 8) * 8 + 2 * (l % 4) + i % 2] = sum[i];
}

template <class S> void multiplies(void **)
{
    float *memory, host[16 * 16 + 16 * 8], got[16 * 8];
    OK(cudaMalloc(&memory, sizeof host + sizeof got));
    for (int i = 0; i < 16 * 24; i++)
        host[i] = (float)(i * 7 % 23 - 11); /* exact, and so are the sums */
    float *const a = memory, *const b = memory + 16 * 16, *const c = memory + 16 * 24;
    OK(cudaMemcpy(memory, host, sizeof host, cudaMemcpyHostToDevice));
    for (int by_rows = 0; by_rows < 2; by_rows++) {
        if (by_rows)
            LT_LAUNCH_BARRIER((multiply<S, true>), 1, 32, 1024, nullptr, c, a, b);
        else
            LT_LAUNCH_BARRIER((multiply<S, false>), 1, 32, 1024, nullptr, c, a, b);
        OK(cudaMemcpy(got, c, sizeof got, cudaMemcpyDeviceToHost));
        for (int i = 0; i < 16; i++)
            for (int j = 0; j < 8; j++) {
                float sum = 0;
                for (int k = 0; k < 16; k++) sum += host[i * 16 + k] * host[16 * 16 + k * 8 + j];
                assert_true(got[i * 8 + j] == sum);
            }
    }
    OK(cudaFree(memory));
}

/* The sum of 1 and `n` times `small`, of which IEEE's nearest would make more. */
float sum_with_one(float small, int n)
{
    float *memory, host[16 * 24] = {}, got[16 * 8];
    OK(cudaMalloc(&memory, sizeof host + sizeof got));
    for (int k = 0; k < 16; k++) host[k] = k == 0 ? 1.0f : k <= n ? small : 0.0f;
    for (int k = 0; k < 16; k++) host[16 * 16 + k * 8] = k == 0 ? 1.0f : small;
    OK(cudaMemcpy(memory, host, sizeof host, cudaMemcpyHostToDevice));
    LT_LAUNCH_BARRIER((multiply<__half, false>), 1, 32, 1024, nullptr, memory + 16 * 24, memory,
                      memory + 16 * 16);
    OK(cudaMemcpy(got, memory + 16 * 24, sizeof got, cudaMemcpyDeviceToHost));
    OK(cudaFree(memory));
    return got[0];
}

void cuts_sums_off(void **)
{
    assert_true(sum_with_one(0x1p-11f, 1) == 1.0f + 0x1p-22f);
    assert_true(sum_with_one(0x1p-12f, 2) ==
                1.0f + 0x1p-23f); /* two of 2^-24 have the bit that is kept besides */
    assert_true(sum_with_one(0x1.6p-12f, 1) == 1.0f); /* nearer to 1 + 2^-23, but cut off */
}

/* Half of the warp asks for another operation. */
__global__ void disagree(float *out)
{
    float c[4] = {};
    const uint32_t a[4] = {}, b[2] = {};
    if (threadIdx.x < 16)
        lt_multiply(c, a, b, __half());
    else
        lt_multiply(c, a, b, __nv_bfloat16());
    out[threadIdx.x] = c[0];
}

void takes_one_operation_of_a_warp(void **)
{
    float *memory;
    OK(cudaMalloc(&memory, 32 * sizeof *memory));
    LT_LAUNCH_BARRIER(disagree, 1, 32, 0, nullptr, memory);
    assert_int_not_equal(cudaDeviceSynchronize(), cudaSuccess);
}

} // namespace

int main()
{
    setenv("LTENSOR_SIM_GPUS", "1", 1);
    const CMUnitTest tests[] = {
        cmocka_unit_test(multiplies<__half>), cmocka_unit_test(multiplies<__nv_bfloat16>),
        cmocka_unit_test(cuts_sums_off), cmocka_unit_test(takes_one_operation_of_a_warp)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
