/* operands.c - see tensor.h: checks of operands, numbers in tensor form, outputs of ops. */
#include "context/context.h"
#include "user_index.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "tensor.h"

static lt_status dim_out_of_range(int64_t dim, int64_t n)
{
    if (lt_user_index(0) == 0)
        return lt_error(
            LT_ERR_INDEX,
            "Dimension out of range (expected to be in range of [%lld, %lld], but got %lld)",
            (long long)-n, (long long)n - 1, (long long)dim);
    return lt_error(LT_ERR_INDEX,
                    "Dimension out of range (expected to be in range of [%lld, %lld] or [%lld, "
                    "-1], but got %lld)",
                    lt_user_index(0), lt_user_index(n - 1), (long long)-n, lt_user_index(dim));
}

lt_status lt_wrap_dim(int64_t dim, int ndim, int *out)
{
    int64_t n = ndim > 0 ? ndim : 1;
    if (dim < -n || dim >= n) return dim_out_of_range(dim, n);
    *out = (int)(dim < 0 ? dim + n : dim);
    return LT_OK;
}

lt_status lt_check_same_device(const char *op, lt_tensor *const *tensors, int n, bool allow_scalars,
                               lt_device *device)
{
    const lt_tensor *first = NULL;
    for (int i = 0; i < n; i++) {
        const lt_tensor *t = tensors[i];
        if (t == NULL || (allow_scalars && t->ndim == 0 && t->device.type == LT_CPU)) continue;
        if (first == NULL) {
            first = t;
        } else if (!lt_device_equal(first->device, t->device)) {
            char a[16], b[16];
            return lt_error(
                LT_ERR_RUNTIME,
                "Expected all tensors to be on the same device, but found at least two devices, "
                "%s and %s! (when checking the arguments of %s)",
                lt_format_device(a, sizeof a, first->device),
                lt_format_device(b, sizeof b, t->device), op);
        }
    }
    *device = first != NULL ? first->device : lt_host;
    return LT_OK;
}

lt_status lt_tensor_from_scalar(lt_scalar s, lt_tensor **out)
{
    LT_REQUIRE(out);
    lt_dtype dtype = s.kind == LT_SCALAR_FLOAT     ? LT_FLOAT64
                     : s.kind == LT_SCALAR_COMPLEX ? LT_COMPLEX128
                                                   : lt_scalar_dtype(s);
    LT_TRY(lt_tensor_new(dtype, lt_host, 0, NULL, out));
    lt_store_scalar((*out)->storage->data, dtype, s);
    (*out)->flags |= LT_FLAG_WRAPPED_NUMBER;
    return LT_OK;
}

lt_status lt_check_output(const lt_tensor *t, lt_dtype dtype, lt_device device)
{
    if (!lt_can_cast(dtype, (lt_dtype)t->dtype))
        return lt_error(LT_ERR_RUNTIME,
                        "result type %s can't be cast to the desired output type %s",
                        lt_dtype_scalar_name(dtype), lt_dtype_scalar_name((lt_dtype)t->dtype));
    char a[256], b[256];
    if (!lt_device_equal(t->device, device))
        return lt_error(LT_ERR_RUNTIME, "Expected out tensor to have device %s, but got %s instead",
                        lt_format_device(a, sizeof a, device),
                        lt_format_device(b, sizeof b, t->device));
    return LT_OK;
}

/* Resizes an output without keeping its elements: in its storage if that is large enough, else in a
 * new one. */
static lt_status resize_output(lt_tensor *t, int ndim, const int64_t *sizes)
{
    char old[256], new[256];
    lt_tensor *memory = NULL;
    int64_t numel, end, strides[LT_MAX_DIMS];
    if (t->numel > 0)
        lt_log_line(LT_LOG_WARNING,
                    "UserWarning: An output with one or more elements was resized since it had "
                    "shape %s, which does not match the required "
                    "output shape %s. This behavior is deprecated, and in a future release outputs "
                    "will not be resized unless they have "
                    "zero elements. You can explicitly reuse an out tensor t by resizing it, "
                    "inplace, to zero elements with t:resize_(0).",
                    lt_format_sizes(old, sizeof old, t->ndim, t->sizes),
                    lt_format_sizes(new, sizeof new, ndim, sizes));
    LT_TRY(lt_check_sizes(ndim, sizes, &numel));
    if (__builtin_add_overflow(t->offset, numel, &end) ||
        end > (int64_t)(t->storage->nbytes / lt_dtype_size((lt_dtype)t->dtype))) {
        LT_TRY(lt_tensor_new((lt_dtype)t->dtype, t->device, ndim, sizes, &memory));
    } else {
        lt_contiguous_strides(ndim, sizes, strides);
        LT_TRY(lt_tensor_view(t, ndim, sizes, strides, t->offset, &memory));
    }
    lt_tensor_set_data(t, memory);
    lt_tensor_release(memory);
    return LT_OK;
}

lt_status lt_check_exact(lt_dtype result, const lt_tensor *t)
{
    if (result == (lt_dtype)t->dtype) return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "Expected out tensor to have dtype torch.%s, but got torch.%s instead",
                    lt_dtype_name(result), lt_dtype_name((lt_dtype)t->dtype));
}

lt_status lt_output(lt_tensor **out, lt_dtype dtype, lt_device device, int ndim,
                    const int64_t *sizes)
{
    lt_tensor *t = *out;
    char a[256], b[256];
    if (t == NULL) return lt_tensor_new(dtype, device, ndim, sizes, out);
    if (t->role & LT_ROLE_EXACT) LT_TRY(lt_check_exact(dtype, t));
    LT_TRY(lt_check_output(t, dtype, device));
    bool same = t->ndim == ndim;
    for (int d = 0; same && d < ndim; d++) same = t->sizes[d] == sizes[d];
    if (same) return LT_OK;
    if (t->role & LT_ROLE_RESIZABLE) return resize_output(t, ndim, sizes);
    return lt_error(LT_ERR_RUNTIME, "output with shape %s doesn't match the broadcast shape %s",
                    lt_format_sizes(a, sizeof a, t->ndim, t->sizes),
                    lt_format_sizes(b, sizeof b, ndim, sizes));
}
