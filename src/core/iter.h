/* iter.h - the iterator of elementwise ops, reductions, copies and indexing, like PyTorch's
 * TensorIterator.
 *
 * It stores byte strides of up to LT_ITER_OPERANDS tensors over one broadcast shape. Dimension 0 is
 * the innermost. Construction sorts the dimensions so that the output (then the inputs) is
 * traversed in memory order, drops dimensions of size 1 and merges dimensions that are contiguous
 * to each other, so that a contiguous case always has ndim <= 1. Operand 0 is the output. Backends
 * may read every field. Plain data: it borrows the tensors. Included by backends, so it includes
 * only ltensor.h. */
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
    /* the input is a single number in host memory, but the output is on another device */
    bool host_scalar[LT_ITER_OPERANDS];
    /* every operand dense in the same order, or a single repeated element (stride 0) */
    bool contiguous;
} lt_iter;

/* Describes an operand without a tensor. Plain data: it borrows sizes and strides, which are in
 * elements, outermost first. data: the first element. */
typedef struct lt_iter_array {
    lt_dtype dtype;
    lt_device device;
    int ndim;
    const int64_t *sizes, *strides;
    char *data;
} lt_iter_array;

/* Elementwise iteration: inputs are broadcast to out's shape (out->sizes is final). Fails only if
 * an input cannot be broadcast. operands[0] is the output. */
lt_status lt_iter_elementwise(lt_iter *it, lt_tensor *const *operands, int n);

/* The same for arrays. */
lt_status lt_iter_arrays(lt_iter *it, const lt_iter_array *operands, int n);

/* Reduction of in over the dims set in mask (bit d = in's dimension d). out has in's rank with size
 * 1 in the reduced dims, or is the reduced tensor without them (keepdim either way). In the result
 * the reduced dimensions come first (innermost); *reduced_dims is their number after merging. */
lt_status lt_iter_reduce(lt_iter *it, lt_tensor *out, lt_tensor *in, uint32_t mask,
                         int *reduced_dims);

/* General: shape and element strides per operand are arguments (outermost first, ndim <=
 * LT_MAX_DIMS); sorts and merges. Used by indexing, gather and scatter. */
void lt_iter_strided(lt_iter *it, lt_tensor *const *operands, int n, int ndim, const int64_t *sizes,
                     const int64_t *const *strides);

/* Converts to dtypes of kernels that only move elements. Complex operands become their parts, with
 * a new innermost dimension of 2, in which the other operands have stride 0; LT_ERR_RUNTIME if that
 * exceeds LT_MAX_DIMS. Unsigned and float8 elements become integers of their size. */
lt_status lt_iter_for_moving(lt_iter *it);

/* The broadcast shape of n tensors; PyTorch's error if they do not match. */
lt_status lt_broadcast_shape(lt_tensor *const *tensors, int n, int *ndim, int64_t *sizes);

/* PyTorch's strides (in elements) of the result of an elementwise op on inputs of broadcast shape
 * sizes: the strides of the inputs if these are dense and all equal; else dense, with the
 * dimensions in the memory order of the inputs, earlier inputs first. All ops use this function. */
lt_status lt_result_strides(lt_tensor *const *inputs, int n, int ndim, const int64_t *sizes,
                            int64_t *strides);

#endif
