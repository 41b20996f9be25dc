/* taps.c - see taps.h. Positions are computed in double; nearest modes round them to float, as
 * PyTorch does, because truncation to integers depends on it. */
#include "taps.h"

#include <math.h>

#include "autograd/autograd.h"
#include "context/context.h"
#include "context/fork.h"
#include "context/interrupt.h"
#include "devices/copies.h"
#include "error.h"
#include "lock.h"
#include "memory/alloc.h"
#include "memory/idle.h"
#include "op/to.h"
#include "saturating.h"
#include "system/clock.h"
#include "system/threads.h"
#include "tensor.h"

#define PI 3.14159265358979323846

/* Rows of taps in order: those of element i of the result are starts[i] to before starts[i + 1]. */
typedef struct tap_rows {
    int64_t *starts, *elements;
    double *weights;
    int64_t n; /* taps */
} tap_rows;

/* ---- filters --------------------------------------------------------------------------------- */

/* Cubic convolution (R. Keys 1981). */
static double cubic_near(double x, double a) { return ((a + 2) * x - (a + 3)) * x * x + 1; }
static double cubic_far(double x, double a) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; }

/* The filter of antialiasing at a distance of x elements of the result, below its radius. */
static double filter_at(lt_filter filter, double x)
{
    if (filter == LT_FILTER_LINEAR) return 1 - x;
    if (filter == LT_FILTER_CUBIC) return x < 1 ? cubic_near(x, -0.5) : cubic_far(x, -0.5);
    const double angle = PI * x;
    return x == 0 ? 1 : 3 * sin(angle) * sin(angle / 3) / (angle * angle);
}

static double radius_of(lt_filter filter)
{
    return filter == LT_FILTER_LINEAR ? 1 : filter == LT_FILTER_CUBIC ? 2 : 3;
}

/* ---- rows of taps ---------------------------------------------------------------------------- */

static int64_t element_near(double at, int64_t n)
{
    return !(at > 0) ? 0 : at >= (double)n ? n - 1 : (int64_t)at < n ? (int64_t)at : n - 1;
}

int64_t lt_nearest_element(const lt_resizing *how, int64_t i)
{
    const double half = how->filter == LT_FILTER_NEAREST_EXACT ? 0.5 : 0;
    return element_near(floor((float)(((double)i + half) * how->scale)), how->in);
}

static void add_tap(tap_rows *r, double at, int64_t n, double weight)
{
    r->elements[r->n] = element_near(at, n);
    r->weights[r->n++] = weight;
}

static void add_linear(const lt_resizing *how, int64_t i, tap_rows *r)
{
    const double middle = ((double)i + 0.5) * how->scale - 0.5;
    const double at = how->align ? (double)i * how->scale : middle > 0 ? middle : 0;
    const double low = floor(at);
    add_tap(r, low, how->in, 1 - (at - low));
    add_tap(r, low + 1, how->in, at - low);
}

static void add_cubic(const lt_resizing *how, int64_t i, tap_rows *r)
{
    const double at = how->align ? (double)i * how->scale : ((double)i + 0.5) * how->scale - 0.5;
    const double low = floor(at), t = at - low, a = -0.75;
    add_tap(r, low - 1, how->in, cubic_far(t + 1, a));
    add_tap(r, low, how->in, cubic_near(t, a));
    add_tap(r, low + 1, how->in, cubic_near(1 - t, a));
    add_tap(r, low + 2, how->in, cubic_far(2 - t, a));
}

/* Weights normalized to a sum of 1. */
static void add_filtered(const lt_resizing *how, int64_t i, tap_rows *r)
{
    const double wide = how->scale > 1 ? how->scale : 1, reach = radius_of(how->filter),
                 center = how->scale * ((double)i + 0.5);
    const double first = floor(center - reach * wide + 0.5),
                 last = floor(center + reach * wide + 0.5);
    const int64_t from = first > 0 ? (int64_t)first : 0,
                  to = last < (double)how->in ? (int64_t)last : how->in, begin = r->n;
    double sum = 0;
    for (int64_t k = from; k < to; k++) {
        const double x = fabs((double)k - center + 0.5) / wide;
        add_tap(r, (double)k, how->in, x < reach ? filter_at(how->filter, x) : 0);
        sum += r->weights[r->n - 1];
    }
    for (int64_t k = begin; k < r->n; k++) r->weights[k] /= sum;
}

/* Maximum of taps of an element of the result. */
static int64_t widest(const lt_resizing *how)
{
    if (!how->antialias)
        return how->filter == LT_FILTER_CUBIC ? 4 : how->filter == LT_FILTER_LINEAR ? 2 : 1;
    const double width = 2 * radius_of(how->filter) * (how->scale > 1 ? how->scale : 1) + 2;
    return width < (double)how->in ? (int64_t)width : how->in;
}

static lt_status fill_rows(const lt_resizing *how, tap_rows *r)
{
    const int64_t most = lt_mul_sat(how->out, widest(how));
    r->starts = lt_mem_array(lt_add_sat(how->out, 1), sizeof *r->starts);
    r->elements = lt_mem_array(most, sizeof *r->elements);
    r->weights = lt_mem_array(most, sizeof *r->weights);
    if (r->starts == NULL || r->elements == NULL || r->weights == NULL) return LT_ERR_MEMORY;
    for (int64_t i = 0; i < how->out; i++) {
        r->starts[i] = r->n;
        if (how->antialias)
            add_filtered(how, i, r);
        else if (how->filter == LT_FILTER_LINEAR)
            add_linear(how, i, r);
        else if (how->filter == LT_FILTER_CUBIC)
            add_cubic(how, i, r);
        else
            add_tap(r, (double)lt_nearest_element(how, i), how->in, 1);
        if (i % LT_INTERRUPT_STEP == 0 && lt_interrupted()) return lt_stopped();
    }
    r->starts[how->out] = r->n;
    return LT_OK;
}

/* Merges the taps of equal elements, and rounds the weights to as many fractional bits as an int16
 * permits, as image libraries do, for identical results. */
static void round_to_fixed_point(const lt_resizing *how, tap_rows *r)
{
    double largest = 0;
    int64_t n = 0;
    for (int64_t i = 0; i < how->out; i++) {
        const int64_t from = r->starts[i], to = r->starts[i + 1], begin = n;
        r->starts[i] = n;
        for (int64_t k = from; k < to; k++) {
            int64_t same = begin;
            while (same < n && r->elements[same] != r->elements[k]) same++;
            const double weight = r->weights[k],
                         sum = same < n ? r->weights[same] + weight : weight;
            r->elements[same] = r->elements[k];
            r->weights[same] = sum;
            if (same == n) n++;
            if (sum > largest) largest = sum;
        }
    }
    r->starts[how->out] = r->n = n;
    int bits = 0;
    while (bits < 22 && floor(0.5 + ldexp(largest, bits + 1)) < 32768) bits++;
    for (int64_t k = 0; k < n; k++) {
        const double weight = ldexp(r->weights[k], bits);
        r->weights[k] = ldexp(weight < 0 ? ceil(weight - 0.5) : floor(weight + 0.5), -bits);
    }
}

/* ---- lists ----------------------------------------------------------------------------------- */

static int64_t *integers_of(lt_tensor *t) { return (int64_t *)(void *)lt_data(t); }

static void put_weight(lt_tensor *t, int64_t at, double weight)
{
    if (t->dtype == LT_FLOAT32)
        ((float *)(void *)lt_data(t))[at] = (float)weight;
    else
        ((double *)(void *)lt_data(t))[at] = weight;
}

/* Fills the lists of the derivative: the rows by element of the input. next, [in], is scratch. */
static void transpose_rows(const lt_resizing *how, const tap_rows *r, lt_tensor **lists,
                           int64_t *next)
{
    int64_t *starts = integers_of(lists[3]), *elements = integers_of(lists[4]);
    for (int64_t k = 0; k <= how->in; k++) starts[k] = 0;
    for (int64_t k = 0; k < r->n; k++) starts[r->elements[k] + 1]++;
    for (int64_t k = 0; k < how->in; k++) {
        starts[k + 1] += starts[k];
        next[k] = starts[k];
    }
    for (int64_t i = 0; i < how->out; i++)
        for (int64_t k = r->starts[i]; k < r->starts[i + 1]; k++) {
            const int64_t at = next[r->elements[k]]++;
            elements[at] = i;
            put_weight(lists[5], at, r->weights[k]);
        }
}

static lt_status fill_lists(const lt_resizing *how, const tap_rows *r, lt_dtype dtype,
                            lt_tensor **lists)
{
    const int64_t sizes[LT_TAP_LISTS] = {how->out + 1, r->n, r->n, how->in + 1, r->n, r->n};
    for (int i = 0; i < LT_TAP_LISTS; i++)
        LT_TRY(lt_tensor_new(i % 3 == 2 ? dtype : LT_INT64, lt_host, 1, &sizes[i], &lists[i]));
    for (int64_t i = 0; i <= how->out; i++) integers_of(lists[0])[i] = r->starts[i];
    for (int64_t k = 0; k < r->n; k++) {
        integers_of(lists[1])[k] = r->elements[k];
        put_weight(lists[2], k, r->weights[k]);
    }
    int64_t *next = lt_mem_array(how->in, sizeof *next);
    if (next == NULL) return LT_ERR_MEMORY;
    transpose_rows(how, r, lists, next);
    lt_mem_free(next);
    return LT_OK;
}

/* Replaces the lists by those on the device. */
static lt_status move_lists(lt_device device, lt_tensor **lists)
{
    const lt_copy_cause previous = lt_copies_imply("interpolate");
    lt_status status = LT_OK;
    for (int i = 0; i < LT_TAP_LISTS && status == LT_OK; i++) {
        lt_tensor *there = NULL;
        status = lt_to(lists[i], &device, (lt_dtype)lists[i]->dtype, false, false, &there);
        if (status != LT_OK) break;
        lt_tensor_release(lists[i]);
        lists[i] = there;
    }
    lt_copies_set_cause(previous);
    return status;
}

static void release_lists(lt_tensor **lists)
{
    for (int i = 0; i < LT_TAP_LISTS; i++) lt_tensor_release(lists[i]);
}

/* ---- the cache ------------------------------------------------------------------------------- */

enum { CACHED = 16 }; /* fixed: lists of the most recent sizes, which networks request repeatedly */
#define CACHED_TAPS ((int64_t)1 << 16) /* fixed: maximum of taps of cached lists */

typedef struct cached_taps {
    lt_resizing how;
    lt_dtype dtype;
    lt_device device;
    double used; /* lt_clock at the last use; 0: empty */
    lt_tensor *lists[LT_TAP_LISTS];
} cached_taps;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cached_taps cache[CACHED];
static bool is_registered;

LT_HOLD_ACROSS_FORK(lock)

static bool is_same(const cached_taps *c, const lt_resizing *how, lt_dtype dtype, lt_device device)
{
    const lt_resizing *own = &c->how;
    return c->used > 0 && own->filter == how->filter && own->antialias == how->antialias &&
           own->align == how->align && own->pixels == how->pixels && own->in == how->in &&
           own->out == how->out && own->scale == how->scale && c->dtype == dtype &&
           c->device.type == device.type && c->device.index == device.index;
}

/* New references to cached lists; false if there are none. */
static bool find_lists(const lt_resizing *how, lt_dtype dtype, lt_device device, lt_tensor **lists)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < CACHED && !found; i++) {
        found = is_same(&cache[i], how, dtype, device);
        if (!found) continue;
        cache[i].used = lt_clock();
        for (int k = 0; k < LT_TAP_LISTS; k++) lists[k] = lt_tensor_retain(cache[i].lists[k]);
    }
    lt_unlock(&lock);
    return found;
}

/* lt_idle_release of the cache. */
static void release_idle(double seconds)
{
    for (int i = 0; i < CACHED; i++) {
        cached_taps old = {.used = 0};
        pthread_mutex_lock(&lock);
        const bool is_idle = seconds == 0 || (cache[i].device.type != LT_CPU &&
                                              lt_clock() - cache[i].used > seconds);
        if (cache[i].used > 0 && is_idle) {
            old = cache[i];
            cache[i].used = 0;
        }
        lt_unlock(&lock);
        if (old.used > 0) release_lists(old.lists);
    }
}

/* Stores new references in place of the least recently used lists. */
static void keep_lists(const lt_resizing *how, lt_dtype dtype, lt_device device, lt_tensor **lists)
{
    cached_taps kept = {.how = *how, .dtype = dtype, .device = device}, old;
    for (int k = 0; k < LT_TAP_LISTS; k++) kept.lists[k] = lt_tensor_retain(lists[k]);
    pthread_mutex_lock(&lock);
    int oldest = 0;
    for (int i = 1; i < CACHED; i++)
        if (cache[i].used < cache[oldest].used) oldest = i;
    kept.used = lt_clock();
    old = cache[oldest];
    cache[oldest] = kept;
    const bool is_first = !is_registered;
    is_registered = true;
    lt_unlock(&lock);
    if (is_first) lt_idle_register(release_idle);
    if (old.used > 0) release_lists(old.lists);
}

/* The lists as tensors outside of inference mode, which a derivative can save. */
static lt_status new_lists(const lt_resizing *how, const tap_rows *r, lt_dtype dtype,
                           lt_device device, lt_tensor **lists)
{
    const bool before = lt_set_inference_mode(false);
    lt_status status = fill_lists(how, r, dtype, lists);
    if (status == LT_OK && device.type != LT_CPU) status = move_lists(device, lists);
    lt_set_inference_mode(before);
    return status;
}

static lt_status make_lists(const lt_resizing *how, lt_dtype dtype, lt_device device,
                            lt_tensor **lists)
{
    tap_rows r = {0};
    lt_status status = fill_rows(how, &r);
    if (status == LT_OK && how->pixels) round_to_fixed_point(how, &r);
    const bool keeps = r.n <= CACHED_TAPS && how->in <= CACHED_TAPS;
    if (status == LT_OK && keeps) { /* the process owns cached lists */
        const lt_context_outer outer = lt_context_visit(&lt_process_context);
        status = new_lists(how, &r, dtype, device, lists);
        lt_context_return(outer);
    } else if (status == LT_OK) {
        status = new_lists(how, &r, dtype, device, lists);
    }
    lt_mem_free(r.starts);
    lt_mem_free(r.elements);
    lt_mem_free(r.weights);
    if (status == LT_OK && keeps) keep_lists(how, dtype, device, lists);
    return status;
}

void lt_taps_lists(lt_scope *s, const lt_resizing *how, lt_dtype dtype, lt_device device,
                   lt_tensor **lists)
{
    for (int i = 0; i < LT_TAP_LISTS; i++) lists[i] = NULL;
    if (s->status != LT_OK) return;
    if (!find_lists(how, dtype, device, lists)) {
        s->status = make_lists(how, dtype, device, lists);
        if (s->status != LT_OK) {
            release_lists(lists);
            return;
        }
    }
    for (int i = 0; i < LT_TAP_LISTS; i++) lists[i] = lt_scope_hold(s, LT_OK, lists[i]);
}
