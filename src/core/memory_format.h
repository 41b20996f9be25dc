/* memory_format.h - images whose channels lie last in memory: sizes [batch, channels, height,
 * width] in the order [batch, height, width, channels], or the same with a depth. No tensor keeps a
 * mark of it: strides say it, by the rules of PyTorch's suggest_memory_format and is_contiguous. */
#ifndef LT_MEMORY_FORMAT_H
#define LT_MEMORY_FORMAT_H

#include "tensor.h"

/* The strides of such a dense tensor of 4 or 5 dimensions. */
void lt_channels_last_strides(int ndim, const int64_t *sizes, int64_t *strides);

/* Whether t's elements lie so without a gap; strides of dimensions of size 1 say nothing. False of
 * other than 4 or 5 dimensions. */
bool lt_is_channels_last(const lt_tensor *t);

/* Whether strides are in this order, with or without gaps: what is computed of t is to lie so too.
 * Where they could be of either order it is the usual one. */
bool lt_suggests_channels_last(const lt_tensor *t);

/* New reference: a fresh dense tensor, in this order or the usual one. */
lt_status lt_tensor_new_ordered(lt_dtype dtype, lt_device device, int ndim, const int64_t *sizes,
                                bool channels_last, lt_tensor **out);

#endif
