/* deferred_value.h - recorded values that are not evaluated yet. Included only by the files that
 * store them (deferred_value.c, trace.c) and evaluate them (evaluate.c). */
#ifndef LT_DEFERRED_VALUE_H
#define LT_DEFERRED_VALUE_H

#include "deferred.h"
#include "fusion.h"
#include "tensor.h"

enum { LT_TRACE_MAX = 256 }; /* per trace; the next op first evaluates all referenced values */

/* Owned by its storage while that is deferred. Its inputs are aliases (lt_tensor_alias), since the
 * program may change its own tensors. Invariant: a storage's `readers` is the number of inputs of
 * deferred values that use it. If it has more references, other code holds them. */
typedef struct lt_deferred {
    lt_deferral deferral;
    struct lt_trace *trace;             /* NULL: abandoned, cannot be evaluated */
    struct lt_deferred *before, *after; /* in the trace, in the order of recording */
    lt_storage *storage;                /* borrowed */
    int op, n, n_params;
    lt_dtype compute, dtype;
    lt_tensor *inputs[LT_FUSED_INPUTS];
    lt_scalar params[LT_FUSED_PARAMS];
    lt_fused_gather gather; /* of the input; read NULL: none */
    int ndim;               /* of the result: dense, from the start of the storage */
    int64_t numel, sizes[LT_MAX_DIMS], strides[LT_MAX_DIMS];
    bool passed; /* was computed without being written; if needed again, it is written */

    /* scratch of evaluate.c */
    bool wanted;      /* evaluation was requested */
    bool needed;      /* wanted, or an input of a needed value */
    bool written;     /* to memory */
    int group, value; /* index of the fusion group, and of its value */
} lt_deferred;

struct lt_trace {
    lt_context *context; /* held */
    lt_deferred *first, *last;
    int n, depth;
    int64_t least;
    bool within;    /* opened by an op, so an interpreter's garbage holds no values */
    bool generates; /* GPU kernels, although it is opened by an op */
    /* Called with each group before it runs, and with the input tensor of each value (NULL: the
     * value is computed); NULL: no observer. */
    void (*observe)(void *observer, const lt_fusion *fusion, const lt_tensor *const *read);
    void *observer;
};

/* The deferred value of a storage; NULL: none. */
lt_deferred *lt_deferred_of(const lt_storage *s);

/* New deferred value at the end of the trace, for a result without memory. It is owned by the
 * result's storage and stores aliases of the inputs. */
lt_status lt_deferred_new(struct lt_trace *w, lt_tensor *result, const lt_deferred *facts,
                          lt_tensor *const *inputs);

/* Whether code other than deferred values holds a reference to s. */
static inline bool lt_is_held(const lt_storage *s)
{
    return atomic_load_explicit(&s->refs, memory_order_relaxed) >
           atomic_load_explicit(&s->readers, memory_order_relaxed);
}

/* Called when p's storage has memory: frees p and releases its inputs. */
void lt_deferred_done(lt_deferred *p);

/* Abandons p, which will not be evaluated: releases its inputs. */
void lt_deferred_give_up(lt_deferred *p);

#endif
