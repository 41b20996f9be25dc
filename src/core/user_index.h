/* user_index.h - dimensions, indices and entries of lists in messages: core counts them from 0, a
 * message as its caller does. That is from 0 too, or from what the interpreter that has called core
 * (lt_tls.binding) calls the first. */
#ifndef LT_USER_INDEX_H
#define LT_USER_INDEX_H

#include "ltensor.h"

/* A number counted from 0 as the message shows it; one that counts from the end stays as it is. */
long long lt_user_index(int64_t index);

/* What follows the message of an index that is LT_INDEX_NO_POSITION: ": positions count from 1"; ""
 * for others. */
const char *lt_user_index_reason(int64_t index);

/* "<before>index 10 is out of bounds for dimension 1 with size 3<after>" */
lt_status lt_index_error(const char *before, int64_t index, int dim, int64_t size,
                         const char *after);

#endif
