/* compose.h - writing an op as a formula of other ops.
 *
 * A scope holds the temporaries of one formula and its first failure: every step returns a tensor that the
 * scope owns, or NULL once something has failed, so that a formula reads like the mathematics and has one
 * exit. Composite ops and derivatives open a scope that records for autograd; implementations, which know
 * nothing of autograd, one that does not. Included by src/core/ops only.
 *
 *     lt_scope s;
 *     lt_scope_open(&s, true);
 *     return lt_scope_give(&s, do_mul(&s, grad, do_exp(&s, self)), out);
 */
#ifndef LT_OPS_COMPOSE_H
#define LT_OPS_COMPOSE_H

#include "autograd/autograd.h"
#include "common.h"

#define LT_SCOPE_TENSORS 48

typedef struct lt_scope {
    lt_status status;
    int n;
    bool records, recorded_before;
    lt_tensor *held[LT_SCOPE_TENSORS];
} lt_scope;

void lt_scope_open(lt_scope *s, bool records);
/* Releases the temporaries; the status of the formula. */
lt_status lt_scope_close(lt_scope *s);
/* Closes; on success *out is a new reference to result. */
lt_status lt_scope_give(lt_scope *s, lt_tensor *result, lt_tensor **out);
/* Closes; on success result is stored as lt_output has it (copied where *out holds a tensor). */
lt_status lt_scope_store(lt_scope *s, lt_tensor *result, lt_tensor **out);
/* Enters the outcome of a step: takes over t, also where the step or one before it has failed (a step that fails leaves NULL), and
 * returns it; NULL after a failure. */
lt_tensor *lt_scope_hold(lt_scope *s, lt_status status, lt_tensor *t);

/* -- leaves --------------------------------------------------------------------------------------------- */
lt_tensor *do_number(lt_scope *s, double value); /* a wrapped number: weak in type promotion */
lt_tensor *do_scalar(lt_scope *s, lt_scalar value);
lt_tensor *do_zeros(lt_scope *s, const lt_tensor *like, const lt_dims *sizes); /* of like's dtype and device */
lt_dims lt_dims_of(const lt_tensor *t);                                       /* its sizes */

/* -- steps: each calls the op of its name ----------------------------------------------------------------- */
#define LT_UNARY_STEPS(X)                                                                          \
    X(neg) X(abs) X(sign) X(exp) X(log) X(log1p) X(sqrt) X(square) X(sigmoid) X(tanh) X(erf) X(isinf) X(isnan) \
    X(logical_not) X(sin) X(cos) X(rsqrt) X(conj) X(t) X(contiguous) X(clone)
#define LT_BINARY_STEPS(X)                                                                         \
    X(mul) X(div) X(pow) X(eq) X(ne) X(gt) X(ge) X(lt) X(le) X(logical_and) X(logical_or) X(maximum) X(minimum) \
    X(mm) X(bmm) X(matmul) X(floor_divide)
#define LT_DECLARE_STEP(name) lt_tensor *do_##name(lt_scope *s, lt_tensor *a);
LT_UNARY_STEPS(LT_DECLARE_STEP)
#undef LT_DECLARE_STEP
#define LT_DECLARE_STEP(name) lt_tensor *do_##name(lt_scope *s, lt_tensor *a, lt_tensor *b);
LT_BINARY_STEPS(LT_DECLARE_STEP)
#undef LT_DECLARE_STEP
lt_tensor *do_add(lt_scope *s, lt_tensor *a, lt_tensor *b);
lt_tensor *do_sub(lt_scope *s, lt_tensor *a, lt_tensor *b);
lt_tensor *do_where(lt_scope *s, lt_tensor *condition, lt_tensor *a, lt_tensor *b);
lt_tensor *do_sum(lt_scope *s, lt_tensor *a);
lt_tensor *do_sum_dims(lt_scope *s, lt_tensor *a, const lt_dims *dims, bool keepdim);
lt_tensor *do_sum_dim(lt_scope *s, lt_tensor *a, int64_t dim, bool keepdim);
lt_tensor *do_unsqueeze(lt_scope *s, lt_tensor *a, int64_t dim);
lt_tensor *do_squeeze(lt_scope *s, lt_tensor *a, int64_t dim);
lt_tensor *do_expand(lt_scope *s, lt_tensor *a, const lt_dims *sizes);
lt_tensor *do_reshape(lt_scope *s, lt_tensor *a, const lt_dims *sizes);
lt_tensor *do_transpose(lt_scope *s, lt_tensor *a, int64_t dim0, int64_t dim1);
lt_tensor *do_cast(lt_scope *s, lt_tensor *a, lt_dtype dtype);
/* Half types in float, and back to the dtype of like: what is rounded once at the end. */
lt_tensor *do_widen(lt_scope *s, lt_tensor *a);
lt_tensor *do_narrow_to(lt_scope *s, lt_tensor *a, const lt_tensor *like);
static inline lt_tensor *times(lt_scope *s, lt_tensor *a, double factor) { return do_mul(s, a, do_number(s, factor)); }
static inline lt_tensor *plus(lt_scope *s, lt_tensor *a, double addend) { return do_add(s, a, do_number(s, addend)); }
/* a summed to sizes that broadcast to its own, with fewer dimensions or sizes 1. */
lt_tensor *do_sum_to(lt_scope *s, lt_tensor *a, const lt_dims *sizes);
/* a with the dimensions in dims (NULL: all) back as size 1, as if a reduction had kept them. */
lt_tensor *do_restore_dims(lt_scope *s, lt_tensor *a, int ndim, const lt_dims *dims, bool keepdim);

#endif
