/* pairs.c - two elementwise ops in one loop (pairs.h). Each rounds as it does by itself: nothing is contracted. */
#include "instantiate.h"

#include "cpu/common/pairs.h"

#if defined(__AVX2__) || !defined(__x86_64__)

#define FIRST_mul(s, x, y)       lt_mul_##s(x, y)
#define FIRST_add(s, x, y)       lt_add_##s(x, y, 1)
#define FIRST_sub(s, x, y)       lt_sub_##s(x, y, 1)
#define SECOND_mul(s, x, y)      lt_mul_##s(x, y)
#define SECOND_add(s, x, y)      lt_add_##s(x, y, 1)
#define SECOND_sub(s, x, y)      lt_sub_##s(x, y, 1)
#define SECOND_sub_from(s, x, y) lt_sub_##s(y, x, 1)
#define SECOND_relu(s, x, y)     lt_relu_##s(x)
#define SECOND_abs(s, x, y)      lt_abs_##s(x)
#define SECOND_sqrt(s, x, y)     lt_sqrt_##s(x)
#define SECOND_square(s, x, y)   lt_square_##s(x)

/* bfloat16 is computed in float and rounded after each op; numbers come as float. T: elements, C: what they are computed in, F: the
 * suffix of its formulas. */
#define READ_f32(x)   (x)
#define READ_f64(x)   (x)
#define READ_bf16(x)  lt_bfloat16_to_float(x)
#define WRITE_f32(x)  (x)
#define WRITE_f64(x)  (x)
#define WRITE_bf16(x) lt_float_to_bfloat16(x)

/* What the second op reads of the first one's result. */
#define BETWEEN_f32(x)  (x)
#define BETWEEN_f64(x)  (x)
#define BETWEEN_bf16(x) lt_round_to_bfloat16(x)

/* X, Y: operands of the first op; Z: the second's other one. */
#define BOTH(first, second, s, F, X, Y, Z)                                                         \
    WRITE_##s(SECOND_##second(F, BETWEEN_##s(FIRST_##first(F, X, Y)), Z))
#define RUNS(first, second, s, C, F, Z)                                                            \
    if (strides[1] == strides[2]) {                                                                \
        SIMD for (int64_t i = 0; i < n; i++) out[i] =                                              \
            BOTH(first, second, s, F, READ_##s(a[i]), READ_##s(b[i]), Z);                          \
    } else if (strides[2] == 0) {                                                                  \
        const C number = *(const C *)ptrs[2];                                                      \
        SIMD for (int64_t i = 0; i < n; i++) out[i] =                                              \
            BOTH(first, second, s, F, READ_##s(a[i]), number, Z);                                  \
    } else {                                                                                       \
        const C number = *(const C *)ptrs[1];                                                      \
        SIMD for (int64_t i = 0; i < n; i++) out[i] =                                              \
            BOTH(first, second, s, F, number, READ_##s(b[i]), Z);                                  \
    }
#define PAIR_HEAD(first, second, s, T)                                                             \
    static void first##_##second##_##s(char *const *ptrs, const int64_t *strides, int64_t n,       \
                                       const void *context)                                        \
    {                                                                                              \
        (void)context;                                                                             \
        T *out = (T *)ptrs[0];                                                                     \
        const T *a = (const T *)ptrs[1], *b = (const T *)ptrs[2];
#define UNARY_LOOP(first, second, s, T, C, F)                                                      \
    PAIR_HEAD(first, second, s, T) RUNS(first, second, s, C, F, )                                  \
    }
#define BINARY_LOOP(first, second, s, T, C, F)                                                     \
    PAIR_HEAD(first, second, s, T) const T *c = (const T *)ptrs[3];                                \
    if (strides[3] == 0) {                                                                         \
        const C z = *(const C *)ptrs[3];                                                           \
        RUNS(first, second, s, C, F, z)                                                            \
    } else {                                                                                       \
        RUNS(first, second, s, C, F, READ_##s(c[i]))                                               \
    }                                                                                              \
    }

#define OF_ALL_TYPES(LOOP, first, second)                                                          \
    LOOP(first, second, f32, float, float, f32)                                                    \
    LOOP(first, second, f64, double, double, f64)                                                  \
    LOOP(first, second, bf16, lt_bfloat16, float, f32)
#define UNARY_LOOPS(first, name, NAME)  OF_ALL_TYPES(UNARY_LOOP, first, name)
#define BINARY_LOOPS(first, name, NAME) OF_ALL_TYPES(BINARY_LOOP, first, name)
#define LOOPS(first, FIRST)             LT_PAIR_BINARY(BINARY_LOOPS, first) LT_PAIR_UNARY(UNARY_LOOPS, first)
LT_PAIR_FIRST(LOOPS)

#define ENTRY(first, name, NAME)                                                                   \
    [LT_SECOND_##NAME] = {first##_##name##_f32, first##_##name##_f64, first##_##name##_bf16},
#define ENTRIES(first, FIRST)                                                                      \
    [LT_FIRST_##FIRST] = {LT_PAIR_BINARY(ENTRY, first) LT_PAIR_UNARY(ENTRY, first)},
const lt_pair_loops LT_LOOP(pairs)[LT_FIRSTS] = {LT_PAIR_FIRST(ENTRIES)};

#endif
