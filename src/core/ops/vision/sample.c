/* sample.c - affine_grid, and grid_sample by the backend's kernels, with its derivatives: by kernels,
 * too, unless they will be differentiated again. */
#include <string.h>

#include "autograd/dual.h"
#include "user_index.h"
#include "op/_grid_sample.h"
#include "op/_grid_sample_backward.h"
#include "op/affine_grid.h"
#include "op/grid_sample.h"
#include "op/linspace.h"
#include "sample.h"

/* ---- grids ----------------------------------------------------------------------------------- */

/* The coordinates of n pixels, in the dtype of like; align: the outermost centres are -1 and 1. */
static lt_tensor *do_coordinates(lt_scope *s, int64_t n, bool align, const lt_tensor *like)
{
    lt_tensor *line = NULL;
    if (n == 1) return do_zeros(s, like, &(lt_dims){1, {1}});
    if (s->status != LT_OK) return NULL;
    const lt_status made = lt_linspace(lt_scalar_from_int(-1), lt_scalar_from_int(1), n,
                                       (lt_dtype)like->dtype, &like->device, &line);
    line = lt_scope_hold(s, made, line);
    return align ? line : times(s, line, (double)(n - 1) / (double)n);
}

static lt_status check_affine(const lt_tensor *theta, const lt_dims *size)
{
    char a[128], b[128];
    int64_t numel;
    const int spatial = size->n - 2;
    lt_format_sizes(a, sizeof a, size->n, size->v);
    if (spatial != 2 && spatial != 3)
        return lt_error(LT_ERR_RUNTIME,
                        "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine "
                        "transforms, respectively. Got size %s.",
                        a);
    if (theta->ndim != 3 || theta->sizes[1] != spatial || theta->sizes[2] != spatial + 1)
        return lt_error(LT_ERR_RUNTIME,
                        "Expected a batch of %dD affine matrices of shape Nx%dx%d for size %s. "
                        "Got %s.",
                        spatial, spatial, spatial + 1, a,
                        lt_format_sizes(b, sizeof b, theta->ndim, theta->sizes));
    return lt_check_sizes(size->n, size->v, &numel);
}

lt_status lt_affine_grid_impl(lt_tensor *theta, const lt_dims *size, const bool *align_corners,
                              lt_tensor **out)
{
    LT_TRY(check_affine(theta, size));
    const int spatial = size->n - 2;
    const bool align = align_corners != NULL && *align_corners;
    lt_dims full = {.n = spatial}, result = {.n = spatial + 2};
    int64_t pixels = 1;
    for (int d = 0; d < spatial; d++) {
        full.v[d] = result.v[d + 1] = size->v[d + 2];
        pixels *= size->v[d + 2];
    }
    result.v[0] = size->v[0];
    result.v[spatial + 1] = spatial;
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(affine_grid));
    lt_tensor *columns[4];
    const lt_dims flat = {1, {pixels}};
    for (int d = 0; d < spatial; d++) { /* x is along the last dimension */
        lt_dims shape = {spatial, {1, 1, 1}};
        const int along = spatial - 1 - d;
        shape.v[along] = full.v[along];
        columns[d] = do_coordinates(&s, full.v[along], align, theta);
        columns[d] =
            do_reshape(&s, do_expand(&s, do_reshape(&s, columns[d], &shape), &full), &flat);
    }
    columns[spatial] = plus(&s, do_zeros(&s, theta, &flat), 1);
    lt_tensor *base = do_unsqueeze(&s, do_stack(&s, columns, spatial + 1, 1), 0);
    base = do_expand(&s, base, &(lt_dims){3, {size->v[0], pixels, spatial + 1}});
    lt_tensor *grid = do_bmm(&s, base, do_transpose(&s, theta, 1, 2));
    return lt_scope_return(&s, do_reshape(&s, grid, &result), out);
}

/* ---- sampling -------------------------------------------------------------------------------- */

/* Fills in s from the arguments, without strides, and checks the sizes. */
static lt_status describe_sampling(const lt_tensor *input, const lt_tensor *grid, int64_t mode,
                                   int64_t padding, bool align_corners, lt_sampling *s)
{
    const int dims = input->ndim - 2;
    *s = (lt_sampling){.dtype = (lt_dtype)input->dtype,
                       .device = input->device,
                       .mode = (lt_sampling_mode)mode,
                       .padding = (lt_sampling_padding)padding,
                       .align_corners = align_corners,
                       .dims = dims,
                       .points = 1,
                       .in = {1, 1, 1}};
    if ((input->dtype != LT_FLOAT32 && input->dtype != LT_FLOAT64) || grid->dtype != input->dtype ||
        (dims != 2 && dims != 3) || grid->ndim != input->ndim ||
        grid->sizes[0] != input->sizes[0] || grid->sizes[dims + 1] != dims || mode < 0 ||
        mode > LT_SAMPLE_BICUBIC || padding < 0 || padding > LT_SAMPLE_REFLECTION ||
        (dims == 3 && mode == LT_SAMPLE_BICUBIC))
        return lt_error(LT_ERR_RUNTIME, "_grid_sample(): expected images or volumes of float or "
                                        "double, and a grid of their dtype, batch and dimensions");
    s->batch = input->sizes[0];
    s->channels = input->sizes[1];
    for (int d = 0; d < dims; d++) {
        s->in[3 - dims + d] = input->sizes[d + 2];
        s->points *= grid->sizes[d + 1];
        if (input->sizes[d + 2] == 0)
            return lt_error(LT_ERR_RUNTIME,
                            "grid_sampler(): expected input to have non-empty spatial dimensions, "
                            "but input has sizes %s with dimension %lld being empty",
                            lt_format_sizes((char[128]){0}, 128, input->ndim, input->sizes),
                            lt_user_index(d + 2));
    }
    return LT_OK;
}

static void set_input_strides(lt_sampling *s, const lt_tensor *input)
{
    s->x_batch = input->strides[0];
    s->x_channel = input->strides[1];
    for (int d = 0; d < s->dims; d++) s->x_step[3 - s->dims + d] = input->strides[d + 2];
}

lt_status lt__grid_sample_impl(lt_tensor *input, lt_tensor *grid, int64_t mode, int64_t padding,
                               bool align_corners, lt_tensor **out)
{
    lt_sampling how;
    LT_TRY(describe_sampling(input, grid, mode, padding, align_corners, &how));
    set_input_strides(&how, input);
    lt_scope s;
    lt_scope_open(&s, false);
    lt_dims sizes = lt_dims_of(input);
    for (int d = 0; d < how.dims; d++) sizes.v[d + 2] = grid->sizes[d + 1];
    lt_tensor *dense = do_contiguous(&s, grid), *result = NULL;
    if (s.status == LT_OK) {
        const lt_status made = lt_tensor_new(how.dtype, how.device, sizes.n, sizes.v, &result);
        result = lt_scope_hold(&s, made, result);
    }
    if (s.status == LT_OK && result->numel > 0)
        s.status =
            lt_backend_of(input)->sample(&how, lt_data(result), lt_data(input), lt_data(dense));
    return lt_scope_return(&s, result, out);
}

static lt_tensor *do_empty(lt_scope *s, const lt_tensor *like)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    const lt_status status =
        lt_tensor_new((lt_dtype)like->dtype, like->device, like->ndim, like->sizes, &out);
    return lt_scope_hold(s, status, out);
}

/* The gradients by the kernel. */
static void by_kernel(lt_scope *s, lt_sampling *how, lt_tensor *grad, lt_tensor *input,
                      lt_tensor *grid, lt_tensor **grad_input, lt_tensor **grad_grid)
{
    lt_tensor *dense_grad = do_contiguous(s, grad), *dense_grid = do_contiguous(s, grid);
    if (grad_input != NULL) *grad_input = do_empty(s, input);
    if (grad_grid != NULL) *grad_grid = do_empty(s, grid);
    set_input_strides(how, input);
    if (s->status != LT_OK) return;
    if (how->batch == 0 || how->channels == 0 || how->points == 0) {
        if (grad_input != NULL) s->status = lt_fill_value(*grad_input, lt_scalar_from_int(0));
        if (grad_grid != NULL && s->status == LT_OK)
            s->status = lt_fill_value(*grad_grid, lt_scalar_from_int(0));
        return;
    }
    s->status = lt_backend_of(input)->sample_backward(
        how, grad_input != NULL ? lt_data(*grad_input) : NULL,
        grad_grid != NULL ? lt_data(*grad_grid) : NULL, lt_data(dense_grad), lt_data(input),
        lt_data(dense_grid));
}

lt_status lt__grid_sample_backward_impl(lt_tensor *grad_output, lt_tensor *input, lt_tensor *grid,
                                        int64_t mode, int64_t padding, bool align_corners,
                                        bool needs_input, bool needs_grid,
                                        lt_tensor **out_grad_input, lt_tensor **out_grad_grid)
{
    lt_sampling how;
    LT_TRY(describe_sampling(input, grid, mode, padding, align_corners, &how));
    lt_tensor *grad_input = NULL, *grad_grid = NULL;
    lt_tensor **to_input = needs_input ? &grad_input : NULL,
              **to_grid = needs_grid ? &grad_grid : NULL;
    const bool by_ops =
        lt_needs_formula(grad_output) || lt_needs_formula(input) || lt_needs_formula(grid);
    lt_scope s;
    lt_scope_open(&s, true);
    /* On a GPU the kernel accumulates in the image in any order. */
    if (by_ops || (needs_input && how.device.type != LT_CPU && lt_deterministic()))
        lt_sample_formula(&s, &how, grad_output, input, grid, to_input, to_grid);
    else
        by_kernel(&s, &how, grad_output, input, grid, to_input, to_grid);
    if (s.status == LT_OK) {
        *out_grad_input = grad_input != NULL ? lt_tensor_retain(grad_input) : NULL;
        *out_grad_grid = grad_grid != NULL ? lt_tensor_retain(grad_grid) : NULL;
    }
    return lt_scope_close(&s);
}

/* ---- the public function --------------------------------------------------------------------- */

/* The index of a word, or -1. */
static int word_index(const char *word, const char *const *words, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(word, words[i]) == 0) return i;
    return -1;
}

static lt_status check_shapes(const lt_tensor *input, const lt_tensor *grid)
{
    char a[128], b[128];
    lt_format_sizes(a, sizeof a, input->ndim, input->sizes);
    lt_format_sizes(b, sizeof b, grid->ndim, grid->sizes);
    if ((input->ndim != 4 && input->ndim != 5) || input->ndim != grid->ndim)
        return lt_error(LT_ERR_RUNTIME,
                        "grid_sampler(): expected 4D or 5D input and grid with same number of "
                        "dimensions, but got input with sizes %s and grid with sizes %s",
                        a, b);
    if (input->sizes[0] != grid->sizes[0])
        return lt_error(LT_ERR_RUNTIME,
                        "grid_sampler(): expected grid and input to have same batch size, but got "
                        "input with sizes %s and grid with sizes %s",
                        a, b);
    if (grid->sizes[grid->ndim - 1] != input->ndim - 2)
        return lt_error(LT_ERR_RUNTIME,
                        "grid_sampler(): expected grid to have size %d in last dimension, but got "
                        "grid with sizes %s",
                        input->ndim - 2, b);
    return LT_OK;
}

static lt_status check_sampling(const lt_tensor *input, const lt_tensor *grid)
{
    if (input->dtype != grid->dtype)
        return lt_error(LT_ERR_RUNTIME,
                        "grid_sampler(): expected input and grid to have same dtype, but input has "
                        "torch.%s and grid has torch.%s",
                        lt_dtype_name((lt_dtype)input->dtype),
                        lt_dtype_name((lt_dtype)grid->dtype));
    if (!lt_dtype_is_float((lt_dtype)input->dtype))
        return lt_error(LT_ERR_RUNTIME,
                        "grid_sampler(): expected input of a floating dtype, but got torch.%s",
                        lt_dtype_name((lt_dtype)input->dtype));
    return check_shapes(input, grid);
}

lt_status lt_grid_sample_impl(lt_tensor *input, lt_tensor *grid, const char *mode,
                              const char *padding_mode, const bool *align_corners, lt_tensor **out)
{
    static const char *const modes[] = {"bilinear", "nearest", "bicubic"}, *const paddings[] = {
                                                                               "zeros", "border",
                                                                               "reflection"};
    const int way = word_index(mode, modes, 3), padding = word_index(padding_mode, paddings, 3);
    if (way < 0)
        return lt_error(LT_ERR_RUNTIME,
                        "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or "
                        "'bicubic', but got: '%s'",
                        mode);
    if (padding < 0)
        return lt_error(LT_ERR_RUNTIME,
                        "nn.functional.grid_sample(): expected padding_mode to be 'zeros', "
                        "'border', or 'reflection', but got: '%s'",
                        padding_mode);
    LT_TRY(check_sampling(input, grid));
    if (way == LT_SAMPLE_BICUBIC && input->ndim == 5)
        return lt_error(LT_ERR_RUNTIME,
                        "grid_sampler(): bicubic interpolation only supports 4D input");
    const uint64_t before = lt_tls.last_node;
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(grid_sample));
    lt_tensor *image = do_widen(&s, input), *points = do_widen(&s, grid), *result = NULL;
    if (s.status == LT_OK) {
        const lt_status made = lt__grid_sample(image, points, way, padding,
                                               align_corners != NULL && *align_corners, &result);
        result = do_narrow_to(&s, lt_scope_hold(&s, made, result), input);
    }
    if (s.status == LT_OK)
        lt_name_node(result, before,
                     input->ndim == 4 ? "GridSampler2DBackward0" : "GridSampler3DBackward0");
    return lt_scope_return(&s, result, out);
}
