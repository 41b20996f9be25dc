/* radix.cuh - stable radix sort of pairs of an unsigned key and an index, by a range of key bits
 * (radix.cu). */
#ifndef LT_CUDA_RADIX_CUH
#define LT_CUDA_RADIX_CUH

#include "cuda.h"

/* Moved by one access: no padding, aligned to its size. */
template <class K> struct alignas(2 * sizeof(K)) lt_pair {
    K key;
    K index; /* less than 2^32 */
};

/* Sorts each of `lines` contiguous rows of n pairs (n < 2^32) by bits [low, high) of the keys. The
 * input is in `pairs`; *sorted is set to the buffer with the result, `pairs` or `other`. The
 * content of the remaining buffer is undefined. */
template <class K> struct lt_radix_job {
    int device;
    cudaStream_t stream;
    int64_t lines, n;
    int low, high;
    lt_pair<K> *pairs, *other;
};
lt_status lt_radix_sort(const lt_radix_job<uint32_t> &job, lt_pair<uint32_t> **sorted);
lt_status lt_radix_sort(const lt_radix_job<uint64_t> &job, lt_pair<uint64_t> **sorted);

#endif
