/* blocks.cu - quantized weights: decoded, and their products with floats. Few rows are multiplied by
 * block_rows.cu; for more, tiles of the weight are decoded in the dtype of the input, and cuBLAS
 * multiplies them. */
#include "blocks.cuh"

#include <algorithm>

#include "block_rows.cuh"
#include "kernels/launch.cuh"
#include "kernels/offsets.cuh"

enum { BLOCK = 256 };

/* tuning: bytes of a tile of decoded weights; stays in the L2 of an H100 (50 MB); one to three tiles per
 * layer of a model with 7 billion parameters in half precision; not timed (by size, 2026-11-29) */
static constexpr int64_t tile_bytes = int64_t{32} << 20;

static int64_t size_of(lt_dtype dtype) { return lt_element_size(dtype); }

/* ---- decoding -------------------------------------------------------------------------------- */

/* A thread decodes a unit. units: their number. */
template <class Unit>
static __global__ void __launch_bounds__(BLOCK) decode_units(lt_block_decode d, int64_t units)
{
    const int64_t number = lt_thread_number();
    if (number >= units) return;
    const int64_t block = number / Unit::UNITS;
    const int t = static_cast<int>(number % Unit::UNITS);
    Unit unit;
    unit.load(d.in + block * Unit::BYTES, t);
    LT_UNROLLED
    for (int r = 0; r < Unit::RUNS; r++) {
        float y[4];
        lt_decode_run(unit.run(r), y);
        const int64_t to = block * Unit::ELEMENTS + Unit::at(t, r);
        lt_store_float_row<float, 4>(
            d.dtype, static_cast<char *>(d.out) + to * (d.dtype == LT_FLOAT32 ? 4 : 2), y, 4, true);
    }
}

template <class Unit> static void launch_decode(const lt_block_decode *d, cudaStream_t stream)
{
    const int64_t units = d->blocks * Unit::UNITS;
    LT_LAUNCH(decode_units<Unit>, lt_blocks(units, BLOCK), BLOCK, stream, *d, units);
}

static void decode(const lt_block_decode *d, cudaStream_t stream)
{
#define DECODE(NAME, name, elements, bytes)                                                        \
    static_assert(lt_block_unit<LT_BLOCK_##NAME>::ELEMENTS == elements &&                          \
                  lt_block_unit<LT_BLOCK_##NAME>::BYTES == bytes);                                 \
    case LT_BLOCK_##NAME: launch_decode<lt_block_unit<LT_BLOCK_##NAME>>(d, stream); break;
    switch (d->format) {
        LT_EACH_BLOCK_FORMAT(DECODE)
    case LT_BLOCK_FORMATS: break;
    }
#undef DECODE
}

/* A copy of misaligned memory, else the memory itself. */
static lt_status align(const void **data, int64_t bytes, int device, cudaStream_t stream,
                       lt_cuda_scratch *copy)
{
    if (lt_is_aligned(*data)) return LT_OK;
    LT_TRY(copy->take(device, static_cast<size_t>(bytes)));
    CUDA_TRY(cudaMemcpyAsync(copy->as<void>(), *data, static_cast<size_t>(bytes),
                             cudaMemcpyDeviceToDevice, stream));
    *data = copy->as<void>();
    return LT_OK;
}

static lt_status align_blocks(const uint8_t **blocks, int64_t bytes, int device,
                              cudaStream_t stream, lt_cuda_scratch *copy)
{
    const void *data = *blocks;
    LT_TRY(align(&data, bytes, device, stream, copy));
    *blocks = static_cast<const uint8_t *>(data);
    return LT_OK;
}

lt_status lt_cuda_decode_blocks(const lt_block_decode *d)
{
    cudaStream_t stream;
    lt_cuda_scratch copy;
    lt_block_decode aligned = *d;
    LT_TRY(lt_cuda_enter(d->device.index, &stream));
    LT_TRY(align_blocks(&aligned.in, d->blocks * d->bytes, d->device.index, stream, &copy));
    decode(&aligned, stream);
    return lt_cuda_launched(d->device.index, stream, "dequantize_blocks");
}

/* ---- products -------------------------------------------------------------------------------- */

/* The product with n rows of the weight from `row` on, decoded in tile. transposed: half types are
 * added up in float. */
static lt_status multiply_tile(const lt_block_product *p, int64_t row, int64_t n, const void *tile)
{
    const char *in = static_cast<const char *>(p->in);
    char *out = static_cast<char *>(p->out);
    lt_gemm g = {};
    g.dtype = p->dtype;
    g.device = p->device;
    g.m = p->m;
    g.batch = 1;
    g.alpha = 1;
    g.b = tile;
    g.ldb = p->columns;
    if (p->transposed) {
        g.n = p->columns;
        g.k = n;
        g.beta = row > 0;
        g.wide_result = p->dtype != LT_FLOAT32;
        g.a = in + row * size_of(p->dtype);
        g.lda = p->rows;
        g.c = out;
        g.ldc = p->columns;
    } else {
        g.n = n;
        g.k = p->columns;
        g.trans_b = true;
        g.a = in;
        g.lda = p->columns;
        g.c = out + row * size_of(p->dtype);
        g.ldc = p->rows;
    }
    return lt_cuda_gemm(&g);
}

/* p->weight is aligned. */
static lt_status multiply_by_tiles(const lt_block_product *p, cudaStream_t stream)
{
    enum { UNIT = 64 }; /* fixed: rows; so that each tile of the result begins aligned */
    const int64_t row_bytes = p->columns * size_of(p->dtype),
                  most = std::max(tile_bytes / row_bytes / UNIT, int64_t{1}) * UNIT,
                  rows = std::min(p->rows, most), blocks = p->columns / p->elements;
    lt_cuda_scratch tile;
    LT_TRY(tile.take(p->device.index, static_cast<size_t>(rows * row_bytes)));
    for (int64_t row = 0; row < p->rows; row += rows) {
        const int64_t n = std::min(rows, p->rows - row);
        lt_block_decode d = {};
        d.format = p->format;
        d.dtype = p->dtype;
        d.device = p->device;
        d.blocks = n * blocks;
        d.elements = p->elements;
        d.bytes = p->bytes;
        d.in = p->weight + row * blocks * p->bytes;
        d.out = tile.as<void>();
        decode(&d, stream);
        LT_TRY(multiply_tile(p, row, n, tile.as<void>()));
    }
    return LT_OK;
}

lt_status lt_cuda_block_product(const lt_block_product *p)
{
    cudaStream_t stream;
    lt_cuda_scratch weight, in;
    lt_block_product aligned = *p;
    const int device = p->device.index;
    LT_TRY(lt_cuda_enter(device, &stream));
    LT_TRY(align_blocks(&aligned.weight, p->rows * (p->columns / p->elements) * p->bytes, device,
                        stream, &weight));
    if (p->m > LT_CUDA_BLOCK_ROWS || p->columns > LT_CUDA_BLOCK_COLUMNS || p->transposed) {
        LT_TRY(multiply_by_tiles(&aligned, stream));
    } else {
        LT_TRY(align(&aligned.in, p->m * p->columns * size_of(p->dtype), device, stream, &in));
        lt_cuda_multiply_block_rows(&aligned, stream);
    }
    return lt_cuda_launched(device, stream, "linear_blocks");
}
