/* layouts.h - what some backends do with arrays that do not lie in order: a table beside the one that all have (backend.h), of entries that may be
 * missing, which a backend's library may export. */
#ifndef LT_LAYOUTS_H
#define LT_LAYOUTS_H

#include "backend.h"

typedef struct lt_layouts {
    /* lt_backend's convolution of arrays [batch, in..., in_channels], [out_channels, kernel..., in_channels / groups] and [batch,
     * out..., out_channels]; *done: whether it was. */
    lt_status (*convolution_channels_last)(lt_conv_part part, const lt_conv *c, void *x, void *w, void *y, const void *bias,
                                           bool *done);
} lt_layouts;

/* The symbol, an lt_layouts. */
#define LT_LAYOUTS_SYMBOL "lt_backend_layouts"

/* Of a type of devices whose backend is there; NULL: it exports none. */
const lt_layouts *lt_layouts_of(lt_device_type type);

#endif
