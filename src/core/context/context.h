/* context.h - what belongs to one user of the library and used to be the process's: the struct
 * lt_context, and in which one this thread works.
 *
 * A thread begins in the process's own context, which every thread shares and which never ends;
 * lt_context_enter puts it into another. Counters and settings are atomic, since several threads
 * may work in one context and memory may be given back by any. What counts against a context holds
 * a reference to it (lt_context_hold), so that the numbers of a storage that outlives it have a
 * place to go. Callbacks never change once the context is made.
 *
 * Grad mode is read by every operation: it lies in lt_tls, with the thread. Entering a context
 * takes the mode that the context was left with; the process's context has one per thread. */
#ifndef LT_CONTEXT_H
#define LT_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>

#include "fork.h"
#include "ltensor.h"
#include "print/print_options.h"
#include "random/generator.h"

#define LT_MAX_DEVICES 64 /* of a type */

/* Bits of lt_context.flags. */
enum {
    LT_CONTEXT_INTERRUPTED = 1, /* lt_context_interrupt */
    LT_CONTEXT_LATE = 2,        /* the deadline has passed */
    LT_CONTEXT_PROGRESS = 4,    /* the progress callback is due */
    LT_CONTEXT_UP = 7,          /* what long operations look at */
    LT_CONTEXT_LIMITED = 8      /* there is a limit of host memory: small tensors count as well */
};

/* Values of lt_context.ready. A stale generator is seeded again before its next use. */
enum { LT_GENERATOR_ABSENT, LT_GENERATOR_STALE, LT_GENERATOR_SEEDED };

/* Bytes on the host or on a device. peak: the most that were live since it was asked for last. */
typedef struct lt_use {
    _Atomic int64_t live, limit, peak;
} lt_use;

/* Places of lt_context.use. */
#define LT_USE_HOST          0
#define LT_USE_DEVICE(index) ((index) + 1)
#define LT_USES              (LT_MAX_DEVICES + 1)

/* A module's data that belong to a context: its first member. run frees them when the context
 * ends; the thread works in another context then. */
typedef struct lt_context_ending {
    void (*run)(struct lt_context_ending *self);
    struct lt_context_ending *next;
} lt_context_ending;

struct lt_context {
    _Atomic uint32_t flags;
    _Atomic int32_t refs;
    void (*free)(lt_context *c); /* when the last reference is dropped */
    _Atomic(lt_context_ending *) endings;

    /* settings */
    _Atomic int default_dtype;
    _Atomic int threads; /* 0: not asked for yet */
    /* as the thread had them that left last; not the process's context */
    _Atomic bool grad_mode, inference;
    _Atomic bool anomaly, tf32, exact_convolutions, without_cudnn, deterministic,
        deterministic_warns;
    _Atomic int
        attention_without;  /* a bit for each lt_attention_algorithm that is not to be used */
    lt_print_options print; /* torch.set_printoptions */
    _Atomic int sync_mode;  /* copies.h */

    /* memory */
    /* scaled bytes (memory/pressure.h) of all allocations, less those that let_go freed; paces Lua's
     * collector */
    _Atomic uint64_t allocated;
    lt_use use[LT_USES];

    /* what the host gave */
    void *user;
    void (*release)(void *user);
    bool (*authorize)(void *user, int access, const char *name);
    void (*log)(void *user, int level, const char *text);
    bool (*progress)(void *user);
    double progress_seconds;

    /* watch.c: under its lock */
    double deadline;        /* on lt_clock; INFINITY: none */
    _Atomic double seconds; /* as the deadline was asked for */
    double next_progress;
    lt_context *next_watched;
    bool watched;

    lt_fork_entry fork;
    pthread_mutex_t lock; /* of what follows */

    /* copies.c: the ledger */
    struct lt_copy_entry *copies;
    int64_t n_copies, room_for_copies;
    _Atomic int show_copies; /* 0: as the environment has it, 1: on, -1: off */

    /* random.c */
    uint64_t seed;
    uint8_t ready[1 + LT_MAX_DEVICES]; /* LT_GENERATOR_SEEDED and the like; the CPU's first */
    lt_generator generators[1 + LT_MAX_DEVICES];
};

/* The interpreter that has called core. */
typedef struct lt_host_binding_class {
    int first; /* what it calls the first of several: dimensions, indices (user_index.h) */
    /* memory has run out: called before an allocation is tried again */
    void (*reclaim)(void *ctx);
    /* drops what has lately become garbage, as far as that is quick */
    void (*tidy)(void *ctx);
    /* where the user's code is, "train.lua:31" or "" */
    void (*origin)(void *ctx, char *buffer, size_t n);
} lt_host_binding_class;
typedef struct lt_host_binding {
    const lt_host_binding_class *class; /* NULL: there is none */
    void *ctx;
} lt_host_binding;

/* This thread. */
typedef struct lt_thread {
    lt_context *context;
    bool grad_mode;
    bool inference; /* new tensors are inference tensors (autograd/autograd.h) */
    /* of the process's context, while the thread is in another */
    bool process_grad_mode, process_inference;
    bool helper; /* works for another thread: it calls nobody back */
    /* how many calls of vmap are going on, and LT_BATCHES_LEFT (ops/batch/batch.h) */
    uint8_t batches;
    uint8_t duals; /* how many levels of forward mode are open (autograd/dual.h) */
    /* NULL: what is saved for backward is kept as it is (autograd/autograd.h) */
    struct lt_saved_hooks *saved_hooks;
    /* NULL: what is saved for backward is not copied before it is written
     * (autograd/saved_copies.h) */
    struct lt_saved_copies *saved_copies;
    uint64_t last_node;        /* sequence of the last node that was made (autograd/autograd.h) */
    struct lt_graph *backward; /* of the backward that runs; NULL: none does (autograd/graph.h) */
    /* what elementwise ops are recorded in; NULL: they are done at once (compile/trace.h) */
    struct lt_trace *trace;
    struct lt_trace *open_trace; /* the same while it is suspended */
    struct lt_budget *budget;    /* of the file that this thread loads; NULL: it loads none */
    lt_host_binding binding;     /* of the innermost entry */
} lt_thread;
extern _Thread_local lt_thread lt_tls;

/* In lt_thread.batches: tensors of a vmap that has ended are still there. An op that meets one says
 * so. */
enum { LT_BATCHES_LEFT = 0x80 };
static inline int lt_batch_depth(void) { return lt_tls.batches & ~LT_BATCHES_LEFT; }

extern lt_context lt_process_context;

/* A new context has its fields; memory full of zeros is given. */
void lt_context_init(lt_context *c);

/* A reference for what is counted, if the context can end. */
static inline void lt_context_hold(lt_context *c)
{
    if (c != &lt_process_context) atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
}

/* Has ending->run called when the context ends. Takes no lock. */
void lt_context_on_end(lt_context *c, lt_context_ending *ending);

static inline void lt_context_drop(lt_context *c)
{
    if (c != &lt_process_context &&
        atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) == 1)
        c->free(c);
}

/* The thread works in another context until lt_context_return is given what was before. */
typedef struct lt_context_outer {
    lt_context *context;
    bool grad_mode, inference;
} lt_context_outer;

static inline lt_context_outer lt_context_visit(lt_context *c)
{
    const lt_context_outer outer = {lt_tls.context, lt_tls.grad_mode, lt_tls.inference};
    if (outer.context != c) {
        const bool process = c == &lt_process_context;
        if (outer.context == &lt_process_context)
            lt_tls.process_grad_mode = outer.grad_mode, lt_tls.process_inference = outer.inference;
        lt_tls.context = c;
        lt_tls.grad_mode = process ? lt_tls.process_grad_mode
                                   : atomic_load_explicit(&c->grad_mode, memory_order_relaxed);
        lt_tls.inference = process ? lt_tls.process_inference
                                   : atomic_load_explicit(&c->inference, memory_order_relaxed);
    }
    return outer;
}

static inline void lt_context_return(lt_context_outer outer)
{
    lt_context *c = lt_tls.context;
    if (outer.context == c) return;
    if (c == &lt_process_context) {
        lt_tls.process_grad_mode = lt_tls.grad_mode, lt_tls.process_inference = lt_tls.inference;
    } else {
        atomic_store_explicit(&c->grad_mode, lt_tls.grad_mode, memory_order_relaxed);
        atomic_store_explicit(&c->inference, lt_tls.inference, memory_order_relaxed);
    }
    lt_tls.context = outer.context;
    lt_tls.grad_mode = outer.grad_mode;
    lt_tls.inference = outer.inference;
}

/* Asks the context before a file, a process, a device or a library is touched. LT_ERR_PERMISSION:
 * "not permitted: ...". */
lt_status lt_refuse_access(int access, const char *name);
static inline bool lt_has_authorizer(void)
{
    return __builtin_expect(lt_tls.context->authorize != NULL, 0);
}
static inline lt_status lt_authorize(int access, const char *name)
{
    return lt_has_authorizer() ? lt_refuse_access(access, name) : LT_OK;
}

/* A line for the user, without its end: to the context's log, or stderr. */
void lt_log_line(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
