/* dual.h - forward mode: tensors that carry tangents, the derivatives of their elements in a
 * direction.
 *
 * A level is one differentiation; lt_tls.duals says how many are open on this thread, and a
 * wrapper of an op asks no more than that where none is. A tensor has a tangent of its own size,
 * dtype and device at some of the levels; a tangent may have tangents at the levels below. An op
 * with such arguments is done by a function that scripts/gen/forward.lua makes: the highest level
 * is taken off the arguments, the op is done on what remains, and the level's tangent of the result
 * follows from the op's formula (forward.h). So the formula's ops see the lower levels, and reverse
 * mode records both, and no level is confused with another.
 *
 * Tangents are kept with the tensor (internal.h). A view's tangent is a view of its base's, made by
 * the same op: what is written into one is seen in the other. A level that is closed takes its
 * tangents from all tensors. What saves a tensor for backward saves its tangents (lt_dual_share),
 * so that the gradients of dual tensors are dual. */
#ifndef LT_DUAL_H
#define LT_DUAL_H

#include "autograd/autograd.h"

enum { LT_MAX_DUALS = 16 };

/* A level begins on this thread; they count from 0. */
lt_status lt_dual_enter(int *level);
/* The last one ends; LT_ERR_RUNTIME where another is meant. */
lt_status lt_dual_leave(int level);

/* The highest open level at which t has a tangent, -1 where there is none. NULL is allowed. */
int lt_dual_level_of(const lt_tensor *t);
static inline bool lt_is_dual(const lt_tensor *t) { return lt_dual_level_of(t) >= 0; }
bool lt_any_dual(const lt_tensor_list *list);

/* Whether derivatives of what is computed from t may be asked for: an implementation that takes a
 * shortcut without any asks this. */
static inline bool lt_is_differentiated(const lt_tensor *t)
{
    return (lt_grad_mode_on() && lt_requires_grad(t)) || (lt_tls.duals != 0 && lt_is_dual(t));
}

/* New reference: t's tangent at an open level, NULL where it has none. Of a batched tensor it is
 * batched alike. */
lt_status lt_tangent_of(lt_tensor *t, int level, lt_tensor **out);
/* As lt_tangent_of, to be written: zeros that t has from now on where there was none. */
lt_status lt_tangent_to_write(lt_tensor *t, int level, lt_tensor **out);
/* t's tangent at the level, as it is; NULL: none, whatever its base has. Takes over the
 * reference. */
lt_status lt_tangent_set_steal(lt_tensor *t, int level, lt_tensor *tangent);
/* New reference: `made`, or a copy of it that belongs to t alone and lies as t does: what t's
 * tangent has to be, if it is no view. */
lt_status lt_tangent_fitted(lt_tensor *t, lt_tensor *made, lt_tensor **out);

/* New references: a view of primal with a tangent; what a dual tensor is without the level, and its
 * tangent (NULL: it has none). Batched tensors show all their levels here. */
lt_status lt_make_dual(lt_tensor *primal, lt_tensor *tangent, int level, lt_tensor **out);
lt_status lt_unpack_dual(lt_tensor *t, int level, lt_tensor **primal, lt_tensor **tangent);

/* to, which has t's geometry, gets the tangents of t. */
lt_status lt_dual_share(lt_tensor *t, lt_tensor *to);
/* New reference: t without its history, and its tangents without theirs, where there are any;
 * `leaf`: the tangents as they are. */
lt_status lt_dual_detach(lt_tensor *t, bool leaf, lt_tensor **out);

/* t goes. */
void lt_tangents_free(lt_tensor *t);

#endif
