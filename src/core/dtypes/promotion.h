/* promotion.h - in which dtype an op on several tensors and numbers computes, by PyTorch's rules
 * (https://pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc). */
#ifndef LT_PROMOTION_H
#define LT_PROMOTION_H

#include "ltensor.h"

/* Result type of an operation on tensors, with zero-dim and wrapped-number rules. n >= 1. */
lt_dtype lt_result_type(lt_tensor *const *tensors, int n);
/* Result type of a tensor with a number. */
lt_dtype lt_result_type_scalar(const lt_tensor *t, lt_scalar s);

#endif
