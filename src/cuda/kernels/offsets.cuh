/* offsets.cuh - byte offsets of an element, from its linear index, in N strided operands.
 * Dimensions were sorted and merged before (iter.h), or are merged as they are added.
 *
 * Divisions by sizes are multiplications by a reciprocal, in 32 bits if all numbers are below 2^31,
 * else in 64. lt_offsets_32 requires that all indices and offsets fit into 32 bits (split.cuh splits
 * larger tensors). Passed to kernels by value. lt_slice_offsets describes tensors as rows along one
 * dimension. */
#ifndef LT_CUDA_OFFSETS_CUH
#define LT_CUDA_OFFSETS_CUH

#include "devices/backend.h"
#include "element.cuh"
#include "launch.cuh"

/* Division by an invariant integer, exact for numerators below 2^31 (T. Granlund, P. Montgomery:
 * Division by Invariant Integers using Multiplication, 1994). */
struct lt_divider {
    uint32_t divisor, magic;
    int shift;

    void set(uint32_t d)
    {
        divisor = d;
        shift = d > 1 ? 32 - __builtin_clz(d - 1) : 0;
        magic = static_cast<uint32_t>(((uint64_t{1} << 32) * ((uint64_t{1} << shift) - d)) / d + 1);
    }
    __device__ __forceinline__ uint32_t quotient(uint32_t n) const
    {
        return (__umulhi(n, magic) + n) >> shift;
    }
};

/* The same, for numerators below 2^63. */
struct lt_wide_divider {
    uint64_t divisor, magic;
    int shift;

    void set(uint64_t d)
    {
        divisor = d;
        shift = d > 1 ? 64 - __builtin_clzll(d - 1) : 0;
        const unsigned __int128 one = 1;
        magic = static_cast<uint64_t>(((one << 64) * ((one << shift) - d)) / d + 1);
    }
    __device__ __forceinline__ uint64_t quotient(uint64_t n) const
    {
        return (__umul64hi(n, magic) + n) >> shift;
    }
};

/* Byte offsets in each of N tensors, all below 2^31. */
template <int N> struct lt_offsets_32 {
    int ndim = 0;
    uint32_t numel = 1;
    lt_divider sizes[LT_MAX_DIMS];
    int32_t strides[LT_MAX_DIMS][N];

    /* The first N operands of an iterator, with `together` elements along dimension 0 per index;
     * bytes[k] is the size of such a group in operand k (0: only its first element is used). */
    void of(const lt_iter *it, int64_t together, const int64_t *bytes)
    {
        for (int d = 0; d < it->ndim; d++) {
            const int64_t size = d == 0 ? (it->sizes[0] + together - 1) / together : it->sizes[d];
            /* `at` divides by all sizes but the last */
            if (d + 1 < it->ndim) sizes[ndim].set(static_cast<uint32_t>(size));
            for (int k = 0; k < N; k++)
                strides[ndim][k] =
                    static_cast<int32_t>(d == 0 && together > 1 ? bytes[k] : it->strides[k][d]);
            numel *= static_cast<uint32_t>(size);
            ndim++;
        }
    }
    /* Offsets of ITEMS indices at once: each dimension's divider and strides are loaded once for
     * all. */
    template <int ITEMS>
    __device__ __forceinline__ void at(const uint32_t *index, int32_t (*offset)[N]) const
    {
        uint32_t rest[ITEMS];
        for (int i = 0; i < ITEMS; i++) {
            rest[i] = index[i];
            for (int k = 0; k < N; k++) offset[i][k] = 0;
        }
        LT_NOT_UNROLLED
        for (int d = 0; d < ndim - 1; d++) {
            const lt_divider size = sizes[d];
            for (int i = 0; i < ITEMS; i++) {
                const uint32_t further = size.quotient(rest[i]);
                const int32_t position = static_cast<int32_t>(rest[i] - further * size.divisor);
                for (int k = 0; k < N; k++) offset[i][k] += position * strides[d][k];
                rest[i] = further;
            }
        }
        if (ndim == 0) return;
        for (int i = 0; i < ITEMS; i++)
            for (int k = 0; k < N; k++)
                offset[i][k] += static_cast<int32_t>(rest[i]) * strides[ndim - 1][k];
    }
};

template <int N> struct lt_offsets {
    int ndim = 0;
    bool wide = false; /* indices may reach 2^31 */
    int64_t numel = 1;
    int64_t sizes[LT_MAX_DIMS];
    lt_divider dividers[LT_MAX_DIMS];
    lt_wide_divider wide_dividers[LT_MAX_DIMS];
    int64_t strides[LT_MAX_DIMS][N]; /* bytes */

    /* Appends the next outer dimension. */
    void add(int64_t size, const int64_t *step)
    {
        numel *= size;
        if (size == 1) return;
        bool merges = ndim > 0;
        for (int k = 0; k < N && merges; k++)
            merges = step[k] == strides[ndim - 1][k] * sizes[ndim - 1];
        if (merges) {
            sizes[ndim - 1] *= size;
            return;
        }
        for (int k = 0; k < N; k++) strides[ndim][k] = step[k];
        sizes[ndim++] = size;
    }
    /* Call after the last dimension. */
    void finish()
    {
        wide = numel >= LT_INDEX_LIMIT;
        /* `at` divides by all sizes but the last */
        for (int d = 0; d < ndim - 1; d++) {
            if (sizes[d] == 0) continue;
            if (wide)
                wide_dividers[d].set(static_cast<uint64_t>(sizes[d]));
            else
                dividers[d].set(static_cast<uint32_t>(sizes[d]));
        }
    }
    /* Uses dimensions [first, last) of the first N operands of an iterator. */
    void of(const lt_iter *it, int first, int last)
    {
        for (int d = first; d < last; d++) {
            int64_t step[N];
            for (int k = 0; k < N; k++) step[k] = k < it->operands ? it->strides[k][d] : 0;
            add(it->sizes[d], step);
        }
        finish();
    }

    __device__ __forceinline__ void at(int64_t index, int64_t *offset) const
    {
        for (int k = 0; k < N; k++) offset[k] = 0;
        if (ndim == 1) {
            for (int k = 0; k < N; k++) offset[k] = index * strides[0][k];
            return;
        }
        LT_NOT_UNROLLED
        for (int d = 0; d < ndim; d++) {
            int64_t rest = 0, position = index;
            if (d < ndim - 1) {
                rest = wide ? static_cast<int64_t>(
                                  wide_dividers[d].quotient(static_cast<uint64_t>(index)))
                            : dividers[d].quotient(static_cast<uint32_t>(index));
                position = index - rest * sizes[d];
            }
            for (int k = 0; k < N; k++) offset[k] += position * strides[d][k];
            index = rest;
        }
    }
};

/* N tensors of one shape (except in dimension dim) as rows along dim; array pointers may be null.
 */
template <int N> struct lt_slice_offsets {
    lt_offsets<N> lines;            /* from a row's index to its first elements */
    int64_t count, length, step[N]; /* step in bytes */
    char *data[N];
    lt_dtype dtype[N];

    lt_slice_offsets(const lt_array *const *arrays, int dim)
    {
        const lt_array *shape = arrays[0];
        length = shape->ndim > 0 ? shape->sizes[dim] : 1;
        for (int k = 0; k < N; k++) {
            const lt_array *a = arrays[k];
            data[k] = a != nullptr ? static_cast<char *>(a->data) : nullptr;
            dtype[k] = a != nullptr ? a->dtype : LT_BOOL;
            step[k] = a != nullptr && a->ndim > 0 ? a->strides[dim] * lt_element_size(a->dtype) : 0;
        }
        for (int d = shape->ndim - 1; d >= 0; d--) {
            if (d == dim) continue;
            int64_t strides[N];
            for (int k = 0; k < N; k++)
                strides[k] =
                    arrays[k] != nullptr ? arrays[k]->strides[d] * lt_element_size(dtype[k]) : 0;
            lines.add(shape->sizes[d], strides);
        }
        lines.finish();
        count = lines.numel;
    }
};

/* Blocks of `block` threads that n threads need. */
static inline unsigned lt_blocks(int64_t n, int block)
{
    return static_cast<unsigned>((n + block - 1) / block);
}

/* Index of this thread in its grid. */
static __device__ __forceinline__ int64_t lt_thread_number()
{
    return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

#endif
