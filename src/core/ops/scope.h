/* scope.h - the temporaries of a formula of ops, and its first failure (compose.h). Included by
 * generated steps (step/<name>.h). */
#ifndef LT_OPS_SCOPE_H
#define LT_OPS_SCOPE_H

#include "tensor.h"

#define LT_SCOPE_TENSORS 48

typedef struct lt_scope {
    lt_status status;
    int n;
    bool records, recorded_before, together;
    uint64_t made; /* bit i: held[i] was made by its step; otherwise it is another reference */
    lt_tensor *held[LT_SCOPE_TENSORS];
} lt_scope;

/* records: for autograd. In an op's implementation pass LT_COMPOSITE(its name), from its header:
 * whether the op was declared as composed of other differentiable ops. */
void lt_scope_open(lt_scope *s, bool records);
#define LT_COMPOSITE(name) LT_COMPOSITE_##name
/* The same for a formula with elementwise steps of the size of `like`: if this is so large, on the
 * host, that memory bandwidth limits them, they are fused when the scope is closed
 * (compile/trace.h). */
void lt_scope_open_together(lt_scope *s, bool records, const lt_tensor *like);
/* Frees the temporaries; returns the status of the formula. A result that is a view of a temporary
 * is then a tensor without a base. */
lt_status lt_scope_close(lt_scope *s);
/* Closes; on success *out is a new reference to result. */
lt_status lt_scope_return(lt_scope *s, lt_tensor *result, lt_tensor **out);
/* Closes; on success stores result as lt_output does (copies it if *out holds a tensor of other
 * memory). */
lt_status lt_scope_store(lt_scope *s, lt_tensor *result, lt_tensor **out);
/* The memory of a result with out=, for its last step: a view of *out in the sizes `view` (NULL: its
 * own), which have as many elements as the result's sizes. Resizes *out as lt_output does. NULL
 * without a given tensor, or if it has another dtype or gaps: lt_scope_store then copies. */
lt_tensor *lt_scope_target(lt_scope *s, lt_tensor *const *out, lt_dtype dtype, lt_device device,
                           const lt_dims *sizes, const lt_dims *view);
/* Stores result as lt_scope_store does; the scope stays open. */
void lt_scope_put(lt_scope *s, lt_tensor *result, lt_tensor **out);
/* Records the outcome of a step: steals t, also if the step or an earlier one has failed (a failed
 * step leaves NULL), and returns it; NULL after a failure. */
lt_tensor *lt_scope_hold(lt_scope *s, lt_status status, lt_tensor *t);

#endif
