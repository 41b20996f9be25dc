/* draws.c - random numbers with a parameter per element: gamma, Dirichlet, Poisson, binomial. The
 * backend draws them (formulas/draws.inc) in the order of elements; half types are computed in
 * float. */
#include "random/random.h"
#include "ops/check_values.h"
#include "devices/copies.h"
#include "ops/steps.h"
#include "iter.h"
#include "op/_dirichlet_backward.h"
#include "op/_dirichlet_tangent.h"
#include "op/_dirichlet_grad.h"
#include "op/_no_derivative.h"
#include "op/_sample_dirichlet.h"
#include "op/_standard_gamma.h"
#include "op/binomial.h"
#include "op/clamp.h"
#include "op/poisson.h"

/* Draws numbers of this distribution in the shape of a. */
static lt_tensor *do_draw(lt_scope *s, lt_draw what, lt_tensor *a, lt_tensor *b,
                          lt_generator *generator)
{
    lt_tensor *out = NULL;
    a = do_contiguous(s, a);
    if (b != NULL) b = do_contiguous(s, b);
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_tensor_shaped(a, (lt_dtype)a->dtype, &out);
    out = lt_scope_hold(s, status, out);
    if (out == NULL || out->numel == 0) return out;
    if (generator == NULL) generator = lt_default_generator(a->device);
    if (generator == NULL) s->status = LT_ERR_MEMORY;
    if (s->status != LT_OK) return NULL;
    const lt_array result = lt_array_of(out), first = lt_array_of(a),
                   second = lt_array_of(b != NULL ? b : a);
    lt_generator_lock(generator);
    s->status =
        lt_backend_of(a)->draw(what, &result, &first, b != NULL ? &second : NULL, generator);
    lt_generator_unlock(generator);
    return s->status == LT_OK ? out : NULL;
}

static lt_status check_draw_dtype(const char *op, const lt_tensor *t)
{
    if (lt_dtype_is_float((lt_dtype)t->dtype)) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "\"%s\" not implemented for '%s'", op,
                    lt_dtype_scalar_name((lt_dtype)t->dtype));
}

lt_status lt__standard_gamma_impl(lt_tensor *self, lt_generator *generator, lt_tensor **out)
{
    LT_TRY(check_draw_dtype("gamma_cpu", self));
    LT_TRY(lt_check_generator(generator, self));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_standard_gamma));
    lt_tensor *numbers = do_draw(&s, LT_DRAW_GAMMA, do_widen(&s, self), NULL, generator);
    return lt_scope_store(&s, do_narrow_to(&s, numbers, self), out);
}

/* Normalized gamma numbers, drawn in double lest they all be 0; never exactly 0 or 1. */
lt_status lt__sample_dirichlet_impl(lt_tensor *self, lt_generator *generator, lt_tensor **out)
{
    LT_TRY(check_draw_dtype("dirichlet", self));
    LT_TRY(lt_check_generator(generator, self));
    const lt_dtype dtype = (lt_dtype)self->dtype;
    const bool wide = dtype == LT_FLOAT64;
    const lt_scalar least = lt_scalar_from_float(wide                  ? 0x1p-1022
                                                 : dtype == LT_FLOAT16 ? 0x1p-14
                                                                       : 0x1p-126);
    const lt_scalar most = lt_scalar_from_float(1 - (wide                  ? 0x1p-53
                                                     : dtype == LT_FLOAT32 ? 0x1p-24
                                                     : dtype == LT_FLOAT16 ? 0x1p-11
                                                                           : 0x1p-8));
    lt_tensor *clamped = NULL;
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_sample_dirichlet));
    lt_tensor *gammas = do_draw(&s, LT_DRAW_GAMMA, do_cast(&s, self, LT_FLOAT64), NULL, generator);
    lt_tensor *shares = do_cast(&s, do_div(&s, gammas, do_sum_dim(&s, gammas, -1, true)), dtype);
    if (s.status == LT_OK) {
        lt_status status = lt_clamp(shares, &least, &most, &clamped);
        clamped = lt_scope_hold(&s, status, clamped);
    }
    return lt_scope_store(&s, clamped, out);
}

/* The derivative of each x by its own concentration, with the sum of the others constant. */
static lt_tensor *do_slopes(lt_scope *s, lt_tensor *x, lt_tensor *concentration)
{
    lt_tensor *slopes = NULL, *total = do_sum_dim(s, concentration, -1, true);
    if (s->status != LT_OK) return NULL;
    lt_status status = lt__dirichlet_grad(x, concentration, total, &slopes);
    return lt_scope_hold(s, status, slopes);
}

lt_status lt__dirichlet_backward_impl(lt_tensor *grad, lt_tensor *x, lt_tensor *concentration,
                                      lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_dirichlet_backward));
    lt_tensor *slopes = do_slopes(&s, x, concentration),
              *mean = do_sum_dim(&s, do_mul(&s, x, grad), -1, true);
    return lt_scope_return(&s, do_mul(&s, slopes, do_sub(&s, grad, mean)), out);
}

lt_status lt__dirichlet_tangent_impl(lt_tensor *self_t, lt_tensor *x, lt_tensor *concentration,
                                     lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_dirichlet_tangent));
    lt_tensor *moved = do_mul(&s, do_slopes(&s, x, concentration), self_t);
    return lt_scope_return(&s, do_sub(&s, moved, do_mul(&s, x, do_sum_dim(&s, moved, -1, true))),
                           out);
}

lt_status lt__no_derivative_impl(lt_tensor *grad, int64_t op, lt_tensor **out)
{
    static const char *const ops[] = {
        "_standard_gamma_grad", "_dirichlet_grad", "binomial",
        "igamma: input",        "igammac: input",  "special_zeta: self"};
    (void)grad;
    (void)out;
    return lt_error(LT_ERR_RUNTIME, "the derivative for '%s' is not implemented.", ops[op]);
}

lt_status lt_poisson_impl(lt_tensor *self, lt_generator *generator, lt_tensor **out)
{
    LT_TRY(check_draw_dtype("poisson_cpu", self));
    LT_TRY(lt_check_generator(generator, self));
    bool bad = false;
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(poisson));
    const lt_copy_cause previous = lt_copies_imply("poisson");
    lt_any_set(&s, do_logical_not(&s, do_ge(&s, self, do_number(&s, 0))), &bad);
    lt_copies_set_cause(previous);
    if (s.status == LT_OK && bad)
        s.status =
            lt_error(LT_ERR_RUNTIME, "invalid Poisson rate, expected rate to be non-negative");
    lt_tensor *numbers = do_draw(&s, LT_DRAW_POISSON, do_widen(&s, self), NULL, generator);
    return lt_scope_store(&s, do_narrow_to(&s, numbers, self), out);
}

lt_status lt_binomial_impl(lt_tensor *count, lt_tensor *prob, lt_generator *generator,
                           lt_tensor **out)
{
    lt_tensor *operands[] = {count, prob};
    lt_device device;
    lt_dims size;
    if (!lt_dtype_is_float((lt_dtype)count->dtype))
        return lt_error(LT_ERR_RUNTIME,
                        "binomial only supports floating-point dtypes for count, got: %s",
                        lt_dtype_scalar_name((lt_dtype)count->dtype));
    if (prob->dtype != count->dtype)
        return lt_error(LT_ERR_RUNTIME, "Found dtype %s but expected %s",
                        lt_dtype_scalar_name((lt_dtype)prob->dtype),
                        lt_dtype_scalar_name((lt_dtype)count->dtype));
    LT_TRY(lt_check_same_device("binomial", operands, 2, false, &device));
    LT_TRY(lt_broadcast_shape(operands, 2, &size.n, size.v));
    LT_TRY(lt_check_generator(generator, count));
    LT_TRY(lt_check_values(
        prob, (lt_value_check){.high = 1,
                               .nan = true,
                               .text = "binomial expects probabilities in [0, 1], but got ",
                               .shown = true}));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(binomial));
    lt_tensor *trials = do_expand(&s, do_widen(&s, count), &size),
              *chance = do_expand(&s, do_widen(&s, prob), &size);
    lt_tensor *numbers = do_draw(&s, LT_DRAW_BINOMIAL, trials, chance, generator);
    return lt_scope_store(&s, do_narrow_to(&s, numbers, count), out);
}
