/* dnnl_convolution.h - convolutions of float, bfloat16 and 8-bit integers by oneDNN, on the thread
 * pool. Included by src/core/cpu only. */
#ifndef LT_CPU_DNNL_CONVOLUTION_H
#define LT_CPU_DNNL_CONVOLUTION_H

#include "devices/backend.h"

/* The arrays of a convolution: image, weights, result, and bias or NULL. The part of the
 * convolution determines which of them is written. */
typedef struct lt_conv_operands {
    void *x, *w, *y;
    const void *bias;
} lt_conv_operands;

/* As lt_cpu_convolution of one of these types, or lt_cpu_int8_convolution, on up to `threads`
 * threads. *done is false if the library is absent or does not support the shape; the caller then
 * computes the result in another way. */
lt_status lt_dnnl_convolution(lt_conv_part part, const lt_conv *c, const lt_conv_operands *arrays,
                              int threads, bool *done);

#endif
