/* pairs.c - two elementwise ops in one loop (pairs.h). Each rounds as it does by itself: nothing is contracted. */
#include "instantiate.h"

#include "cpu/common/pairs.h"

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

/* Y: the second op's other operand. */
#define RUNS(first, second, s, T, Y)                                                               \
    if (strides[1] == strides[2]) {                                                                \
        SIMD for (int64_t i = 0; i < n; i++) out[i] =                                              \
            SECOND_##second(s, FIRST_##first(s, a[i], b[i]), Y);                                   \
    } else if (strides[2] == 0) {                                                                  \
        const T number = *b;                                                                       \
        SIMD for (int64_t i = 0; i < n; i++) out[i] =                                              \
            SECOND_##second(s, FIRST_##first(s, a[i], number), Y);                                 \
    } else {                                                                                       \
        const T number = *a;                                                                       \
        SIMD for (int64_t i = 0; i < n; i++) out[i] =                                              \
            SECOND_##second(s, FIRST_##first(s, number, b[i]), Y);                                 \
    }
#define PAIR_HEAD(first, second, s, T)                                                             \
    static void first##_##second##_##s(char *const *ptrs, const int64_t *strides, int64_t n,       \
                                       const void *context)                                        \
    {                                                                                              \
        (void)context;                                                                             \
        T *out = (T *)ptrs[0];                                                                     \
        const T *a = (const T *)ptrs[1], *b = (const T *)ptrs[2];
#define UNARY_LOOP(first, second, s, T)                                                            \
    PAIR_HEAD(first, second, s, T)                                                                 \
    RUNS(first, second, s, T, )                                                                    \
    }
#define BINARY_LOOP(first, second, s, T)                                                           \
    PAIR_HEAD(first, second, s, T)                                                                 \
    const T *c = (const T *)ptrs[3];                                                               \
    if (strides[3] == 0) {                                                                         \
        const T y = *c;                                                                            \
        RUNS(first, second, s, T, y)                                                               \
    } else {                                                                                       \
        RUNS(first, second, s, T, c[i])                                                            \
    }                                                                                              \
    }

#define UNARY_LOOPS(first, name, NAME)                                                             \
    UNARY_LOOP(first, name, f32, float) UNARY_LOOP(first, name, f64, double)
#define BINARY_LOOPS(first, name, NAME)                                                            \
    BINARY_LOOP(first, name, f32, float) BINARY_LOOP(first, name, f64, double)
#define LOOPS(first, FIRST) LT_PAIR_BINARY(BINARY_LOOPS, first) LT_PAIR_UNARY(UNARY_LOOPS, first)
LT_PAIR_FIRST(LOOPS)

#define ENTRY(first, name, NAME) [LT_SECOND_##NAME] = {first##_##name##_f32, first##_##name##_f64},
#define ENTRIES(first, FIRST)                                                                      \
    [LT_FIRST_##FIRST] = {LT_PAIR_BINARY(ENTRY, first) LT_PAIR_UNARY(ENTRY, first)},
const lt_pair_loops LT_LOOP(pairs)[LT_FIRSTS] = {LT_PAIR_FIRST(ENTRIES)};
