/* array.h - a tensor, for kernels that do not use the iterator. */
#ifndef LT_ARRAY_H
#define LT_ARRAY_H

#include "compile/fusion.h"
#include "ltensor.h"

/* Strides in elements. */
typedef struct lt_array {
    void *data;
    lt_dtype dtype;
    int ndim;
    const int64_t *sizes;
    const int64_t *strides;
    lt_device device;
    int base; /* of indices: 0 or 1 (0-based or 1-based) */
    /* Computes the elements, which are dense; NULL: they are in memory. Only where a function
     * documents it. */
    const lt_fused_producer *producer;
} lt_array;

#endif
