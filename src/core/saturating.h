/* saturating.h - saturating arithmetic on sizes, counts and positions from a script, which can be any
 * int64. Use lt_mul_sat and lt_add_sat for sizes, the other functions for positions, offsets and amounts
 * that may be negative. */
#ifndef LT_SATURATING_H
#define LT_SATURATING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The result of an overflow or of a negative operand. No tensor has this size and every allocation
 * of it fails. It propagates through lt_mul_sat (except times 0) and lt_add_sat, so that a formula needs
 * no checks between its steps. */
#define LT_TOO_MUCH INT64_MAX
/* The most elements of a tensor, and the largest offset: byte counts, and sums of a few of them, do
 * not overflow. */
#define LT_MOST_ELEMENTS (INT64_MAX / 16)

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

/* The bytes of n elements, or half of the address space, which no device has: a size_t of 32 bits
 * holds less than an int64. */
static inline size_t lt_bytes_sat(int64_t n, int64_t element_size)
{
    const int64_t bytes = lt_mul_sat(n, element_size);
    return (uint64_t)bytes < SIZE_MAX / 2 ? (size_t)bytes : SIZE_MAX / 2;
}

/* a + b, a - b and a * b, saturated to int64. */
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

/* a / b rounded up: the number of chunks of size b. a >= 0, b > 0. */
static inline int64_t lt_parts(int64_t a, int64_t b) { return a / b + (a % b != 0); }

#endif
