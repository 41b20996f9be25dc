/* random.c - random tensors and random filling in place, by the backend's distributions. */
#include <math.h>

#include "ops/check_values.h"
#include "ops/steps.h"
#include "devices/device.h"
#include "devices/copies.h"
#include "iter.h"
#include "random/random.h"
#include "devices/transfer.h"
#include "ops/complex/complex.h"
#include "op/_to_copy.h"
#include "op/bernoulli.h"
#include "op/bernoulli_.h"
#include "op/exponential_.h"
#include "op/lt.h"
#include "op/normal.h"
#include "op/normal_.h"
#include "op/permute.h"
#include "op/rand.h"
#include "op/rand_like.h"
#include "op/randint.h"
#include "op/randint_like.h"
#include "op/randn.h"
#include "op/randn_like.h"
#include "op/random_.h"
#include "op/randperm.h"
#include "op/uniform_.h"

static const lt_scalar zero = {LT_SCALAR_FLOAT, {.d = 0}, 0}, one = {LT_SCALAR_FLOAT, {.d = 1}, 0};

/* New reference: a view of t with its dimensions in memory order. */
static lt_status in_memory_order(lt_tensor *t, lt_tensor **out)
{
    lt_dims order = {.n = t->ndim};
    for (int d = 0; d < t->ndim; d++) {
        int at = d;
        for (; at > 0 && t->strides[order.v[at - 1]] < t->strides[d]; at--)
            order.v[at] = order.v[at - 1];
        order.v[at] = d;
    }
    return lt_permute_impl(t, &order, out);
}

lt_status lt_check_generator(const lt_generator *generator, const lt_tensor *t)
{
    char g[16], d[16];
    if (generator == NULL || generator->device.type == t->device.type) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "Expected a '%s' device type for generator but found '%s'",
                    lt_format_device(d, sizeof d, (lt_device){t->device.type, -1}),
                    lt_format_device(g, sizeof g, (lt_device){generator->device.type, -1}));
}

lt_status lt_draw_into(lt_tensor *t, lt_distribution what, lt_scalar a, lt_scalar b,
                       lt_generator *generator)
{
    const lt_array array = lt_array_of(t);
    lt_generator_lock(generator);
    const lt_status status = lt_backend_of(t)->random(what, &array, a, b, generator);
    lt_generator_unlock(generator);
    return status;
}

static lt_status draw_numbers(lt_tensor *t, lt_distribution what, lt_scalar a, lt_scalar b,
                              lt_generator *generator);

/* Complex normal numbers have variance std^2: half of it each for the real and imaginary parts;
 * uniform ones have uniform parts. */
static lt_status draw_parts(lt_tensor *t, lt_distribution what, lt_scalar a, lt_scalar b,
                            lt_generator *generator)
{
    lt_tensor *parts;
    const bool normal = what == LT_RANDOM_NORMAL || what == LT_RANDOM_NORMAL_SINGLY;
    LT_TRY(lt_parts_of(t, &parts));
    lt_status status = draw_numbers(
        parts, what, a,
        normal ? lt_scalar_from_float(lt_scalar_double(b) * 0.70710678118654752440) : b, generator);
    lt_tensor_release(parts);
    return status;
}

/* Draws into t; a tensor with gaps or in another order through a contiguous buffer: numbers are
 * drawn in memory order, and normal ones one by one, as in PyTorch. */
static lt_status draw_numbers(lt_tensor *t, lt_distribution what, lt_scalar a, lt_scalar b,
                              lt_generator *generator)
{
    LT_TRY(lt_check_generator(generator, t));
    if (t->numel == 0) return LT_OK;
    if (generator == NULL) generator = lt_default_generator(t->device);
    if (generator == NULL) return LT_ERR_MEMORY;
    if (lt_dtype_is_complex((lt_dtype)t->dtype)) return draw_parts(t, what, a, b, generator);
    if (lt_is_contiguous(t)) return lt_draw_into(t, what, a, b, generator);
    lt_tensor *ordered = NULL, *dense = NULL;
    lt_status status = LT_OK;
    LT_CHECK(in_memory_order(t, &ordered));
    if (lt_is_contiguous(ordered))
        dense = lt_tensor_retain(ordered);
    else
        LT_CHECK(lt_tensor_shaped(ordered, (lt_dtype)t->dtype, &dense));
    if (what == LT_RANDOM_NORMAL) what = LT_RANDOM_NORMAL_SINGLY;
    LT_CHECK(lt_draw_into(dense, what, a, b, generator));
    if (dense != ordered) status = lt_copy_elements(ordered, dense);
done:
    lt_tensor_release(ordered);
    lt_tensor_release(dense);
    return status;
}

/* Fills t, a new tensor, with random numbers and returns it. */
static lt_status drawn(lt_tensor *t, lt_distribution what, lt_scalar a, lt_scalar b,
                       lt_generator *generator, lt_tensor **out)
{
    lt_status status = draw_numbers(t, what, a, b, generator);
    if (status != LT_OK) {
        lt_tensor_release(t);
        return status;
    }
    *out = t;
    return LT_OK;
}

typedef struct law {
    lt_distribution what;
    lt_scalar a, b;
} law;

static lt_status new_random(const lt_dims *size, lt_dtype dtype, lt_device device, law law,
                            lt_generator *generator, lt_tensor **out)
{
    lt_tensor *t = NULL;
    LT_TRY(lt_tensor_new(dtype, device, size->n, size->v, &t));
    return drawn(t, law.what, law.a, law.b, generator, out);
}

static lt_device place(const lt_device *device, const lt_generator *generator)
{
    return device != NULL ? *device : generator != NULL ? generator->device : lt_host;
}

static lt_status check_float(const char *op, lt_dtype dtype)
{
    if (lt_dtype_is_float(dtype)) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "\"%s\" not implemented for '%s'", op,
                    lt_dtype_scalar_name(dtype));
}

/* Also accepts complex dtypes. */
static lt_status check_inexact(const char *op, lt_dtype dtype)
{
    return lt_dtype_is_complex(dtype) ? LT_OK : check_float(op, dtype);
}

/* [low, high) must not be empty, and an integer dtype must be able to hold all its numbers. */
static lt_status check_range(int64_t low, int64_t high, lt_dtype dtype)
{
    const int bits = lt_dtype_is_float(dtype) ? 64
                     : dtype == LT_BOOL       ? 1
                                              : 8 * (int)lt_dtype_size(dtype);
    const bool from_zero = dtype == LT_BOOL || dtype == LT_UINT8 || lt_dtype_is_unsigned(dtype);
    const int64_t most = (int64_t)(UINT64_MAX >> (from_zero && bits < 64 ? 64 - bits : 65 - bits)),
                  least = from_zero ? 0 : -most - 1;
    if (low < high && low >= least && high - 1 <= most) return LT_OK;
    static const char *const names[LT_DTYPE_COUNT] = {
        [LT_BOOL] = "bool",       [LT_UINT8] = "unsigned char", [LT_INT8] = "signed char",
        [LT_INT16] = "short",     [LT_INT32] = "int",           [LT_UINT16] = "uint16_t",
        [LT_UINT32] = "uint32_t", [LT_UINT64] = "uint64_t"};
    if (low < high)
        return lt_error(LT_ERR_RUNTIME, "%s is out of bounds for %s",
                        low < least || low > most ? "from" : "to - 1", names[dtype]);
    return lt_error(LT_ERR_RUNTIME,
                    "random_ expects 'from' to be less than 'to', but got from=%lld >= to=%lld",
                    (long long)low, (long long)high);
}

lt_status lt_rand_impl(const lt_dims *size, lt_generator *generator, lt_dtype dtype,
                       const lt_device *device, lt_tensor **out)
{
    if (dtype == LT_DTYPE_NONE) dtype = lt_get_default_dtype();
    LT_TRY(check_inexact("uniform_", dtype));
    return new_random(size, dtype, place(device, generator), (law){LT_RANDOM_UNIFORM, zero, one},
                      generator, out);
}

lt_status lt_normal_impl(double mean, double std, const lt_dims *size, lt_generator *generator,
                         lt_dtype dtype, const lt_device *device, lt_tensor **out)
{
    if (dtype == LT_DTYPE_NONE) dtype = lt_get_default_dtype();
    LT_TRY(check_inexact("normal_", dtype));
    if (!(std >= 0))
        return lt_error(LT_ERR_RUNTIME, "normal expects std >= 0.0, but found std %g", std);
    return new_random(
        size, dtype, place(device, generator),
        (law){LT_RANDOM_NORMAL, lt_scalar_from_float(mean), lt_scalar_from_float(std)}, generator,
        out);
}

lt_status lt_randn_impl(const lt_dims *size, lt_generator *generator, lt_dtype dtype,
                        const lt_device *device, lt_tensor **out)
{
    return lt_normal_impl(0, 1, size, generator, dtype, device, out);
}

lt_status lt_randint_impl(int64_t low, int64_t high, const lt_dims *size, lt_generator *generator,
                          lt_dtype dtype, const lt_device *device, lt_tensor **out)
{
    if (dtype == LT_DTYPE_NONE) dtype = LT_INT64;
    LT_TRY(check_range(low, high, dtype));
    return new_random(size, dtype, place(device, generator),
                      (law){LT_RANDOM_INTEGERS, lt_scalar_from_int(low), lt_scalar_from_int(high)},
                      generator, out);
}

lt_status lt_randint_from_zero_impl(int64_t high, const lt_dims *size, lt_generator *generator,
                                    lt_dtype dtype, const lt_device *device, lt_tensor **out)
{
    return lt_randint_impl(0, high, size, generator, dtype, device, out);
}

lt_status lt_randperm_impl(int64_t n, lt_generator *generator, lt_dtype dtype,
                           const lt_device *device, lt_tensor **out)
{
    if (n < 0) return lt_error(LT_ERR_RUNTIME, "n must be non-negative, got %lld", (long long)n);
    lt_tensor *order = NULL;
    LT_TRY(new_random(&(lt_dims){1, {n}}, LT_INT64, place(device, generator),
                      (law){LT_RANDOM_PERMUTATION, zero, zero}, generator, &order));
    if (dtype == LT_DTYPE_NONE || dtype == LT_INT64) {
        *out = order;
        return LT_OK;
    }
    lt_status status = lt__to_copy_impl(order, dtype, NULL, false, out);
    lt_tensor_release(order);
    return status;
}

static lt_status random_like(lt_tensor *self, lt_dtype dtype, const lt_device *device,
                             lt_distribution what, lt_tensor **out)
{
    lt_tensor *t = NULL;
    if (dtype == LT_DTYPE_NONE) dtype = (lt_dtype)self->dtype;
    LT_TRY(check_inexact(what == LT_RANDOM_UNIFORM ? "uniform_" : "normal_", dtype));
    LT_TRY(lt_tensor_like(self, dtype, device != NULL ? *device : self->device, &t));
    return drawn(t, what, zero, one, NULL, out);
}

lt_status lt_rand_like_impl(lt_tensor *self, lt_dtype dtype, const lt_device *device,
                            lt_tensor **out)
{
    return random_like(self, dtype, device, LT_RANDOM_UNIFORM, out);
}

lt_status lt_randn_like_impl(lt_tensor *self, lt_dtype dtype, const lt_device *device,
                             lt_tensor **out)
{
    return random_like(self, dtype, device, LT_RANDOM_NORMAL, out);
}

lt_status lt_randint_like_impl(lt_tensor *self, int64_t low, int64_t high, lt_dtype dtype,
                               const lt_device *device, lt_tensor **out)
{
    lt_tensor *t = NULL;
    if (dtype == LT_DTYPE_NONE) dtype = (lt_dtype)self->dtype;
    LT_TRY(check_range(low, high, dtype));
    LT_TRY(lt_tensor_like(self, dtype, device != NULL ? *device : self->device, &t));
    return drawn(t, LT_RANDOM_INTEGERS, lt_scalar_from_int(low), lt_scalar_from_int(high), NULL,
                 out);
}

lt_status lt_randint_like_from_zero_impl(lt_tensor *self, int64_t high, lt_dtype dtype,
                                         const lt_device *device, lt_tensor **out)
{
    return lt_randint_like_impl(self, 0, high, dtype, device, out);
}

/* Rejects values outside [0, 1], and nan. */
static lt_status check_probabilities(lt_tensor *p)
{
    return lt_check_values(
        p, (lt_value_check){.high = 1,
                            .text = "bernoulli expects probabilities p to be in [0, 1], but got p=",
                            .shown = true});
}

/* u < p element by element; u is uniform in [0, 1). */
lt_status lt_bernoulli_impl(lt_tensor *self, lt_generator *generator, lt_tensor **out)
{
    LT_TRY(check_float("bernoulli", (lt_dtype)self->dtype));
    LT_TRY(check_probabilities(self));
    lt_status status = LT_OK;
    lt_tensor *u = NULL, *less = NULL;
    LT_TRY(lt_tensor_shaped(self, (lt_dtype)self->dtype, &u));
    LT_CHECK(draw_numbers(u, LT_RANDOM_UNIFORM, zero, one, generator));
    LT_CHECK(lt_lt_impl(u, self, &less));
    status = lt__to_copy_impl(less, (lt_dtype)self->dtype, NULL, false, out);
done:
    lt_tensor_release(u);
    lt_tensor_release(less);
    return status;
}

lt_status lt_bernoulli_p_impl(lt_tensor *self, double p, lt_generator *generator, lt_tensor **out)
{
    lt_tensor *result = NULL;
    LT_TRY(lt_tensor_like(self, (lt_dtype)self->dtype, self->device, &result));
    lt_status status = lt_bernoulli__impl(result, p, generator);
    if (status == LT_OK)
        *out = result;
    else
        lt_tensor_release(result);
    return status;
}

/* ---- in place -------------------------------------------------------------------------------- */

lt_status lt_uniform__impl(lt_tensor *self, double from, double to, lt_generator *generator)
{
    LT_TRY(check_inexact("uniform_", (lt_dtype)self->dtype));
    if (!(from <= to))
        return lt_error(LT_ERR_RUNTIME,
                        "uniform_ expects to return a [from, to) range, but found from=%g > to=%g",
                        from, to);
    return draw_numbers(self, LT_RANDOM_UNIFORM, lt_scalar_from_float(from),
                        lt_scalar_from_float(to), generator);
}

lt_status lt_normal__impl(lt_tensor *self, double mean, double std, lt_generator *generator)
{
    LT_TRY(check_inexact("normal_", (lt_dtype)self->dtype));
    if (!(std >= 0))
        return lt_error(LT_ERR_RUNTIME, "normal expects std >= 0.0, but found std %g", std);
    return draw_numbers(self, LT_RANDOM_NORMAL, lt_scalar_from_float(mean),
                        lt_scalar_from_float(std), generator);
}

lt_status lt_random__impl(lt_tensor *self, const int64_t *from, const int64_t *to,
                          lt_generator *generator)
{
    if (from == NULL) LT_TRY(lt_refuse_unsigned("random_", self));
    if (from == NULL) return draw_numbers(self, LT_RANDOM_FULL_RANGE, zero, zero, generator);
    int64_t low = to != NULL ? *from : 0, high = to != NULL ? *to : *from;
    LT_TRY(check_range(low, high, (lt_dtype)self->dtype));
    return draw_numbers(self, LT_RANDOM_INTEGERS, lt_scalar_from_int(low), lt_scalar_from_int(high),
                        generator);
}

lt_status lt_bernoulli__impl(lt_tensor *self, double p, lt_generator *generator)
{
    if (!(p >= 0 && p <= 1))
        return lt_error(LT_ERR_RUNTIME, "bernoulli_ expects p to be in [0, 1], but got p=%g", p);
    return draw_numbers(self, LT_RANDOM_BERNOULLI, lt_scalar_from_float(p), zero, generator);
}

lt_status lt_bernoulli_tensor_impl(lt_tensor *self, lt_tensor *p, lt_generator *generator)
{
    lt_scope s;
    lt_dims sizes = lt_dims_of(self);
    lt_tensor *drawn = NULL;
    lt_scope_open(&s, LT_COMPOSITE(bernoulli_tensor));
    lt_tensor *wide = do_expand(&s, p, &sizes);
    if (wide != NULL) {
        lt_status status = lt_bernoulli_impl(wide, generator, &drawn);
        lt_scope_hold(&s, status, drawn);
    }
    if (s.status == LT_OK) s.status = lt_copy_elements(self, drawn);
    return lt_scope_close(&s);
}

lt_status lt_exponential__impl(lt_tensor *self, double lambd, lt_generator *generator)
{
    LT_TRY(check_float("exponential_", (lt_dtype)self->dtype));
    if (!(lambd > 0))
        return lt_error(LT_ERR_RUNTIME, "exponential_ expects lambda > 0.0, but found lambda=%g",
                        lambd);
    return draw_numbers(self, LT_RANDOM_EXPONENTIAL, lt_scalar_from_float(lambd), zero, generator);
}

/* ---- parameters that are tensors ------------------------------------------------------------- */

/* Standard normal numbers in the broadcast shape, scaled and shifted. */
lt_status lt_normal_tensors_impl(lt_tensor *mean, lt_tensor *std, lt_generator *generator,
                                 lt_tensor **out)
{
    lt_device device;
    lt_dims size;
    bool negative = false;
    lt_tensor *operands[] = {mean, std}, *numbers = NULL;
    const lt_tensor *model = mean->flags & LT_FLAG_WRAPPED_NUMBER ? std : mean;
    lt_dtype dtype =
        model->flags & LT_FLAG_WRAPPED_NUMBER ? lt_get_default_dtype() : (lt_dtype)model->dtype;
    LT_TRY(check_float("normal_kernel_cpu", dtype));
    LT_TRY(lt_check_same_device("normal", operands, 2, true, &device));
    LT_TRY(lt_broadcast_shape(operands, 2, &size.n, size.v));
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(normal_tensors));
    if (std->flags & LT_FLAG_WRAPPED_NUMBER) {
        lt_scalar value;
        s.status = lt_tensor_item(std, &value);
        if (s.status == LT_OK && !(lt_scalar_double(value) >= 0))
            s.status = lt_error(LT_ERR_RUNTIME, "normal expects std >= 0.0, but found std %g",
                                lt_scalar_double(value));
    } else {
        const lt_copy_cause previous = lt_copies_imply("normal");
        lt_any_set(&s, do_logical_not(&s, do_ge(&s, std, do_number(&s, 0))), &negative);
        lt_copies_set_cause(previous);
        if (s.status == LT_OK && negative)
            s.status = lt_error(LT_ERR_RUNTIME, "normal expects all elements of std >= 0.0");
    }
    if (s.status == LT_OK) {
        lt_status status = new_random(&size, dtype, device, (law){LT_RANDOM_NORMAL, zero, one},
                                      generator, &numbers);
        numbers = lt_scope_hold(&s, status, numbers);
    }
    lt_tensor *result = do_add(&s, do_mul(&s, numbers, std), mean);
    return lt_scope_store(&s, do_cast(&s, result, dtype), out);
}
