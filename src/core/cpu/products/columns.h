/* columns.h - im2col of one channel of an image. Included by src/core/cpu only. */
#ifndef LT_CPU_COLUMNS_H
#define LT_CPU_COLUMNS_H

#include "devices/backend.h"

/* Copies image [in...] to columns [kernel..., out...], 0 outside of the image; back: adds columns
 * to the image (col2im). c->dtype is float or double. */
void lt_cpu_channel_columns(bool back, const lt_conv *c, void *image, void *columns);

#endif
