/* complex.c - complex numbers from their parts, views of their parts, conjugates and angles. */
#include "complex.h"

#include <math.h>

#include "saturating.h"
#include "iter.h"
#include "ops/compose.h"
#include "op/_acosh_backward.h"
#include "op/_angle.h"
#include "op/_angle_backward.h"
#include "op/_conj.h"
#include "op/_sgn.h"
#include "op/_sgn_backward.h"
#include "op/adjoint.h"
#include "op/angle.h"
#include "op/complex.h"
#include "op/conj.h"
#include "op/conj_physical.h"
#include "op/imag.h"
#include "op/is_conj.h"
#include "op/is_neg.h"
#include "op/isreal.h"
#include "op/polar.h"
#include "op/real.h"
#include "op/resolve_conj.h"
#include "op/resolve_neg.h"
#include "op/select.h"
#include "op/sgn.h"
#include "op/sign.h"
#include "op/view_as_complex.h"
#include "op/view_as_real.h"
#include "step/conj.h"
#include "step/cos.h"
#include "step/rsqrt.h"
#include "step/sin.h"

static bool is_complex(const lt_tensor *t) { return lt_dtype_is_complex((lt_dtype)t->dtype); }

/* ---- views ----------------------------------------------------------------------------------- */

static lt_status parts_of(lt_tensor *t, bool view, lt_tensor **out)
{
    int64_t sizes[LT_MAX_DIMS], strides[LT_MAX_DIMS];
    if (t->ndim == LT_MAX_DIMS)
        return lt_error(
            LT_ERR_RUNTIME,
            "a tensor has at most %d dimensions, and complex numbers as pairs have one more",
            LT_MAX_DIMS);
    for (int d = 0; d < t->ndim; d++)
        sizes[d] = t->sizes[d], strides[d] = lt_mul_within(t->strides[d], 2);
    sizes[t->ndim] = 2, strides[t->ndim] = 1;
    const int64_t offset = lt_mul_within(t->offset, 2);
    LT_TRY(lt_tensor_view_as(t, lt_real_of((lt_dtype)t->dtype), t->ndim + 1, sizes, strides, offset,
                             out));
    if (view) return LT_OK;
    lt_tensor_release((*out)->view_base);
    (*out)->view_base = NULL;
    return LT_OK;
}

lt_status lt_parts_of(lt_tensor *t, lt_tensor **out) { return parts_of(t, false, out); }

static lt_status as_complex(lt_tensor *t, bool view, lt_tensor **out)
{
    int64_t strides[LT_MAX_DIMS];
    for (int d = 0; d + 1 < t->ndim; d++) strides[d] = t->strides[d] / 2;
    LT_TRY(lt_tensor_view_as(t, lt_complex_of((lt_dtype)t->dtype), t->ndim - 1, t->sizes, strides,
                             t->offset / 2, out));
    if (view) return LT_OK;
    lt_tensor_release((*out)->view_base);
    (*out)->view_base = NULL;
    return LT_OK;
}

lt_status lt_pairs_as_complex(lt_tensor *t, lt_tensor **out) { return as_complex(t, false, out); }

lt_status lt_view_as_real_impl(lt_tensor *self, lt_tensor **out)
{
    if (!is_complex(self))
        return lt_error(LT_ERR_RUNTIME, "view_as_real is only supported for complex tensors");
    return parts_of(self, true, out);
}

lt_status lt_view_as_complex_impl(lt_tensor *self, lt_tensor **out)
{
    const lt_dtype dtype = (lt_dtype)self->dtype;
    const int last = self->ndim - 1;
    if (dtype != LT_FLOAT16 && dtype != LT_FLOAT32 && dtype != LT_FLOAT64)
        return lt_error(LT_ERR_RUNTIME,
                        "view_as_complex is only supported for half, float and double tensors, but "
                        "got a tensor of scalar type: %s",
                        lt_dtype_scalar_name(dtype));
    if (last < 0) return lt_error(LT_ERR_RUNTIME, "Input tensor must have one or more dimensions");
    if (self->sizes[last] != 2)
        return lt_error(LT_ERR_RUNTIME, "Tensor must have a last dimension of size 2");
    if (self->strides[last] != 1)
        return lt_error(LT_ERR_RUNTIME, "Tensor must have a last dimension with stride 1");
    for (int d = 0; d < last; d++)
        if (self->strides[d] % 2 != 0)
            return lt_error(LT_ERR_RUNTIME,
                            "Tensor must have a stride divisible by 2 for all but last dimension");
    if (self->offset % 2 != 0)
        return lt_error(LT_ERR_RUNTIME, "Tensor must have a storage_offset divisible by 2");
    return as_complex(self, true, out);
}

static lt_status real_or_imag(lt_tensor *self, int64_t which, lt_tensor **out)
{
    lt_tensor *parts;
    LT_TRY(lt_view_as_real(self, &parts));
    lt_status status = lt_select(parts, -1, which, out);
    lt_tensor_release(parts);
    return status;
}

lt_status lt_real_impl(lt_tensor *self, lt_tensor **out)
{
    if (is_complex(self)) return real_or_imag(self, 0, out);
    *out = lt_tensor_retain(self);
    return LT_OK;
}

lt_status lt_imag_impl(lt_tensor *self, lt_tensor **out)
{
    if (!is_complex(self))
        return lt_error(LT_ERR_RUNTIME,
                        "imag is not implemented for tensors with non-complex dtypes.");
    return real_or_imag(self, 1, out);
}

/* ---- from parts ------------------------------------------------------------------------------ */

static lt_status check_parts(const lt_tensor *a, const char *name_a, const lt_tensor *b,
                             const char *name_b)
{
    const lt_dtype dtype = (lt_dtype)a->dtype, other = (lt_dtype)b->dtype;
    const bool fit = dtype == LT_FLOAT16 || dtype == LT_FLOAT32 || dtype == LT_FLOAT64;
    if (!fit || !lt_dtype_is_float(other))
        return lt_error(
            LT_ERR_RUNTIME,
            "Expected both inputs to be Half, Float or Double tensors but got %s and %s",
            lt_dtype_scalar_name(dtype), lt_dtype_scalar_name(other));
    if (dtype != other)
        return lt_error(
            LT_ERR_RUNTIME,
            "Expected object of scalar type %s but got scalar type %s for second argument",
            lt_dtype_scalar_name(dtype), lt_dtype_scalar_name(other));
    (void)name_a, (void)name_b;
    return LT_OK;
}

/* Makes a complex result from the parts, broadcast. */
static lt_status join_parts(lt_tensor *re, lt_tensor *im, lt_tensor **out)
{
    lt_tensor *inputs[] = {re, im}, *work = NULL, *parts = NULL, *part[2] = {NULL, NULL};
    const lt_dtype dtype = lt_complex_of((lt_dtype)re->dtype);
    int64_t sizes[LT_MAX_DIMS];
    lt_device device;
    lt_status status;
    int ndim;
    LT_TRY(lt_check_same_device("complex", inputs, 2, true, &device));
    LT_TRY(lt_broadcast_shape(inputs, 2, &ndim, sizes));
    if (*out != NULL && (lt_dtype)(*out)->dtype != dtype)
        return lt_error(
            LT_ERR_RUNTIME,
            "Expected object of scalar type %s but got scalar type %s for argument 'out'",
            lt_dtype_scalar_name(dtype), lt_dtype_scalar_name((lt_dtype)(*out)->dtype));
    LT_TRY(lt_begin_output(out, dtype, device, ndim, sizes, &work));
    LT_CHECK(lt_parts_of(work, &parts));
    for (int i = 0; i < 2; i++) {
        LT_CHECK(
            lt_tensor_view(parts, ndim, parts->sizes, parts->strides, parts->offset + i, &part[i]));
        LT_CHECK(lt_copy_elements(part[i], inputs[i]));
    }
    status = lt_finish_output(out, work);
    work = NULL;
done:
    lt_tensor_release(part[0]);
    lt_tensor_release(part[1]);
    lt_tensor_release(parts);
    lt_tensor_release(work);
    return status;
}

lt_status lt_complex_impl(lt_tensor *real, lt_tensor *imag, lt_tensor **out)
{
    LT_TRY(check_parts(real, "real", imag, "imag"));
    return join_parts(real, imag, out);
}

lt_status lt_polar_impl(lt_tensor *abs, lt_tensor *angle, lt_tensor **out)
{
    LT_TRY(check_parts(abs, "abs", angle, "angle"));
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *re = do_mul(&s, abs, do_cos(&s, angle)), *im = do_mul(&s, abs, do_sin(&s, angle));
    if (s.status == LT_OK) s.status = join_parts(re, im, out);
    return lt_scope_close(&s);
}

/* ---- conjugates, angles, signs --------------------------------------------------------------- */

lt_status lt_conj_impl(lt_tensor *self, lt_tensor **out)
{
    if (is_complex(self)) return lt__conj(self, out);
    *out = lt_tensor_retain(self);
    return LT_OK;
}

lt_status lt_conj_physical_impl(lt_tensor *self, lt_tensor **out)
{
    if (is_complex(self)) return lt__conj_impl(self, out);
    lt_scope s;
    lt_scope_open(&s, false);
    return lt_scope_store(&s, *out == NULL ? do_clone(&s, self) : self, out);
}

lt_status lt_adjoint_impl(lt_tensor *self, lt_tensor **out)
{
    if (self->ndim < 2)
        return lt_error(LT_ERR_RUNTIME,
                        "tensor.adjoint() is only supported on matrices or batches of matrices. "
                        "Got %d-D tensor.",
                        self->ndim);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(adjoint));
    return lt_scope_return(&s, do_transpose(&s, do_conj(&s, self), -2, -1), out);
}

lt_status lt_resolve_conj_impl(lt_tensor *self, lt_tensor **out)
{
    *out = lt_tensor_retain(self);
    return LT_OK;
}

lt_status lt_resolve_neg_impl(lt_tensor *self, lt_tensor **out)
{
    return lt_resolve_conj_impl(self, out);
}

lt_status lt_is_conj_impl(lt_tensor *self, bool *out)
{
    (void)self;
    *out = false;
    return LT_OK;
}

lt_status lt_is_neg_impl(lt_tensor *self, bool *out) { return lt_is_conj_impl(self, out); }

lt_status lt_angle_impl(lt_tensor *self, lt_tensor **out)
{
    if (is_complex(self)) { /* a new result is contiguous, as in PyTorch */
        lt_tensor *result = *out;
        if (result == NULL)
            LT_TRY(lt_tensor_shaped(self, lt_real_of((lt_dtype)self->dtype), &result));
        lt_status status = lt__angle_impl(self, &result);
        if (status == LT_OK)
            *out = result;
        else if (*out == NULL)
            lt_tensor_release(result);
        return status;
    }
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *x =
        lt_dtype_is_float((lt_dtype)self->dtype) ? self : do_cast(&s, self, lt_get_default_dtype());
    lt_tensor *negative = do_lt(&s, x, do_number(&s, 0));
    lt_tensor *side = times(&s, negative != NULL ? do_cast(&s, negative, (lt_dtype)x->dtype) : NULL,
                            3.14159265358979323846);
    lt_tensor *result = do_where(&s, do_isnan(&s, x), x, side);
    return lt_scope_store(&s, result, out);
}

/* d angle is the imaginary part of dz / z: the gradient is i z / |z|^2. */
lt_status lt__angle_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, true);
    lt_dims sizes = lt_dims_of(self);
    if (!is_complex(self)) return lt_scope_return(&s, do_zeros(&s, grad_output, &sizes), out);
    lt_tensor *i = do_scalar(&s, lt_scalar_from_complex(0, 1)), *zero = do_number(&s, 0);
    lt_tensor *slope = do_mul(&s, do_div(&s, self, do_square(&s, do_abs(&s, self))), i);
    return lt_scope_return(
        &s, do_where(&s, do_eq(&s, self, zero), zero, do_mul(&s, grad_output, slope)), out);
}

lt_status lt_sgn_impl(lt_tensor *self, lt_tensor **out)
{
    return is_complex(self) ? lt__sgn_impl(self, out) : lt_sign_impl(self, out);
}

lt_status lt__sgn_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_tensor *result,
                                lt_tensor **out)
{
    lt_scope s;
    lt_tensor *along = NULL, *zero;
    lt_scope_open(&s, true);
    lt_dims sizes = lt_dims_of(self);
    if (!is_complex(self)) return lt_scope_return(&s, do_zeros(&s, grad_output, &sizes), out);
    lt_tensor *size = do_abs(&s, self), *turned = do_mul(&s, grad_output, do_conj(&s, result));
    if (s.status == LT_OK) s.status = lt_real(turned, &along);
    along = lt_scope_hold(&s, s.status, along);
    zero = do_number(&s, 0);
    lt_tensor *across = do_sub(&s, grad_output, do_mul(&s, along, result));
    return lt_scope_return(&s, do_where(&s, do_eq(&s, size, zero), zero, do_div(&s, across, size)),
                           out);
}

lt_status lt_isreal_impl(lt_tensor *self, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, true);
    const lt_dims sizes = lt_dims_of(self);
    if (!is_complex(self))
        return lt_scope_return(&s, do_eq(&s, do_zeros(&s, self, &sizes), do_number(&s, 0)), out);
    lt_tensor *imaginary = NULL;
    s.status = lt_imag(self, &imaginary);
    imaginary = lt_scope_hold(&s, s.status, imaginary);
    return lt_scope_return(&s, do_eq(&s, imaginary, do_number(&s, 0)), out);
}

lt_status lt__acosh_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *slope;
    if (is_complex(self))
        slope = do_mul(&s, do_rsqrt(&s, plus(&s, self, 1)), do_rsqrt(&s, plus(&s, self, -1)));
    else
        slope = do_rsqrt(&s, plus(&s, do_mul(&s, self, self), -1));
    return lt_scope_return(&s, do_mul(&s, grad_output, slope), out);
}
