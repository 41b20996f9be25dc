/* iter.h - the one iterator that elementwise ops, reductions, copies and indexing go through.
 *
 * It holds byte strides of up to LT_ITER_OPERANDS tensors over one broadcast shape. Dimension 0 is
 * the innermost. Building sorts the dimensions so that the output (then the inputs) are walked in
 * memory order, drops dimensions of size 1 and merges those that can be walked as one, so that a
 * contiguous case always ends as ndim <= 1. Operand 0 is the output. Backends may read every field.
 * Plain data, no ownership: it borrows the tensors. Included by backends, so it includes only
 * ltensor.h. */
#ifndef LT_ITER_H
#define LT_ITER_H

#include "ltensor.h"

#define LT_ITER_OPERANDS 10

typedef struct lt_iter {
    int ndim; /* after merging; 0 for a single element */
    int operands;
    int64_t numel;              /* product of sizes; for reductions: of the input */
    int64_t sizes[LT_MAX_DIMS]; /* innermost first */
    /* bytes; 0 where broadcast (or reduced, output) */
    int64_t strides[LT_ITER_OPERANDS][LT_MAX_DIMS];
    char *data[LT_ITER_OPERANDS];
    lt_dtype dtype[LT_ITER_OPERANDS];
    lt_device device; /* of the output; inputs of 0 dims may be on the CPU (see host_scalar) */
    /* this input is one number in host memory on another device */
    bool host_scalar[LT_ITER_OPERANDS];
    /* every operand dense in the same order, or a single repeated element (stride 0) */
    bool contiguous;
} lt_iter;

/* The facts of an operand in memory that no tensor owns. Plain data: it borrows sizes and strides,
 * which count elements, outermost first. data: the first element. */
typedef struct lt_iter_array {
    lt_dtype dtype;
    lt_device device;
    int ndim;
    const int64_t *sizes, *strides;
    char *data;
} lt_iter_array;

/* Elementwise: inputs are broadcast to out's shape (out->sizes is final). Fails only when an input
 * cannot be broadcast. operands[0] is the output. */
lt_status lt_iter_elementwise(lt_iter *it, lt_tensor *const *operands, int n);

/* The same of arrays. */
lt_status lt_iter_arrays(lt_iter *it, const lt_iter_array *operands, int n);

/* Reduction of in over the dims set in mask (bit d = in's dimension d). out has in's rank with size
 * 1 in the reduced dims, or is the reduced tensor without them (keepdim either way). In the result
 * the reduced dimensions come first (innermost) and reduced_dims says how many there are after
 * merging. */
lt_status lt_iter_reduce(lt_iter *it, lt_tensor *out, lt_tensor *in, uint32_t mask,
                         int *reduced_dims);

/* General: the caller gives the shape and element strides per operand (outermost first, ndim <=
 * LT_MAX_DIMS); sorts and merges. Used by indexing, gather and scatter. */
void lt_iter_strided(lt_iter *it, lt_tensor *const *operands, int n, int ndim, const int64_t *sizes,
                     const int64_t *const *strides);

/* As kernels that move elements want it. Complex operands as their parts: a new innermost dimension
 * of 2, along which the others repeat; LT_ERR_RUNTIME where there is no room for it. Elements of an
 * unsigned dtype as integers of their size. */
lt_status lt_iter_for_moving(lt_iter *it);

/* Broadcast shape of n tensors; PyTorch's message when they do not fit. */
lt_status lt_broadcast_shape(lt_tensor *const *tensors, int n, int *ndim, int64_t *sizes);

/* Strides (elements) of the result of an elementwise op on inputs of broadcast shape sizes,
 * PyTorch's: dense, the dimensions in the order in which the inputs lie, the first input weighing
 * first. Those of the inputs when all have the same and are dense. The one place that decides
 * this. */
lt_status lt_result_strides(lt_tensor *const *inputs, int n, int ndim, const int64_t *sizes,
                            int64_t *strides);

#endif
