/* copy.cu - copies on one GPU with conversion between any two layouts and dtypes. Copies between layouts
 * that are each other's transpose go by tiles through shared memory, so that both sides are accessed in
 * whole cache lines. Integers are read as int64_t, so that every conversion is exact or rounds once. */
#include "cuda.h"
#include "kernels/element.cuh"
#include "kernels/launch.cuh"
#include "kernels/offsets.cuh"

enum { BLOCK = 256, ITEMS = 4, TILE = 32, TILE_ROWS = 8 };

struct copy_operands {
    char *out;
    const char *in;
    lt_dtype out_dtype, in_dtype;
    lt_offsets<2> offsets;
};

/* C: the type in between. */
template <class C> static __global__ void __launch_bounds__(BLOCK) convert(copy_operands a)
{
    const int64_t first = static_cast<int64_t>(blockIdx.x) * (ITEMS * BLOCK) + threadIdx.x;
    char *to[ITEMS];
    const char *from[ITEMS];
    C values[ITEMS];
    int n = 0;
    for (int i = 0; i < ITEMS; i++) {
        const int64_t index = first + i * BLOCK;
        int64_t offset[2];
        if (index < a.offsets.numel) n = i + 1;
        a.offsets.at(index < a.offsets.numel ? index : 0, offset);
        to[i] = a.out + offset[0];
        from[i] = a.in + offset[1];
    }
    lt_load_many<C, ITEMS>(a.in_dtype, from, values);
    lt_store_many<C, ITEMS>(a.out_dtype, to, values, n);
}

/* Elements as they are; T: an unsigned type of their size. */
template <class T> static __global__ void __launch_bounds__(BLOCK) move(copy_operands a)
{
    const int64_t first = static_cast<int64_t>(blockIdx.x) * (ITEMS * BLOCK) + threadIdx.x;
    for (int i = 0; i < ITEMS; i++) {
        const int64_t index = first + i * BLOCK;
        if (index >= a.offsets.numel) return;
        int64_t offset[2];
        a.offsets.at(index, offset);
        *reinterpret_cast<T *>(a.out + offset[0]) = *reinterpret_cast<const T *>(a.in + offset[1]);
    }
}

/* ---- transposes ------------------------------------------------------------------------------------------ */

/* out is dense along a dimension of m elements, in along one of n; strides in bytes. */
struct transpose_operands {
    char *out;
    const char *in;
    int64_t m, n, out_step,
        in_step; /* out_step: from one of the n to the next; in_step: of the m */
    int64_t tiles_m, tiles_n;
    lt_offsets<2> outer; /* the dimensions that remain */
};

template <class T>
static __global__ void __launch_bounds__(TILE *TILE_ROWS) transpose(transpose_operands a)
{
    __shared__ T tile[TILE][TILE + 1];
    const int64_t number = blockIdx.x, outer = number / (a.tiles_m * a.tiles_n);
    const int64_t i0 = number % a.tiles_m * TILE, j0 = number / a.tiles_m % a.tiles_n * TILE;
    const int column = threadIdx.x % TILE, row = threadIdx.x / TILE;
    int64_t offset[2];
    a.outer.at(outer, offset);
    for (int r = row; r < TILE; r += TILE_ROWS)
        if (i0 + r < a.m && j0 + column < a.n)
            tile[r][column] =
                reinterpret_cast<const T *>(a.in + offset[1] + (i0 + r) * a.in_step)[j0 + column];
    __syncthreads();
    for (int r = row; r < TILE; r += TILE_ROWS)
        if (j0 + r < a.n && i0 + column < a.m)
            reinterpret_cast<T *>(a.out + offset[0] + (j0 + r) * a.out_step)[i0 + column] =
                tile[column][r];
}

/* The dimension in which the input is dense, where the output is dense in 0; 0 when tiles do not help. */
static int transposed_dim(const lt_iter *it)
{
    const int64_t size = lt_element_size(it->dtype[0]);
    if (it->ndim < 2 || it->dtype[0] != it->dtype[1] || it->numel < TILE * TILE) return 0;
    if (it->strides[0][0] != size || it->strides[1][0] == size || it->strides[1][0] == 0) return 0;
    for (int d = 1; d < it->ndim; d++)
        if (it->strides[1][d] == size && it->sizes[d] >= TILE / 2 && it->sizes[0] >= TILE / 2)
            return d;
    return 0;
}

template <class T> static void launch_transpose(const lt_iter *it, int dim, cudaStream_t stream)
{
    transpose_operands a = {};
    a.out = it->data[0];
    a.in = it->data[1];
    a.m = it->sizes[0];
    a.n = it->sizes[dim];
    a.in_step = it->strides[1][0];
    a.out_step = it->strides[0][dim];
    a.tiles_m = (a.m + TILE - 1) / TILE;
    a.tiles_n = (a.n + TILE - 1) / TILE;
    for (int d = 1; d < it->ndim; d++) {
        const int64_t strides[] = {it->strides[0][d], it->strides[1][d]};
        if (d != dim) a.outer.add(it->sizes[d], strides);
    }
    a.outer.finish();
    const unsigned blocks = static_cast<unsigned>(a.tiles_m * a.tiles_n * a.outer.numel);
    LT_LAUNCH_MEET(transpose<T>, blocks, TILE * TILE_ROWS, 0, stream, a);
}

/* ---- entry ------------------------------------------------------------------------------------------------ */

template <class T>
static void launch_move(const lt_iter *it, const copy_operands &a, cudaStream_t stream)
{
    const int dim = transposed_dim(it);
    if (dim > 0)
        launch_transpose<T>(it, dim, stream);
    else
        LT_LAUNCH(move<T>, lt_blocks(it->numel, BLOCK * ITEMS), BLOCK, stream, a);
}

static void launch_same(const lt_iter *it, const copy_operands &a, cudaStream_t stream)
{
    switch (lt_element_size(a.out_dtype)) {
    case 1: launch_move<uint8_t>(it, a, stream); break;
    case 2: launch_move<uint16_t>(it, a, stream); break;
    case 4: launch_move<uint32_t>(it, a, stream); break;
    default: launch_move<uint64_t>(it, a, stream); break;
    }
}

static void launch_convert(const lt_iter *it, const copy_operands &a, cudaStream_t stream)
{
    const unsigned blocks = lt_blocks(it->numel, BLOCK * ITEMS);
    if (!lt_is_floating(a.in_dtype))
        LT_LAUNCH(convert<int64_t>, blocks, BLOCK, stream, a);
    else if (a.in_dtype == LT_FLOAT64)
        LT_LAUNCH(convert<double>, blocks, BLOCK, stream, a);
    else
        LT_LAUNCH(convert<float>, blocks, BLOCK, stream, a);
}

lt_status lt_cuda_copy(const lt_iter *it)
{
    cudaStream_t stream;
    const int64_t size = lt_element_size(it->dtype[0]);
    const bool same = it->dtype[0] == it->dtype[1];
    if (it->numel == 0) return LT_OK;
    LT_TRY(lt_cuda_enter(it->device.index, &stream));
    const bool dense =
        it->ndim == 0 || (it->ndim == 1 && it->strides[0][0] == size && it->strides[1][0] == size);
    if (same && dense) {
        CUDA_TRY(cudaMemcpyAsync(it->data[0], it->data[1], static_cast<size_t>(it->numel * size),
                                 cudaMemcpyDefault, stream));
        return lt_cuda_launched(it->device.index, stream, "copy");
    }
    copy_operands a = {};
    a.out = it->data[0];
    a.in = it->data[1];
    a.out_dtype = it->dtype[0];
    a.in_dtype = it->dtype[1];
    a.offsets.of(it, 0, it->ndim);
    if (same)
        launch_same(it, a, stream);
    else
        launch_convert(it, a, stream);
    return lt_cuda_launched(it->device.index, stream, "copy");
}
