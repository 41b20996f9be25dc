/* blocks.c - quantized weights in the block formats of GGUF files: dequantize_blocks, linear_blocks,
 * and the gradient of its input. */
#include <string.h>

#include "devices/backend.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "op/_linear_blocks_backward.h"
#include "op/dequantize_blocks.h"
#include "op/linear.h"
#include "op/linear_blocks.h"
#include "op/matmul.h"
#include "op/to.h"
#include "ops/common.h"
#include "tensor.h"

static const struct {
    const char *name;
    int elements, bytes; /* of a block */
} formats[LT_BLOCK_FORMATS] = {
    [LT_BLOCK_Q4_0] = {"q4_0", 32, 18},     [LT_BLOCK_Q4_1] = {"q4_1", 32, 20},
    [LT_BLOCK_Q5_0] = {"q5_0", 32, 22},     [LT_BLOCK_Q5_1] = {"q5_1", 32, 24},
    [LT_BLOCK_Q8_0] = {"q8_0", 32, 34},     [LT_BLOCK_Q2_K] = {"q2_k", 256, 84},
    [LT_BLOCK_Q3_K] = {"q3_k", 256, 110},   [LT_BLOCK_Q4_K] = {"q4_k", 256, 144},
    [LT_BLOCK_Q5_K] = {"q5_k", 256, 176},   [LT_BLOCK_Q6_K] = {"q6_k", 256, 210},
    [LT_BLOCK_IQ4_NL] = {"iq4_nl", 32, 18},
};

static lt_status find_format(const char *op, const char *scheme, lt_block_format *out)
{
    for (int f = 0; f < LT_BLOCK_FORMATS; f++)
        if (strcmp(scheme, formats[f].name) == 0) {
            *out = (lt_block_format)f;
            return LT_OK;
        }
    return lt_error(LT_ERR_TYPE,
                    "%s(): unknown scheme '%.20s'; use q4_0, q4_1, q5_0, q5_1, q8_0, "
                    "q2_k, q3_k, q4_k, q5_k, q6_k or iq4_nl",
                    op, scheme);
}

/* Checks rows of bytes; the number of elements of a row in *columns. */
static lt_status check_blocks(const char *op, const lt_tensor *t, lt_block_format format,
                              int64_t *columns)
{
    const int64_t bytes = formats[format].bytes, row = t->ndim > 0 ? t->sizes[t->ndim - 1] : 1;
    if (t->dtype != LT_UINT8)
        return lt_error(LT_ERR_TYPE, "%s(): quantized weights are bytes (uint8), got %s", op,
                        lt_dtype_name((lt_dtype)t->dtype));
    if (t->ndim == 0 || row % bytes != 0)
        return lt_error(LT_ERR_TYPE,
                        "%s(): a row has %lld bytes, which is no multiple of a block of %s, %lld "
                        "bytes",
                        op, (long long)row, formats[format].name, (long long)bytes);
    if (lt_backend_of(t)->decode_blocks == NULL)
        return lt_error(LT_ERR_TYPE,
                        "%s(): quantized weights have no kernel for %s; dequantize them on the CPU "
                        "and move the result",
                        op, lt_backend_of(t)->name);
    *columns = row / bytes * formats[format].elements;
    return LT_OK;
}

static lt_status decode_part(lt_block_format format, const uint8_t *in, int64_t blocks,
                             const lt_tensor *out)
{
    return lt_backend_of(out)->decode_blocks(&(lt_block_decode){
        .format = format,
        .blocks = blocks,
        .elements = formats[format].elements,
        .bytes = formats[format].bytes,
        .in = in,
        .out = (float *)(void *)lt_data(out),
    });
}

lt_status lt_dequantize_blocks_impl(lt_tensor *self, const char *scheme, lt_dtype dtype,
                                    lt_tensor **out)
{
    lt_block_format format;
    int64_t sizes[LT_MAX_DIMS], columns;
    lt_tensor *bytes = NULL, *result = NULL;
    lt_status status = LT_OK;
    LT_TRY(find_format("dequantize_blocks", scheme, &format));
    LT_TRY(check_blocks("dequantize_blocks", self, format, &columns));
    memcpy(sizes, self->sizes, sizeof sizes);
    sizes[self->ndim - 1] = columns;
    LT_CHECK(lt_make_contiguous(self, &bytes));
    LT_CHECK(lt_tensor_new(LT_FLOAT32, self->device, self->ndim, sizes, &result));
    LT_CHECK(decode_part(format, (const uint8_t *)lt_data(bytes),
                         bytes->numel / formats[format].bytes, result));
    LT_CHECK(lt_to_dtype(result, dtype == LT_DTYPE_NONE ? LT_FLOAT32 : dtype, false, false, out));
done:
    lt_tensor_release(bytes);
    lt_tensor_release(result);
    return status;
}

/* ---- products -------------------------------------------------------------------------------- */

enum { TILE = 128 }; /* rows of the weight that are decoded for a product of matrices */

typedef struct block_linear {
    lt_block_format format;
    int64_t m, rows, columns;
    lt_tensor *in, *weight, *out; /* dense; float32, bytes, float32 */
} block_linear;

static lt_status multiply_few(const block_linear *b)
{
    return lt_backend_of(b->weight)->block_product(&(lt_block_product){
        .format = b->format,
        .m = b->m,
        .rows = b->rows,
        .columns = b->columns,
        .elements = formats[b->format].elements,
        .bytes = formats[b->format].bytes,
        .weight = (const uint8_t *)lt_data(b->weight),
        .in = (const float *)(void *)lt_data(b->in),
        .out = (float *)(void *)lt_data(b->out),
    });
}

static lt_status multiply_by_tiles(const block_linear *b)
{
    const int64_t blocks = b->columns / formats[b->format].elements,
                  row_bytes = blocks * formats[b->format].bytes, sizes[] = {TILE, b->columns};
    lt_tensor *tile = NULL;
    lt_status status = LT_OK;
    LT_TRY(lt_tensor_new(LT_FLOAT32, b->weight->device, 2, sizes, &tile));
    for (int64_t r = 0; r < b->rows && status == LT_OK; r += TILE) {
        const int64_t n = b->rows - r < TILE ? b->rows - r : TILE;
        LT_CHECK(decode_part(b->format, (const uint8_t *)lt_data(b->weight) + r * row_bytes,
                             n * blocks, tile));
        LT_CHECK(lt_backend_of(tile)->gemm(&(lt_gemm){
            .dtype = LT_FLOAT32,
            .m = b->m,
            .n = n,
            .k = b->columns,
            .batch = 1,
            .trans_b = true,
            .alpha = 1,
            .a = lt_data(b->in),
            .b = lt_data(tile),
            .c = lt_data(b->out) + r * (int64_t)sizeof(float),
            .lda = b->columns,
            .ldb = b->columns,
            .ldc = b->rows,
        }));
    }
done:
    lt_tensor_release(tile);
    return status;
}

static lt_status check_linear(const lt_tensor *input, const lt_tensor *weight, int64_t columns)
{
    if (weight->ndim != 2 || input->ndim == 0 || input->sizes[input->ndim - 1] != columns)
        return lt_error(LT_ERR_TYPE,
                        "linear_blocks(): an input with a last dimension of %lld elements and a "
                        "weight of %d dimensions with %lld elements per row do not fit; expected "
                        "[..., in] and [out, bytes of in elements]",
                        input->ndim > 0 ? (long long)input->sizes[input->ndim - 1] : 1LL,
                        weight->ndim, (long long)columns);
    if (!lt_dtype_is_float((lt_dtype)input->dtype))
        return lt_error(LT_ERR_TYPE, "linear_blocks(): the input has the dtype %s, expected floats",
                        lt_dtype_name((lt_dtype)input->dtype));
    return LT_OK;
}

/* For an input of float64: the decoded matrix in this dtype. */
static lt_status multiply_in_double(lt_tensor *input, lt_tensor *weight, const char *scheme,
                                    lt_tensor **out)
{
    lt_tensor *matrix = NULL;
    LT_TRY(lt_dequantize_blocks_impl(weight, scheme, LT_FLOAT64, &matrix));
    const lt_status status = lt_linear_impl(input, matrix, NULL, out);
    lt_tensor_release(matrix);
    return status;
}

lt_status lt_linear_blocks_impl(lt_tensor *input, lt_tensor *weight, const char *scheme,
                                lt_tensor **out)
{
    block_linear b = {0};
    int64_t sizes[LT_MAX_DIMS];
    lt_tensor *wide = NULL;
    lt_status status = LT_OK;
    LT_TRY(find_format("linear_blocks", scheme, &b.format));
    LT_TRY(check_blocks("linear_blocks", weight, b.format, &b.columns));
    LT_TRY(check_linear(input, weight, b.columns));
    if (input->dtype == LT_FLOAT64) return multiply_in_double(input, weight, scheme, out);
    b.rows = weight->sizes[0];
    b.m = b.columns > 0 ? input->numel / b.columns : 0;
    memcpy(sizes, input->sizes, sizeof sizes);
    sizes[input->ndim - 1] = b.rows;
    LT_CHECK(lt_make_contiguous(weight, &b.weight));
    LT_CHECK(lt_to_dtype(input, LT_FLOAT32, false, false, &wide));
    LT_CHECK(lt_make_contiguous(wide, &b.in));
    LT_CHECK(lt_tensor_new(LT_FLOAT32, input->device, input->ndim, sizes, &b.out));
    if (b.out->numel > 0)
        LT_CHECK(b.m <= LT_BLOCK_PRODUCT_ROWS ? multiply_few(&b) : multiply_by_tiles(&b));
    LT_CHECK(lt_to_dtype(b.out, (lt_dtype)input->dtype, false, false, out));
done:
    lt_tensor_release(wide);
    lt_tensor_release(b.in);
    lt_tensor_release(b.weight);
    lt_tensor_release(b.out);
    return status;
}

/* ---- the gradient of the input --------------------------------------------------------------- */

/* b->out [m, columns] = b->in [m, rows] times the weight, a tile of the weight at a time. */
static lt_status accumulate_tiles(const block_linear *b)
{
    const int64_t blocks = b->columns / formats[b->format].elements,
                  row_bytes = blocks * formats[b->format].bytes, sizes[] = {TILE, b->columns};
    lt_tensor *tile = NULL;
    lt_status status = LT_OK;
    LT_TRY(lt_fill_value(b->out, lt_scalar_from_int(0)));
    LT_TRY(lt_tensor_new(LT_FLOAT32, b->weight->device, 2, sizes, &tile));
    for (int64_t r = 0; r < b->rows && status == LT_OK; r += TILE) {
        const int64_t n = b->rows - r < TILE ? b->rows - r : TILE;
        LT_CHECK(decode_part(b->format, (const uint8_t *)lt_data(b->weight) + r * row_bytes,
                             n * blocks, tile));
        LT_CHECK(lt_backend_of(tile)->gemm(&(lt_gemm){
            .dtype = LT_FLOAT32,
            .m = b->m,
            .n = b->columns,
            .k = n,
            .batch = 1,
            .alpha = 1,
            .beta = 1,
            .a = lt_data(b->in) + r * (int64_t)sizeof(float),
            .b = lt_data(tile),
            .c = lt_data(b->out),
            .lda = b->rows,
            .ldb = b->columns,
            .ldc = b->columns,
            .device = tile->device,
        }));
    }
done:
    lt_tensor_release(tile);
    return status;
}

/* For a gradient of float64: the decoded matrix in this dtype. */
static lt_status accumulate_in_double(lt_tensor *grad_output, lt_tensor *weight, const char *scheme,
                                      lt_tensor **out)
{
    lt_tensor *matrix = NULL;
    LT_TRY(lt_dequantize_blocks_impl(weight, scheme, LT_FLOAT64, &matrix));
    const lt_status status = lt_matmul_impl(grad_output, matrix, out);
    lt_tensor_release(matrix);
    return status;
}

lt_status lt__linear_blocks_backward_impl(lt_tensor *grad_output, lt_tensor *weight,
                                          const char *scheme, lt_tensor **out)
{
    block_linear b = {0};
    int64_t sizes[LT_MAX_DIMS];
    lt_tensor *wide = NULL;
    lt_status status = LT_OK;
    LT_TRY(find_format("linear_blocks", scheme, &b.format));
    LT_TRY(check_blocks("linear_blocks", weight, b.format, &b.columns));
    if (grad_output->dtype == LT_FLOAT64)
        return accumulate_in_double(grad_output, weight, scheme, out);
    b.rows = weight->sizes[0];
    b.m = b.rows > 0 ? grad_output->numel / b.rows : 0;
    memcpy(sizes, grad_output->sizes, sizeof sizes);
    sizes[grad_output->ndim - 1] = b.columns;
    LT_CHECK(lt_make_contiguous(weight, &b.weight));
    LT_CHECK(lt_to_dtype(grad_output, LT_FLOAT32, false, false, &wide));
    LT_CHECK(lt_make_contiguous(wide, &b.in));
    LT_CHECK(lt_tensor_new(LT_FLOAT32, grad_output->device, grad_output->ndim, sizes, &b.out));
    if (b.out->numel > 0) LT_CHECK(accumulate_tiles(&b));
    LT_CHECK(lt_to_dtype(b.out, (lt_dtype)grad_output->dtype, false, false, out));
done:
    lt_tensor_release(wide);
    lt_tensor_release(b.in);
    lt_tensor_release(b.weight);
    lt_tensor_release(b.out);
    return status;
}
