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
#include "ops/convert/block_formats.h"
#include "tensor.h"

static lt_status find_format(const char *op, const char *scheme, lt_block_format *out)
{
    if (lt_find_block_format(scheme, out)) return LT_OK;
    return lt_error(LT_ERR_TYPE,
                    "%s(): unknown scheme '%.20s'; use q4_0, q4_1, q5_0, q5_1, q8_0, "
                    "q2_k, q3_k, q4_k, q5_k, q6_k or iq4_nl",
                    op, scheme);
}

/* Checks rows of bytes; the number of elements of a row in *columns. */
static lt_status check_blocks(const char *op, const lt_tensor *t, lt_block_format format,
                              int64_t *columns)
{
    const int64_t bytes = lt_block_formats[format].bytes,
                  row = t->ndim > 0 ? t->sizes[t->ndim - 1] : 1;
    if (t->dtype != LT_UINT8)
        return lt_error(LT_ERR_TYPE, "%s(): quantized weights are bytes (uint8), got %s", op,
                        lt_dtype_name((lt_dtype)t->dtype));
    if (t->ndim == 0 || row % bytes != 0)
        return lt_error(LT_ERR_TYPE,
                        "%s(): a row has %lld bytes, which is no multiple of a block of %s, %lld "
                        "bytes",
                        op, (long long)row, lt_block_formats[format].name, (long long)bytes);
    *columns = row / bytes * lt_block_formats[format].elements;
    return LT_OK;
}

/* The dtype in which the backend of t decodes or multiplies for results of a dtype. */
static lt_dtype dtype_for(const lt_tensor *t, lt_dtype dtype)
{
    const bool half = dtype == LT_FLOAT16 || dtype == LT_BFLOAT16;
    return half && lt_backend_of(t)->half_blocks ? dtype : LT_FLOAT32;
}

lt_status lt_dequantize_blocks_impl(lt_tensor *self, const char *scheme, lt_dtype dtype,
                                    lt_tensor **out)
{
    lt_block_format format;
    int64_t sizes[LT_MAX_DIMS], columns;
    lt_tensor *bytes = NULL, *result = NULL;
    lt_status status = LT_OK;
    if (dtype == LT_DTYPE_NONE) dtype = LT_FLOAT32;
    LT_TRY(find_format("dequantize_blocks", scheme, &format));
    LT_TRY(check_blocks("dequantize_blocks", self, format, &columns));
    memcpy(sizes, self->sizes, sizeof sizes);
    sizes[self->ndim - 1] = columns;
    LT_CHECK(lt_make_contiguous(self, &bytes));
    LT_CHECK(lt_tensor_new(dtype_for(self, dtype), self->device, self->ndim, sizes, &result));
    if (bytes->numel > 0)
        LT_CHECK(lt_backend_of(self)->decode_blocks(&(lt_block_decode){
            .format = format,
            .dtype = (lt_dtype)result->dtype,
            .device = self->device,
            .blocks = bytes->numel / lt_block_formats[format].bytes,
            .elements = lt_block_formats[format].elements,
            .bytes = lt_block_formats[format].bytes,
            .in = (const uint8_t *)lt_data(bytes),
            .out = lt_data(result),
        }));
    LT_CHECK(lt_to_dtype(result, dtype, false, false, out));
done:
    lt_tensor_release(bytes);
    lt_tensor_release(result);
    return status;
}

/* ---- products -------------------------------------------------------------------------------- */

typedef struct block_linear {
    lt_block_format format;
    bool transposed, int8_input;
    int64_t columns; /* of the weight, in elements */
} block_linear;

/* All dense; transposed: in has an element per row of the weight, out is float32. */
static lt_status multiply_dense(const block_linear *b, const lt_tensor *in, const lt_tensor *weight,
                                lt_tensor *out)
{
    if (out->numel == 0) return LT_OK;
    if (in->numel == 0) return lt_fill_value(out, lt_scalar_from_int(0));
    return lt_backend_of(weight)->block_product(&(lt_block_product){
        .format = b->format,
        .dtype = (lt_dtype)in->dtype,
        .device = weight->device,
        .transposed = b->transposed,
        .int8_input = b->int8_input,
        .m = out->numel / out->sizes[out->ndim - 1],
        .rows = weight->sizes[0],
        .columns = b->columns,
        .elements = lt_block_formats[b->format].elements,
        .bytes = lt_block_formats[b->format].bytes,
        .weight = (const uint8_t *)lt_data(weight),
        .in = lt_data(in),
        .out = lt_data(out),
    });
}

/* input times the transpose of the weight, or, transposed, times the weight; not for float64. */
static lt_status multiply_blocks(const block_linear *b, lt_tensor *input, lt_tensor *weight,
                                 lt_tensor **out)
{
    const lt_dtype dtype = (lt_dtype)input->dtype, inner = dtype_for(weight, dtype);
    int64_t sizes[LT_MAX_DIMS];
    lt_tensor *wide = NULL, *in = NULL, *dense = NULL, *result = NULL;
    lt_status status = LT_OK;
    memcpy(sizes, input->sizes, sizeof sizes);
    sizes[input->ndim - 1] = b->transposed ? b->columns : weight->sizes[0];
    LT_CHECK(lt_make_contiguous(weight, &dense));
    LT_CHECK(lt_to_dtype(input, inner, false, false, &wide));
    LT_CHECK(lt_make_contiguous(wide, &in));
    LT_CHECK(lt_tensor_new(b->transposed ? LT_FLOAT32 : inner, input->device, input->ndim, sizes,
                           &result));
    LT_CHECK(multiply_dense(b, in, dense, result));
    LT_CHECK(lt_to_dtype(result, dtype, false, false, out));
done:
    lt_tensor_release(wide);
    lt_tensor_release(in);
    lt_tensor_release(dense);
    lt_tensor_release(result);
    return status;
}

static lt_status check_linear(lt_tensor *input, lt_tensor *weight, int64_t columns)
{
    lt_device device;
    LT_TRY(
        lt_check_same_device("linear_blocks", (lt_tensor *[]){input, weight}, 2, false, &device));
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
                                bool int8_input, lt_tensor **out)
{
    block_linear b = {.int8_input = int8_input};
    LT_TRY(find_format("linear_blocks", scheme, &b.format));
    LT_TRY(check_blocks("linear_blocks", weight, b.format, &b.columns));
    LT_TRY(check_linear(input, weight, b.columns));
    if (input->dtype == LT_FLOAT64) return multiply_in_double(input, weight, scheme, out);
    return multiply_blocks(&b, input, weight, out);
}

/* ---- the gradient of the input --------------------------------------------------------------- */

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
    block_linear b = {.transposed = true};
    LT_TRY(find_format("linear_blocks", scheme, &b.format));
    LT_TRY(check_blocks("linear_blocks", weight, b.format, &b.columns));
    if (grad_output->dtype == LT_FLOAT64)
        return accumulate_in_double(grad_output, weight, scheme, out);
    return multiply_blocks(&b, grad_output, weight, out);
}
