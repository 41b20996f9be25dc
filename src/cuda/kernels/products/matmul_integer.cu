/* matmul_integer.cu - matrix products of integers, which cuBLAS does not support. One thread per
 * element of C; the threads of a warp read adjacent elements of B. Sums are modulo 2^64 and wrap to
 * the element type, as on the CPU. */
#include "cuda.h"
#include "kernels/element.cuh"
#include "kernels/launch.cuh"
#include "kernels/offsets.cuh"

enum { BLOCK = 256 };

/* Strides in elements: between rows, columns and matrices of the batch. */
struct matrix_of {
    int64_t row, column, batch;
};

template <class T> struct gemm_of_integers {
    const T *a, *b;
    T *c;
    matrix_of at_a, at_b, at_c;
    int64_t m, n, k, numel;
    uint64_t alpha, beta; /* beta 0: C is not read */
};

template <class T> static __global__ void __launch_bounds__(BLOCK) multiply(gemm_of_integers<T> p)
{
    const int64_t number = lt_thread_number();
    if (number >= p.numel) return;
    const int64_t column = number % p.n, row = number / p.n % p.m, batch = number / p.n / p.m;
    const T *a = p.a + batch * p.at_a.batch + row * p.at_a.row;
    const T *b = p.b + batch * p.at_b.batch + column * p.at_b.column;
    T *c = p.c + batch * p.at_c.batch + row * p.at_c.row + column;
    uint64_t sum = 0;
    for (int64_t i = 0; i < p.k; i++)
        sum +=
            static_cast<uint64_t>(a[i * p.at_a.column]) * static_cast<uint64_t>(b[i * p.at_b.row]);
    sum *= p.alpha;
    if (p.beta != 0) sum += p.beta * static_cast<uint64_t>(*c);
    *c = static_cast<T>(sum);
}

template <class T> static void launch_integer_gemm(const lt_gemm *g, cudaStream_t stream)
{
    gemm_of_integers<T> p = {};
    p.a = static_cast<const T *>(g->a);
    p.b = static_cast<const T *>(g->b);
    p.c = static_cast<T *>(g->c);
    p.at_a = {g->trans_a ? 1 : g->lda, g->trans_a ? g->lda : 1, g->batch_a};
    p.at_b = {g->trans_b ? 1 : g->ldb, g->trans_b ? g->ldb : 1, g->batch_b};
    p.at_c = {g->ldc, 1, g->batch_c};
    p.m = g->m;
    p.n = g->n;
    p.k = g->k;
    p.numel = g->batch * g->m * g->n;
    p.alpha = static_cast<uint64_t>(static_cast<int64_t>(g->alpha));
    p.beta = static_cast<uint64_t>(static_cast<int64_t>(g->beta));
    LT_LAUNCH(multiply<T>, lt_blocks(p.numel, BLOCK), BLOCK, stream, p);
}

lt_status lt_cuda_gemm_integer(const lt_gemm *g, cudaStream_t stream)
{
    switch (lt_element_size(g->dtype)) {
    case 1: launch_integer_gemm<uint8_t>(g, stream); break;
    case 2: launch_integer_gemm<uint16_t>(g, stream); break;
    case 4: launch_integer_gemm<uint32_t>(g, stream); break;
    default: launch_integer_gemm<uint64_t>(g, stream); break;
    }
    return lt_cuda_launched(g->device.index, stream, "matrix product");
}
