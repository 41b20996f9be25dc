/* pairs.c - two elementwise ops in one loop (pairs.h). Each rounds as it does by itself: nothing is contracted. */
#include "instantiate.h"

#include "bfloat16_words.h"
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

/* What both ops of bfloat16 are computed in. */
TWO_OF_TWO(mul)
TWO_SCALED(add)
TWO_SCALED(sub)
TWO_OF_ONE(relu)
TWO_OF_ONE(abs)
TWO_OF_ONE(sqrt)
TWO_OF_ONE(square)

/* T: what lies in memory, C: what it is computed in, s: the suffix of its formulas. */
#define READ_f32(x)     (x)
#define READ_f64(x)     (x)
#define READ_two(x)     two_of_word(x)
#define WRITE_f32(x)    (x)
#define WRITE_f64(x)    (x)
#define WRITE_two(x)    word_of_two(x)
#define NUMBER_f32(at)  (*(const float *)(at))
#define NUMBER_f64(at)  (*(const double *)(at))
#define NUMBER_two(at)  two_of_number(at)

/* What the second op reads of the first one's result. */
#define BETWEEN_f32(x) (x)
#define BETWEEN_f64(x) (x)
#define BETWEEN_two(x) rounded_two(x)

/* X, Y: operands of the first op; Z: the second's other one. */
#define BOTH(first, second, s, X, Y, Z)                                                            \
    WRITE_##s(SECOND_##second(s, BETWEEN_##s(FIRST_##first(s, X, Y)), Z))
#define RUNS(first, second, s, C, Z)                                                               \
    if (strides[1] == strides[2]) {                                                                \
        SIMD for (int64_t i = 0; i < n; i++) out[i] =                                              \
            BOTH(first, second, s, READ_##s(a[i]), READ_##s(b[i]), Z);                             \
    } else if (strides[2] == 0) {                                                                  \
        const C number = NUMBER_##s(ptrs[2]);                                                      \
        SIMD for (int64_t i = 0; i < n; i++) out[i] =                                              \
            BOTH(first, second, s, READ_##s(a[i]), number, Z);                                     \
    } else {                                                                                       \
        const C number = NUMBER_##s(ptrs[1]);                                                      \
        SIMD for (int64_t i = 0; i < n; i++) out[i] =                                              \
            BOTH(first, second, s, number, READ_##s(b[i]), Z);                                     \
    }
#define PAIR_HEAD(first, second, s, T)                                                             \
    static void first##_##second##_##s(char *const *ptrs, const int64_t *strides, int64_t n,       \
                                       const void *context)                                        \
    {                                                                                              \
        (void)context;                                                                             \
        T *out = (T *)ptrs[0];                                                                     \
        const T *a = (const T *)ptrs[1], *b = (const T *)ptrs[2];
#define UNARY_LOOP(first, second, s, T, C)                                                         \
    PAIR_HEAD(first, second, s, T) RUNS(first, second, s, C, )                                     \
    }
#define BINARY_LOOP(first, second, s, T, C)                                                        \
    PAIR_HEAD(first, second, s, T) const T *c = (const T *)ptrs[3];                                \
    if (strides[3] == 0) {                                                                         \
        const C z = NUMBER_##s(ptrs[3]);                                                           \
        RUNS(first, second, s, C, z)                                                               \
    } else {                                                                                       \
        RUNS(first, second, s, C, READ_##s(c[i]))                                                  \
    }                                                                                              \
    }
#define ALL_WORDS(first, second, operands)                                                         \
    static void first##_##second##_bf16(char *const *ptrs, const int64_t *strides, int64_t n, const void *context) \
    {                                                                                              \
        run_words(first##_##second##_two, operands, ptrs, strides, n, context);                    \
    }

#define OF_ALL_TYPES(LOOP, first, second, operands)                                                \
    LOOP(first, second, f32, float, float)                                                         \
    LOOP(first, second, f64, double, double)                                                       \
    LOOP(first, second, two, word, two)                                                            \
    ALL_WORDS(first, second, operands)
#define UNARY_LOOPS(first, name, NAME)  OF_ALL_TYPES(UNARY_LOOP, first, name, 3)
#define BINARY_LOOPS(first, name, NAME) OF_ALL_TYPES(BINARY_LOOP, first, name, 4)
#define LOOPS(first, FIRST)             LT_PAIR_BINARY(BINARY_LOOPS, first) LT_PAIR_UNARY(UNARY_LOOPS, first)
LT_PAIR_FIRST(LOOPS)

#define ENTRY(first, name, NAME)                                                                   \
    [LT_SECOND_##NAME] = {first##_##name##_f32, first##_##name##_f64, first##_##name##_bf16},
#define ENTRIES(first, FIRST)                                                                      \
    [LT_FIRST_##FIRST] = {LT_PAIR_BINARY(ENTRY, first) LT_PAIR_UNARY(ENTRY, first)},
const lt_pair_loops LT_LOOP(pairs)[LT_FIRSTS] = {LT_PAIR_FIRST(ENTRIES)};

#endif
