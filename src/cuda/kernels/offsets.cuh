/* offsets.cuh - from the number of an element to where it lies: byte offsets of N operands over a shape
 * whose dimensions were sorted and merged before (iter.h), or are merged here as they are added.
 *
 * Divisions by sizes are multiplications by a reciprocal where all numbers are below 2^31, else plain.
 * Passed to kernels by value. lt_lines describes tensors as lines along one dimension. */
#ifndef LT_CUDA_OFFSETS_CUH
#define LT_CUDA_OFFSETS_CUH

#include "devices/backend.h"
#include "element.cuh"

/* Exact for numerators below 2^31 (T. Granlund, P. Montgomery: Division by invariant integers, 1994). */
struct lt_divider {
    uint32_t divisor, magic;
    int shift;

    void set(uint32_t d)
    {
        divisor = d;
        shift = 0;
        while (shift < 31 && (1u << shift) < d) shift++;
        magic = static_cast<uint32_t>(((uint64_t{1} << 32) * ((uint64_t{1} << shift) - d)) / d + 1);
    }
    __device__ __forceinline__ uint32_t quotient(uint32_t n) const
    {
        return (__umulhi(n, magic) + n) >> shift;
    }
};

template <int N> struct lt_offsets {
    int ndim = 0;
    bool wide = false; /* numbers may reach 2^31 */
    int64_t numel = 1;
    int64_t sizes[LT_MAX_DIMS];
    lt_divider dividers[LT_MAX_DIMS];
    int64_t strides[LT_MAX_DIMS][N]; /* bytes */

    /* The next dimension outwards. */
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
    /* After the last dimension. */
    void finish()
    {
        wide = numel >= int64_t{1} << 31;
        for (int d = 0; d < ndim; d++)
            if (!wide && sizes[d] > 0) dividers[d].set(static_cast<uint32_t>(sizes[d]));
    }
    /* Dimensions [first, last) of the first N operands of an iterator. */
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
        for (int d = 0; d < ndim; d++) {
            int64_t rest = 0, position = index;
            if (d < ndim - 1) {
                rest = wide ? index / sizes[d] : dividers[d].quotient(static_cast<uint32_t>(index));
                position = index - rest * sizes[d];
            }
            for (int k = 0; k < N; k++) offset[k] += position * strides[d][k];
            index = rest;
        }
    }
};

/* N tensors of one shape (apart from dimension dim) as lines along dim; a tensor may be absent. */
template <int N> struct lt_lines {
    lt_offsets<N> lines;            /* from a line's number to its first elements */
    int64_t count, length, step[N]; /* step in bytes */
    char *data[N];
    lt_dtype dtype[N];

    lt_lines(const lt_array *const *arrays, int dim)
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

/* Blocks of `block` threads for n threads. */
static inline unsigned lt_blocks(int64_t n, int block)
{
    return static_cast<unsigned>((n + block - 1) / block);
}

/* The number of this thread in its grid. */
static __device__ __forceinline__ int64_t lt_thread_number()
{
    return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

#endif
