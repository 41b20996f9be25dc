/* resample.h - positions of the last dimension as weighted sums of others, line by line: what both
 * a dimension alone (resample.c) and planes (resample_planes.c) are made of. */
#ifndef LT_CPU_NN_RESAMPLE_H
#define LT_CPU_NN_RESAMPLE_H

#include "cpu/common/loops.h"
#include "devices/backend.h"
#include "cpu/common/sizes.h"

bool lt_resampling_is_nearest(const lt_resampling *r);
bool lt_is_weighted(const lt_resampling *r); /* not all weights are 1 */

/* What resamples lines of r->in elements: lines are turned, so that neighbours are there to be
 * worked on together, unless each position is that of one element, or of two floats and the line
 * becomes shorter. */
typedef struct lt_slice_resampler {
    const lt_resampling *r;
    const lt_resample_loops *loops;
    int64_t size; /* bytes of an element */
    bool has_places;
    lt_resample_indices places;
    void *block; /* with what they need */
    size_t capacity;
} lt_slice_resampler;

lt_status lt_slice_resampler_open(lt_slice_resampler *l, const lt_resampling *r);
void lt_slice_resampler_close(lt_slice_resampler *l);

/* Elements that a thread needs to turn lines. */
int64_t lt_turned_elements(const lt_slice_resampler *l);
/* n lines, at most LT_LANES, one after the other on both sides. turned:
 * lt_turned_elements of them. */
void lt_resample_lines(const lt_slice_resampler *l, char *out, const char *in, int64_t n,
                       char *turned);

#endif
