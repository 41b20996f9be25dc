/* complex.h - views of complex tensors as their parts, for ops that compute by parts. Included by
 * src/core/ops only. */
#ifndef LT_OPS_COMPLEX_H
#define LT_OPS_COMPLEX_H

#include "ops/common.h"

/* New reference, without history: the same memory with one more dimension at the end, of 2. t is
 * complex. */
lt_status lt_parts_of(lt_tensor *t, lt_tensor **out);

/* New reference, without history: pairs (a last dimension of size 2 and stride 1) as complex
 * numbers. */
lt_status lt_pairs_as_complex(lt_tensor *t, lt_tensor **out);

#endif
