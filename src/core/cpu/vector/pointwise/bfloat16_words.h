/* bfloat16_words.h - loops over bfloat16 that process two elements at a time, the halves of a word:
 * each becomes a float in place, by a shift or a mask. They are computed in float and rounded after
 * each op; scalar operands are float. Included after instantiate.h. */
#ifndef LT_CPU_BFLOAT16_WORDS_H
#define LT_CPU_BFLOAT16_WORDS_H

#include "dtypes/half.h"

#define WORDS_OPERANDS 4

typedef uint32_t word __attribute__((may_alias, aligned(2)));
typedef struct bfloat16_pair {
    float low, high;
} bfloat16_pair;

static inline bfloat16_pair two_of_word(uint32_t w)
{
    return (bfloat16_pair){lt_bits_to_float(w << 16), lt_bits_to_float(w & 0xffff0000u)};
}

/* A number for both halves. nan is replaced by the default nan, since rounding could carry from the
 * lower half of another one. nans of bfloat16, and nans that processors create, have a lower half
 * of 0. */
static inline bfloat16_pair two_of_number(const void *from)
{
    float x;
    memcpy(&x, from, sizeof x);
    if (x != x) x = lt_bits_to_float(0x7fc00000u);
    return (bfloat16_pair){x, x};
}

static inline uint32_t word_of_two(bfloat16_pair x)
{
    return lt_round_to_upper_half(x.low) >> 16 | (lt_round_to_upper_half(x.high) & 0xffff0000u);
}

static inline bfloat16_pair rounded_two(bfloat16_pair x)
{
    return (bfloat16_pair){lt_bits_to_float(lt_round_to_upper_half(x.low) & 0xffff0000u),
                           lt_bits_to_float(lt_round_to_upper_half(x.high) & 0xffff0000u)};
}

/* A formula of float for both halves. */
#define TWO_OF_ONE(name)                                                                           \
    static inline bfloat16_pair lt_##name##_two(bfloat16_pair x)                                   \
    {                                                                                              \
        return (bfloat16_pair){lt_##name##_f32(x.low), lt_##name##_f32(x.high)};                   \
    }
#define TWO_OF_TWO(name)                                                                           \
    static inline bfloat16_pair lt_##name##_two(bfloat16_pair x, bfloat16_pair y, float unused)    \
    {                                                                                              \
        (void)unused;                                                                              \
        return (bfloat16_pair){lt_##name##_f32(x.low, y.low), lt_##name##_f32(x.high, y.high)};    \
    }
#define TWO_SCALED(name)                                                                           \
    static inline bfloat16_pair lt_##name##_two(bfloat16_pair x, bfloat16_pair y, float alpha)     \
    {                                                                                              \
        return (bfloat16_pair){lt_##name##_f32(x.low, y.low, alpha),                               \
                               lt_##name##_f32(x.high, y.high, alpha)};                            \
    }

/* Runs a loop over words for n elements; the last of an odd number is copied to separate words. */
static inline void run_words(lt_loop loop, int operands, char *const *ptrs, const int64_t *strides,
                             int64_t n, const void *context)
{
    const size_t size = sizeof(lt_bfloat16);
    char *last[WORDS_OPERANDS];
    uint32_t words[WORDS_OPERANDS] = {0};
    loop(ptrs, strides, n / 2, context);
    if (n % 2 == 0) return;
    for (int k = 0; k < operands; k++) {
        last[k] = strides[k] == 0 ? ptrs[k] : (char *)&words[k];
        if (k > 0 && strides[k] != 0) memcpy(&words[k], ptrs[k] + (n - 1) * (int64_t)size, size);
    }
    loop(last, strides, 1, context);
    memcpy(ptrs[0] + (n - 1) * (int64_t)size, &words[0], size);
}

/* formula(x, y, value) of all words. */
static inline __attribute__((always_inline)) void
binary_words(char *const *ptrs, const int64_t *strides, int64_t n,
             bfloat16_pair (*formula)(bfloat16_pair, bfloat16_pair, float), float value)
{
    word *out = (word *)ptrs[0];
    const word *a = (const word *)ptrs[1], *b = (const word *)ptrs[2];
    if (strides[1] == strides[2]) {
        SIMD for (int64_t i = 0; i < n; i++) out[i] =
            word_of_two(formula(two_of_word(a[i]), two_of_word(b[i]), value));
    } else if (strides[2] == 0) {
        const bfloat16_pair y = two_of_number(ptrs[2]);
        SIMD for (int64_t i = 0; i < n; i++) out[i] =
            word_of_two(formula(two_of_word(a[i]), y, value));
    } else {
        const bfloat16_pair x = two_of_number(ptrs[1]);
        SIMD for (int64_t i = 0; i < n; i++) out[i] =
            word_of_two(formula(x, two_of_word(b[i]), value));
    }
}

/* ---- loops of the kernel lists; T is bfloat16_pair ------------------------------------------ */
#define BINARY_OF_ALL(name, s)                                                                     \
    LOOP_HEAD(name, s) { run_words(name##_two, 3, ptrs, strides, n, context); }
#define LOOP_BINARY_WORDS(name, NAME, s, T, D)                                                     \
    TWO_OF_TWO(name)                                                                               \
    LOOP_HEAD(name, two)                                                                           \
    {                                                                                              \
        (void)context;                                                                             \
        binary_words(ptrs, strides, n, lt_##name##_two, 0);                                        \
    }                                                                                              \
    BINARY_OF_ALL(name, s)
#define LOOP_BINARY_SCALED_WORDS(name, NAME, s, T, D)                                              \
    TWO_SCALED(name)                                                                               \
    LOOP_HEAD(name, two)                                                                           \
    {                                                                                              \
        const float scale = param_f32(((const lt_scalar *)context)[0]),                            \
                    value = two_of_number(&scale).low;                                             \
        binary_words(ptrs, strides, n, lt_##name##_two, value);                                    \
    }                                                                                              \
    BINARY_OF_ALL(name, s)

#endif
