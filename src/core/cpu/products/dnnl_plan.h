/* dnnl_plan.h - a convolution of one shape by oneDNN, prepared once and run by several threads
 * concurrently, each on its own arrays. A run uses the calling thread only; dnnl_convolution.c
 * partitions a convolution over threads. */
#ifndef LT_CPU_DNNL_PLAN_H
#define LT_CPU_DNNL_PLAN_H

#include "devices/backend.h"
#include "libraries/dnnl.h"

/* Whether, in addition, the processor adds products of 8-bit integers without saturating at 16 bits
 * (VNNI). */
bool lt_dnnl_multiplies_int8(void);

/* The shape of a convolution; its arrays may be some channels or rows of larger contiguous ones. Compared
 * bytewise: clear it with memset first. */
typedef struct lt_dnnl_convolution_shape {
    lt_conv conv;
    lt_conv_part part;
    int32_t bias;                   /* boolean */
    int64_t x_channels, y_channels; /* of the whole images */
    int64_t w_channels;             /* input channels per group of the whole weights */
    int64_t x_plane, y_plane;       /* elements of a channel of the whole images */
} lt_dnnl_convolution_shape;

typedef struct lt_dnnl_plan lt_dnnl_plan;

/* Stores a new reference in *out, or NULL if the library is absent or does not support the shape.
 * Returns LT_ERR_MEMORY if out of memory. */
lt_status lt_dnnl_plan_get(const lt_dnnl_convolution_shape *shape, lt_dnnl_plan **out);
void lt_dnnl_plan_release(lt_dnnl_plan *p); /* p may be NULL */

/* Bytes of work memory per run. */
size_t lt_dnnl_plan_scratch_bytes(const lt_dnnl_plan *p);

/* arrays: x, w, y. room: work memory. Returns false if oneDNN reported an error; the result is
 * undefined then. */
bool lt_dnnl_plan_run(const lt_dnnl_plan *p, void *const arrays[3], const void *bias, char *room);

#endif
