/* dnnl.h - convolutions of float, bfloat16 and 8-bit integers by oneDNN. Included by src/core/cpu, and by api/version.c. */
#ifndef LT_CPU_DNNL_H
#define LT_CPU_DNNL_H

#include "devices/backend.h"

/* Whether the library is installed and can be used. */
bool lt_dnnl_found(void);

/* The same, and whether the processor multiplies 8-bit integers without rounding their sums off to 16 bits on the way. */
bool lt_dnnl_multiplies_int8(void);

/* As lt_cpu_convolution of one of these types, or lt_cpu_int8_convolution, on up to `threads` threads. *done is false if the library is absent or
 * does not support the shape; the caller then computes the result in another way. */
lt_status lt_dnnl_convolution(lt_conv_part part, const lt_conv *c, int threads, void *x, void *w, void *y,
                              const void *bias, bool *done);

#endif
