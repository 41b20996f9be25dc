/* dnnl_convolution.h - convolutions of float, bfloat16 and 8-bit integers by oneDNN, on the thread
 * pool. Included by src/core/cpu only. */
#ifndef LT_CPU_DNNL_CONVOLUTION_H
#define LT_CPU_DNNL_CONVOLUTION_H

#include "devices/backend.h"

/* As lt_cpu_convolution of one of these types, or lt_cpu_int8_convolution, on up to `threads`
 * threads. *done is false if the library is absent or does not support the shape; the caller then
 * computes the result in another way. */
lt_status lt_dnnl_convolution(lt_conv_part part, const lt_conv *c, int threads, void *x, void *w,
                              void *y, const void *bias, bool *done);

#endif
