/* complex.h - products of complex matrices, for the ops of matmul.c. */
#ifndef LT_OPS_MATMUL_COMPLEX_H
#define LT_OPS_MATMUL_COMPLEX_H

#include "ops/common.h"

/* alpha a b + beta start (NULL: none) of complex matrices, batches of them, or vectors: a 1-D a is
 * a row, a 1-D b a column. *out as in lt_output. */
lt_status lt_complex_product(lt_tensor *start, lt_tensor *a, lt_tensor *b, lt_scalar beta,
                             lt_scalar alpha, lt_tensor **out);

#endif
