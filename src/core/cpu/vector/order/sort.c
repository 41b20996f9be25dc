/* sort.c - many short lines sorted at once, one in each lane of the vectors: neighbours change places until no line has two in the wrong order.
 * Equal ones don't, so that the order is stable. The loop stands in sort.inc. */
#include <string.h>

#include "cpu/common/loops.h"

#define GROUP LT_SORT_GROUP
#define SHORT LT_SORT_SHORT
#define SIMD  _Pragma("omp simd")

/* Signed keys in the order of the elements: the zeros are equal, nan is the largest. */
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

#define T    float
#define K    int32_t
#define S(name) name##_float
#include "sort.inc"
#undef T
#undef S
#define T    int32_t
#define S(name) name##_int
#include "sort.inc"
#undef T
#undef K
#undef S
#define T    double
#define K    int64_t
#define S(name) name##_double
#include "sort.inc"
#undef T
#undef S
#define T    int64_t
#define S(name) name##_long
#include "sort.inc"
#undef T
#undef K
#undef S

const lt_sort_loop LT_LOOP(sort)[LT_DTYPE_COUNT] = {
    [LT_FLOAT32] = sort_float, [LT_FLOAT64] = sort_double, [LT_INT32] = sort_int, [LT_INT64] = sort_long};
