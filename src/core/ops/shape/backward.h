/* backward.h - what the generated wrappers (scripts/gen/autograd.lua) call besides ops and
 * autograd.h.
 *
 * The derivatives of ops that take a list of tensors: they fill results[i], new references, where
 * needs[i]. Derivatives that give one tensor are declared in src/ops and have names like
 * _select_backward. */
#ifndef LT_OPS_BACKWARD_H
#define LT_OPS_BACKWARD_H

#include <string.h>

#include "autograd/autograd.h"

/* grad's parts along dim, in the shapes that the joined tensors had. */
lt_status lt_cat_backward(lt_tensor *grad, int64_t n, const lt_like *likes, int64_t dim,
                          lt_tensor **results, const bool *needs);
/* grad's entries along dim; likes are not needed but given, so that both have one form. */
lt_status lt_stack_backward(lt_tensor *grad, int64_t n, const lt_like *likes, int64_t dim,
                            lt_tensor **results, const bool *needs);

/* The error of an out= variant that would have to be differentiated. */
lt_status lt_refuse_out(const char *op);

/* release_saved of nodes that save no tensor. */
void lt_release_nothing(lt_node *node);

static inline lt_dims lt_dims_from(int n, const int64_t *v)
{
    lt_dims dims = {.n = n};
    memcpy(dims.v, v, (size_t)n * sizeof *v);
    return dims;
}

#endif
