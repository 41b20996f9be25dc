/* backward.h - functions for the generated wrappers (scripts/gen/autograd.lua), besides ops and
 * autograd.h.
 *
 * The derivatives of ops with a list of tensors: they fill results[i], new references, where
 * needs[i]. Derivatives with one result are declared in src/ops and have names like
 * _select_backward. */
#ifndef LT_OPS_BACKWARD_H
#define LT_OPS_BACKWARD_H

#include <string.h>

#include "autograd/autograd.h"

/* Splits grad along dim into the shapes of the joined tensors. */
lt_status lt_cat_backward(lt_tensor *grad, int64_t n, const lt_like *likes, int64_t dim,
                          lt_tensor **results, const bool *needs);
/* Splits grad into its entries along dim; likes are unused, for the same signature. */
lt_status lt_stack_backward(lt_tensor *grad, int64_t n, const lt_like *likes, int64_t dim,
                            lt_tensor **results, const bool *needs);

/* The error of an out= variant with an argument that requires grad. */
lt_status lt_refuse_out(const char *op);

/* release_saved for nodes that save no tensor. */
void lt_release_nothing(lt_node *node);

static inline lt_dims lt_dims_from(int n, const int64_t *v)
{
    lt_dims dims = {.n = n};
    memcpy(dims.v, v, (size_t)n * sizeof *v);
    return dims;
}

#endif
