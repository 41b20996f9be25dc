/* dnnl_plan.h - a convolution of one shape by oneDNN, prepared once and run by any number of
 * threads at a time, each on arrays of its own. A run uses the calling thread only:
 * dnnl_convolution.c partitions a convolution over threads. */
#ifndef LT_CPU_DNNL_PLAN_H
#define LT_CPU_DNNL_PLAN_H

#include "devices/backend.h"

/* True if the library is installed and can be used. */
bool lt_dnnl_found(void);

/* The same, and the processor multiplies 8-bit integers without rounding their sums to 16 bits. */
bool lt_dnnl_multiplies_int8(void);

/* A convolution whose arrays may be parts of larger dense ones: some of the channels. Compared by
 * its bytes, so clear it with memset before it is filled. */
typedef struct lt_dnnl_convolution_shape {
    lt_conv conv;
    lt_conv_part part;
    int32_t bias;                   /* boolean */
    int64_t x_channels, y_channels; /* of the whole images */
    int64_t w_channels;             /* input channels of a group of the whole weights */
} lt_dnnl_convolution_shape;

typedef struct lt_dnnl_plan lt_dnnl_plan;

/* *out: a new reference, or NULL if the library is absent or does not support the shape.
 * LT_ERR_MEMORY. */
lt_status lt_dnnl_plan_get(const lt_dnnl_convolution_shape *shape, lt_dnnl_plan **out);
void lt_dnnl_plan_release(lt_dnnl_plan *p); /* p may be NULL */

/* Bytes of working memory of one run. */
size_t lt_dnnl_plan_scratch_bytes(const lt_dnnl_plan *p);

/* arrays: x, w, y. False: oneDNN reported an error, and the result is undefined. */
bool lt_dnnl_plan_run(const lt_dnnl_plan *p, void *const arrays[3], const void *bias, char *room);

#endif
