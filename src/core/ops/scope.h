/* scope.h - the temporaries of a formula of ops, and its first failure (compose.h). What a
 * generated step (step/<name>.h) includes. */
#ifndef LT_OPS_SCOPE_H
#define LT_OPS_SCOPE_H

#include "tensor.h"

#define LT_SCOPE_TENSORS 48

typedef struct lt_scope {
    lt_status status;
    int n;
    bool records, recorded_before, together;
    lt_tensor *held[LT_SCOPE_TENSORS];
} lt_scope;

/* records: for autograd. In an op's implementation LT_COMPOSITE(its name), which its header says:
 * whether it was declared to be made of other differentiable ops. */
void lt_scope_open(lt_scope *s, bool records);
#define LT_COMPOSITE(name) LT_COMPOSITE_##name
/* The same, of a formula whose elementwise steps are computed together when the scope is closed
 * (compile/trace.h) if `like`, as large as they are, is so large on the host that memory is what
 * they would wait for. */
void lt_scope_open_together(lt_scope *s, bool records, const lt_tensor *like);
/* Releases the temporaries; the status of the formula. */
lt_status lt_scope_close(lt_scope *s);
/* Closes; on success *out is a new reference to result. */
lt_status lt_scope_return(lt_scope *s, lt_tensor *result, lt_tensor **out);
/* Closes; on success result is stored as lt_output has it (copied where *out holds a tensor). */
lt_status lt_scope_store(lt_scope *s, lt_tensor *result, lt_tensor **out);
/* Enters the outcome of a step: takes over t, also where the step or one before it has failed (a
 * step that fails leaves NULL), and returns it; NULL after a failure. */
lt_tensor *lt_scope_hold(lt_scope *s, lt_status status, lt_tensor *t);

#endif
