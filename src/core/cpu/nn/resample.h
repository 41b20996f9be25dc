/* resample.h - resampling of 1-D slices ("lines") along the last dimension: each output element is
 * a weighted sum of input elements. Used for one dimension (resample.c) and for planes
 * (resample_planes.c). */
#ifndef LT_CPU_NN_RESAMPLE_H
#define LT_CPU_NN_RESAMPLE_H

#include "cpu/common/loops.h"
#include "devices/backend.h"
#include "cpu/common/sizes.h"

bool lt_resampling_is_nearest(const lt_resampling *r);
bool lt_is_weighted(const lt_resampling *r); /* not all weights are 1 */

/* Resamples slices of r->in elements. They are transposed, so that a vector operation processes the
 * same element of several slices, unless each output is one element, or a sum of two floats and the
 * slice becomes shorter. */
typedef struct lt_slice_resampler {
    const lt_resampling *r;
    const lt_resample_loops *loops;
    int64_t size; /* bytes of an element */
    bool has_places;
    lt_resample_indices places;
    void *block; /* memory of the places */
    size_t capacity;
} lt_slice_resampler;

lt_status lt_slice_resampler_open(lt_slice_resampler *l, const lt_resampling *r);
void lt_slice_resampler_close(lt_slice_resampler *l);

/* Elements that a thread needs to transpose slices. */
int64_t lt_turned_elements(const lt_slice_resampler *l);
/* Resamples n slices, at most LT_LANES, contiguous in sequence on both sides. turned:
 * lt_turned_elements of them. */
void lt_resample_lines(const lt_slice_resampler *l, char *out, const char *in, int64_t n,
                       char *turned);

#endif
