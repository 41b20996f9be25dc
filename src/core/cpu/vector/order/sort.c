/* sort.c - stable sort of many short lines at once, one per vector lane, by odd-even transposition;
 * if few elements are wanted, passes of bubble sort move these to the front. Equal elements are not
 * exchanged, so the order is stable. The loop is in sort.inc. */
#include <string.h>

#include "cpu/common/loops.h"

#if defined(__AVX512F__)
#define VECTOR 64 /* fixed: bytes of a register */
#elif defined(__AVX2__)
#define VECTOR 32 /* fixed: bytes of a register */
#else
#define VECTOR 16 /* fixed: bytes of a register */
#endif
/* bytes of the longest line: longer lines are sorted faster one at a time */
#define LONGEST (LT_LANES * VECTOR)
/* tuning: elements per wanted element; if fewer are wanted, each is moved to the front, although an
 * exchange then takes twice as long, as it depends on the one before; topk of 24 of 64 takes 1.51
 * times as long with 2 (Zen 5, 2026-11-28) */
#define FEW  4
#define SIMD _Pragma("omp simd")

/* Signed integer keys in the order of the elements: -0 and 0 have the same key, nan has the
 * largest. */
static inline int32_t key_of_float(float x)
{
    int32_t bits;
    x += 0; /* -0 becomes 0 */
    memcpy(&bits, &x, sizeof bits);
    bits = bits < 0 ? bits ^ INT32_MAX : bits;
    return x != x ? INT32_MAX : bits;
}

static inline int64_t key_of_double(double x)
{
    int64_t bits;
    x += 0;
    memcpy(&bits, &x, sizeof bits);
    bits = bits < 0 ? bits ^ INT64_MAX : bits;
    return x != x ? INT64_MAX : bits;
}

static inline int32_t key_of_int(int32_t x) { return x; }
static inline int64_t key_of_long(int64_t x) { return x; }

#define T       float
#define K       int32_t
#define S(name) name##_float
#include "sort.inc"
#undef T
#undef S
#define T       int32_t
#define S(name) name##_int
#include "sort.inc"
#undef T
#undef K
#undef S
#define T       double
#define K       int64_t
#define S(name) name##_double
#include "sort.inc"
#undef T
#undef S
#define T       int64_t
#define S(name) name##_long
#include "sort.inc"
#undef T
#undef K
#undef S

#define LOOPS(s, T)                                                                                \
    {                                                                                              \
        sort_##s, LONGEST / sizeof(T)                                                              \
    }
const lt_sort_loops LT_LOOP(sort)[LT_DTYPE_COUNT] = {[LT_FLOAT32] = LOOPS(float, float),
                                                     [LT_FLOAT64] = LOOPS(double, double),
                                                     [LT_INT32] = LOOPS(int, int32_t),
                                                     [LT_INT64] = LOOPS(long, int64_t)};
