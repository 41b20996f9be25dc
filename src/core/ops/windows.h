/* windows.h - shared by convolutions and pools: arguments of one number or one per spatial
 * dimension, as the three numbers of kernels, and their checks. Included by src/core/ops only. */
#ifndef LT_OPS_WINDOWS_H
#define LT_OPS_WINDOWS_H

#include "compose.h"

#define LT_SPATIAL 3

/* v[3] from one number or `spatial` of them, preceded by `fill`. False for any other count. */
bool lt_spread_sizes(const lt_dims *given, int spatial, int64_t fill, int64_t *v);
/* The last `spatial` of n sizes, preceded by ones. */
void lt_spatial_sizes(int n, const int64_t *sizes, int spatial, int64_t *v);

/* "2 x 3": the last `spatial` of v, separated by `sign`. */
char *lt_format_product(char *buffer, size_t n, int spatial, const int64_t *v, const char *sign);

/* Number of windows: (in + 2 padding - dilation (kernel - 1) - 1) / stride + 1, rounded down; ceil:
 * up, but none begins in the padding at the end. */
int64_t lt_window_count(int64_t in, int64_t kernel, int64_t stride, int64_t padding,
                        int64_t dilation, bool ceil);

/* The arguments of a convolution besides its tensors. */
typedef struct lt_conv_numbers {
    const lt_dims *stride, *padding, *dilation, *output_padding;
    int64_t groups;
    bool transposed;
    const char *word; /* "same" or "valid" instead of a padding; convNd only */
} lt_conv_numbers;

/* The geometry of a convolution's arguments, checked except for their dtypes. */
lt_status lt_convolution_fit(lt_tensor *input, lt_tensor *weight, lt_tensor *bias,
                             const lt_conv_numbers *numbers, lt_conv *c);

/* Computes one part of the relation of image, kernel and result (backend.h) for integers or complex
 * numbers into its tensor, from the other two. Preconditions: nothing is empty. Does not add the
 * bias. */
lt_status lt_convolve_by_columns(lt_scope *s, lt_conv_part part, const lt_conv *c, lt_tensor *x,
                                 lt_tensor *w, lt_tensor *y);

#endif
