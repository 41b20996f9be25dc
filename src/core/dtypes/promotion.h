/* promotion.h - the result dtype of an op on several tensors and numbers, by PyTorch's rules
 * (https://pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc). */
#ifndef LT_PROMOTION_H
#define LT_PROMOTION_H

#include "ltensor.h"

/* The result dtype of tensors, with the rules for 0-dim tensors and wrapped numbers. n >= 1.
 * LT_DTYPE_NONE with the error set if there is none. */
lt_dtype lt_result_type(lt_tensor *const *tensors, int n);
/* The result dtype of a tensor and a number. */
lt_dtype lt_result_type_scalar(const lt_tensor *t, lt_scalar s);

#endif
