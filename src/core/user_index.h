/* user_index.h - converts dimensions and indices for messages: core counts from 0, a message from the
 * first position of the calling interpreter (lt_tls.binding), or from 0 without one. */
#ifndef LT_USER_INDEX_H
#define LT_USER_INDEX_H

#include "ltensor.h"

/* The user-visible form of an index from 0; an index from the end (negative) stays as it is. */
long long lt_user_index(int64_t index);

/* The text to append to a message for the index LT_INDEX_NO_POSITION: ": positions count from 1";
 * "" for other indices. */
const char *lt_user_index_reason(int64_t index);

/* "<before>index 10 is out of bounds for dimension 1 with size 3<after>" */
lt_status lt_index_error(const char *before, int64_t index, int dim, int64_t size,
                         const char *after);

#endif
