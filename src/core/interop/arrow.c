/* arrow.c - the Arrow C data interface (ltensor.h): exports tensors of one dimension as columns and
 * imports columns. */
#include <stdint.h>
#include <string.h>

#include "autograd/autograd.h"
#include "saturating.h"
#include "devices/device.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "compile/deferred.h"
#include "memory/alloc.h"
#include "sparse.h"
#include "tensor.h"
#include "op/contiguous.h"

/* NULL: Arrow has no format for the dtype. */
static const char *const formats[LT_DTYPE_COUNT] = {
    [LT_BOOL] = "b",    [LT_UINT8] = "C",   [LT_INT8] = "c",    [LT_INT16] = "s",
    [LT_INT32] = "i",   [LT_INT64] = "l",   [LT_FLOAT16] = "e", [LT_BFLOAT16] = NULL,
    [LT_FLOAT32] = "f", [LT_FLOAT64] = "g", [LT_UINT16] = "S",  [LT_UINT32] = "I",
    [LT_UINT64] = "L"};

/* Bits are stored least significant first. */
static bool bit_at(const uint8_t *bits, int64_t i) { return bits[i >> 3] >> (i & 7) & 1; }

/* ---- exporting ------------------------------------------------------------------------------- */

/* Owns the exported data until the array is released. Allocated separately, since consumers may
 * move the array's struct. */
typedef struct arrow_export {
    lt_tensor *tensor;
    const void *buffers[2]; /* validity bitmap: NULL, without nulls; elements */
} arrow_export;

static void end_loan(struct ArrowArray *array)
{
    arrow_export *l = array->private_data;
    lt_tensor_release(l->tensor);
    lt_mem_free(l);
    array->release = NULL;
}

/* A schema owns nothing: it points to constants. */
static void end_schema(struct ArrowSchema *schema) { schema->release = NULL; }

static lt_status check_column(const lt_tensor *t)
{
    char name[64];
    LT_TRY(lt_require_strided("to_arrow", t));
    if (t->ndim != 1)
        return lt_error(LT_ERR_RUNTIME, "to_arrow: a column has 1 dimension, but the tensor has %d",
                        t->ndim);
    if (formats[t->dtype] == NULL)
        return lt_error(LT_ERR_RUNTIME, "to_arrow: Arrow has no format for %s",
                        lt_dtype_name((lt_dtype)t->dtype));
    if (t->device.type != LT_CPU)
        return lt_error(
            LT_ERR_DEVICE,
            "to_arrow: expected a tensor on the CPU, but got one on %s: call cpu() first",
            lt_format_device(name, sizeof name, t->device));
    if (lt_requires_grad(t))
        return lt_error(LT_ERR_RUNTIME,
                        "Can't export tensors that require gradient, use tensor.detach()");
    return lt_materialize("to_arrow", t);
}

/* New tensor with the bits of t's bools; the unused bits of the last byte are 0. */
static lt_status pack_bits(const lt_tensor *t, lt_tensor **out)
{
    const int64_t bytes = t->numel / 8 + (t->numel % 8 != 0);
    LT_TRY(lt_tensor_new(LT_UINT8, lt_host, 1, &bytes, out));
    const uint8_t *from = (const uint8_t *)lt_data(t);
    uint8_t *bits = (uint8_t *)lt_data(*out);
    memset(bits, 0, (size_t)bytes);
    for (int64_t i = 0; i < t->numel; i++)
        bits[i >> 3] |= (uint8_t)((from[i * t->strides[0]] != 0) << (i & 7));
    return LT_OK;
}

lt_status lt_tensor_to_arrow(const lt_tensor *t, struct ArrowSchema *schema,
                             struct ArrowArray *array)
{
    LT_REQUIRE(t);
    LT_REQUIRE(schema);
    LT_REQUIRE(array);
    LT_TRY(check_column(t));
    arrow_export *l = lt_mem_zalloc(sizeof *l);
    if (l == NULL) return LT_ERR_MEMORY;
    const lt_status status = t->dtype == LT_BOOL   ? pack_bits(t, &l->tensor)
                             : lt_is_contiguous(t) ? lt_tensor_alias(t, &l->tensor)
                                                   : lt_contiguous(t, &l->tensor);
    if (status != LT_OK) {
        lt_mem_free(l);
        return status;
    }
    l->buffers[1] = t->numel > 0 ? lt_data(l->tensor) : NULL;
    /* Nullable, as in the columns of all producers, since consumers compare schemas; there are no
     * nulls. */
    *schema = (struct ArrowSchema){.format = formats[t->dtype],
                                   .name = "",
                                   .flags = ARROW_FLAG_NULLABLE,
                                   .release = end_schema};
    *array = (struct ArrowArray){.length = t->numel,
                                 .n_buffers = 2,
                                 .buffers = l->buffers,
                                 .release = end_loan,
                                 .private_data = l};
    return LT_OK;
}

/* ---- importing ------------------------------------------------------------------------------- */

/* The type of a format that no dtype matches, for the error message. */
static const char *arrow_kind_of(const char *format)
{
    static const struct {
        const char *begins, *kind;
    } kinds[] = {
        {"n", "null"},
        {"u", "text"},
        {"U", "large text"},
        {"vu", "text views"},
        {"z", "binary"},
        {"Z", "large binary"},
        {"vz", "binary views"},
        {"d:", "decimal numbers"},
        {"w:", "binary of one width"},
        {"td", "dates"},
        {"tt", "times"},
        {"ts", "timestamps"},
        {"tD", "durations"},
        {"ti", "intervals"},
        {"+l", "lists"},
        {"+L", "large lists"},
        {"+vl", "list views"},
        {"+vL", "large list views"},
        {"+w", "lists of one size"},
        {"+s", "structs"},
        {"+m", "maps"},
        {"+u", "unions"},
        {"+r", "runs"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(format, kinds[i].begins, strlen(kinds[i].begins)) == 0) return kinds[i].kind;
    return "unknown";
}

static lt_status find_dtype(const struct ArrowSchema *schema, lt_dtype *out)
{
    if (schema->release == NULL)
        return lt_error(LT_ERR_RUNTIME, "from_arrow: the schema was released or moved before");
    if (schema->format == NULL) return lt_error(LT_ERR_RUNTIME, "from_arrow: format is NULL");
    if (schema->dictionary != NULL)
        return lt_error(LT_ERR_RUNTIME,
                        "from_arrow: dictionaries (indices of format '%.40s') are not supported",
                        schema->format);
    for (int d = 0; d < LT_DTYPE_COUNT; d++) {
        if (formats[d] == NULL || strcmp(schema->format, formats[d]) != 0) continue;
        *out = (lt_dtype)d;
        return LT_OK;
    }
    return lt_error(LT_ERR_RUNTIME, "from_arrow: the format '%.40s' (%s) is not supported",
                    schema->format, arrow_kind_of(schema->format));
}

/* Checks the requirements of the specification for an array of numbers. */
static lt_status check_array(const struct ArrowArray *array)
{
    if (array->release == NULL)
        return lt_error(LT_ERR_RUNTIME, "from_arrow: the array was released or moved before");
    if (array->n_buffers != 2 || array->buffers == NULL || array->n_children != 0 ||
        array->dictionary != NULL)
        return lt_error(LT_ERR_RUNTIME,
                        "from_arrow: a column of numbers has 2 buffers and no children, the array "
                        "has %lld and %lld%s",
                        (long long)(array->buffers != NULL ? array->n_buffers : 0),
                        (long long)array->n_children,
                        array->dictionary != NULL ? ", and a dictionary" : "");
    if (array->length < 0 || array->offset < 0)
        return lt_error(LT_ERR_RUNTIME,
                        "from_arrow: length %lld and offset %lld must not be negative",
                        (long long)array->length, (long long)array->offset);
    if (array->null_count < -1 || array->null_count > array->length)
        return lt_error(LT_ERR_RUNTIME, "from_arrow: null_count is %lld for %lld elements",
                        (long long)array->null_count, (long long)array->length);
    if (array->length > 0 && array->buffers[1] == NULL)
        return lt_error(LT_ERR_RUNTIME, "from_arrow: data are NULL for %lld elements",
                        (long long)array->length);
    if (array->null_count > 0 && array->buffers[0] == NULL)
        return lt_error(LT_ERR_RUNTIME,
                        "from_arrow: null_count is %lld, but the validity bitmap is NULL",
                        (long long)array->null_count);
    int64_t numel;
    const int64_t reaches = lt_add_sat(array->offset, array->length);
    return lt_check_sizes(1, &reaches, &numel);
}

static int64_t count_nulls(const struct ArrowArray *array)
{
    const uint8_t *valid = array->buffers[0];
    int64_t i = array->offset, n = 0;
    const int64_t end = array->offset + array->length;
    if (array->null_count == 0 || valid == NULL) return 0;
    for (; i < end && i % 8 != 0; i++) n += bit_at(valid, i);
    for (; end - i >= 8; i += 8) n += __builtin_popcount(valid[i >> 3]);
    for (; i < end; i++) n += bit_at(valid, i);
    return array->length - n;
}

static void unpack_bits(const struct ArrowArray *array, bool *to)
{
    for (int64_t i = 0; i < array->length; i++)
        to[i] = bit_at(array->buffers[1], array->offset + i);
}

static void nulls_to_nan(const struct ArrowArray *array, lt_dtype dtype, char *to)
{
    const uint16_t half = 0x7e00;
    const float single = __builtin_nanf("");
    const double twice = __builtin_nan("");
    const void *nan = dtype == LT_FLOAT16   ? (const void *)&half
                      : dtype == LT_FLOAT32 ? (const void *)&single
                                            : &twice;
    const size_t size = lt_dtype_size(dtype);
    for (int64_t i = 0; i < array->length; i++)
        if (!bit_at(array->buffers[0], array->offset + i)) memcpy(to + (size_t)i * size, nan, size);
}

static lt_status copy_column(const struct ArrowArray *array, const char *data, lt_dtype dtype,
                             bool has_nulls, lt_tensor **out)
{
    lt_tensor *copy = NULL;
    LT_TRY(lt_tensor_new(dtype, lt_host, 1, &array->length, &copy));
    if (dtype == LT_BOOL)
        unpack_bits(array, (bool *)lt_data(copy));
    else if (array->length > 0)
        memcpy(lt_data(copy), data, (size_t)array->length * lt_dtype_size(dtype));
    if (has_nulls) nulls_to_nan(array, dtype, lt_data(copy));
    *out = copy;
    return LT_OK;
}

static void release_held(void *ctx)
{
    struct ArrowArray *held = ctx;
    held->release(held);
    lt_mem_free(held);
}

/* A tensor over the array's memory; takes ownership of the array on success. */
static lt_status hold_column(const struct ArrowArray *array, const char *data, lt_dtype dtype,
                             lt_tensor **out)
{
    struct ArrowArray *held = lt_mem_alloc(sizeof *held);
    if (held == NULL) return LT_ERR_MEMORY;
    *held = *array;
    const lt_foreign memory = {.data = (void *)data,
                               .device = lt_host,
                               .read_only = true,
                               .release = release_held,
                               .ctx = held};
    const lt_status status = lt_tensor_over(&memory, dtype, 1, &array->length, NULL, out);
    if (status != LT_OK) lt_mem_free(held);
    return status;
}

lt_status lt_tensor_from_arrow(const struct ArrowSchema *schema, struct ArrowArray *array,
                               lt_tensor **out)
{
    lt_dtype dtype;
    LT_REQUIRE(schema);
    LT_REQUIRE(array);
    LT_REQUIRE(out);
    LT_TRY(find_dtype(schema, &dtype));
    LT_TRY(check_array(array));
    const int64_t nulls = count_nulls(array);
    const size_t size = lt_dtype_size(dtype);
    if (nulls > 0 && !lt_dtype_is_float(dtype))
        return lt_error(LT_ERR_RUNTIME,
                        "from_arrow: %lld of %lld elements are null, and %s has no value for that",
                        (long long)nulls, (long long)array->length, lt_dtype_name(dtype));
    /* bools are bits, which are unpacked */
    const bool has_bytes = array->length > 0 && dtype != LT_BOOL;
    const char *data =
        has_bytes ? (const char *)array->buffers[1] + (size_t)array->offset * size : NULL;
    if (nulls > 0 || dtype == LT_BOOL || array->length == 0 || (uintptr_t)data % size != 0) {
        LT_TRY(copy_column(array, data, dtype, nulls > 0, out));
        array->release(array);
    } else {
        LT_TRY(hold_column(array, data, dtype, out));
    }
    array->release = NULL;
    return LT_OK;
}
