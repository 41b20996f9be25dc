/* convolution_sizes.h - the elements of the arrays of a convolution, and its multiplications. */
#ifndef LT_CPU_CONVOLUTION_SIZES_H
#define LT_CPU_CONVOLUTION_SIZES_H

#include "devices/nn_args.h"

static inline int64_t lt_conv_x_count(const lt_conv *c)
{
    return c->batch * c->in_channels * lt_volume(c->in);
}

static inline int64_t lt_conv_y_count(const lt_conv *c)
{
    return c->batch * c->out_channels * lt_volume(c->out);
}

static inline int64_t lt_conv_w_count(const lt_conv *c)
{
    return c->out_channels * (c->in_channels / c->groups) * lt_volume(c->kernel);
}

/* Multiplications. */
static inline int64_t lt_conv_work(const lt_conv *c)
{
    return lt_conv_y_count(c) * (c->in_channels / c->groups) * lt_volume(c->kernel);
}

#endif
