/* sample.c - grid_sample by the backend's kernels, and its derivatives: by kernels, too, unless
 * they will be differentiated again. */
#include "autograd/dual.h"
#include "user_index.h"
#include "op/_grid_sample.h"
#include "op/_grid_sample_backward.h"
#include "sample.h"

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
    const bool again = lt_is_differentiated(grad_output) || lt_is_differentiated(input) ||
                       lt_is_differentiated(grid);
    lt_scope s;
    lt_scope_open(&s, true);
    /* On a GPU the kernel accumulates in the image in any order. */
    if (again || (needs_input && how.device.type != LT_CPU && lt_deterministic()))
        lt_sample_formula(&s, &how, grad_output, input, grid, to_input, to_grid);
    else
        by_kernel(&s, &how, grad_output, input, grid, to_input, to_grid);
    if (s.status == LT_OK) {
        *out_grad_input = grad_input != NULL ? lt_tensor_retain(grad_input) : NULL;
        *out_grad_grid = grad_grid != NULL ? lt_tensor_retain(grad_grid) : NULL;
    }
    return lt_scope_close(&s);
}
