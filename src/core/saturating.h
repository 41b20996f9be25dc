/* saturating.h - arithmetic on sizes, counts and positions as a script may give them: any int64. Whole
 * sizes are multiplied and added by lt_mul_sat and lt_add_sat alone; positions, offsets and amounts that
 * may be negative by the others. */
#ifndef LT_SATURATING_H
#define LT_SATURATING_H

#include <stdbool.h>
#include <stdint.h>

/* What does not fit, and what is computed from a negative size, is LT_TOO_MUCH: no tensor has that
 * size and no allocation gives it, and what is computed from it is LT_TOO_MUCH again (times 0 it is
 * 0). A formula needs no checks between its steps. */
#define LT_TOO_MUCH INT64_MAX
static inline int64_t lt_mul_sat(int64_t a, int64_t b)
{
    int64_t product;
    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? LT_TOO_MUCH : product;
}
static inline int64_t lt_add_sat(int64_t a, int64_t b)
{
    int64_t sum;
    return a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum) ? LT_TOO_MUCH : sum;
}

/* a + b, a - b and a * b, or the end of int64 that they lie beyond. */
static inline int64_t lt_add_within(int64_t a, int64_t b)
{
    int64_t sum;
    return !__builtin_add_overflow(a, b, &sum) ? sum : b < 0 ? INT64_MIN : INT64_MAX;
}
static inline int64_t lt_sub_within(int64_t a, int64_t b)
{
    int64_t difference;
    return !__builtin_sub_overflow(a, b, &difference) ? difference : b < 0 ? INT64_MAX : INT64_MIN;
}
static inline int64_t lt_mul_within(int64_t a, int64_t b)
{
    int64_t product;
    return !__builtin_mul_overflow(a, b, &product) ? product
           : (a < 0) != (b < 0)                    ? INT64_MIN
                                                   : INT64_MAX;
}

/* a / b rounded up: how many parts of b hold a. a >= 0, b > 0. */
static inline int64_t lt_parts(int64_t a, int64_t b) { return a / b + (a % b != 0); }

#endif
