/* taps.h - the lists of _resample for interpolation: the elements of one dimension as weighted sums
 * of others. Included by src/core/ops/vision only. */
#ifndef LT_OPS_VISION_TAPS_H
#define LT_OPS_VISION_TAPS_H

#include "ops/scope.h"

#define LT_TAP_LISTS 6

typedef enum lt_filter {
    LT_FILTER_NEAREST,
    LT_FILTER_NEAREST_EXACT,
    LT_FILTER_LINEAR,
    LT_FILTER_CUBIC,
    LT_FILTER_LANCZOS,
    LT_FILTER_AREA /* an average pool, without lists */
} lt_filter;

/* in, out: sizes of the dimension, at least 1. scale: elements of the input per element of the
 * result. align: the first and last elements coincide. antialias: a filter as wide as an element of
 * the result. pixels: weights in fixed point, as image libraries have them. */
typedef struct lt_resizing {
    lt_filter filter;
    bool antialias, align, pixels;
    int64_t in, out;
    double scale;
} lt_resizing;

/* The element of the input, from 0, that the nearest modes select for element i of the result. */
int64_t lt_nearest_element(const lt_resizing *how, int64_t i);

/* The lists of _resample in the order of its arguments, weights of this dtype, on this device; the
 * scope owns them. Those of the last sizes are cached. */
void lt_taps_lists(lt_scope *s, const lt_resizing *how, lt_dtype dtype, lt_device device,
                   lt_tensor **lists);

#endif
