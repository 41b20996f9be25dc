/* values.h - tagged values (lt_value) at the library's interface. The stride of an array of them is
 * the `size` of its first entry: a program compiled against another version may have smaller or
 * larger values. */
#ifndef LT_API_VALUES_H
#define LT_API_VALUES_H

#include "ltensor.h"

/* The i-th value of an array, from 0. */
static inline const lt_value *lt_value_at(const lt_value *values, int i)
{
    return (const lt_value *)((const char *)values + (size_t)i * values->size);
}

/* LT_ERR_TYPE if the value's size differs from the size of the array's first entry, or its kind is
 * unknown: "f(): argument 0 is no value: ...". */
lt_status lt_host_value_check(const char *function, const char *what, int i, const lt_value *value,
                              uint32_t size);

/* Writes n values to the caller's array and transfers ownership of their data. results[0] has been
 * checked. */
void lt_value_hand_over(const lt_value *made, int n, lt_value *results);

/* A value of kind string that owns a copy of n bytes; free it with lt_value_release. */
lt_status lt_value_own_text(const char *s, size_t n, lt_value *out);

/* The number of bytes of a string argument. */
size_t lt_value_text_size(const lt_value *value);

#endif
