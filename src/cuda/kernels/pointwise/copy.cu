/* copy.cu - copies on one GPU, with conversion between any two layouts and dtypes. Runs that are
 * contiguous on both sides are copied 16 bytes at a time. Transposes go through tiles in shared
 * memory, so that both sides are accessed in whole cache lines. Integers are converted by way of
 * int64_t, so that every conversion is exact or rounds once. Indices are 32 bits: larger copies are
 * split (split.cuh). */
#include "cuda.h"
#include "formulas/float8.h"
#include "kernels/element.cuh"
#include "kernels/launch.cuh"
#include "kernels/offsets.cuh"
#include "kernels/split.cuh"

enum { BLOCK = 256, ITEMS = 4, TILE = 32, TILE_ROWS = 8, RUN = 8 /* elements */ };

struct copy_operands {
    char *out;
    const char *in;
    lt_dtype out_dtype, in_dtype;
    uint32_t n; /* elements */
    bool aligned;
    lt_offsets_32<2> places;
};

/* Computes the offsets of this thread's elements: ITEMS of them, BLOCK apart. Returns how many
 * exist. */
static __device__ __forceinline__ int locate_copies(const copy_operands &a, int32_t (*offset)[2])
{
    const uint32_t first = blockIdx.x * (ITEMS * BLOCK) + threadIdx.x;
    uint32_t index[ITEMS];
    int n = 0;
    for (int i = 0; i < ITEMS; i++) {
        index[i] = first + i * BLOCK;
        if (index[i] < a.places.numel)
            n = i + 1;
        else
            index[i] = 0;
    }
    a.places.at<ITEMS>(index, offset);
    return n;
}

/* C: the intermediate type. */
template <class C> static __global__ void __launch_bounds__(BLOCK) convert(copy_operands a)
{
    int32_t offset[ITEMS][2];
    char *to[ITEMS];
    const char *from[ITEMS];
    C values[ITEMS];
    const int n = locate_copies(a, offset);
    for (int i = 0; i < ITEMS; i++) {
        to[i] = a.out + offset[i][0];
        from[i] = a.in + offset[i][1];
    }
    lt_load_many<C, ITEMS>(a.in_dtype, from, values);
    lt_store_many<C, ITEMS>(a.out_dtype, to, values, n);
}

/* For runs that are contiguous on both sides. S: element type of the input. */
template <class S> static __global__ void __launch_bounds__(BLOCK) convert_rows(copy_operands a)
{
    using C = std::conditional_t<std::is_integral_v<S>, int64_t,
                                 std::conditional_t<sizeof(S) == 8, double, float>>;
    const uint32_t run = blockIdx.x * BLOCK + threadIdx.x, first = run * RUN;
    if (first >= a.n) return;
    int32_t offset[1][2];
    a.places.at<1>(&run, offset);
    const int n = a.n - first < RUN ? static_cast<int>(a.n - first) : RUN;
    C values[RUN];
    lt_load_row_as<S, C, RUN>(a.in + offset[0][1], values, n, a.aligned);
    lt_store_row<C, RUN>(a.out_dtype, a.out + offset[0][0], values, n, a.aligned);
}

/* Copies without conversion. T: unsigned type of the element's size, or lt_bytes16 for 16 bytes of
 * elements. */
template <class T> static __global__ void __launch_bounds__(BLOCK) move(copy_operands a)
{
    int32_t offset[ITEMS][2];
    T values[ITEMS];
    const int n = locate_copies(a, offset);
    for (int i = 0; i < ITEMS; i++) values[i] = *reinterpret_cast<const T *>(a.in + offset[i][1]);
    for (int i = 0; i < ITEMS; i++)
        if (i < n) *reinterpret_cast<T *>(a.out + offset[i][0]) = values[i];
}

/* ---- transposes ------------------------------------------------------------------------------ */

/* The output is dense along a dimension of size m, the input along one of size n; steps are in
 * bytes. */
struct transpose_operands {
    char *out;
    const char *in;
    int64_t m, n, out_step,
        in_step; /* out_step: along the dimension of size n; in_step: of size m */
    lt_divider tiles_m, tiles_n;
    lt_offsets<2> outer; /* the remaining dimensions */
};

template <class T>
static __global__ void __launch_bounds__(TILE *TILE_ROWS) transpose(transpose_operands a)
{
    __shared__ T tile[TILE][TILE + 1];
    const uint32_t number = blockIdx.x, line = a.tiles_m.quotient(number),
                   outer = a.tiles_n.quotient(line);
    const int64_t i0 = static_cast<int64_t>(number - line * a.tiles_m.divisor) * TILE,
                  j0 = static_cast<int64_t>(line - outer * a.tiles_n.divisor) * TILE;
    const int column = threadIdx.x % TILE, row = threadIdx.x / TILE;
    int64_t offset[2];
    a.outer.at(outer, offset);
    const char *from =
        a.in + offset[1] + (i0 + row) * a.in_step + (j0 + column) * static_cast<int64_t>(sizeof(T));
    for (int r = row; r < TILE; r += TILE_ROWS, from += TILE_ROWS * a.in_step)
        if (i0 + r < a.m && j0 + column < a.n) tile[r][column] = *reinterpret_cast<const T *>(from);
    __syncthreads();
    char *to = a.out + offset[0] + (j0 + row) * a.out_step +
               (i0 + column) * static_cast<int64_t>(sizeof(T));
    for (int r = row; r < TILE; r += TILE_ROWS, to += TILE_ROWS * a.out_step)
        if (j0 + r < a.n && i0 + column < a.m) *reinterpret_cast<T *>(to) = tile[column][r];
}

/* If the output is dense in dimension 0: the dimension in which the input is dense. 0 if tiles do
 * not help. */
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
    a.tiles_m.set(lt_blocks(a.m, TILE));
    a.tiles_n.set(lt_blocks(a.n, TILE));
    for (int d = 1; d < it->ndim; d++) {
        const int64_t strides[] = {it->strides[0][d], it->strides[1][d]};
        if (d != dim) a.outer.add(it->sizes[d], strides);
    }
    a.outer.finish();
    const unsigned blocks =
        static_cast<unsigned>(int64_t{a.tiles_m.divisor} * a.tiles_n.divisor * a.outer.numel);
    LT_LAUNCH_BARRIER(transpose<T>, blocks, TILE * TILE_ROWS, 0, stream, a);
}

/* ---- entry ----------------------------------------------------------------------------------- */

/* Whether both sides consist of contiguous runs of `together` elements along dimension 0. The last
 * run may be shorter if there is only one dimension. bytes: set to the bytes per run of each
 * operand. */
static bool lie_in_runs(const lt_iter *it, int64_t together, int64_t *bytes)
{
    if (it->ndim > 1 && it->sizes[0] % together != 0) return false;
    for (int k = 0; k < 2; k++) {
        const int64_t size = lt_element_size(it->dtype[k]);
        bytes[k] = size * together;
        if (it->ndim > 0 && it->strides[k][0] != size) return false;
    }
    return true;
}

/* Whether all runs are aligned for accesses of up to 16 bytes. */
static bool runs_are_aligned(const lt_iter *it, const int64_t *bytes)
{
    for (int k = 0; k < 2; k++) {
        const int64_t whole = bytes[k] < 16 ? bytes[k] : 16;
        if (reinterpret_cast<uintptr_t>(it->data[k]) % static_cast<uintptr_t>(whole) != 0)
            return false;
        for (int d = 1; d < it->ndim; d++)
            if (it->strides[k][d] % whole != 0) return false;
    }
    return true;
}

static copy_operands operands(const lt_iter *it, int64_t together, const int64_t *bytes)
{
    copy_operands a = {};
    a.out = it->data[0];
    a.in = it->data[1];
    a.out_dtype = it->dtype[0];
    a.in_dtype = it->dtype[1];
    a.n = static_cast<uint32_t>(it->numel);
    a.places.of(it, together, bytes);
    return a;
}

template <class T>
static void launch_move(const lt_iter *it, const copy_operands &a, cudaStream_t stream)
{
    const int dim = transposed_dim(it);
    if (dim > 0)
        launch_transpose<T>(it, dim, stream);
    else
        LT_LAUNCH(move<T>, lt_blocks(a.places.numel, BLOCK * ITEMS), BLOCK, stream, a);
}

static void launch_same(const lt_iter *it, cudaStream_t stream)
{
    int64_t bytes[2];
    const int64_t size = lt_element_size(it->dtype[0]), together = 16 / size;
    if (it->sizes[0] % together == 0 && lie_in_runs(it, together, bytes) &&
        runs_are_aligned(it, bytes)) {
        const copy_operands a = operands(it, together, bytes);
        LT_LAUNCH(move<lt_bytes16>, lt_blocks(a.places.numel, BLOCK * ITEMS), BLOCK, stream, a);
        return;
    }
    const copy_operands a = operands(it, 1, nullptr);
    switch (size) {
    case 1: launch_move<uint8_t>(it, a, stream); break;
    case 2: launch_move<uint16_t>(it, a, stream); break;
    case 4: launch_move<uint32_t>(it, a, stream); break;
    case 16: launch_move<lt_bytes16>(it, a, stream); break;
    default: launch_move<uint64_t>(it, a, stream); break;
    }
}

static void launch_rows(const copy_operands &a, cudaStream_t stream)
{
    const unsigned blocks = lt_blocks(a.places.numel, BLOCK);
    switch (a.in_dtype) {
    case LT_BOOL:
    case LT_UINT8: LT_LAUNCH(convert_rows<uint8_t>, blocks, BLOCK, stream, a); break;
    case LT_INT8: LT_LAUNCH(convert_rows<int8_t>, blocks, BLOCK, stream, a); break;
    case LT_INT16: LT_LAUNCH(convert_rows<int16_t>, blocks, BLOCK, stream, a); break;
    case LT_INT32: LT_LAUNCH(convert_rows<int32_t>, blocks, BLOCK, stream, a); break;
    case LT_INT64: LT_LAUNCH(convert_rows<int64_t>, blocks, BLOCK, stream, a); break;
    case LT_FLOAT16: LT_LAUNCH(convert_rows<__half>, blocks, BLOCK, stream, a); break;
    case LT_BFLOAT16: LT_LAUNCH(convert_rows<__nv_bfloat16>, blocks, BLOCK, stream, a); break;
    case LT_FLOAT32: LT_LAUNCH(convert_rows<float>, blocks, BLOCK, stream, a); break;
    default: LT_LAUNCH(convert_rows<double>, blocks, BLOCK, stream, a); break;
    }
}

static void launch_convert(const lt_iter *it, cudaStream_t stream)
{
    int64_t bytes[2];
    if (lie_in_runs(it, RUN, bytes)) {
        copy_operands a = operands(it, RUN, bytes);
        a.aligned = runs_are_aligned(it, bytes);
        launch_rows(a, stream);
        return;
    }
    const copy_operands a = operands(it, 1, nullptr);
    const unsigned blocks = lt_blocks(a.places.numel, BLOCK * ITEMS);
    if (!lt_is_floating(a.in_dtype))
        LT_LAUNCH(convert<int64_t>, blocks, BLOCK, stream, a);
    else if (a.in_dtype == LT_FLOAT64)
        LT_LAUNCH(convert<double>, blocks, BLOCK, stream, a);
    else
        LT_LAUNCH(convert<float>, blocks, BLOCK, stream, a);
}

/* ---- unsigned integers ----------------------------------------------------------------------- */

/* Conversion as on the CPU: truncates, and negative values wrap. */
static __device__ __forceinline__ uint64_t to_uint64(double x)
{
    if (!(x >= -0x1p63)) return x < 0 ? (uint64_t)INT64_MIN : 0; /* nan: 0 */
    if (x < 0x1p63) return (uint64_t)(int64_t)x;
    return x < 0x1p64 ? (uint64_t)x : UINT64_MAX;
}

/* From unsigned elements U. */
template <class U> static __global__ void __launch_bounds__(BLOCK) from_unsigned(copy_operands a)
{
    int32_t offset[ITEMS][2];
    const int n = locate_copies(a, offset);
    for (int i = 0; i < n; i++) {
        const U value = *reinterpret_cast<const U *>(a.in + offset[i][1]);
        char *const to = a.out + offset[i][0];
        if (a.out_dtype == LT_FLOAT64)
            *reinterpret_cast<double *>(to) = (double)value;
        else if (lt_is_floating(a.out_dtype))
            lt_store<float>(a.out_dtype, to, (float)value);
        else
            lt_store<int64_t>(a.out_dtype, to, (int64_t)value);
    }
}

/* To unsigned elements U. An unsigned input is loaded as a signed integer of its size; `kept` masks
 * off the sign extension. */
template <class U>
static __global__ void __launch_bounds__(BLOCK) to_unsigned(copy_operands a, uint64_t kept)
{
    int32_t offset[ITEMS][2];
    const int n = locate_copies(a, offset);
    for (int i = 0; i < n; i++) {
        const char *const from = a.in + offset[i][1];
        const uint64_t value = lt_is_floating(a.in_dtype)
                                   ? to_uint64(lt_load<double>(a.in_dtype, from))
                                   : (uint64_t)lt_load<int64_t>(a.in_dtype, from) & kept;
        *reinterpret_cast<U *>(a.out + offset[i][0]) = (U)value;
    }
}

static lt_dtype same_bits(lt_dtype dtype)
{
    return dtype == LT_UINT16   ? LT_INT16
           : dtype == LT_UINT32 ? LT_INT32
           : dtype == LT_UINT64 ? LT_INT64
                                : dtype;
}

/* Mask of the bits of an unsigned dtype; 0 for other dtypes. */
static uint64_t bits_of(lt_dtype dtype)
{
    return dtype == LT_UINT16   ? UINT16_MAX
           : dtype == LT_UINT32 ? UINT32_MAX
           : dtype == LT_UINT64 ? UINT64_MAX
                                : 0;
}

/* For different dtypes of which at least one is unsigned. */
static void launch_unsigned(const lt_iter *it, cudaStream_t stream)
{
    copy_operands a = operands(it, 1, nullptr);
    const unsigned blocks = lt_blocks(a.places.numel, BLOCK * ITEMS);
    const lt_dtype in = a.in_dtype;
    if (!lt_is_unsigned(a.out_dtype)) {
        if (in == LT_UINT16)
            LT_LAUNCH(from_unsigned<uint16_t>, blocks, BLOCK, stream, a);
        else if (in == LT_UINT32)
            LT_LAUNCH(from_unsigned<uint32_t>, blocks, BLOCK, stream, a);
        else
            LT_LAUNCH(from_unsigned<uint64_t>, blocks, BLOCK, stream, a);
        return;
    }
    const uint64_t kept = lt_is_unsigned(in) ? bits_of(in) : UINT64_MAX;
    a.in_dtype = same_bits(in);
    if (a.out_dtype == LT_UINT16)
        LT_LAUNCH(to_unsigned<uint16_t>, blocks, BLOCK, stream, a, kept);
    else if (a.out_dtype == LT_UINT32)
        LT_LAUNCH(to_unsigned<uint32_t>, blocks, BLOCK, stream, a, kept);
    else
        LT_LAUNCH(to_unsigned<uint64_t>, blocks, BLOCK, stream, a, kept);
}

/* ---- one-byte floats ------------------------------------------------------------------------- */

/* From one-byte floats, by way of float32. */
static __global__ void __launch_bounds__(BLOCK) from_float8(copy_operands a)
{
    int32_t offset[ITEMS][2];
    const int n = locate_copies(a, offset);
    for (int i = 0; i < n; i++) {
        const float value =
            lt_float8_to_float(a.in_dtype, *reinterpret_cast<const uint8_t *>(a.in + offset[i][1]));
        char *const to = a.out + offset[i][0];
        switch (a.out_dtype) {
        case LT_UINT16:
            *reinterpret_cast<uint16_t *>(to) = static_cast<uint16_t>(to_uint64(value));
            break;
        case LT_UINT32:
            *reinterpret_cast<uint32_t *>(to) = static_cast<uint32_t>(to_uint64(value));
            break;
        case LT_UINT64: *reinterpret_cast<uint64_t *>(to) = to_uint64(value); break;
        case LT_FLOAT8_E5M2:
        case LT_FLOAT8_E4M3FN:
        case LT_FLOAT8_E5M2FNUZ:
        case LT_FLOAT8_E4M3FNUZ:
        case LT_FLOAT8_E8M0FNU:
            *reinterpret_cast<uint8_t *>(to) = lt_float_to_float8(a.out_dtype, value);
            break;
        default: lt_store<float>(a.out_dtype, to, value); break;
        }
    }
}

/* To one-byte floats. kept: bit mask of an unsigned input, which is loaded as a signed integer of
 * its size; 0 for other dtypes. */
static __global__ void __launch_bounds__(BLOCK) to_float8(copy_operands a, uint64_t kept)
{
    int32_t offset[ITEMS][2];
    const int n = locate_copies(a, offset);
    for (int i = 0; i < n; i++) {
        const char *const from = a.in + offset[i][1];
        const float value =
            kept != 0 ? static_cast<float>(
                            static_cast<uint64_t>(lt_load<int64_t>(a.in_dtype, from)) & kept)
                      : lt_load<float>(a.in_dtype, from);
        *reinterpret_cast<uint8_t *>(a.out + offset[i][0]) = lt_float_to_float8(a.out_dtype, value);
    }
}

/* For different dtypes of which at least one is a one-byte float. */
static void launch_float8(const lt_iter *it, cudaStream_t stream)
{
    copy_operands a = operands(it, 1, nullptr);
    const unsigned blocks = lt_blocks(a.places.numel, BLOCK * ITEMS);
    if (lt_is_float8(a.in_dtype)) {
        LT_LAUNCH(from_float8, blocks, BLOCK, stream, a);
        return;
    }
    const uint64_t kept = bits_of(a.in_dtype);
    a.in_dtype = same_bits(a.in_dtype);
    LT_LAUNCH(to_float8, blocks, BLOCK, stream, a, kept);
}

/* ---- complex numbers, by real and imaginary parts -------------------------------------------- */

/* Complex to bool: whether either part is not 0. T: type of a part. */
template <class T> static __global__ void __launch_bounds__(BLOCK) truth_of_pairs(copy_operands a)
{
    int32_t offset[ITEMS][2];
    const int n = locate_copies(a, offset);
    for (int i = 0; i < n; i++) {
        const T *z = reinterpret_cast<const T *>(a.in + offset[i][1]);
        *reinterpret_cast<bool *>(a.out + offset[i][0]) =
            lt_as<float>(z[0]) != 0 || lt_as<float>(z[1]) != 0;
    }
}

static void launch_truth(const lt_iter *it, cudaStream_t stream)
{
    const copy_operands a = operands(it, 1, nullptr);
    const unsigned blocks = lt_blocks(a.places.numel, BLOCK * ITEMS);
    if (it->dtype[1] == LT_COMPLEX32)
        LT_LAUNCH(truth_of_pairs<__half>, blocks, BLOCK, stream, a);
    else if (it->dtype[1] == LT_COMPLEX64)
        LT_LAUNCH(truth_of_pairs<float>, blocks, BLOCK, stream, a);
    else
        LT_LAUNCH(truth_of_pairs<double>, blocks, BLOCK, stream, a);
}

/* The real (0) or imaginary (1) parts of complex operands; real operands as they are. */
static lt_iter iter_of_part(const lt_iter *it, int part)
{
    lt_iter parts = *it;
    for (int k = 0; k < it->operands; k++) {
        parts.dtype[k] = lt_part_of(it->dtype[k]);
        if (lt_is_complex(it->dtype[k])) parts.data[k] += part * lt_element_size(parts.dtype[k]);
    }
    return parts;
}

/* For different dtypes of which at least one is complex. */
static lt_status copy_parts(const lt_iter *it)
{
    lt_iter part = iter_of_part(it, 0);
    if (!lt_is_complex(it->dtype[0])) {
        if (it->dtype[0] != LT_BOOL) return lt_cuda_copy(&part);
        cudaStream_t stream;
        LT_TRY(lt_cuda_enter(it->device.index, &stream));
        LT_TRY(lt_split_launches(it, [&](const lt_iter *piece) {
            launch_truth(piece, stream);
            return LT_OK;
        }));
        return lt_cuda_launched(it->device.index, stream, "copy");
    }
    LT_TRY(lt_cuda_copy(&part));
    part = iter_of_part(it, 1);
    if (lt_is_complex(it->dtype[1])) return lt_cuda_copy(&part);
    part.operands = 1;
    return lt_cuda_fill(&part, lt_scalar_from_float(0));
}

lt_status lt_cuda_copy(const lt_iter *it)
{
    cudaStream_t stream;
    const int64_t size = lt_element_size(it->dtype[0]);
    const bool same = it->dtype[0] == it->dtype[1];
    if (it->numel == 0) return LT_OK;
    if (!same && (lt_is_complex(it->dtype[0]) || lt_is_complex(it->dtype[1])))
        return copy_parts(it);
    LT_TRY(lt_cuda_enter(it->device.index, &stream));
    const bool dense =
        it->ndim == 0 || (it->ndim == 1 && it->strides[0][0] == size && it->strides[1][0] == size);
    if (same && dense) {
        CUDA_TRY(cudaMemcpyAsync(it->data[0], it->data[1], static_cast<size_t>(it->numel * size),
                                 cudaMemcpyDefault, stream));
        return lt_cuda_launched(it->device.index, stream, "copy");
    }
    LT_TRY(lt_split_launches(it, [&](const lt_iter *piece) {
        if (same)
            launch_same(piece, stream);
        else if (lt_is_float8(it->dtype[0]) || lt_is_float8(it->dtype[1]))
            launch_float8(piece, stream);
        else if (lt_is_unsigned(it->dtype[0]) || lt_is_unsigned(it->dtype[1]))
            launch_unsigned(piece, stream);
        else
            launch_convert(piece, stream);
        return LT_OK;
    }));
    return lt_cuda_launched(it->device.index, stream, "copy");
}
