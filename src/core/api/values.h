/* values.h - tagged values (lt_value) as functions of the library's interface take and give them.
 * An array of them has the step that its first one's size says: a program's values may be smaller
 * or larger than the library's. */
#ifndef LT_API_VALUES_H
#define LT_API_VALUES_H

#include "ltensor.h"

/* The i-th value, from 0, of an array. */
static inline const lt_value *lt_value_at(const lt_value *values, int i)
{
    return (const lt_value *)((const char *)values + (size_t)i * values->size);
}

/* LT_ERR_TYPE when a caller's value has another size than the array's first, or an unknown kind:
 * "f(): argument 0 is no value: ...". */
lt_status lt_value_check(const char *function, const char *what, int i, const lt_value *value,
                         uint32_t size);

/* Writes n values, and what they own, to an array of the caller's, whose first was checked. */
void lt_value_hand_over(const lt_value *made, int n, lt_value *results);

/* A value of kind string with a copy of n bytes; lt_value_free gives it back. */
lt_status lt_value_own_text(const char *s, size_t n, lt_value *out);

/* How many bytes a string that is an argument has. */
size_t lt_value_text_size(const lt_value *value);

#endif
