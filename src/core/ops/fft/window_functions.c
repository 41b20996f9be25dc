/* window_functions.c - the windows of torch: hann_window and others. A symmetric window of n elements
 * has a period of n - 1 elements, a periodic one of n. */
#include <math.h>

#include "ops/steps.h"
#include "op/arange.h"
#include "op/bartlett_window.h"
#include "op/blackman_window.h"
#include "op/hamming_window.h"
#include "op/hann_window.h"
#include "op/kaiser_window.h"
#include "op/ones.h"
#include "step/clamp_min.h"
#include "step/cos.h"
#include "step/i0.h"

#define PI 3.14159265358979323846

typedef struct window_form {
    const char *name;
    int64_t length;
    bool periodic;
    lt_dtype dtype;
    const lt_device *device;
} window_form;

static lt_status check_window(window_form *w)
{
    if (w->dtype == LT_DTYPE_NONE) w->dtype = lt_get_default_dtype();
    if (w->length < 0)
        return lt_error(LT_ERR_RUNTIME,
                        "%s requires non-negative window_length, got window_length=%lld", w->name,
                        (long long)w->length);
    if (w->dtype != LT_FLOAT32 && w->dtype != LT_FLOAT64)
        return lt_error(LT_ERR_RUNTIME, "%s expects float32 or float64 dtypes, got: torch.%s",
                        w->name, lt_dtype_name(w->dtype));
    return LT_OK;
}

static double period(const window_form *w)
{
    return (double)(w->periodic ? w->length : w->length - 1);
}

/* 0 .. length - 1 */
static lt_tensor *do_index(lt_scope *s, const window_form *w)
{
    lt_tensor *index = NULL;
    const lt_scalar end = lt_scalar_from_int(w->length);
    if (s->status != LT_OK) return NULL;
    const lt_status made =
        lt_arange(lt_scalar_from_int(0), &end, lt_scalar_from_int(1), w->dtype, w->device, &index);
    return lt_scope_hold(s, made, index);
}

/* A window of at most one element is all ones. */
static bool is_trivial(const window_form *w) { return w->length <= 1; }

static lt_status trivial(const window_form *w, lt_tensor **out)
{
    return lt_ones(&(lt_dims){1, {w->length}}, w->dtype, w->device, out);
}

/* a[0] - a[1] cos(x) + a[2] cos(2 x) - ... */
static lt_status cosines(window_form *w, int n, const double *a, lt_tensor **out)
{
    LT_TRY(check_window(w));
    if (is_trivial(w)) return trivial(w, out);
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *index = do_index(&s, w), *sum = do_number(&s, a[0]);
    for (int i = 1; i < n; i++) {
        lt_tensor *wave = do_cos(&s, times(&s, index, 2 * PI * i / period(w)));
        sum = do_add(&s, times(&s, wave, i % 2 == 1 ? -a[i] : a[i]), sum);
    }
    return lt_scope_return(&s, sum, out);
}

/* 2 k / period - 1 */
static lt_tensor *do_centered(lt_scope *s, const window_form *w)
{
    return plus(s, times(s, do_index(s, w), 2 / period(w)), -1);
}

lt_status lt_bartlett_window_impl(int64_t window_length, bool periodic, lt_dtype dtype,
                                  const lt_device *device, lt_tensor **out)
{
    window_form w = {"bartlett_window", window_length, periodic, dtype, device};
    LT_TRY(check_window(&w));
    if (is_trivial(&w)) return trivial(&w, out);
    lt_scope s;
    lt_scope_open(&s, false);
    return lt_scope_return(&s, plus(&s, do_neg(&s, do_abs(&s, do_centered(&s, &w))), 1), out);
}

lt_status lt_blackman_window_impl(int64_t window_length, bool periodic, lt_dtype dtype,
                                  const lt_device *device, lt_tensor **out)
{
    window_form w = {"blackman_window", window_length, periodic, dtype, device};
    return cosines(&w, 3, (const double[]){0.42, 0.5, 0.08}, out);
}

lt_status lt_hann_window_impl(int64_t window_length, bool periodic, lt_dtype dtype,
                              const lt_device *device, lt_tensor **out)
{
    window_form w = {"hann_window", window_length, periodic, dtype, device};
    return cosines(&w, 2, (const double[]){0.5, 0.5}, out);
}

lt_status lt_hamming_window_impl(int64_t window_length, bool periodic, double alpha, double beta,
                                 lt_dtype dtype, const lt_device *device, lt_tensor **out)
{
    window_form w = {"hamming_window", window_length, periodic, dtype, device};
    return cosines(&w, 2, (const double[]){alpha, beta}, out);
}

/* I0(beta sqrt(1 - x^2)) / I0(beta) */
lt_status lt_kaiser_window_impl(int64_t window_length, bool periodic, double beta, lt_dtype dtype,
                                const lt_device *device, lt_tensor **out)
{
    window_form w = {"kaiser_window", window_length, periodic, dtype, device};
    LT_TRY(check_window(&w));
    if (beta < 0)
        return lt_error(LT_ERR_RUNTIME, "beta must be non-negative, got: %g instead.", beta);
    if (is_trivial(&w)) return trivial(&w, out);
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *room = plus(&s, do_neg(&s, do_square(&s, do_centered(&s, &w))), 1);
    lt_tensor *x = times(&s, do_sqrt(&s, do_clamp_min(&s, room, lt_scalar_from_int(0))), beta);
    lt_tensor *whole = do_i0(&s, do_cast(&s, do_number(&s, beta), w.dtype));
    return lt_scope_return(&s, do_div(&s, do_i0(&s, x), whole), out);
}
