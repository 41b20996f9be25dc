/* pointwise_checks.h - checks of inputs beyond dtype promotion, for some elementwise ops: the
 * `check`s of declarations. Called before the computation, with its dtype. */
#ifndef LT_POINTWISE_CHECKS_H
#define LT_POINTWISE_CHECKS_H

#include "tensor.h"

/* pow: integers have no negative powers; negative exponents in a tensor are left to the kernel. A
 * number must fit the dtype. */
lt_status lt_check_power(lt_tensor *const *inputs, lt_dtype dtype);
/* lerp: floating tensors of one dtype; the weight may be a number. */
lt_status lt_check_lerp(lt_tensor *const *inputs, lt_dtype dtype);
/* addcdiv: no division of integers by integers. */
lt_status lt_check_addcdiv(lt_tensor *const *inputs, lt_dtype dtype);
/* where: numbers must fit the dtype. */
lt_status lt_check_choices(lt_tensor *const *inputs, lt_dtype dtype);
/* heaviside: both have one dtype. */
lt_status lt_check_same_dtype(lt_tensor *const *inputs, lt_dtype dtype);

#endif
