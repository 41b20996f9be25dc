/* split.cuh - splits iterators with element counts or offsets beyond 32 bits, because elementwise
 * kernels use 32-bit indices (lt_offsets_32). */
#ifndef LT_CUDA_SPLIT_CUH
#define LT_CUDA_SPLIT_CUH

#include <stdlib.h>

#include "cuda.h"
#include "launch.cuh"

/* Upper bound of a piece's elements and of its extent in bytes. At least 1024 when tests lower
 * LT_INDEX_LIMIT, so that a call does not become thousands of launches. */
static inline int64_t lt_split_limit()
{
    const int64_t limit = LT_INDEX_LIMIT;
    return limit > 1024 ? limit : 1024;
}

static inline bool lt_is_piece(const lt_iter *it)
{
    /* fixed: bytes of the largest element, complex128; the elements of `contiguous` are adjacent */
    constexpr int64_t largest = 16;
    const int64_t limit = lt_split_limit();
    if (it->contiguous && it->numel < limit / largest) return true;
    if (it->numel >= limit) return false;
    for (int k = 0; k < it->operands; k++) {
        int64_t bytes = 0;
        if (it->host_scalar[k]) continue;
        for (int d = 0; d < it->ndim; d++) bytes += (it->sizes[d] - 1) * llabs(it->strides[k][d]);
        if (bytes >= limit) return false;
    }
    return true;
}

/* The dimension with the largest extent in bytes. */
static inline int lt_longest_dim(const lt_iter *it)
{
    int longest = 0;
    int64_t most = -1;
    for (int d = 0; d < it->ndim; d++) {
        if (it->sizes[d] < 2) continue;
        for (int k = 0; k < it->operands; k++) {
            const int64_t reach =
                it->host_scalar[k] ? 0 : (it->sizes[d] - 1) * llabs(it->strides[k][d]);
            if (reach <= most) continue;
            most = reach;
            longest = d;
        }
    }
    return longest;
}

/* Calls f(piece) for each piece, in order, until one fails. */
template <class F> static lt_status lt_split_launches(const lt_iter *it, F f)
{
    if (it->numel < 2 || lt_is_piece(it)) return f(it);
    const int d = lt_longest_dim(it);
    int64_t half = it->sizes[d] / 2;
    if (half > 4096) half -= half % 4096; /* keeps vector accesses aligned */
    for (int part = 0; part < 2; part++) {
        lt_iter piece = *it;
        piece.sizes[d] = part == 0 ? half : it->sizes[d] - half;
        piece.numel = it->numel / it->sizes[d] * piece.sizes[d];
        for (int k = 0; k < it->operands; k++)
            if (part == 1 && !it->host_scalar[k]) piece.data[k] += half * it->strides[k][d];
        LT_TRY(lt_split_launches(&piece, f));
    }
    return LT_OK;
}

#endif
