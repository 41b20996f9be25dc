/* multinomial.c - positions drawn with given probabilities.
 *
 * Without replacement the exponential race: each probability is divided by an exponential random
 * number, and the largest quotients win. With replacement each draw searches a uniform number in
 * the prefix sums: on the CPU with PyTorch's sequence of draws, elsewhere as a formula of other
 * ops, so that the data stays on the device. */
#include <math.h>
#include <stdlib.h>

#include "ops/compose.h"
#include "context/interrupt.h"
#include "devices/copies.h"
#include "memory/alloc.h"
#include "random/random.h"
#include "devices/transfer.h"
#include "ops/steps.h"
#include "op/any.h"
#include "op/argmax.h"
#include "op/argsort.h"
#include "op/clamp_max.h"
#include "op/cumsum.h"
#include "op/exponential_.h"
#include "op/multinomial.h"
#include "op/narrow.h"
#include "op/rand.h"
#include "op/scatter.h"

/* PyTorch's limit: float represents every position up to it. */
#define MOST_CATEGORIES (INT64_C(1) << 24)

static const char no_distribution[] =
    "invalid multinomial distribution (sum of probabilities <= 0)";

/* Fails with the message if any flag is set; waits for the device. */
static void error_if_any(lt_scope *s, lt_tensor *flags, const char *message)
{
    lt_tensor *any = NULL;
    lt_scalar value;
    if (s->status != LT_OK) return;
    lt_status status = lt_any(flags, &any);
    any = lt_scope_hold(s, status, any);
    if (s->status == LT_OK) {
        const lt_copy_cause previous = lt_copies_imply("multinomial");
        s->status = lt_tensor_item(any, &value);
        lt_copies_set_cause(previous);
    }
    if (s->status == LT_OK && lt_scalar_double(value) != 0)
        s->status = lt_error(LT_ERR_RUNTIME, "%s", message);
}

/* The comparisons must not be negated: nan fails both. */
static void check_probabilities(lt_scope *s, lt_tensor *p)
{
    lt_tensor *valid =
        do_logical_and(s, do_ge(s, p, do_number(s, 0)), do_lt(s, p, do_number(s, INFINITY)));
    error_if_any(s, do_logical_not(s, valid),
                 "probability tensor contains either `inf`, `nan` or element < 0");
    error_if_any(s, do_le(s, do_sum_dim(s, p, -1, false), do_number(s, 0)), no_distribution);
}

/* ---- without replacement --------------------------------------------------------------------- */

static lt_tensor *race(lt_scope *s, lt_tensor *p, lt_generator *generator)
{
    lt_tensor *times = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_tensor_shaped(p, (lt_dtype)p->dtype, &times);
    times = lt_scope_hold(s, status, times);
    if (s->status == LT_OK) s->status = lt_exponential__impl(times, 1, generator);
    return do_div(s, p, times);
}

static lt_tensor *winner(lt_scope *s, lt_tensor *quotients)
{
    const int64_t last = -1;
    lt_tensor *index = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_argmax(quotients, &last, true, &index);
    return lt_scope_hold(s, status, index);
}

static lt_tensor *new_positions(lt_scope *s, const lt_tensor *p, int64_t count)
{
    lt_tensor *positions = NULL;
    if (s->status != LT_OK) return NULL; /* p is NULL then */
    lt_dims sizes = lt_dims_of(p);
    sizes.v[sizes.n - 1] = count;
    lt_status status = lt_tensor_new(LT_INT64, p->device, sizes.n, sizes.v, &positions);
    return lt_scope_hold(s, status, positions);
}

/* The positions of the `count` largest of each row, in order; of equal ones the lower position
 * first; in host memory. */
static lt_tensor *winners_on_host(lt_scope *s, lt_tensor *quotients, int64_t count)
{
    lt_tensor *order = NULL, *first = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_argsort(quotients, -1, true, true, &order);
    order = lt_scope_hold(s, status, order);
    if (s->status != LT_OK) return NULL;
    status = lt_narrow(order, -1, 0, count, &first);
    return do_contiguous(s, lt_scope_hold(s, status, first));
}

/* The same on a device, one after the other; the winner is removed each time. */
static lt_tensor *winners_on_device(lt_scope *s, lt_tensor *quotients, int64_t count)
{
    lt_tensor *positions = new_positions(s, quotients, count);
    for (int64_t i = 0; i < count && s->status == LT_OK; i++) {
        lt_scope place;
        lt_tensor *column = NULL;
        lt_scope_open(&place, false);
        lt_tensor *index = winner(&place, quotients);
        if (place.status == LT_OK) {
            lt_status status = lt_narrow(positions, -1, i, 1, &column);
            column = lt_scope_hold(&place, status, column);
        }
        if (place.status == LT_OK) place.status = lt_copy_elements(column, index);
        if (place.status == LT_OK)
            place.status = lt_scatter_value_(quotients, -1, index, lt_scalar_from_float(-INFINITY));
        s->status = lt_scope_close(&place);
    }
    return s->status == LT_OK ? positions : NULL;
}

/* ---- with replacement ------------------------------------------------------------------------ */

/* Prefix sums of a row, in float unless the probabilities are double; the last is 1. */
static lt_status running_sums(const double *p, int64_t n, bool narrow, double *sums)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        if (i % LT_INTERRUPT_STEP == 0 && lt_interrupted()) return lt_stopped();
        if (!(p[i] >= 0))
            return lt_error(
                LT_ERR_RUNTIME,
                "invalid multinomial distribution (encountering probability entry < 0)");
        if (isinf(p[i]))
            return lt_error(LT_ERR_RUNTIME, "invalid multinomial distribution (encountering "
                                            "probability entry = infinity or NaN)");
        sum = narrow ? (float)(sum + p[i]) : sum + p[i];
        sums[i] = sum;
    }
    if (!(sum > 0)) return lt_error(LT_ERR_RUNTIME, "%s", no_distribution);
    for (int64_t i = 0; i < n; i++) {
        if (i % LT_INTERRUPT_STEP == 0 && lt_interrupted()) return lt_stopped();
        sums[i] = narrow ? (float)sums[i] / (float)sum : sums[i] / sum;
    }
    return LT_OK;
}

/* The first prefix sum that is not less than u. */
static int64_t find_category(const double *sums, int64_t n, double u)
{
    int64_t low = 0;
    for (int64_t left = n - 1; left > 0;) { /* no branches: they would be unpredictable */
        const int64_t some = (left + 1) / 2;
        low += some * (int64_t)(sums[low + some - 1] < u);
        left -= some;
    }
    return low;
}

static lt_tensor *draw_on_host(lt_scope *s, lt_tensor *p, int64_t count, lt_generator *generator)
{
    lt_tensor *wide = do_contiguous(s, do_cast(s, p, LT_FLOAT64)),
              *positions = new_positions(s, p, count);
    if (s->status != LT_OK) return NULL;
    const int64_t n = p->sizes[p->ndim - 1], rows = p->numel / n;
    const double *values = (const double *)lt_data(wide);
    int64_t *at = (int64_t *)lt_data(positions);
    double *sums = lt_mem_array(n, sizeof *sums);
    if (generator == NULL) generator = lt_default_generator(p->device);
    if (sums == NULL || generator == NULL) s->status = LT_ERR_MEMORY;
    for (int64_t row = 0; row < rows && s->status == LT_OK; row++, values += n) {
        s->status = running_sums(values, n, (lt_dtype)p->dtype != LT_FLOAT64, sums);
        lt_generator_lock(generator);
        for (int64_t i = 0; i < count && s->status == LT_OK && !lt_interrupted(); i++)
            *at++ = find_category(sums, n, lt_generator_uniform(generator));
        lt_generator_unlock(generator);
        if (s->status == LT_OK && lt_interrupted()) s->status = lt_stopped();
    }
    lt_mem_free(sums);
    return s->status == LT_OK ? positions : NULL;
}

/* For each uniform number, the number of prefix sums below it. */
static lt_tensor *draw_on_device(lt_scope *s, lt_tensor *p, int64_t count, lt_generator *generator)
{
    lt_dims sizes = lt_dims_of(p);
    lt_tensor *sums = NULL, *draws = NULL;
    sizes.v[sizes.n - 1] = count;
    lt_dtype dtype = (lt_dtype)p->dtype == LT_FLOAT64 ? LT_FLOAT64 : LT_FLOAT32;
    p = do_cast(s, p, dtype);
    p = do_div(s, p, do_sum_dim(s, p, -1, true));
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_cumsum(p, -1, LT_DTYPE_NONE, &sums);
    sums = lt_scope_hold(s, status, sums);
    if (s->status != LT_OK) return NULL;
    status = lt_rand(&sizes, generator, dtype, &p->device, &draws);
    draws = lt_scope_hold(s, status, draws);
    lt_tensor *less = do_lt(s, do_unsqueeze(s, sums, -2), do_unsqueeze(s, draws, -1));
    lt_tensor *positions = do_sum_dim(s, less, -1, false), *bounded = NULL;
    if (s->status != LT_OK) return NULL;
    /* the last sum may be below 1 */
    status = lt_clamp_max(positions, lt_scalar_from_int(p->sizes[p->ndim - 1] - 1), &bounded);
    return lt_scope_hold(s, status, bounded);
}

/* ---- entry ----------------------------------------------------------------------------------- */

static lt_status check_arguments(const lt_tensor *self, int64_t count, bool replacement,
                                 const lt_generator *generator)
{
    if (self->ndim != 1 && self->ndim != 2)
        return lt_error(LT_ERR_RUNTIME, "prob_dist must be 1 or 2 dim");
    if (!lt_dtype_is_float((lt_dtype)self->dtype))
        return lt_error(LT_ERR_RUNTIME,
                        "multinomial only supports floating-point dtypes for input, got: %s",
                        lt_dtype_scalar_name((lt_dtype)self->dtype));
    if (count <= 0) return lt_error(LT_ERR_RUNTIME, "cannot sample n_sample <= 0 samples");
    const int64_t categories = self->sizes[self->ndim - 1];
    if (!replacement && count > categories)
        return lt_error(LT_ERR_RUNTIME,
                        "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
    if (categories == 0) return lt_error(LT_ERR_RUNTIME, "%s", no_distribution);
    if (categories > MOST_CATEGORIES)
        return lt_error(LT_ERR_RUNTIME, "number of categories cannot exceed 2^24");
    return lt_check_generator(generator, self);
}

lt_status lt_multinomial_impl(lt_tensor *self, int64_t num_samples, bool replacement,
                              lt_generator *generator, lt_tensor **out)
{
    LT_TRY(check_arguments(self, num_samples, replacement, generator));
    const bool host = self->device.type == LT_CPU;
    lt_tensor *positions;
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(multinomial));
    if (self->numel == 0) {
        positions = new_positions(&s, self, num_samples);
    } else if (!replacement || num_samples == 1) {
        check_probabilities(&s, self);
        /* NULL after an error, which the functions below check */
        lt_tensor *quotients = race(&s, self, generator);
        if (num_samples == 1)
            positions = winner(&s, quotients);
        else if (host)
            positions = winners_on_host(&s, quotients, num_samples);
        else
            positions = winners_on_device(&s, quotients, num_samples);
    } else if (host) {
        positions = draw_on_host(&s, self, num_samples, generator);
    } else {
        check_probabilities(&s, self);
        positions = draw_on_device(&s, self, num_samples, generator);
    }
    return lt_scope_store(&s, positions, out);
}
