/* memory_format.h - channels-last images: sizes [batch, channels, height, width], stored in the
 * order [batch, height, width, channels]; the same with a depth. Tensors store no flag: the strides
 * decide, by the rules of PyTorch's suggest_memory_format and is_contiguous. */
#ifndef LT_MEMORY_FORMAT_H
#define LT_MEMORY_FORMAT_H

#include "tensor.h"

/* The channels-last strides of a dense tensor of 4 or 5 dimensions. */
void lt_channels_last_strides(int ndim, const int64_t *sizes, int64_t *strides);

/* Whether t is dense in this order; strides of dimensions of size 1 are ignored. False unless t has
 * 4 or 5 dimensions. */
bool lt_is_channels_last(const lt_tensor *t);

/* Whether t's strides have this order, with or without gaps, so that results shall have it too.
 * False if the strides fit either order. */
bool lt_suggests_channels_last(const lt_tensor *t);

/* New reference: a dense tensor, channels last or row-major. */
lt_status lt_tensor_new_ordered(lt_dtype dtype, lt_device device, int ndim, const int64_t *sizes,
                                bool channels_last, lt_tensor **out);

#endif
