/* direct.h - direct convolutions of float 2-D inputs with few channels and of 1-D inputs, by the
 * loops of vector/products/direct.c. Included by src/core/cpu only. */
#ifndef LT_CPU_DIRECT_H
#define LT_CPU_DIRECT_H

#include "devices/backend.h"

/* Whether this is the fastest algorithm: for y or the gradient by x, stride 1 and few channels. */
bool lt_direct_wins(lt_conv_part part, const lt_conv *c);
lt_status lt_direct_convolution(lt_conv_part part, const lt_conv *c, int threads, void *x,
                                const void *w, void *y, const void *bias);

#endif
