/* combine.c - the loops that combine elements with values (scatter_add and the like), one element at
 * a time, since values may go to the same element. */
#include "dtypes/half.h"
#include "index.h"

#define T        uint8_t
#define C        uint8_t
#define W        uint64_t
#define LOAD(x)  (x)
#define STORE(x) ((uint8_t)(x))
#define S(name)  name##_u8
#include "combine.inc"

#define T        int8_t
#define C        int8_t
#define W        uint64_t
#define LOAD(x)  (x)
#define STORE(x) ((int8_t)(x))
#define S(name)  name##_i8
#include "combine.inc"

#define T        int16_t
#define C        int16_t
#define W        uint64_t
#define LOAD(x)  (x)
#define STORE(x) ((int16_t)(x))
#define S(name)  name##_i16
#include "combine.inc"

#define T        int32_t
#define C        int32_t
#define W        uint64_t
#define LOAD(x)  (x)
#define STORE(x) ((int32_t)(x))
#define S(name)  name##_i32
#include "combine.inc"

#define T        int64_t
#define C        int64_t
#define W        uint64_t
#define LOAD(x)  (x)
#define STORE(x) ((int64_t)(x))
#define S(name)  name##_i64
#include "combine.inc"

#define T        float
#define C        float
#define W        float
#define LOAD(x)  (x)
#define STORE(x) ((float)(x))
#define S(name)  name##_f32
#include "combine.inc"

#define T        double
#define C        double
#define W        double
#define LOAD(x)  (x)
#define STORE(x) ((double)(x))
#define S(name)  name##_f64
#include "combine.inc"

#define T       lt_half
#define C       float
#define W       float
#define LOAD    lt_half_to_float
#define STORE   lt_float_to_half
#define S(name) name##_f16
#include "combine.inc"

#define T       lt_bfloat16
#define C       float
#define W       float
#define LOAD    lt_bfloat16_to_float
#define STORE   lt_float_to_bfloat16
#define S(name) name##_bf16
#include "combine.inc"

/* Sum and maximum of booleans. */
static void or_bool(char *base, const int64_t *offsets, char *values, int64_t stride, int64_t n,
                    int64_t bytes)
{
    (void)bytes;
    for (int64_t i = 0; i < n; i++) {
        uint8_t *at = (uint8_t *)base + offsets[i];
        *at |= *((const uint8_t *)values + i * stride);
    }
}

/* Product and minimum of booleans. */
static void and_bool(char *base, const int64_t *offsets, char *values, int64_t stride, int64_t n,
                     int64_t bytes)
{
    (void)bytes;
    for (int64_t i = 0; i < n; i++) {
        uint8_t *at = (uint8_t *)base + offsets[i];
        *at &= *((const uint8_t *)values + i * stride);
    }
}

lt_move_loop lt_combine_loop(lt_scatter_mode mode, lt_dtype dtype)
{
#define MODES(s)                                                                                   \
    {                                                                                              \
        [LT_SCATTER_ADD] = add_##s, [LT_SCATTER_MUL] = mul_##s, [LT_SCATTER_MAX] = max_##s,        \
        [LT_SCATTER_MIN] = min_##s                                                                 \
    }
    static const lt_move_loop loops[LT_DTYPE_COUNT][LT_SCATTER_MIN + 1] = {
        [LT_UINT8] = MODES(u8),
        [LT_INT8] = MODES(i8),
        [LT_INT16] = MODES(i16),
        [LT_INT32] = MODES(i32),
        [LT_INT64] = MODES(i64),
        [LT_FLOAT16] = MODES(f16),
        [LT_BFLOAT16] = MODES(bf16),
        [LT_FLOAT32] = MODES(f32),
        [LT_FLOAT64] = MODES(f64),
        [LT_BOOL] = {[LT_SCATTER_ADD] = or_bool,
                     [LT_SCATTER_MUL] = and_bool,
                     [LT_SCATTER_MAX] = or_bool,
                     [LT_SCATTER_MIN] = and_bool}};
#undef MODES
    return loops[dtype][mode];
}
