/* numbers.h - arguments that are lists of numbers (Scalar[] of declarations): vectors. Included by
 * src/core/ops only. */
#ifndef LT_OPS_NUMBERS_H
#define LT_OPS_NUMBERS_H

#include "error.h"
#include "tensor.h"

/* Copies the n numbers of a vector of any real dtype and device. LT_ERR_RUNTIME if it has another
 * shape or dtype. */
lt_status lt_numbers_of(const char *op, const char *name, lt_tensor *vector, int64_t n,
                        double *numbers);

#endif
