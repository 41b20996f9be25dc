/* nn_args.h - arguments of the kernels of neural networks: convolution, pooling, padding,
 * resampling, normalization, attention. */
#ifndef LT_NN_ARGS_H
#define LT_NN_ARGS_H

#include "array.h"
#include "ltensor.h"
#include "padding.h"

/* Number of elements of three spatial sizes. */
static inline int64_t lt_volume(const int64_t size[3]) { return size[0] * size[1] * size[2]; }

/* A convolution of dense arrays x [batch, in_channels, in...], w [out_channels, in_channels /
 * groups, kernel...] and y [batch, out_channels, out...]:
 *   y[n, o, p] = sum over c, k of w[o, c, k] * x[n, c, p * stride - padding + k * dilation]
 * There are always three spatial sizes; missing leading ones are 1. Some elements of x may not be
 * covered by any window. */
typedef struct lt_conv {
    lt_dtype dtype;
    lt_device device;
    int64_t batch, groups, in_channels, out_channels;
    int64_t in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
} lt_conv;
/* The array to compute from the other two. X and W: the derivatives, given a gradient of y. */
typedef enum lt_conv_part { LT_CONV_Y, LT_CONV_X, LT_CONV_W } lt_conv_part;

/* Pooling of `planes` dense planes of in... elements to out..., with spatial sizes as in lt_conv.
 * Each element consists of `lanes` independent numbers: the channels in channels-last layout, which
 * a backend without convolution_channels_last does not get (1). A window begins at p * stride -
 * padding and has kernel elements, `dilation` apart; adaptive: it is [p * in / out, (p + 1) * in /
 * out), rounded outwards. */
typedef struct lt_pooling {
    lt_dtype dtype;
    lt_device device;
    int64_t planes, lanes;
    int64_t in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
    bool adaptive;
    bool count_padding; /* averages count padding as zeros */
    int64_t divisor;    /* of averages; 0: the number of elements in the window */
    /* Computes the planes of a forward pass; NULL: they are in memory. CPU only. */
    const lt_fused_producer *producer;
} lt_pooling;
/* Pads up to three last dimensions at both ends with elements of x (padding.h): x, dense [outer,
 * in...], to y, [outer, out...]; elements of `size` bytes. Missing leading sizes are 1. No amount
 * is negative, no dimension empty. */
typedef struct lt_padding {
    lt_pad_mode mode;
    int64_t size, outer, in[3], before[3], out[3];
} lt_padding;

/* Copies the diagonals `low` to `high` (0: the main one, positive: above it) of dense matrices with
 * elements of `size` bytes: row i keeps columns i + low to i + high, the others become 0. Both are
 * in [-rows, columns]. */
typedef struct lt_band {
    lt_device device;
    int64_t size, matrices, rows, columns, low, high;
} lt_band;

/* Resampling of one dimension: x, dense [outer, in, inner], to y, [outer, out, inner], both float
 * or double. Index o of y is the sum of weights[k] * x at index places[k], for k in [starts[o],
 * starts[o + 1]). The arrays are on the device; places and weights have `taps` elements. */
typedef struct lt_resampling {
    lt_dtype dtype;
    lt_device device;
    int64_t outer, in, out, inner, taps;
    const int64_t *starts, *places;
    const void *weights; /* of dtype */
} lt_resampling;

/* bicubic: images only */
typedef enum lt_sampling_mode {
    LT_SAMPLE_BILINEAR,
    LT_SAMPLE_NEAREST,
    LT_SAMPLE_BICUBIC
} lt_sampling_mode;
typedef enum lt_sampling_padding {
    LT_SAMPLE_ZEROS,
    LT_SAMPLE_BORDER,
    LT_SAMPLE_REFLECTION
} lt_sampling_padding;
/* grid_sample: interpolates images (dims 2) or volumes (dims 3) at points. x [batch, channels, in]
 * has strides in elements: x_batch, x_channel and x_step. grid [batch, points, dims], y [batch,
 * channels, points] and the gradients are dense. A point's first coordinate is along the last
 * dimension; -1 and 1 are its ends (formulas/sampling.inc). For images, in[0] is 1. Elements are
 * float or double; no image is empty. */
typedef struct lt_sampling {
    lt_dtype dtype;
    lt_device device;
    lt_sampling_mode mode;
    lt_sampling_padding padding;
    bool align_corners;
    int dims; /* 2 or 3 */
    int64_t batch, channels, points, in[3];
    int64_t x_batch, x_channel, x_step[3];
} lt_sampling;

/* Normalization of dense tensors: out = (in - mean) * rstd * weight + bias. Statistics are float,
 * or double if dtype is. weight and bias (NULL: 1 and 0) have parameter_dtype, on the CPU always
 * the statistics' dtype. Backward reads grad and writes the gradients grad_in, grad_weight and
 * grad_bias, each unless NULL. */
typedef struct lt_norm_args {
    lt_dtype dtype, parameter_dtype;
    lt_device device;
    double eps;
    const void *in, *weight, *bias, *grad;
    /* mean NULL: none is subtracted, rstd is computed from the mean square (RMS norm) */
    void *out, *mean, *rstd;
    void *grad_in, *grad_weight, *grad_bias;
    /* Computes `in`, or `grad` in backward, in any floating dtype; NULL: in memory. Row norms only;
     * backward, several groups and runs longer than 1: CPU only. */
    const lt_fused_producer *producer;
} lt_norm_args;

/* Each row of `length` elements has its own statistics. Row r uses the parameters of group r %
 * groups: length / run of them, one per run of elements. */
typedef struct lt_row_norm_args {
    lt_norm_args norm;
    int64_t rows, length, groups, run;
} lt_row_norm_args;

/* outer x channels x inner elements, statistics and parameters per channel. training: computes mean
 * and rstd (with the biased variance) and, unless NULL, updates running statistics to (1 -
 * momentum) * old + momentum * new (with the unbiased variance). Else mean and rstd are inputs. */
typedef struct lt_batch_norm_args {
    lt_norm_args norm;
    int64_t outer, channels, inner;
    bool training;
    double momentum;
    void *running_mean, *running_var; /* of the statistics' dtype */
} lt_batch_norm_args;

/* Scaled dot product attention: out = softmax(query key^T * scale + mask) value, for batch x heads
 * matrices.
 * - Arrays: [batch, heads, queries or keys, width], strides in elements, the last one 1.
 * - key and value: heads / shared_by heads; each serves shared_by consecutive heads of query.
 * - mask (data NULL: none): [batch, heads, queries, keys], strides may be 0; bool (true: attend) or
 *   dtype (added).
 * - logsumexp: dense [batch, heads, queries], float, or double if dtype is. Rows without a key are
 *   zeros with logsumexp infinity.
 * - seed (two numbers on the device; GPUs only): drops probabilities and divides the others by 1 -
 *   dropout.
 * - Backward: grad is the gradient of out. The results are dense, of dtype, with the heads of their
 *   array. */
typedef struct lt_attention {
    lt_dtype dtype;
    lt_device device;
    int64_t batch, heads, queries, keys, width, value_width;
    bool causal; /* query i attends to keys 0 .. i */
    double scale, dropout;
    int64_t shared_by;
    const int64_t *seed; /* NULL: no dropout */
    lt_array query, key, value, mask, out, grad;
    void *logsumexp, *grad_query, *grad_key, *grad_value; /* gradients NULL: not needed */
} lt_attention;

#endif
