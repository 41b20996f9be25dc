/* interpolate.c - resizing of sequences, images and volumes, [batch, channels, ...]: weighted sums
 * along one dimension after the other (_resample), or a choice of elements. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "autograd/dual.h"
#include "devices/copies.h"
#include "memory/alloc.h"
#include "ops/steps.h"
#include "op/_resample.h"
#include "op/_resample_planes.h"
#include "op/adaptive_avg_pool1d.h"
#include "op/adaptive_avg_pool2d.h"
#include "op/adaptive_avg_pool3d.h"
#include "op/interpolate.h"
#include "op/to.h"
#include "op/upsample_bilinear.h"
#include "op/upsample_nearest.h"
#include "step/floor.h"
#include "taps.h"

#define MAX_SPATIAL 3

typedef struct interpolation_mode {
    const char *name, *node; /* node: of PyTorch's graph */
    lt_filter filter;
    int spatial; /* 0: any */
    bool antialias;
} interpolation_mode;

static const interpolation_mode modes[] = {
    {"nearest", "Nearest", LT_FILTER_NEAREST, 0, false},
    {"nearest-exact", "NearestExact", LT_FILTER_NEAREST_EXACT, 0, false},
    {"linear", "Linear", LT_FILTER_LINEAR, 1, false},
    {"bilinear", "Bilinear", LT_FILTER_LINEAR, 2, true},
    {"bicubic", "Bicubic", LT_FILTER_CUBIC, 2, true},
    {"trilinear", "Trilinear", LT_FILTER_LINEAR, 3, false},
    {"lanczos", "Lanczos", LT_FILTER_LANCZOS, 2, true},
    {"area", "Area", LT_FILTER_AREA, 0, false},
};

/* The arguments of a call. */
typedef struct resize_request {
    const interpolation_mode *mode;
    bool align, antialias, recompute;
    int spatial;
    bool has_factor;
    double factor[MAX_SPATIAL]; /* if has_factor */
    int64_t out[MAX_SPATIAL];
} resize_request;

/* ---- checks ---------------------------------------------------------------------------------- */

static lt_status read_mode(resize_request *p, const lt_tensor *input, const char *name,
                           const bool *align)
{
    const interpolation_mode *mode = NULL;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(modes[i].name, name) == 0) mode = &modes[i];
    if (mode == NULL)
        return lt_error(LT_ERR_RUNTIME,
                        "Input Error: Only 3D, 4D and 5D input Tensors supported (got %dD) for the "
                        "modes: nearest | linear | bilinear | bicubic | trilinear | area | "
                        "nearest-exact (got %s)",
                        input->ndim, name);
    const int n = input->ndim - 2;
    if (n < 1 || n > MAX_SPATIAL || (mode->spatial != 0 && mode->spatial != n))
        return lt_error(LT_ERR_RUNTIME, "Got %dD input, but %s mode needs %dD input", input->ndim,
                        name, (mode->spatial != 0 ? mode->spatial : 2) + 2);
    if (align != NULL && mode->spatial == 0)
        return lt_error(LT_ERR_RUNTIME, "align_corners option can only be set with the "
                                        "interpolating modes: linear | bilinear | bicubic | "
                                        "trilinear");
    p->mode = mode;
    p->spatial = n;
    p->align = align != NULL && *align;
    return LT_OK;
}

static lt_status check_filter(const resize_request *p, const lt_tensor *input)
{
    const bool lanczos = p->mode->filter == LT_FILTER_LANCZOS;
    if (p->antialias && (!p->mode->antialias || input->ndim != 4))
        return lt_error(LT_ERR_RUNTIME,
                        "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes "
                        "and requires a 4-D tensor as input");
    if (lanczos && p->align)
        return lt_error(LT_ERR_RUNTIME, "Lanczos mode does not support align_corners=True");
    if (lanczos && !p->antialias)
        return lt_error(LT_ERR_RUNTIME, "Lanczos mode requires antialias=True");
    return LT_OK;
}

static lt_status wrong_count(const resize_request *p, const char *name, int64_t n)
{
    return lt_error(LT_ERR_RUNTIME,
                    "Input and output must have the same number of spatial dimensions, but got "
                    "input with %d spatial dimensions and %s of %lld",
                    p->spatial, name, (long long)n);
}

/* Fills in out from size or the factors. */
static lt_status read_sizes(resize_request *p, const lt_tensor *input, const lt_dims *size)
{
    if (size != NULL && p->has_factor)
        return lt_error(LT_ERR_RUNTIME, "only one of size or scale_factor should be defined");
    if (size == NULL && !p->has_factor)
        return lt_error(LT_ERR_RUNTIME, "either size or scale_factor should be defined");
    if (size != NULL && size->n != 1 && size->n != p->spatial)
        return wrong_count(p, "output size", size->n);
    for (int d = 0; d < p->spatial; d++) {
        const int64_t in = input->sizes[d + 2];
        const double wanted = p->has_factor ? floor((double)in * p->factor[d]) : 0;
        if (!(fabs(wanted) < 0x1p63)) /* nan, too */
            return lt_error(LT_ERR_RUNTIME,
                            "value cannot be converted to type int64_t without overflow");
        p->out[d] = p->has_factor ? (int64_t)wanted : size->v[size->n == 1 ? 0 : d];
        if (p->out[d] < 1 || in < 1)
            return lt_error(LT_ERR_RUNTIME,
                            "Input and output sizes should be greater than 0, but got input (%lld) "
                            "output (%lld)",
                            (long long)in, (long long)p->out[d]);
    }
    int64_t sizes[LT_MAX_DIMS], numel;
    for (int d = 0; d < input->ndim; d++) sizes[d] = d < 2 ? input->sizes[d] : p->out[d - 2];
    return lt_check_sizes(input->ndim, sizes, &numel);
}

/* The dtype of the interpolation: half types in float, and pixels, too, which are rounded to
 * integers at the end. */
static lt_status working_dtype(const resize_request *p, const lt_tensor *input, lt_dtype *out)
{
    static const char *const names[] = {"nearest", "nearest-exact", "linear", "cubic", "lanczos"};
    const lt_dtype dtype = (lt_dtype)input->dtype;
    *out = dtype;
    if (p->mode->spatial == 0 || dtype == LT_FLOAT32 || dtype == LT_FLOAT64) return LT_OK;
    *out = LT_FLOAT32;
    if (lt_dtype_is_float(dtype) || (dtype == LT_UINT8 && input->ndim == 4)) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "interpolate() with mode %s%s is not implemented for torch.%s",
                    names[p->mode->filter], p->antialias ? " antialias" : "", lt_dtype_name(dtype));
}

/* ---- resizing -------------------------------------------------------------------------------- */

static lt_resizing resizing_of(const resize_request *p, const lt_tensor *input, int d,
                               lt_dtype dtype)
{
    const bool nearest = p->mode->spatial == 0;
    lt_resizing r = {.filter = p->mode->filter,
                     .antialias = p->antialias,
                     .align = p->align,
                     .pixels = input->dtype == LT_UINT8 && dtype != LT_UINT8,
                     .in = input->sizes[d + 2],
                     .out = p->out[d]};
    r.scale = p->has_factor && !p->recompute ? 1 / p->factor[d] : (double)r.in / (double)r.out;
    if (p->align) r.scale = r.out > 1 ? (double)(r.in - 1) / (double)(r.out - 1) : 0;
    if (nearest || (input->dtype != LT_FLOAT64 && input->dtype != LT_UINT8))
        r.scale = (float)r.scale;
    return r;
}

/* One dimension by weighted sums; pixels are rounded. */
static lt_tensor *do_weighted(lt_scope *s, lt_tensor *t, int dim, const lt_resizing *r)
{
    lt_tensor *l[LT_TAP_LISTS], *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_taps_lists(s, r, (lt_dtype)t->dtype, t->device, l);
    if (s->status != LT_OK) return NULL;
    const lt_status status = lt__resample(t, dim, l[0], l[1], l[2], l[3], l[4], l[5], &out);
    out = lt_scope_hold(s, status, out);
    if (!r->pixels) return out;
    return do_clamp_within(s, do_floor(s, plus(s, out, 0.5)), 0, 255);
}

/* The last two dimensions in one operation. */
static lt_tensor *do_planes(lt_scope *s, lt_tensor *t, const lt_resizing *rows,
                            const lt_resizing *columns)
{
    lt_tensor *a[LT_TAP_LISTS], *b[LT_TAP_LISTS], *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_taps_lists(s, rows, (lt_dtype)t->dtype, t->device, a);
    lt_taps_lists(s, columns, (lt_dtype)t->dtype, t->device, b);
    if (s->status != LT_OK) return NULL;
    const lt_status status = lt__resample_planes(t, a[0], a[1], a[2], a[3], a[4], a[5], b[0], b[1],
                                                 b[2], b[3], b[4], b[5], &out);
    return lt_scope_hold(s, status, out);
}

/* One dimension of a dtype without weighted sums: selects an element for each of the result. */
static lt_tensor *do_selected(lt_scope *s, lt_tensor *t, int dim, const lt_resizing *r)
{
    if (s->status != LT_OK) return NULL;
    int64_t *elements = lt_mem_array(r->out, sizeof *elements);
    for (int64_t i = 0; i < r->out && elements != NULL; i++) elements[i] = lt_nearest_element(r, i);
    const lt_copy_cause previous = lt_copies_imply("interpolate");
    lt_tensor *index = do_positions(s, elements, &(lt_dims){1, {r->out}}, t->device);
    lt_copies_set_cause(previous);
    return do_index_select(s, t, dim, index);
}

/* The last dimension first, which determines the rounding of sums. */
static lt_tensor *do_resized(lt_scope *s, const resize_request *p, lt_tensor *input)
{
    lt_dtype dtype;
    lt_resizing r[MAX_SPATIAL];
    s->status = working_dtype(p, input, &dtype);
    if (s->status != LT_OK) return NULL;
    for (int d = 0; d < p->spatial; d++) r[d] = resizing_of(p, input, d, dtype);
    int n = p->spatial;
    lt_tensor *t = do_cast(s, input, dtype);
    const bool weighted = dtype == LT_FLOAT32 || dtype == LT_FLOAT64;
    if (n > 1 && weighted && !r[n - 1].pixels) {
        t = do_planes(s, t, &r[n - 2], &r[n - 1]);
        n -= 2;
    }
    for (int d = n - 1; d >= 0; d--)
        t = weighted ? do_weighted(s, t, d + 2, &r[d]) : do_selected(s, t, d + 2, &r[d]);
    return do_cast(s, t, (lt_dtype)input->dtype);
}

static lt_status average(const resize_request *p, lt_tensor *input, lt_tensor **out)
{
    lt_dims size = {.n = p->spatial};
    for (int d = 0; d < size.n; d++) size.v[d] = p->out[d];
    return p->spatial == 1   ? lt_adaptive_avg_pool1d(input, &size, out)
           : p->spatial == 2 ? lt_adaptive_avg_pool2d(input, &size, out)
                             : lt_adaptive_avg_pool3d(input, &size, out);
}

static lt_status interpolate(resize_request *p, lt_tensor *input, const lt_dims *size,
                             lt_tensor **out)
{
    LT_TRY(read_sizes(p, input, size));
    LT_TRY(check_filter(p, input));
    if (p->mode->filter == LT_FILTER_AREA) return average(p, input, out);
    const uint64_t before = lt_tls.last_node;
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(interpolate));
    lt_tensor *result = do_resized(&s, p, input);
    if (s.status == LT_OK && lt_tls.last_node != before) {
        char name[64];
        snprintf(name, sizeof name, "Upsample%s%dD%sBackward0", p->mode->node, p->spatial,
                 p->antialias ? "Aa" : "");
        const char *kept = lt_node_name_kept(name);
        if (kept != NULL) lt_name_node(result, before, kept);
    }
    return lt_scope_return(&s, result, out);
}

/* ---- the public functions -------------------------------------------------------------------- */

lt_status lt_interpolate_impl(lt_tensor *input, const lt_dims *size, const double *scale_factor,
                              const char *mode, const bool *align_corners,
                              const bool *recompute_scale_factor, bool antialias, lt_tensor **out)
{
    resize_request p = {.antialias = antialias,
                        .recompute = recompute_scale_factor != NULL && *recompute_scale_factor,
                        .has_factor = scale_factor != NULL};
    LT_TRY(read_mode(&p, input, mode, align_corners));
    for (int d = 0; d < p.spatial && scale_factor != NULL; d++) p.factor[d] = *scale_factor;
    return interpolate(&p, input, size, out);
}

/* The numbers of a tensor of one factor, or one for each dimension. */
static lt_status read_factors(resize_request *p, lt_tensor *factors)
{
    lt_tensor *there = NULL, *dense = NULL;
    lt_status status = LT_OK;
    if (factors->numel != 1 && factors->numel != p->spatial)
        return wrong_count(p, "scale_factor", factors->numel);
    LT_CHECK(lt_to(factors, &lt_host, LT_FLOAT64, false, false, &there));
    LT_CHECK(lt_make_contiguous(there, &dense));
    for (int d = 0; d < p->spatial; d++)
        p->factor[d] = ((const double *)(const void *)lt_data(dense))[factors->numel == 1 ? 0 : d];
    p->has_factor = true;
done:
    lt_tensor_release(dense);
    lt_tensor_release(there);
    return status;
}

lt_status lt_interpolate_factors_impl(lt_tensor *input, const lt_dims *size,
                                      lt_tensor *scale_factor, const char *mode,
                                      const bool *align_corners, const bool *recompute_scale_factor,
                                      bool antialias, lt_tensor **out)
{
    resize_request p = {.antialias = antialias,
                        .recompute = recompute_scale_factor != NULL && *recompute_scale_factor};
    LT_TRY(read_mode(&p, input, mode, align_corners));
    if (scale_factor != NULL) LT_TRY(read_factors(&p, scale_factor));
    return interpolate(&p, input, size, out);
}

lt_status lt_upsample_nearest_impl(lt_tensor *input, const lt_dims *size,
                                   const double *scale_factor, lt_tensor **out)
{
    return lt_interpolate(input, size, scale_factor, "nearest", NULL, NULL, false, out);
}

lt_status lt_upsample_bilinear_impl(lt_tensor *input, const lt_dims *size,
                                    const double *scale_factor, lt_tensor **out)
{
    const bool align = true;
    return lt_interpolate(input, size, scale_factor, "bilinear", &align, NULL, false, out);
}
