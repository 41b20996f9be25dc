/* inner.h - the call made by a batching rule: a copy of the outer one with its own tensors. */
#ifndef LT_OPS_BATCH_INNER_H
#define LT_OPS_BATCH_INNER_H

#include "batch.h"

/* A second call; it owns its tensors. */
typedef struct lt_batch_inner {
    lt_batch_call call;
    lt_tensor **held;
    int64_t n, room;
} lt_batch_inner;

lt_status lt_batch_inner_open(lt_batch_inner *in, const lt_batch_call *c);
/* Releases the tensors; the call may be filled in again. */
void lt_batch_inner_release(lt_batch_inner *in);
void lt_batch_inner_close(lt_batch_inner *in);

typedef lt_status (*lt_batch_change)(lt_tensor *t, void *context, lt_tensor **out);

/* Replaces each tensor of the inner call by f of the outer call's tensor. Absent ones stay absent.
 */
lt_status lt_batch_each_tensor(lt_batch_inner *in, const lt_batch_call *c, lt_batch_change f,
                               void *context);

void lt_batch_release_results(lt_batch_call *c);

/* Runs the inner call and moves its results to c, hidden at the level. An in-place op has none. */
lt_status lt_batch_finish(lt_batch_inner *in, lt_batch_call *c, int level);

#endif
