/* pending.h - values that were recorded and are not yet computed: what window.c keeps and
 * evaluate.c computes. Only they include it. */
#ifndef LT_PENDING_H
#define LT_PENDING_H

#include "devices/chain.h"
#include "hollow.h"
#include "tensor.h"

enum { LT_WINDOW_MOST = 256 }; /* values that are pending in a window */

/* Lives as long as its storage is hollow. The tensors that it reads are its own (lt_tensor_alias):
 * the program may change those that it gave. A storage's `readers` counts how many of these lie in
 * it; it is held by somebody else when it has more references than readers. */
typedef struct lt_pending {
    lt_absence absence;
    struct lt_window *window;          /* NULL: it was given up */
    struct lt_pending *before, *after; /* in the window, in the order of recording */
    lt_storage *storage;               /* that is hollow for it; not counted */
    int op, n, n_params;
    lt_dtype compute, dtype;
    lt_tensor *inputs[LT_CHAIN_INPUTS];
    lt_scalar params[LT_CHAIN_PARAMS];
    lt_fused_gather gather; /* of its input; read NULL: none */
    int ndim;               /* of the result: dense, from the start of its storage */
    int64_t numel, sizes[LT_MAX_DIMS], strides[LT_MAX_DIMS];
    bool passed; /* computed once on the way to others; the next time its memory is kept */

    /* while evaluate.c works */
    bool wanted;      /* asked for */
    bool needed;      /* the same, or read by what is needed */
    bool written;     /* to memory */
    int group, value; /* which chain, which of its values */
} lt_pending;

struct lt_window {
    lt_context *context; /* held */
    lt_pending *first, *last;
    int n, depth;
    int64_t least;
    bool within; /* an op: no garbage of an interpreter holds values */
};

/* The pending value that is to fill the storage; NULL: none. */
lt_pending *lt_pending_of(const lt_storage *s);

/* The last value of the window, for a result that was promised memory: it lives as long as that is
 * hollow. Its inputs are aliased. */
lt_status lt_pending_new(struct lt_window *w, lt_tensor *result, const lt_pending *facts,
                         lt_tensor *const *inputs);

/* Whether anybody but pending values holds it. */
static inline bool lt_is_held(const lt_storage *s)
{
    return atomic_load_explicit(&s->refs, memory_order_relaxed) >
           atomic_load_explicit(&s->readers, memory_order_relaxed);
}

/* p's storage has got its memory: p and what it reads go. */
void lt_pending_done(lt_pending *p);

/* p will not be computed: what it reads goes, and it stays for as long as its storage does. */
void lt_pending_give_up(lt_pending *p);

#endif
