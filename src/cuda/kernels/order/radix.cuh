/* radix.cuh - sorting pairs of an unsigned key and a position by some bits of the key, stably
 * (radix.cu). */
#ifndef LT_CUDA_RADIX_CUH
#define LT_CUDA_RADIX_CUH

#include "cuda.h"

/* Moved by one access: without holes, aligned to its size. */
template <class K> struct alignas(2 * sizeof(K)) lt_pair {
    K key;
    K index; /* less than 2^32 */
};

/* Lines of n pairs (n < 2^32) one after the other, each sorted by bits [low, high) of the keys.
 * They are in one of two buffers before and, as *sorted says, after it; the other one holds nothing
 * of use. */
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
