/* composed.c - pools composed of other ops: norms of windows (lp_pool), the inverse of a max pool
 * (max_unpool), max pools with windows at random steps (fractional_max_pool, B. Graham 2014), and
 * the values of an adaptive max pool alone. */
#include <stdio.h>

#include "ops/steps.h"
#include "ops/windows.h"
#include "saturating.h"
#include "op/adaptive_max_pool1d.h"
#include "op/adaptive_max_pool2d.h"
#include "op/adaptive_max_pool3d.h"
#include "op/arange.h"
#include "op/fractional_max_pool2d.h"
#include "op/fractional_max_pool2d_with_indices.h"
#include "op/fractional_max_pool3d.h"
#include "op/fractional_max_pool3d_with_indices.h"
#include "op/full.h"
#include "op/lp_pool1d.h"
#include "op/lp_pool2d.h"
#include "op/lp_pool3d.h"
#include "op/max.h"
#include "op/max_unpool1d.h"
#include "op/max_unpool2d.h"
#include "op/max_unpool3d.h"
#include "op/rand.h"
#include "op/scatter.h"
#include "step/_avg_pool.h"
#include "step/floor.h"
#include "step/relu.h"
#include "step/zeros_like.h"

/* ---- norms of windows ------------------------------------------------------------------------ */

typedef struct norm_pooling {
    int spatial;
    lt_scalar p;
    const lt_dims *kernel, *stride;
    bool ceil;
} norm_pooling;

/* (sum over the window of x^p)^(1/p), as the mean times the size of the window. */
static lt_status lp_pool(lt_scope *s, const norm_pooling *n, lt_tensor *input, lt_tensor **out)
{
    int64_t size = 1;
    for (int d = 0; d < n->spatial; d++)
        size = lt_mul_sat(size, n->kernel->v[n->kernel->n == n->spatial ? d : 0]);
    lt_tensor *powers = do_pow(s, input, do_scalar(s, n->p));
    lt_tensor *mean = do__avg_pool(s, powers, n->spatial, n->kernel, n->stride, &(lt_dims){1, {0}},
                                   n->ceil, true, NULL);
    lt_tensor *sum = do_mul_scalar(s, do_mul(s, do_sign(s, mean), do_relu(s, do_abs(s, mean))),
                                   lt_scalar_from_int(size));
    return lt_scope_return(s, do_pow(s, sum, do_number(s, 1 / lt_scalar_double(n->p))), out);
}

/* ---- the inverse of a max pool --------------------------------------------------------------- */

static lt_status invalid_size(int spatial, const lt_dims *size, int d, int64_t low, int64_t high)
{
    char text[128] = "";
    size_t used = 0;
    for (int i = size->n - spatial; i < size->n && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%lld", used > 0 ? ", " : "",
                                 (long long)size->v[i]);
    return lt_error(LT_ERR_RUNTIME,
                    "invalid output_size \"(%s)\" (dim %d must be between %lld and %lld)", text,
                    d + 1, (long long)low, (long long)high);
}

/* The sizes of the result: those of output_size, which may also have the first two, within one
 * stride of the default. */
static lt_status unpooled_sizes(int spatial, const lt_tensor *input, const int64_t *kernel,
                                const int64_t *stride, const int64_t *padding,
                                const lt_dims *output_size, lt_dims *sizes)
{
    const int lead = input->ndim - spatial;
    if (output_size != NULL && output_size->n != spatial && output_size->n != spatial + 2)
        return lt_error(LT_ERR_RUNTIME,
                        "output_size should be a sequence containing %d or %d elements, but it has "
                        "a length of '%d'",
                        spatial, spatial + 2, output_size->n);
    *sizes = lt_dims_of(input);
    for (int d = 0; d < spatial; d++) {
        const int at = LT_SPATIAL - spatial + d;
        int64_t size = lt_add_within(lt_mul_within(input->sizes[lead + d] - 1, stride[at]),
                                     kernel[at] - 2 * padding[at]);
        if (output_size != NULL) {
            const int64_t wanted = output_size->v[output_size->n - spatial + d];
            if (wanted <= size - stride[at] || wanted >= size + stride[at])
                return invalid_size(spatial, output_size, d, size - stride[at], size + stride[at]);
            size = wanted;
        }
        sizes->v[lead + d] = size;
    }
    return LT_OK;
}

typedef struct unpooling {
    const char *op;
    int spatial;
    const lt_dims *kernel, *stride, *padding, *output_size;
} unpooling;

static lt_status check_unpooling(const unpooling *u, const lt_tensor *input,
                                 const lt_tensor *indices, lt_dims *sizes)
{
    char a[128], b[128];
    int64_t kernel[LT_SPATIAL], stride[LT_SPATIAL], padding[LT_SPATIAL], numel;
    if (!lt_same_sizes(input, indices))
        return lt_error(LT_ERR_RUNTIME,
                        "Expected shape of indices to be same as that of the input tensor (%s) but "
                        "got indices tensor with shape: %s",
                        lt_format_sizes(a, sizeof a, input->ndim, input->sizes),
                        lt_format_sizes(b, sizeof b, indices->ndim, indices->sizes));
    if (input->ndim < u->spatial)
        return lt_error(LT_ERR_RUNTIME,
                        "%s(): expected at least %d dimensions, but got an input of size %s", u->op,
                        u->spatial, lt_format_sizes(a, sizeof a, input->ndim, input->sizes));
    if (!lt_spread_sizes(u->kernel, u->spatial, 1, kernel) ||
        !lt_spread_sizes(u->stride != NULL ? u->stride : u->kernel, u->spatial, 1, stride) ||
        !lt_spread_sizes(u->padding, u->spatial, 0, padding))
        return lt_error(LT_ERR_RUNTIME,
                        "%s(): kernel_size, stride and padding must be one number or %d", u->op,
                        u->spatial);
    LT_TRY(unpooled_sizes(u->spatial, input, kernel, stride, padding, u->output_size, sizes));
    return lt_check_sizes(sizes->n, sizes->v, &numel);
}

/* The sizes with the dimensions from `lead` on as one. */
static lt_dims flat_planes(const lt_dims *sizes, int lead)
{
    lt_dims flat = {.n = lead + 1};
    flat.v[lead] = 1;
    for (int d = 0; d < lead; d++) flat.v[d] = sizes->v[d];
    for (int d = lead; d < sizes->n; d++) flat.v[lead] *= sizes->v[d];
    return flat;
}

/* Stores the elements of input at their positions in the planes of a tensor of zeros. */
static lt_status max_unpool(lt_scope *s, const unpooling *u, lt_tensor *input, lt_tensor *indices,
                            lt_tensor **out)
{
    lt_dims sizes;
    s->status = check_unpooling(u, input, indices, &sizes);
    if (s->status != LT_OK) return lt_scope_close(s);
    const int lead = input->ndim - u->spatial;
    const lt_dims given = lt_dims_of(input), from = flat_planes(&given, lead),
                  to = flat_planes(&sizes, lead);
    lt_tensor *planes = do_zeros(s, input, &to), *result = NULL;
    lt_tensor *positions = do_reshape(s, indices, &from), *values = do_reshape(s, input, &from);
    if (s->status == LT_OK) {
        const lt_status stored = lt_scatter(planes, lead, positions, values, &result);
        result = lt_scope_hold(s, stored, result);
    }
    return lt_scope_return(s, do_reshape(s, result, &sizes), out);
}

/* ---- windows at random steps ----------------------------------------------------------------- */

typedef struct fractional {
    const char *op;
    int spatial;
    int64_t in[LT_SPATIAL], kernel[LT_SPATIAL], out[LT_SPATIAL]; /* the first `spatial` are used */
} fractional;

static lt_status read_entry(const char *op, const char *name, const lt_dims *given, int spatial,
                            int64_t *v)
{
    if (given->n != 1 && given->n != spatial)
        return lt_error(LT_ERR_RUNTIME, "%s: %s must either be a single number, or a list of %d",
                        op, name, spatial);
    for (int d = 0; d < spatial; d++) v[d] = given->v[given->n == 1 ? 0 : d];
    return LT_OK;
}

static lt_status read_fractional(fractional *f, const lt_tensor *input, const lt_dims *kernel_size,
                                 const lt_dims *output_size, const double *ratio)
{
    const int n = f->spatial;
    char text[128];
    if (output_size == NULL && ratio == NULL)
        return lt_error(LT_ERR_RUNTIME,
                        "%s requires specifying either an output_size or an output_ratio", f->op);
    if (input->ndim != n + 1 && input->ndim != n + 2)
        return lt_error(LT_ERR_RUNTIME, "%s(): Expected %dD or %dD tensor, but got: %s", f->op,
                        n + 1, n + 2,
                        lt_format_sizes(text, sizeof text, input->ndim, input->sizes));
    LT_TRY(read_entry(f->op, "kernel_size", kernel_size, n, f->kernel));
    if (output_size != NULL) LT_TRY(read_entry(f->op, "output_size", output_size, n, f->out));
    for (int d = 0; d < n; d++) {
        f->in[d] = input->sizes[input->ndim - n + d];
        if (output_size == NULL) f->out[d] = (int64_t)((double)f->in[d] * *ratio);
        if (f->kernel[d] < 1 || f->out[d] < 1)
            return lt_error(LT_ERR_RUNTIME,
                            "%s(): kernel_size and output_size must be greater than zero, but got "
                            "%lld and %lld along dim %d",
                            f->op, (long long)f->kernel[d], (long long)f->out[d], d + 1);
        if (lt_add_within(f->out[d], f->kernel[d] - 1) > f->in[d])
            return lt_error(LT_ERR_RUNTIME,
                            "%s(): pool size (%lld) too large relative to input size (%lld) along "
                            "dim %d",
                            f->op, (long long)f->kernel[d], (long long)f->in[d], d + 1);
    }
    return LT_OK;
}

/* Offsets of the windows along dimension d, [batch, channels, out]; samples [batch, channels] are
 * in [0, 1). The last window ends at the end of the input. */
static lt_tensor *do_starts(lt_scope *s, const fractional *f, int d, lt_tensor *samples)
{
    const int64_t room = f->in[d] - f->kernel[d], n = f->out[d];
    lt_tensor *sample = do_unsqueeze(s, samples, -1), *steps = NULL;
    lt_tensor *last = sample == NULL ? NULL : do_cast(s, do_zeros_like(s, sample), LT_INT64);
    last = do_add(s, last, do_scalar(s, lt_scalar_from_int(room)));
    if (s->status != LT_OK || n == 1) return last;
    const double alpha = (double)room / (double)(n - 1);
    const lt_scalar end = lt_scalar_from_int(n - 1);
    const lt_status made = lt_arange(lt_scalar_from_int(0), &end, lt_scalar_from_int(1),
                                     (lt_dtype)samples->dtype, &samples->device, &steps);
    steps = lt_scope_hold(s, made, steps);
    lt_tensor *begin = do_sub(s, do_floor(s, times(s, do_add(s, steps, sample), alpha)),
                              do_floor(s, times(s, sample, alpha)));
    return do_cat(s, (lt_tensor *[]){do_cast(s, begin, LT_INT64), last}, 2, -1);
}

/* *elements, the indices in the dimensions before d (NULL: d is the first), is replaced by those in
 * the flattened dimensions up to d. */
static lt_status add_dimension(const fractional *f, int d, lt_tensor *samples, lt_tensor **elements)
{
    const int n = f->spatial;
    lt_scope s;
    lt_scope_open(&s, true);
    /* As in PyTorch, the samples of images start with the columns, the samples of volumes with the
     * planes. */
    lt_tensor *sample = do_select(&s, samples, -1, n == 2 ? 1 - d : d), *before = *elements,
              *all = NULL;
    lt_tensor *at = do_add(&s, do_unsqueeze(&s, do_starts(&s, f, d, sample), -1),
                           do_range(&s, f->kernel[d], samples->device));
    lt_dims shape = {.n = 2 + 2 * n, .v = {samples->sizes[0], samples->sizes[1]}};
    for (int i = 0; i < n; i++) {
        shape.v[2 + i] = i == d ? f->out[d] : 1;
        shape.v[2 + n + i] = i == d ? f->kernel[d] : 1;
    }
    at = do_reshape(&s, at, &shape);
    if (before != NULL)
        at = do_add(&s, do_mul_scalar(&s, before, lt_scalar_from_int(f->in[d])), at);
    LT_TRY(lt_scope_return(&s, at, &all));
    lt_tensor_release(before);
    *elements = all;
    return LT_OK;
}

/* The index in its flattened plane of every element of every window: [batch, channels, out...,
 * elements of a window]. */
static lt_tensor *do_window_elements(lt_scope *s, const fractional *f, lt_tensor *samples)
{
    lt_tensor *all = NULL;
    for (int d = 0; d < f->spatial && s->status == LT_OK; d++)
        s->status = add_dimension(f, d, samples, &all);
    all = lt_scope_hold(s, LT_OK, all);
    if (s->status != LT_OK) return NULL;
    lt_dims flat = {.n = f->spatial + 3, .v = {samples->sizes[0], samples->sizes[1]}};
    flat.v[flat.n - 1] = 1;
    for (int d = 0; d < f->spatial; d++) {
        flat.v[2 + d] = f->out[d];
        flat.v[flat.n - 1] *= f->kernel[d];
    }
    return do_reshape(s, all, &flat);
}

/* The maxima of input [batch, channels, in...] and their indices in the flattened plane. */
static void do_fractional(lt_scope *s, const fractional *f, lt_tensor *input, lt_tensor *samples,
                          lt_tensor **values, lt_tensor **indices)
{
    if (s->status != LT_OK) return;
    const lt_dims sizes = lt_dims_of(input), planes = flat_planes(&sizes, 2);
    if (samples == NULL) {
        const lt_dims drawn = {3, {sizes.v[0], sizes.v[1], f->spatial}};
        const lt_status made =
            lt_rand(&drawn, NULL, (lt_dtype)input->dtype, &input->device, &samples);
        samples = lt_scope_hold(s, made, samples);
    }
    lt_tensor *elements = do_window_elements(s, f, samples);
    if (s->status != LT_OK) return;
    const lt_dims windows = lt_dims_of(elements), flat = flat_planes(&windows, 2);
    lt_tensor *read =
        do_gather(s, do_reshape(s, input, &planes), 2, do_reshape(s, elements, &flat));
    read = do_reshape(s, read, &windows);
    if (s->status != LT_OK) return;
    lt_tensor *best = NULL, *which = NULL;
    const lt_status found = lt_max_dim(read, -1, false, &best, &which);
    *values = lt_scope_hold(s, found, best);
    which = lt_scope_hold(s, found, which);
    *indices = do_squeeze_dim(s, do_gather(s, elements, -1, do_unsqueeze(s, which, -1)), -1);
}

/* out_indices may be NULL. */
static lt_status fractional_max_pool(lt_scope *s, fractional *f, lt_tensor *input,
                                     lt_tensor *samples, lt_tensor **out_values,
                                     lt_tensor **out_indices)
{
    lt_tensor *values = NULL, *indices = NULL;
    const bool single = input->ndim == f->spatial + 1;
    do_fractional(s, f, single ? do_unsqueeze(s, input, 0) : input, samples, &values, &indices);
    if (single && s->status == LT_OK) {
        values = do_squeeze_dim(s, values, 0);
        indices = do_squeeze_dim(s, indices, 0);
    }
    if (s->status == LT_OK) {
        *out_values = lt_tensor_retain(values);
        if (out_indices != NULL) *out_indices = lt_tensor_retain(indices);
    }
    return lt_scope_close(s);
}

/* ---- the ops of 1, 2 and 3 dimensions -------------------------------------------------------- */

#define LP_POOL(n)                                                                                 \
    lt_status lt_lp_pool##n##d_impl(lt_tensor *input, lt_scalar norm_type,                         \
                                    const lt_dims *kernel_size, const lt_dims *stride,             \
                                    bool ceil_mode, lt_tensor **out)                               \
    {                                                                                              \
        lt_scope s;                                                                                \
        lt_scope_open(&s, LT_COMPOSITE(lp_pool##n##d));                                            \
        const norm_pooling how = {n, norm_type, kernel_size, stride, ceil_mode};                   \
        return lp_pool(&s, &how, input, out);                                                      \
    }
#define MAX_UNPOOL(n)                                                                              \
    lt_status lt_max_unpool##n##d_impl(                                                            \
        lt_tensor *input, lt_tensor *indices, const lt_dims *kernel_size, const lt_dims *stride,   \
        const lt_dims *padding, const lt_dims *output_size, lt_tensor **out)                       \
    {                                                                                              \
        const unpooling u = {"max_unpool" #n "d", n, kernel_size, stride, padding, output_size};   \
        lt_scope s;                                                                                \
        lt_scope_open(&s, LT_COMPOSITE(max_unpool##n##d));                                         \
        return max_unpool(&s, &u, input, indices, out);                                            \
    }
#define ADAPTIVE_MAX_POOL(n)                                                                       \
    lt_status lt_adaptive_max_pool##n##d_nn_impl(lt_tensor *self, const lt_dims *output_size,      \
                                                 lt_tensor **out)                                  \
    {                                                                                              \
        lt_tensor *indices = NULL;                                                                 \
        LT_TRY(lt_adaptive_max_pool##n##d(self, output_size, out, &indices));                      \
        lt_tensor_release(indices);                                                                \
        return LT_OK;                                                                              \
    }
LP_POOL(1)
LP_POOL(2)
LP_POOL(3)
MAX_UNPOOL(1)
MAX_UNPOOL(2)
MAX_UNPOOL(3)
ADAPTIVE_MAX_POOL(1)
ADAPTIVE_MAX_POOL(2)
ADAPTIVE_MAX_POOL(3)
#undef LP_POOL
#undef MAX_UNPOOL
#undef ADAPTIVE_MAX_POOL

#define FRACTIONAL_MAX_POOL(n)                                                                     \
    lt_status lt_fractional_max_pool##n##d_impl(                                                   \
        lt_tensor *input, const lt_dims *kernel_size, const lt_dims *output_size,                  \
        const double *output_ratio, lt_tensor *random_samples, lt_tensor **out)                    \
    {                                                                                              \
        fractional f = {.op = "fractional_max_pool" #n "d", .spatial = n};                         \
        LT_TRY(read_fractional(&f, input, kernel_size, output_size, output_ratio));                \
        lt_scope s;                                                                                \
        lt_scope_open(&s, LT_COMPOSITE(fractional_max_pool##n##d));                                \
        return fractional_max_pool(&s, &f, input, random_samples, out, NULL);                      \
    }
#define FRACTIONAL_MAX_POOL_WITH_INDICES(n)                                                        \
    lt_status lt_fractional_max_pool##n##d_with_indices_impl(                                      \
        lt_tensor *input, const lt_dims *kernel_size, const lt_dims *output_size,                  \
        const double *output_ratio, lt_tensor *random_samples, lt_tensor **out_values,             \
        lt_tensor **out_indices)                                                                   \
    {                                                                                              \
        fractional f = {.op = "fractional_max_pool" #n "d", .spatial = n};                         \
        LT_TRY(read_fractional(&f, input, kernel_size, output_size, output_ratio));                \
        lt_scope s;                                                                                \
        lt_scope_open(&s, LT_COMPOSITE(fractional_max_pool##n##d_with_indices));                   \
        return fractional_max_pool(&s, &f, input, random_samples, out_values, out_indices);        \
    }
FRACTIONAL_MAX_POOL(2)
FRACTIONAL_MAX_POOL(3)
FRACTIONAL_MAX_POOL_WITH_INDICES(2)
FRACTIONAL_MAX_POOL_WITH_INDICES(3)
#undef FRACTIONAL_MAX_POOL
#undef FRACTIONAL_MAX_POOL_WITH_INDICES
