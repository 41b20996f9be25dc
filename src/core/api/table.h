/* table.h - strings that values own: those in tables, and those that scripts hand over. */
#ifndef LT_API_TABLE_H
#define LT_API_TABLE_H

#include "ltensor.h"

/* A value of kind string with a copy of n bytes; lt_value_free gives it back. */
lt_status lt_value_own_text(const char *s, size_t n, lt_value *out);

/* How many bytes a string that is an argument has. */
size_t lt_value_text_size(const lt_value *value);

#endif
