/* forward.h - one operation on dual tensors, for the functions that scripts/gen/forward.lua
 * generates.
 *
 *       lt_dual d = {0};
 *       LT_CHECK(lt_dual_open(&d, given, 2));   removes the highest level of all arguments
 *       ...                                     the operation on d.primal, terms of the tangent
 *       LT_CHECK(lt_dual_add(&d, &term));
 *       LT_CHECK(lt_dual_steal(&d, result));
 *   done:
 *       lt_dual_close(&d);
 *
 * An operation without a formula is transposed: its derivative is linear in the gradient, and the
 * gradient of that derivative by the gradient, in the direction of the tangents, is the tangent of
 * the result. This takes two passes of the operation's backward, over a graph of this operation
 * only. */
#ifndef LT_FORWARD_H
#define LT_FORWARD_H

#include "autograd/dual.h"

enum { LT_DUAL_ARGS = 13 };

typedef struct lt_dual {
    int level, n;
    bool transposing, grad_mode;      /* grad mode is on for a while; what it was */
    lt_tensor *primal[LT_DUAL_ARGS];  /* new references; NULL where there is no argument */
    lt_tensor *tangent[LT_DUAL_ARGS]; /* new references; NULL where the argument has none */
    lt_tensor *sum;                   /* of the terms so far */
} lt_dual;

lt_status lt_dual_open(lt_dual *d, lt_tensor *const *given, int n);
/* As lt_dual_open, at a level, for an op that writes the first argument: no primals, its tangent is
 * the one to write, and missing ones are zeros. *any: whether there is anything to do; without
 * `others`, only what is written counts. */
lt_status lt_dual_open_written(lt_dual *d, int level, lt_tensor *const *given, int n, bool others,
                               bool *any);
/* Zeros for the tangents that are missing. */
lt_status lt_dual_fill(lt_dual *d);
/* Takes *term over; NULL there: nothing is added. */
lt_status lt_dual_add(lt_dual *d, lt_tensor **term);
/* The sum of the terms becomes the result's tangent. */
lt_status lt_dual_steal(lt_dual *d, lt_tensor *result);
void lt_dual_close(lt_dual *d);

/* *result, which has a history of its own for the formula's sake, is replaced by itself without
 * one; its tangents stay. */
lt_status lt_dual_plain(lt_tensor **result);

/* The entries of a list. */
typedef struct lt_dual_pieces {
    lt_tensor_list primal, tangent; /* as many as the list had */
    int level;
} lt_dual_pieces;
/* As lt_dual_open and lt_dual_fill, of a list. */
lt_status lt_dual_open_list(lt_dual_pieces *p, const lt_tensor_list *given);
void lt_dual_close_list(lt_dual_pieces *p);

/* What an op of this name, whose result is like `result`, is asked to take the gradient of: *leaf,
 * and *grad made from it. Gradients are recorded from here until lt_dual_close. */
lt_status lt_dual_weight(lt_dual *d, const lt_tensor *result, bool conjugates, lt_tensor **leaf,
                         lt_tensor **grad);
/* Adds the term that the gradients (of the arguments at[i], of n; NULL where none was wanted)
 * say. */
lt_status lt_dual_transpose(lt_dual *d, const char *op, bool conjugates, lt_tensor *leaf,
                            lt_tensor **gradients, const int *at, int n);

/* In place: self as it is, for an op that saves it; a copy where a history is recorded. Then self
 * gets what the op made of it, with its tangents. */
lt_status lt_dual_before(lt_tensor *self, lt_tensor **out);
lt_status lt_replace_with(lt_tensor *self, lt_tensor *result);

/* "Trying to use forward AD with ... that does not support it". */
lt_status lt_refuse_dual(const char *op);
lt_status lt_refuse_dual_argument(const char *op, const char *argument);
lt_status lt_refuse_dual_out(const char *op);

#endif
