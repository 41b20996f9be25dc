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
        return lt_error(LT_ERR_TYPE, "%d is not a ReduceOp", (int)reduction);
    const bool summed = reduction == LT_COMM_SUM || reduction == LT_COMM_AVG;
    if (lt_dtype_is_complex(dtype) && !summed)
        return lt_error(LT_ERR_RUNTIME, "ReduceOp.%s needs a real dtype, got %s", names[reduction],
                        lt_dtype_scalar_name(dtype));
    if (reduction == LT_COMM_AVG && !lt_dtype_is_inexact(dtype))
        return lt_error(LT_ERR_RUNTIME, "ReduceOp.AVG needs a floating point dtype, got %s",
                        lt_dtype_scalar_name(dtype));
    if (reduction >= LT_COMM_BAND && lt_dtype_is_float(dtype))
        return lt_error(LT_ERR_RUNTIME, "ReduceOp.%s needs an integer dtype or bool, got %s",
                        names[reduction], lt_dtype_scalar_name(dtype));
    return LT_OK;
}

enum { BLOCK = 1024 }; /* elements */

#define T        float
#define U        float
#define FLOATING 1
#define S(name)  name##_f32
#include "reduce.inc"

#define T        double
#define U        double
#define FLOATING 1
#define S(name)  name##_f64
#include "reduce.inc"

#define T        uint8_t
#define U        unsigned
#define FLOATING 0
#define S(name)  name##_u8
#include "reduce.inc"

#define T        int8_t
#define U        unsigned
#define FLOATING 0
#define S(name)  name##_i8
#include "reduce.inc"

#define T        int16_t
#define U        unsigned
#define FLOATING 0
#define S(name)  name##_i16
#include "reduce.inc"

#define T        int32_t
#define U        uint32_t
#define FLOATING 0
#define S(name)  name##_i32
#include "reduce.inc"

#define T        int64_t
#define U        uint64_t
#define FLOATING 0
#define S(name)  name##_i64
#include "reduce.inc"

#define T        uint16_t
#define U        unsigned
#define FLOATING 0
#define S(name)  name##_u16
#include "reduce.inc"

#define T        uint32_t
#define U        uint32_t
#define FLOATING 0
#define S(name)  name##_u32
#include "reduce.inc"

#define T        uint64_t
#define U        uint64_t
#define FLOATING 0
#define S(name)  name##_u64
#include "reduce.inc"

#define T        lt_half
#define TO_FLOAT lt_half_to_float
#define OF_FLOAT lt_float_to_half
#define S(name)  name##_f16
#include "reduce_halves.inc"

#define T        lt_bfloat16
#define TO_FLOAT lt_bfloat16_to_float
#define OF_FLOAT lt_float_to_bfloat16
#define S(name)  name##_bf16
#include "reduce_halves.inc"

/* For bool, a sum is "any" and a product "all". */
static lt_comm_reduction of_bools(lt_comm_reduction reduction)
{
    switch (reduction) {
    case LT_COMM_SUM:
    case LT_COMM_MAX: return LT_COMM_BOR;
    case LT_COMM_PRODUCT:
    case LT_COMM_MIN: return LT_COMM_BAND;
    default: return reduction;
    }
}

#define BLOCKS(s, T)                                                                               \
    for (int64_t i = 0; i < count; i += BLOCK)                                                     \
        reduce_block_##s(reduction, rows, n, i, count - i < BLOCK ? count - i : BLOCK,             \
                         (T *)out + i);                                                            \
    break;

void lt_reduce_rows(lt_comm_reduction reduction, lt_dtype dtype, const void *const *rows, int n,
                    int64_t count, void *out)
{
    /* a complex sum is the sum of the real and imaginary parts */
    if (lt_dtype_is_complex(dtype)) dtype = lt_real_of(dtype), count *= 2;
    switch (dtype) {
    case LT_BOOL: reduction = of_bools(reduction); /* fall through */
    case LT_UINT8: BLOCKS(u8, uint8_t)
    case LT_INT8: BLOCKS(i8, int8_t)
    case LT_INT16: BLOCKS(i16, int16_t)
    case LT_INT32: BLOCKS(i32, int32_t)
    case LT_INT64: BLOCKS(i64, int64_t)
    case LT_UINT16: BLOCKS(u16, uint16_t)
    case LT_UINT32: BLOCKS(u32, uint32_t)
    case LT_UINT64: BLOCKS(u64, uint64_t)
    case LT_FLOAT16: BLOCKS(f16, lt_half)
    case LT_BFLOAT16: BLOCKS(bf16, lt_bfloat16)
    case LT_FLOAT32: BLOCKS(f32, float)
    case LT_FLOAT64: BLOCKS(f64, double)
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
