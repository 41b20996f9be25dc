/* direct.h - convolutions of float images with few channels, and of lines, as
 * vector/products/direct.c does them. Included by src/core/cpu only. */
#ifndef LT_CPU_DIRECT_H
#define LT_CPU_DIRECT_H

#include "devices/backend.h"

/* Whether this way is the fastest: y or x with stride 1, and few channels. */
bool lt_direct_wins(lt_conv_part part, const lt_conv *c);
lt_status lt_direct_convolution(lt_conv_part part, const lt_conv *c, int threads, void *x,
                                const void *w, void *y, const void *bias);

#endif
