/* outs.h - out= of ops whose kernels do not write it: the results, once they are there, are copied
 * to the tensors given. */
#ifndef LT_OPS_OUTS_H
#define LT_OPS_OUTS_H

#include "error.h"
#include "tensor.h"

/* Copies n results (NULL: one that was not made) to as many tensors. Each is resized where it has
 * another shape, with a warning if it had elements; where the op's arguments lie in it they have
 * been read before. Nothing is written when one of them cannot be: LT_ERR_TYPE when there are not n
 * of them, LT_ERR_RUNTIME when a result or an output requires grad, is dual or batched, an output
 * has a dtype that the result cannot be cast to, is on another device, or shares memory with itself
 * or another. */
lt_status lt_store_outs(const char *op, int n, lt_tensor *const *results,
                        const lt_tensor_list *outs);

/* The same for an op with positions among its results: LT_ERR_RUNTIME also when an output has
 * another dtype than its result. */
lt_status lt_store_exact_outs(const char *op, int n, lt_tensor *const *results,
                              const lt_tensor_list *outs);

#endif
