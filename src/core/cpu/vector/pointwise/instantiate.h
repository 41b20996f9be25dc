/* instantiate.h - instantiates loops from scalar formulas. The list of ops of a kernel file is
 * generated from the declarations and expanded twice: to define the loops (shapes_loops.h), and to
 * fill in the table (shapes_entries.h):
 *
 *   FLOATS(UNARY, exp, EXP)      float and double
 *   INTEGERS(BINARY, add, ADD)   the five integer types
 *   WIDEST(BINARY, pow, POW)     int64 only; narrower integers are computed in it
 *   BOOL(BINARY, add, ADD)       bool
 *   BFLOAT16(BINARY, mul, MUL)   bfloat16 in pairs (bfloat16_words.h); numbers are float
 *
 * Each line defines a static function exp_f32 and its entry in the table. The driver converts half
 * types without loops of their own to float, and gathers strided operands. So all operands of a
 * loop are contiguous, except inputs that are a single number (stride 0): of two inputs either one,
 * of three the second, the third or both. If n is 1, strides are arbitrary. "omp simd" asserts that
 * iterations are independent: operands are identical or do not overlap. */
#ifndef LT_CPU_INSTANTIATE_H
#define LT_CPU_INSTANTIATE_H

#include "cpu/common/loops.h"
#include "cpu/vector/vector_math.h"

#include "formulas/formulas.h"

static inline float param_f32(lt_scalar s)
{
    return s.kind == LT_SCALAR_FLOAT ? (float)s.v.d : (float)s.v.i;
}
static inline double param_f64(lt_scalar s)
{
    return s.kind == LT_SCALAR_FLOAT ? s.v.d : (double)s.v.i;
}
static inline int64_t param_i64(lt_scalar s)
{
    return s.kind == LT_SCALAR_FLOAT ? (int64_t)s.v.d : s.v.i;
}
static inline int32_t param_i32(lt_scalar s) { return (int32_t)param_i64(s); }
static inline int16_t param_i16(lt_scalar s) { return (int16_t)param_i64(s); }
static inline int8_t param_i8(lt_scalar s) { return (int8_t)param_i64(s); }
static inline uint8_t param_u8(lt_scalar s) { return (uint8_t)param_i64(s); }
static inline uint8_t param_b8(lt_scalar s) { return param_f64(s) != 0; }

#define FLOATS(ARITY, name, NAME)                                                                  \
    ARITY(name, NAME, f32, float, FLOAT32)                                                         \
    ARITY(name, NAME, f64, double, FLOAT64)
#define WIDEST(ARITY, name, NAME) ARITY(name, NAME, i64, int64_t, INT64)
#define INTEGERS(ARITY, name, NAME)                                                                \
    ARITY(name, NAME, u8, uint8_t, UINT8)                                                          \
    ARITY(name, NAME, i8, int8_t, INT8)                                                            \
    ARITY(name, NAME, i16, int16_t, INT16)                                                         \
    ARITY(name, NAME, i32, int32_t, INT32)                                                         \
    ARITY(name, NAME, i64, int64_t, INT64)
#define BOOL(ARITY, name, NAME)     ARITY(name, NAME, b8, uint8_t, BOOL)
#define BFLOAT16(ARITY, name, NAME) ARITY##_WORDS(name, NAME, bf16, bfloat16_pair, BFLOAT16)

#define LOOP_HEAD(name, s)                                                                         \
    static void name##_##s(char *const *ptrs, const int64_t *strides, int64_t n,                   \
                           const void *context)
#define SIMD _Pragma("omp simd")

#define EACH SIMD for (int64_t i = 0; i < n; i++) out[i]

/* R: type of the result; CALL: the formula. */
#define UNARY_BODY(R, T, CALL)                                                                     \
    (void)strides;                                                                                 \
    R *out = (R *)ptrs[0];                                                                         \
    const T *in = (const T *)ptrs[1];                                                              \
    EACH = CALL(in[i]);

#define BINARY_BODY(R, T, CALL)                                                                    \
    R *out = (R *)ptrs[0];                                                                         \
    const T *a = (const T *)ptrs[1], *b = (const T *)ptrs[2], x = *a, y = *b;                      \
    if (strides[1] == strides[2])                                                                  \
        EACH = CALL(a[i], b[i]);                                                                   \
    else if (strides[2] == 0)                                                                      \
        EACH = CALL(a[i], y);                                                                      \
    else                                                                                           \
        EACH = CALL(x, b[i]);

#define TERNARY_OPERANDS(T, C)                                                                     \
    T *out = (T *)ptrs[0];                                                                         \
    const C *a = (const C *)ptrs[1];                                                               \
    const T *b = (const T *)ptrs[2], *c = (const T *)ptrs[3], y = *b, z = *c;
/* C: type of the first operand. The second, the third or both are often one number. */
#define TERNARY_BODY(T, C, CALL)                                                                   \
    TERNARY_OPERANDS(T, C)                                                                         \
    if (strides[2] != 0 && strides[3] != 0)                                                        \
        EACH = CALL(a[i], b[i], c[i]);                                                             \
    else if (strides[2] != 0)                                                                      \
        EACH = CALL(a[i], b[i], z);                                                                \
    else if (strides[3] != 0)                                                                      \
        EACH = CALL(a[i], y, c[i]);                                                                \
    else                                                                                           \
        EACH = CALL(a[i], y, z);

/* ---- loops, by the arity that a list entry states -------------------------------------------- */
#define LOOP_UNARY(name, NAME, s, T, D)                                                            \
    LOOP_HEAD(name, s)                                                                             \
    {                                                                                              \
        (void)context;                                                                             \
        UNARY_BODY(T, T, lt_##name##_##s)                                                          \
    }
#define CALL(x) formula(x, value)
#define LOOP_UNARY_NUMBER(name, NAME, s, T, D)                                                     \
    LOOP_HEAD(name, s)                                                                             \
    {                                                                                              \
        const T value = param_##s(((const lt_scalar *)context)[0]);                                \
        T (*const formula)(T, T) = lt_##name##_##s;                                                \
        UNARY_BODY(T, T, CALL)                                                                     \
    }
#define CALL_RANGE(x) formula(x, low, high)
#define LOOP_UNARY_RANGE(name, NAME, s, T, D)                                                      \
    LOOP_HEAD(name, s)                                                                             \
    {                                                                                              \
        const T low = param_##s(((const lt_scalar *)context)[0]);                                  \
        const T high = param_##s(((const lt_scalar *)context)[1]);                                 \
        T (*const formula)(T, T, T) = lt_##name##_##s;                                             \
        UNARY_BODY(T, T, CALL_RANGE)                                                               \
    }
#define CALL_THREE(x) formula(x, first, second, third)
#define LOOP_UNARY_THREE(name, NAME, s, T, D)                                                      \
    LOOP_HEAD(name, s)                                                                             \
    {                                                                                              \
        const lt_scalar *numbers = context;                                                        \
        const T first = param_##s(numbers[0]), second = param_##s(numbers[1]),                     \
                third = param_##s(numbers[2]);                                                     \
        T (*const formula)(T, T, T, T) = lt_##name##_##s;                                          \
        UNARY_BODY(T, T, CALL_THREE)                                                               \
    }
#define LOOP_BINARY(name, NAME, s, T, D)                                                           \
    LOOP_HEAD(name, s)                                                                             \
    {                                                                                              \
        (void)context;                                                                             \
        BINARY_BODY(T, T, lt_##name##_##s)                                                         \
    }
#define CALL_SCALED(x, y) formula(x, y, value)
#define LOOP_BINARY_SCALED(name, NAME, s, T, D)                                                    \
    LOOP_HEAD(name, s)                                                                             \
    {                                                                                              \
        const T value = param_##s(((const lt_scalar *)context)[0]);                                \
        T (*const formula)(T, T, T) = lt_##name##_##s;                                             \
        BINARY_BODY(T, T, CALL_SCALED)                                                             \
    }
#define CALL_RANGE_2(x, y) formula(x, y, low, high)
#define LOOP_BINARY_RANGE(name, NAME, s, T, D)                                                     \
    LOOP_HEAD(name, s)                                                                             \
    {                                                                                              \
        const T low = param_##s(((const lt_scalar *)context)[0]);                                  \
        const T high = param_##s(((const lt_scalar *)context)[1]);                                 \
        T (*const formula)(T, T, T, T) = lt_##name##_##s;                                          \
        BINARY_BODY(T, T, CALL_RANGE_2)                                                            \
    }
#define CALL_THREE_2(x, y) formula(x, y, first, second, third)
#define LOOP_BINARY_THREE(name, NAME, s, T, D)                                                     \
    LOOP_HEAD(name, s)                                                                             \
    {                                                                                              \
        const lt_scalar *numbers = context;                                                        \
        const T first = param_##s(numbers[0]), second = param_##s(numbers[1]),                     \
                third = param_##s(numbers[2]);                                                     \
        T (*const formula)(T, T, T, T, T) = lt_##name##_##s;                                       \
        BINARY_BODY(T, T, CALL_THREE_2)                                                            \
    }
#define LOOP_TERNARY(name, NAME, s, T, D)                                                          \
    LOOP_HEAD(name, s)                                                                             \
    {                                                                                              \
        (void)context;                                                                             \
        TERNARY_BODY(T, T, lt_##name##_##s)                                                        \
    }
#define CALL_SCALED_3(x, y, z) formula(x, y, z, value)
#define LOOP_TERNARY_SCALED(name, NAME, s, T, D)                                                   \
    LOOP_HEAD(name, s)                                                                             \
    {                                                                                              \
        const T value = param_##s(((const lt_scalar *)context)[0]);                                \
        T (*const formula)(T, T, T, T) = lt_##name##_##s;                                          \
        TERNARY_BODY(T, T, CALL_SCALED_3)                                                          \
    }
/* The condition is a byte. */
#define LOOP_SELECT(name, NAME, s, T, D)                                                           \
    LOOP_HEAD(name, s)                                                                             \
    {                                                                                              \
        (void)context;                                                                             \
        TERNARY_BODY(T, uint8_t, lt_##name##_##s)                                                  \
    }

#endif
