/* pointwise_checks.h - what some elementwise ops ask of their inputs beyond dtypes that can be
 * promoted: the `check`s that declarations name. Called before anything is computed, with the dtype
 * that it will be computed in. */
#ifndef LT_POINTWISE_CHECKS_H
#define LT_POINTWISE_CHECKS_H

#include "tensor.h"

/* pow: integers have no negative powers; those of a tensor's exponents are left to the kernel. A
 * number must be one that the dtype can hold. */
lt_status lt_check_power(lt_tensor *const *inputs, lt_dtype dtype);
/* Tensors of one dtype, floating; the weight may be a number. */
lt_status lt_check_lerp(lt_tensor *const *inputs, lt_dtype dtype);
/* No division of integers by integers. */
lt_status lt_check_addcdiv(lt_tensor *const *inputs, lt_dtype dtype);
/* where: numbers must be such that the dtype can hold. */
lt_status lt_check_choices(lt_tensor *const *inputs, lt_dtype dtype);
/* heaviside: both of one dtype. */
lt_status lt_check_same_dtype(lt_tensor *const *inputs, lt_dtype dtype);

#endif
