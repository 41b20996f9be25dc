/* rare.c - rarely used special functions: each is a number for the one kernel that computes them
 * all (formulas/rare.h), or a formula of other ops; and derivatives that take several ops. */
#include <math.h>

#include "formulas/rare.h"
#include "ops/compose.h"
#include "dtypes/dtype.h"
#include "dtypes/promotion.h"
#include "ops/pointwise.h"
#include "op/_i1_backward.h"
#include "op/_i1e_backward.h"
#include "op/_mvlgamma_backward.h"
#include "op/_polygamma.h"
#include "op/_polygamma_backward.h"
#include "op/_polygamma_slope.h"
#include "op/_rare_one.h"
#include "op/_rare_pair.h"
#include "op/arange.h"
#include "op/digamma.h"
#include "op/erfc.h"
#include "op/i0.h"
#include "op/igamma.h"
#include "op/igammac.h"
#include "op/lgamma.h"
#include "op/mvlgamma.h"
#include "op/nextafter.h"
#include "op/polygamma.h"
#include "op/reciprocal.h"
#include "op/special_airy_ai.h"
#include "op/special_bessel_j0.h"
#include "op/special_bessel_j1.h"
#include "op/special_bessel_y0.h"
#include "op/special_bessel_y1.h"
#include "op/special_chebyshev_polynomial_t.h"
#include "op/special_chebyshev_polynomial_u.h"
#include "op/special_chebyshev_polynomial_v.h"
#include "op/special_chebyshev_polynomial_w.h"
#include "op/special_erfcx.h"
#include "op/special_hermite_polynomial_h.h"
#include "op/special_hermite_polynomial_he.h"
#include "op/special_i0e.h"
#include "op/special_i1.h"
#include "op/special_i1e.h"
#include "op/special_laguerre_polynomial_l.h"
#include "op/special_legendre_polynomial_p.h"
#include "op/special_log_ndtr.h"
#include "op/special_modified_bessel_i0.h"
#include "op/special_modified_bessel_i1.h"
#include "op/special_modified_bessel_k0.h"
#include "op/special_modified_bessel_k1.h"
#include "op/special_ndtr.h"
#include "op/special_ndtri.h"
#include "op/special_scaled_modified_bessel_k0.h"
#include "op/special_scaled_modified_bessel_k1.h"
#include "op/special_shifted_chebyshev_polynomial_t.h"
#include "op/special_shifted_chebyshev_polynomial_u.h"
#include "op/special_shifted_chebyshev_polynomial_v.h"
#include "op/special_shifted_chebyshev_polynomial_w.h"
#include "op/special_spherical_bessel_j0.h"
#include "op/special_zeta.h"

/* ---- of one argument ------------------------------------------------------------------------- */

lt_status lt_special_airy_ai_impl(lt_tensor *self, lt_tensor **out)
{
    return lt__rare_one_impl(self, lt_scalar_from_int(LT_RARE_AIRY_AI), out);
}
lt_status lt_special_bessel_j0_impl(lt_tensor *self, lt_tensor **out)
{
    return lt__rare_one_impl(self, lt_scalar_from_int(LT_RARE_BESSEL_J0), out);
}
lt_status lt_special_bessel_j1_impl(lt_tensor *self, lt_tensor **out)
{
    return lt__rare_one_impl(self, lt_scalar_from_int(LT_RARE_BESSEL_J1), out);
}
lt_status lt_special_bessel_y0_impl(lt_tensor *self, lt_tensor **out)
{
    return lt__rare_one_impl(self, lt_scalar_from_int(LT_RARE_BESSEL_Y0), out);
}
lt_status lt_special_bessel_y1_impl(lt_tensor *self, lt_tensor **out)
{
    return lt__rare_one_impl(self, lt_scalar_from_int(LT_RARE_BESSEL_Y1), out);
}
lt_status lt_special_spherical_bessel_j0_impl(lt_tensor *self, lt_tensor **out)
{
    return lt__rare_one_impl(self, lt_scalar_from_int(LT_RARE_SPHERICAL_J0), out);
}
lt_status lt_i0_impl(lt_tensor *self, lt_tensor **out)
{
    return lt__rare_one_impl(self, lt_scalar_from_int(LT_RARE_I0), out);
}
lt_status lt_special_i0e_impl(lt_tensor *self, lt_tensor **out)
{
    return lt__rare_one_impl(self, lt_scalar_from_int(LT_RARE_I0E), out);
}
lt_status lt_special_i1_impl(lt_tensor *self, lt_tensor **out)
{
    return lt__rare_one_impl(self, lt_scalar_from_int(LT_RARE_I1), out);
}
lt_status lt_special_i1e_impl(lt_tensor *self, lt_tensor **out)
{
    return lt__rare_one_impl(self, lt_scalar_from_int(LT_RARE_I1E), out);
}
lt_status lt_special_modified_bessel_i0_impl(lt_tensor *self, lt_tensor **out)
{
    return lt__rare_one_impl(self, lt_scalar_from_int(LT_RARE_I0), out);
}
lt_status lt_special_modified_bessel_i1_impl(lt_tensor *self, lt_tensor **out)
{
    return lt__rare_one_impl(self, lt_scalar_from_int(LT_RARE_I1), out);
}
lt_status lt_special_modified_bessel_k0_impl(lt_tensor *self, lt_tensor **out)
{
    return lt__rare_one_impl(self, lt_scalar_from_int(LT_RARE_K0), out);
}
lt_status lt_special_modified_bessel_k1_impl(lt_tensor *self, lt_tensor **out)
{
    return lt__rare_one_impl(self, lt_scalar_from_int(LT_RARE_K1), out);
}
lt_status lt_special_scaled_modified_bessel_k0_impl(lt_tensor *self, lt_tensor **out)
{
    return lt__rare_one_impl(self, lt_scalar_from_int(LT_RARE_K0E), out);
}
lt_status lt_special_scaled_modified_bessel_k1_impl(lt_tensor *self, lt_tensor **out)
{
    return lt__rare_one_impl(self, lt_scalar_from_int(LT_RARE_K1E), out);
}
lt_status lt_special_erfcx_impl(lt_tensor *self, lt_tensor **out)
{
    return lt__rare_one_impl(self, lt_scalar_from_int(LT_RARE_ERFCX), out);
}
lt_status lt_special_log_ndtr_impl(lt_tensor *self, lt_tensor **out)
{
    return lt__rare_one_impl(self, lt_scalar_from_int(LT_RARE_LOG_NDTR), out);
}
lt_status lt_special_ndtri_impl(lt_tensor *self, lt_tensor **out)
{
    return lt__rare_one_impl(self, lt_scalar_from_int(LT_RARE_NDTRI), out);
}

lt_status lt_special_ndtr_impl(lt_tensor *self, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *tail = NULL;
    lt_tensor *x = times(&s, self, -0.70710678118654752440);
    if (s.status == LT_OK) {
        lt_status status = lt_erfc(x, &tail);
        tail = lt_scope_hold(&s, status, tail);
    }
    return lt_scope_store(&s, times(&s, tail, 0.5), out);
}

/* ---- of two arguments ------------------------------------------------------------------------ */

lt_status lt_igamma_impl(lt_tensor *self, lt_tensor *other, lt_tensor **out)
{
    return lt__rare_pair_impl(self, other, lt_scalar_from_int(LT_RARE_GAMMAINC), out);
}
lt_status lt_igammac_impl(lt_tensor *self, lt_tensor *other, lt_tensor **out)
{
    return lt__rare_pair_impl(self, other, lt_scalar_from_int(LT_RARE_GAMMAINCC), out);
}
lt_status lt_special_zeta_impl(lt_tensor *self, lt_tensor *other, lt_tensor **out)
{
    return lt__rare_pair_impl(self, other, lt_scalar_from_int(LT_RARE_ZETA), out);
}
lt_status lt_special_chebyshev_polynomial_t_impl(lt_tensor *x, lt_tensor *n, lt_tensor **out)
{
    return lt__rare_pair_impl(x, n, lt_scalar_from_int(LT_RARE_CHEBYSHEV_T), out);
}
lt_status lt_special_chebyshev_polynomial_u_impl(lt_tensor *x, lt_tensor *n, lt_tensor **out)
{
    return lt__rare_pair_impl(x, n, lt_scalar_from_int(LT_RARE_CHEBYSHEV_U), out);
}
lt_status lt_special_chebyshev_polynomial_v_impl(lt_tensor *x, lt_tensor *n, lt_tensor **out)
{
    return lt__rare_pair_impl(x, n, lt_scalar_from_int(LT_RARE_CHEBYSHEV_V), out);
}
lt_status lt_special_chebyshev_polynomial_w_impl(lt_tensor *x, lt_tensor *n, lt_tensor **out)
{
    return lt__rare_pair_impl(x, n, lt_scalar_from_int(LT_RARE_CHEBYSHEV_W), out);
}
lt_status lt_special_shifted_chebyshev_polynomial_t_impl(lt_tensor *x, lt_tensor *n,
                                                         lt_tensor **out)
{
    return lt__rare_pair_impl(x, n, lt_scalar_from_int(LT_RARE_SHIFTED_T), out);
}
lt_status lt_special_shifted_chebyshev_polynomial_u_impl(lt_tensor *x, lt_tensor *n,
                                                         lt_tensor **out)
{
    return lt__rare_pair_impl(x, n, lt_scalar_from_int(LT_RARE_SHIFTED_U), out);
}
lt_status lt_special_shifted_chebyshev_polynomial_v_impl(lt_tensor *x, lt_tensor *n,
                                                         lt_tensor **out)
{
    return lt__rare_pair_impl(x, n, lt_scalar_from_int(LT_RARE_SHIFTED_V), out);
}
lt_status lt_special_shifted_chebyshev_polynomial_w_impl(lt_tensor *x, lt_tensor *n,
                                                         lt_tensor **out)
{
    return lt__rare_pair_impl(x, n, lt_scalar_from_int(LT_RARE_SHIFTED_W), out);
}
lt_status lt_special_hermite_polynomial_h_impl(lt_tensor *x, lt_tensor *n, lt_tensor **out)
{
    return lt__rare_pair_impl(x, n, lt_scalar_from_int(LT_RARE_HERMITE_H), out);
}
lt_status lt_special_hermite_polynomial_he_impl(lt_tensor *x, lt_tensor *n, lt_tensor **out)
{
    return lt__rare_pair_impl(x, n, lt_scalar_from_int(LT_RARE_HERMITE_HE), out);
}
lt_status lt_special_laguerre_polynomial_l_impl(lt_tensor *x, lt_tensor *n, lt_tensor **out)
{
    return lt__rare_pair_impl(x, n, lt_scalar_from_int(LT_RARE_LAGUERRE), out);
}
lt_status lt_special_legendre_polynomial_p_impl(lt_tensor *x, lt_tensor *n, lt_tensor **out)
{
    return lt__rare_pair_impl(x, n, lt_scalar_from_int(LT_RARE_LEGENDRE), out);
}

lt_status lt_nextafter_impl(lt_tensor *self, lt_tensor *other, lt_tensor **out)
{
    lt_tensor *const both[] = {self, other};
    const lt_dtype dtype = lt_result_type(both, 2);
    if (dtype == LT_DTYPE_NONE) return LT_ERR_RUNTIME;
    if (!lt_dtype_is_float(dtype))
        return lt_error(LT_ERR_RUNTIME, "\"nextafter\" not implemented for '%s'",
                        lt_dtype_scalar_name(dtype));
    const int function = dtype == LT_FLOAT16    ? LT_RARE_NEXT_HALF
                         : dtype == LT_BFLOAT16 ? LT_RARE_NEXT_BFLOAT16
                                                : LT_RARE_NEXTAFTER;
    return lt__rare_pair_impl(self, other, lt_scalar_from_int(function), out);
}

/* ---- gamma functions ------------------------------------------------------------------------- */

lt_status lt_polygamma_impl(int64_t n, lt_tensor *self, lt_tensor **out)
{
    if (n < 0) return lt_error(LT_ERR_RUNTIME, "polygamma(n, x) does not support negative n.");
    return n == 0 ? lt_digamma_impl(self, out)
                  : lt__polygamma_impl(self, lt_scalar_from_int(n), out);
}

lt_status lt__polygamma_slope_impl(lt_tensor *grad_output, lt_tensor *self, int64_t n,
                                   lt_tensor **out)
{
    return lt__polygamma_backward(grad_output, self, lt_scalar_from_int(n), out);
}

/* self - i / 2 for i from 0 to p - 1, along a new last dimension. */
static lt_tensor *do_halves_below(lt_scope *s, lt_tensor *self, int64_t p)
{
    lt_tensor *steps = NULL;
    if (s->status != LT_OK) return NULL;
    const lt_dtype dtype =
        lt_dtype_is_float((lt_dtype)self->dtype) ? (lt_dtype)self->dtype : lt_get_default_dtype();
    const lt_scalar end = lt_scalar_from_float(-0.5 * (double)p);
    lt_status status = lt_arange(lt_scalar_from_float(0), &end, lt_scalar_from_float(-0.5), dtype,
                                 &self->device, &steps);
    steps = lt_scope_hold(s, status, steps);
    return do_add(s, do_unsqueeze(s, self, -1), steps);
}

lt_status lt_mvlgamma_impl(lt_tensor *self, int64_t p, lt_tensor **out)
{
    lt_tensor *logarithms = NULL;
    lt_scope s;
    if (p < 1) return lt_error(LT_ERR_RUNTIME, "p has to be greater than or equal to 1");
    const double constant =
        0.25 * 1.14472988584940017414 * (double)p * ((double)p - 1); /* log(pi) p (p - 1) / 4 */
    lt_scope_open(&s, false);
    lt_tensor *arguments = do_halves_below(&s, self, p);
    if (s.status == LT_OK) {
        lt_status status = lt_lgamma(arguments, &logarithms);
        logarithms = lt_scope_hold(&s, status, logarithms);
    }
    return lt_scope_store(&s, plus(&s, do_sum_dim(&s, logarithms, -1, false), constant), out);
}

lt_status lt__mvlgamma_backward_impl(lt_tensor *grad_output, lt_tensor *self, int64_t p,
                                     lt_tensor **out)
{
    lt_tensor *slopes = NULL;
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *arguments = do_halves_below(&s, self, p);
    if (s.status == LT_OK) {
        lt_status status = lt_digamma(arguments, &slopes);
        slopes = lt_scope_hold(&s, status, slopes);
    }
    return lt_scope_return(&s, do_mul(&s, grad_output, do_sum_dim(&s, slopes, -1, false)), out);
}

/* ---- derivatives ----------------------------------------------------------------------------- */

/* value where self is not 0, else one half: the derivatives of I1 divide by self. */
static lt_status half_at_zero(lt_scope *s, lt_tensor *grad, lt_tensor *self, lt_tensor *value,
                              lt_tensor **out)
{
    lt_tensor *slope = do_where(s, do_ne(s, self, do_number(s, 0)), value, do_number(s, 0.5));
    return lt_scope_return(s, do_mul(s, grad, slope), out);
}

/* self with its zeros replaced, to avoid a division by 0. */
static lt_tensor *do_without_zeros(lt_scope *s, lt_tensor *self)
{
    return do_where(s, do_ne(s, self, do_number(s, 0)), self, do_number(s, 1));
}

lt_status lt__i1_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_tensor *result,
                               lt_tensor **out)
{
    lt_tensor *first = NULL;
    lt_scope s;
    lt_scope_open(&s, true);
    lt_status status = lt_i0(self, &first);
    first = lt_scope_hold(&s, status, first);
    return half_at_zero(&s, grad_output, self,
                        do_sub(&s, first, do_div(&s, result, do_without_zeros(&s, self))), out);
}

lt_status lt__i1e_backward_impl(lt_tensor *grad_output, lt_tensor *self, lt_tensor *result,
                                lt_tensor **out)
{
    lt_tensor *first = NULL, *inverse = NULL;
    lt_scope s;
    lt_scope_open(&s, true);
    lt_status status = lt_special_i0e(self, &first);
    first = lt_scope_hold(&s, status, first);
    lt_tensor *nonzero = do_without_zeros(&s, self);
    if (s.status == LT_OK) {
        status = lt_reciprocal(nonzero, &inverse);
        inverse = lt_scope_hold(&s, status, inverse);
    }
    lt_tensor *slope =
        do_sub(&s, first, do_mul(&s, result, do_add(&s, do_sign(&s, self), inverse)));
    return half_at_zero(&s, grad_output, self, slope, out);
}
