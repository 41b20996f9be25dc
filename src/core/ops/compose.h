/* compose.h - writing an op as a formula of other ops.
 *
 * A scope holds the temporaries of one formula and its first failure: every step returns a tensor
 * that the scope owns, or NULL after a failure, so that a formula reads like the mathematics and
 * has one exit. Composite ops and derivatives open a scope that records for autograd;
 * implementations, below autograd, one that does not. Included by src/core/ops only.
 *
 *     lt_scope s;
 *     lt_scope_open(&s, true);
 *     return lt_scope_return(&s, do_mul(&s, grad, do_exp(&s, self)), out); */
#ifndef LT_OPS_COMPOSE_H
#define LT_OPS_COMPOSE_H

#include "autograd/autograd.h"
#include "common.h"
#include "dims.h"
#include "scope.h"
#include "step/abs.h"
#include "step/add.h"
#include "step/bmm.h"
#include "step/clone.h"
#include "step/contiguous.h"
#include "step/div.h"
#include "step/eq.h"
#include "step/erf.h"
#include "step/exp.h"
#include "step/expand.h"
#include "step/floor_divide.h"
#include "step/ge.h"
#include "step/gt.h"
#include "step/isinf.h"
#include "step/isnan.h"
#include "step/le.h"
#include "step/log.h"
#include "step/log1p.h"
#include "step/logical_and.h"
#include "step/logical_not.h"
#include "step/logical_or.h"
#include "step/lt.h"
#include "step/matmul.h"
#include "step/maximum.h"
#include "step/minimum.h"
#include "step/mm.h"
#include "step/mul.h"
#include "step/ne.h"
#include "step/neg.h"
#include "step/pow.h"
#include "step/reshape.h"
#include "step/sigmoid.h"
#include "step/sign.h"
#include "step/sqrt.h"
#include "step/square.h"
#include "step/squeeze_dim.h"
#include "step/sub.h"
#include "step/sum.h"
#include "step/t.h"
#include "step/tanh.h"
#include "step/transpose.h"
#include "step/unsqueeze.h"
#include "step/where.h"

/* -- leaves ------------------------------------------------------------------------------------ */
lt_tensor *do_number(lt_scope *s, double value); /* a wrapped number: weak in type promotion */
lt_tensor *do_scalar(lt_scope *s, lt_scalar value);
/* with like's dtype and device, batched like it; to be written */
lt_tensor *do_zeros(lt_scope *s, const lt_tensor *like, const lt_dims *sizes);

/* -- steps that no op is by itself ------------------------------------------------------------- */
lt_tensor *do_sum_dims(lt_scope *s, lt_tensor *a, const lt_dims *dims, bool keepdim);
lt_tensor *do_sum_dim(lt_scope *s, lt_tensor *a, int64_t dim, bool keepdim);
lt_tensor *do_cast(lt_scope *s, lt_tensor *a, lt_dtype dtype);
/* Converts half dtypes to float, and back to the dtype of `like`, so that a formula rounds once, at
 * the end. */
lt_tensor *do_widen(lt_scope *s, lt_tensor *a);
lt_tensor *do_narrow_to(lt_scope *s, lt_tensor *a, const lt_tensor *like);
static inline lt_tensor *times(lt_scope *s, lt_tensor *a, double factor)
{
    return do_mul(s, a, do_number(s, factor));
}
static inline lt_tensor *plus(lt_scope *s, lt_tensor *a, double addend)
{
    return do_add(s, a, do_number(s, addend));
}
/* a summed to sizes that broadcast to its own sizes, with fewer dimensions or sizes 1. */
lt_tensor *do_sum_to(lt_scope *s, lt_tensor *a, const lt_dims *sizes);
/* a with the dimensions in dims (NULL: all) restored as size 1, as with keepdim. */
lt_tensor *do_restore_dims(lt_scope *s, lt_tensor *a, int ndim, const lt_dims *dims, bool keepdim);

#endif
