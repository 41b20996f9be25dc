/* columns.h - the windows of one channel of an image as columns. Included by src/core/cpu only. */
#ifndef LT_CPU_COLUMNS_H
#define LT_CPU_COLUMNS_H

#include "devices/backend.h"

/* image [in...] to columns [kernel..., out...], 0 where a window leaves the image; back: columns
 * are added to the image. c->dtype is float or double. */
void lt_cpu_channel_columns(bool back, const lt_conv *c, void *image, void *columns);

#endif
