/* products.h - products composed of others, for the ops of matmul.c. */
#ifndef LT_OPS_MATMUL_PRODUCTS_H
#define LT_OPS_MATMUL_PRODUCTS_H

#include "ops/common.h"

/* alpha a b + beta start of integers, in exact arithmetic: matrices, batches of them, or a matrix
 * and a vector. *out as in lt_output. */
lt_status lt_integer_product(lt_tensor *start, lt_tensor *a, lt_tensor *b, lt_scalar beta,
                             lt_scalar alpha, lt_tensor **out);

#endif
