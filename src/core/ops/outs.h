/* outs.h - out= of ops with kernels that do not write to it: the finished results are copied to the
 * given tensors. */
#ifndef LT_OPS_OUTS_H
#define LT_OPS_OUTS_H

#include "error.h"
#include "tensor.h"

/* Copies n results (NULL: one that was not made) to as many tensors. Each is resized if its shape
 * differs, with a warning if it had elements; arguments of the op that share its memory have been
 * read before. If one of them cannot be written, none is: LT_ERR_TYPE if there are not n of them,
 * LT_ERR_RUNTIME if a result or an output requires grad, is dual or batched, an output has a dtype
 * to which the result cannot be cast, is on another device, or shares memory with itself or
 * another. */
lt_status lt_store_outs(const char *op, int n, lt_tensor *const *results,
                        const lt_tensor_list *outs);

/* The same for an op with positions among its results: LT_ERR_RUNTIME also if an output has another
 * dtype than its result. */
lt_status lt_store_exact_outs(const char *op, int n, lt_tensor *const *results,
                              const lt_tensor_list *outs);

#endif
