/* common.h - helpers shared by several groups of ops. Included by src/core/ops only. */
#ifndef LT_OPS_COMMON_H
#define LT_OPS_COMMON_H

#include "devices/backend.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "tensor.h"

/* The array argument of kernels without an iterator. Elements of an unsigned dtype are passed as
 * signed integers of the same size. Borrows t. */
static inline lt_array lt_array_of(const lt_tensor *t)
{
    lt_array v = {lt_data(t), lt_same_bits((lt_dtype)t->dtype),    t->ndim, t->sizes, t->strides,
                  t->device,  (t->flags & LT_FLAG_POSITIONS) != 0, NULL};
    return v;
}

/* The same for kernels along a dimension: a 0-dim tensor becomes a row of one element. */
lt_array lt_slice_array_of(const lt_tensor *t);

/* Error of an op that has no kernel for complex numbers; LT_OK for other tensors. */
lt_status lt_refuse_complex(const char *op, const lt_tensor *t);
/* The same for an op that compares elements, and would compare an unsigned dtype as signed integers
 * of the same size. */
lt_status lt_refuse_unsigned(const char *op, const lt_tensor *t);

/* An array stored in this struct: complex numbers as pairs along a new last dimension of 2, others
 * expanded along it. */
typedef struct lt_real_imag {
    lt_array array;
    int64_t sizes[LT_MAX_DIMS], strides[LT_MAX_DIMS];
} lt_real_imag;
lt_status lt_real_imag_of(const lt_array *a, lt_real_imag *out);

/* Copies elements of src (broadcast, converted) to dst, on one device. Does not bump dst's version.
 */
lt_status lt_copy_elements(lt_tensor *dst, lt_tensor *src);

/* The same between any devices, recorded in the ledger. */
lt_status lt_copy(lt_tensor *dst, lt_tensor *src, bool non_blocking);

/* A number as an element of the dtype, in the form for kernels that compute in lt_same_bits of it.
 */
lt_scalar lt_stored_value(lt_scalar value, lt_dtype dtype);

/* Fills t with one value. Does not bump its version. */
lt_status lt_fill_value(lt_tensor *t, lt_scalar value);

/* New reference: t if it is contiguous, else a contiguous copy. No autograd. */
lt_status lt_make_contiguous(lt_tensor *t, lt_tensor **out);

/* Whether t is channels-last, on a device with kernels for this order (convolutions, pools,
 * batch_norm). */
bool lt_keeps_channels_last(const lt_tensor *t);
/* lt_make_contiguous, or with channels_last in channels-last order. */
lt_status lt_make_ordered(lt_tensor *t, bool channels_last, lt_tensor **out);

/* New reference: a tensor of the result's dtype that a kernel may write contiguously. If *out holds
 * a tensor of this dtype it is that one, else a new one to be stored by lt_finish_output. */
lt_status lt_begin_output(lt_tensor *const *out, lt_dtype dtype, lt_device device, int ndim,
                          const int64_t *sizes, lt_tensor **work);
/* The same with a tensor in channels-last order, if channels_last. */
lt_status lt_begin_ordered_output(lt_tensor *const *out, lt_dtype dtype, lt_device device,
                                  const lt_dims *sizes, bool channels_last, lt_tensor **work);
/* Moves work into *out (copying into a given tensor) and steals the reference to it. */
lt_status lt_finish_output(lt_tensor **out, lt_tensor *work);
/* The same for elements and their indices; values NULL: not requested. */
lt_status lt_finish_outputs(lt_tensor **out_values, lt_tensor *values, lt_tensor **out_indices,
                            lt_tensor *indices);

/* The given shape with one -1 filled in; PyTorch's error if it does not fit numel. */
lt_status lt_infer_shape(const lt_dims *given, int64_t numel, lt_dims *out);

/* Strides of a view of t in another shape; false when it needs a copy. */
bool lt_view_strides(const lt_tensor *t, const lt_dims *shape, int64_t *strides);

/* The bit mask of the dimensions in dims (NULL or none: all). LT_ERR_RUNTIME if one is repeated. */
lt_status lt_dims_mask(const lt_dims *dims, int ndim, uint32_t *mask);

/* New reference: t in dtype on its own device; t itself (retained) if it already has the dtype. */
lt_status lt_cast(lt_tensor *t, lt_dtype dtype, lt_tensor **out);

#endif
