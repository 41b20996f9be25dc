/* distributions.c - random numbers computed from uniform and normal ones: geometric, Cauchy,
 * log-normal. */
#include <math.h>

#include "random/random.h"
#include "ops/steps.h"
#include "op/cauchy_.h"
#include "op/clamp.h"
#include "op/geometric_.h"
#include "op/log_normal_.h"
#include "op/uniform_.h"
#include "step/ceil.h"
#include "step/tan.h"

static lt_status check_distribution_dtype(const char *op, const lt_tensor *t)
{
    if (lt_dtype_is_float((lt_dtype)t->dtype)) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "\"%s\" not implemented for '%s'", op,
                    lt_dtype_scalar_name((lt_dtype)t->dtype));
}

/* Uniform doubles in t's shape, from the generator's sequence. */
static lt_tensor *do_uniform(lt_scope *s, const lt_tensor *t, lt_generator *generator)
{
    lt_tensor *u = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_tensor_shaped(t, LT_FLOAT64, &u);
    u = lt_scope_hold(s, status, u);
    if (u != NULL) s->status = lt_uniform__impl(u, 0, 1, generator);
    return u;
}

static lt_status copy_values_into(lt_scope *s, lt_tensor *self, lt_tensor *values)
{
    if (s->status == LT_OK) s->status = lt_copy_elements(self, values);
    return lt_scope_close(s);
}

#define STEP(call)                                                                                 \
    lt_tensor *out = NULL;                                                                         \
    if (s->status != LT_OK) return NULL;                                                           \
    lt_status status = call;                                                                       \
    return lt_scope_hold(s, status, out);
static lt_tensor *do_clamp_range(lt_scope *s, lt_tensor *a, double low, double high)
{
    lt_scalar min = lt_scalar_from_float(low), max = lt_scalar_from_float(high);
    STEP(lt_clamp(a, &min, &max, &out))
}

lt_status lt_geometric__impl(lt_tensor *self, double p, lt_generator *generator)
{
    if (!(p > 0 && p < 1))
        return lt_error(LT_ERR_RUNTIME, "geometric_ expects p to be in (0, 1), but got p=%g", p);
    if (self->dtype == LT_BOOL)
        return lt_error(LT_ERR_RUNTIME, "\"geometric_\" not implemented for 'Bool'");
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(geometric_));
    lt_tensor *u = do_uniform(&s, self, generator);
    return copy_values_into(&s, self,
                            do_ceil(&s, do_div(&s, do_log(&s, u), do_number(&s, log1p(-p)))));
}

lt_status lt_cauchy__impl(lt_tensor *self, double median, double sigma, lt_generator *generator)
{
    LT_TRY(check_distribution_dtype("cauchy_", self));
    if (!(sigma > 0))
        return lt_error(LT_ERR_RUNTIME, "cauchy_ expects sigma > 0.0, but found sigma=%g", sigma);
    const double least = 2.220446049250313e-16; /* the tangent stays finite */
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(cauchy_));
    lt_tensor *u = do_clamp_range(&s, do_uniform(&s, self, generator), least, 1 - least);
    lt_tensor *angle =
        do_mul(&s, do_sub(&s, u, do_number(&s, 0.5)), do_number(&s, 3.141592653589793));
    return copy_values_into(
        &s, self,
        do_add(&s, do_mul(&s, do_tan(&s, angle), do_number(&s, sigma)), do_number(&s, median)));
}

lt_status lt_log_normal__impl(lt_tensor *self, double mean, double std, lt_generator *generator)
{
    LT_TRY(check_distribution_dtype("log_normal_", self));
    if (!(std > 0))
        return lt_error(LT_ERR_RUNTIME, "log_normal_ expects std > 0.0, but found std=%g", std);
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(log_normal_));
    lt_tensor *numbers = NULL;
    s.status = lt_tensor_shaped(self, LT_FLOAT64, &numbers);
    if (s.status == LT_OK) lt_scope_hold(&s, LT_OK, numbers);
    if (s.status == LT_OK && self->numel > 0) {
        if (generator == NULL) generator = lt_default_generator(self->device);
        s.status = generator == NULL
                       ? LT_ERR_MEMORY
                       : lt_draw_into(numbers, LT_RANDOM_NORMAL_SINGLY, lt_scalar_from_float(mean),
                                      lt_scalar_from_float(std), generator);
    }
    return copy_values_into(&s, self, do_exp(&s, numbers));
}
