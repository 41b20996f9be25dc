/* reduce.c - element-wise reduction of the ranks' rows in rank order: the result does not depend on
 * the engine, the message size or the rank that computes it. Processed in blocks that stay in L1
 * while all rows are added. */
#include <string.h>

#include "dtypes/dtype.h"
#include "dtypes/half.h"
#include "internal.h"

static const char *const names[LT_REDUCTIONS] = {"SUM", "AVG",  "PRODUCT", "MIN",
                                                 "MAX", "BAND", "BOR",     "BXOR"};

lt_status lt_check_reduction(lt_comm_reduction reduction, lt_dtype dtype)
{
    if ((unsigned)reduction >= LT_REDUCTIONS)
        return lt_error(LT_ERR_TYPE, "%d is no ReduceOp", (int)reduction);
    const bool summed = reduction == LT_REDUCE_SUM || reduction == LT_REDUCE_AVG;
    if (lt_dtype_is_complex(dtype) && !summed)
        return lt_error(LT_ERR_RUNTIME, "ReduceOp.%s needs a real dtype, got %s", names[reduction],
                        lt_dtype_scalar_name(dtype));
    if (reduction == LT_REDUCE_AVG && !lt_dtype_is_inexact(dtype))
        return lt_error(LT_ERR_RUNTIME, "ReduceOp.AVG needs a floating point dtype, got %s",
                        lt_dtype_scalar_name(dtype));
    if (reduction >= LT_REDUCE_BAND && lt_dtype_is_float(dtype))
        return lt_error(LT_ERR_RUNTIME, "ReduceOp.%s needs an integer dtype or bool, got %s",
                        names[reduction], lt_dtype_scalar_name(dtype));
    return LT_OK;
}

enum { BLOCK = 1024 }; /* elements */

#define ADD(a, b)      ((a) + (b))
#define MULTIPLY(a, b) ((a) * (b))
/* Propagate NaN, like torch.minimum. */
#define LEAST(a, b) ((a) < (b) || (a) != (a) ? (a) : (b))
#define MOST(a, b)  ((a) > (b) || (a) != (a) ? (a) : (b))
#define AND(a, b)   ((a) & (b))
#define OR(a, b)    ((a) | (b))
#define XOR(a, b)   ((a) ^ (b))

#define EACH(T, C, FORMULA)                                                                        \
    for (int64_t i = 0; i < count; i++) acc[i] = (C)FORMULA((C)first[i], (C)row[i]);               \
    break;

/* acc[i] = first[i] op row[i]. T: element type; C: type of the computation, unsigned for integers,
 * so that they wrap. */
#define FLOATS(T)                                                                                  \
    static void add_row_##T(lt_comm_reduction reduction, const T *first, const T *row,             \
                            int64_t count, T *acc)                                                 \
    {                                                                                              \
        switch (reduction) {                                                                       \
        case LT_REDUCE_PRODUCT: EACH(T, T, MULTIPLY)                                               \
        case LT_REDUCE_MIN: EACH(T, T, LEAST)                                                      \
        case LT_REDUCE_MAX: EACH(T, T, MOST)                                                       \
        default: EACH(T, T, ADD)                                                                   \
        }                                                                                          \
    }
#define INTEGERS(T, U)                                                                             \
    static void add_row_##T(lt_comm_reduction reduction, const T *first, const T *row,             \
                            int64_t count, T *acc)                                                 \
    {                                                                                              \
        switch (reduction) {                                                                       \
        case LT_REDUCE_PRODUCT: EACH(T, U, MULTIPLY)                                               \
        case LT_REDUCE_MIN: EACH(T, T, LEAST)                                                      \
        case LT_REDUCE_MAX: EACH(T, T, MOST)                                                       \
        case LT_REDUCE_BAND: EACH(T, T, AND)                                                       \
        case LT_REDUCE_BOR: EACH(T, T, OR)                                                         \
        case LT_REDUCE_BXOR: EACH(T, T, XOR)                                                       \
        default: EACH(T, U, ADD)                                                                   \
        }                                                                                          \
    }
FLOATS(float)
FLOATS(double)
INTEGERS(uint8_t, unsigned)
INTEGERS(int8_t, unsigned)
INTEGERS(int16_t, unsigned)
INTEGERS(int32_t, uint32_t)
INTEGERS(int64_t, uint64_t)
INTEGERS(uint16_t, unsigned)
INTEGERS(uint32_t, uint32_t)
INTEGERS(uint64_t, uint64_t)
#undef FLOATS
#undef INTEGERS
#undef EACH

/* For bool, a sum is "any" and a product "all". */
static lt_comm_reduction of_bools(lt_comm_reduction reduction)
{
    switch (reduction) {
    case LT_REDUCE_SUM:
    case LT_REDUCE_MAX: return LT_REDUCE_BOR;
    case LT_REDUCE_PRODUCT:
    case LT_REDUCE_MIN: return LT_REDUCE_BAND;
    default: return reduction;
    }
}

#define PLAIN(T, i) acc[i]
#define MEAN(T, i)  (reduction == LT_REDUCE_AVG ? acc[i] / (T)n : acc[i])

/* Reduces one block with an accumulator of the element type. RESULT(T, i) is the stored value. */
#define WHOLE(T, RESULT)                                                                           \
    static void block_##T(lt_comm_reduction reduction, const void *const *rows, int n,             \
                          int64_t from, int64_t count, T *out)                                     \
    {                                                                                              \
        T acc[BLOCK];                                                                              \
        const T *first = (const T *)rows[0] + from;                                                \
        for (int r = 1; r < n; r++, first = acc)                                                   \
            add_row_##T(reduction, first, (const T *)rows[r] + from, count, acc);                  \
        if (n == 1) memcpy(acc, first, (size_t)count * sizeof(T));                                 \
        for (int64_t i = 0; i < count; i++) out[i] = RESULT(T, i);                                 \
    }
/* Half types accumulate in float and round once, at the end. */
#define HALVES(T, TO_FLOAT, OF_FLOAT)                                                              \
    static void block_##T(lt_comm_reduction reduction, const void *const *rows, int n,             \
                          int64_t from, int64_t count, T *out)                                     \
    {                                                                                              \
        float acc[BLOCK], row[BLOCK];                                                              \
        for (int64_t i = 0; i < count; i++) acc[i] = TO_FLOAT(((const T *)rows[0])[from + i]);     \
        for (int r = 1; r < n; r++) {                                                              \
            for (int64_t i = 0; i < count; i++) row[i] = TO_FLOAT(((const T *)rows[r])[from + i]); \
            add_row_float(reduction, acc, row, count, acc);                                        \
        }                                                                                          \
        for (int64_t i = 0; i < count; i++) out[i] = OF_FLOAT(MEAN(float, i));                     \
    }
WHOLE(float, MEAN)
WHOLE(double, MEAN)
WHOLE(uint8_t, PLAIN)
WHOLE(int8_t, PLAIN)
WHOLE(int16_t, PLAIN)
WHOLE(int32_t, PLAIN)
WHOLE(int64_t, PLAIN)
WHOLE(uint16_t, PLAIN)
WHOLE(uint32_t, PLAIN)
WHOLE(uint64_t, PLAIN)
HALVES(lt_half, lt_half_to_float, lt_float_to_half)
HALVES(lt_bfloat16, lt_bfloat16_to_float, lt_float_to_bfloat16)
#undef WHOLE
#undef HALVES
#undef PLAIN
#undef MEAN

#define BLOCKS(T)                                                                                  \
    for (int64_t i = 0; i < count; i += BLOCK)                                                     \
        block_##T(reduction, rows, n, i, count - i < BLOCK ? count - i : BLOCK, (T *)out + i);     \
    break;

void lt_reduce_rows(lt_comm_reduction reduction, lt_dtype dtype, const void *const *rows, int n,
                    int64_t count, void *out)
{
    /* a complex sum is the sum of the real and imaginary parts */
    if (lt_dtype_is_complex(dtype)) dtype = lt_real_of(dtype), count *= 2;
    switch (dtype) {
    case LT_BOOL: reduction = of_bools(reduction); /* fall through */
    case LT_UINT8: BLOCKS(uint8_t)
    case LT_INT8: BLOCKS(int8_t)
    case LT_INT16: BLOCKS(int16_t)
    case LT_INT32: BLOCKS(int32_t)
    case LT_INT64: BLOCKS(int64_t)
    case LT_UINT16: BLOCKS(uint16_t)
    case LT_UINT32: BLOCKS(uint32_t)
    case LT_UINT64: BLOCKS(uint64_t)
    case LT_FLOAT16: BLOCKS(lt_half)
    case LT_BFLOAT16: BLOCKS(lt_bfloat16)
    case LT_FLOAT32: BLOCKS(float)
    case LT_FLOAT64: BLOCKS(double)
    default: break;
    }
}

void lt_divide_row(lt_dtype dtype, void *row, int64_t count, int by)
{
    if (dtype == LT_FLOAT32)
        for (int64_t i = 0; i < count; i++) ((float *)row)[i] /= (float)by;
    if (dtype == LT_FLOAT64)
        for (int64_t i = 0; i < count; i++) ((double *)row)[i] /= by;
}
