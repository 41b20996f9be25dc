/* context.h - struct lt_context, the settings, limits and callbacks of one user of the library, and
 * lt_tls, the state of the calling thread.
 *
 * A thread starts in the process context, which all threads share and which never ends;
 * lt_context_enter switches to another. Counters and settings are atomic, since several threads may
 * work in one context and any thread may free memory. Every object that is charged to a context
 * holds a reference to it (lt_context_hold), so that the counters outlive a storage. Callbacks are
 * constant after creation; those of the process context while no operation runs
 * (lt_context_process_configure).
 *
 * Grad mode is read by every operation, so it is stored in lt_tls. Entering a context restores the
 * mode that was set when a thread last left it; the process context has one mode per thread. */
#ifndef LT_CONTEXT_H
#define LT_CONTEXT_H

#include <stdatomic.h>

#include "fork.h"
#include "ltensor.h"
#include "print/print_options.h"
#include "random/generator.h"
#include "system/threads.h"

#define LT_MAX_DEVICES 64 /* per device type */

/* Bits of lt_context.flags. */
enum {
    LT_CONTEXT_INTERRUPTED = 1, /* lt_context_interrupt */
    LT_CONTEXT_LATE = 2,        /* the deadline has passed */
    LT_CONTEXT_PROGRESS = 4,    /* the progress callback is due */
    LT_CONTEXT_UP = 7,          /* mask polled by long operations */
    LT_CONTEXT_LIMITED = 8      /* there is a limit of host memory: small tensors count as well */
};

/* Values of lt_context.ready. A stale generator is seeded again before its next use. */
enum { LT_GENERATOR_ABSENT, LT_GENERATOR_STALE, LT_GENERATOR_SEEDED };

/* Bytes on the host or on a device. peak: the maximum of live since its last reset. */
typedef struct lt_use {
    _Atomic int64_t live, limit, peak;
} lt_use;

/* Indices into lt_context.use. */
#define LT_USE_HOST          0
#define LT_USE_DEVICE(index) ((index) + 1)
#define LT_USES              (LT_MAX_DEVICES + 1)

/* Indices into lt_context.allocated. */
enum { LT_PACE_HOST, LT_PACE_DEVICES, LT_PACES };

/* The header of a module's data for one context. run frees the data when the context ends; the
 * calling thread is then in another context. */
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
    _Atomic int threads; /* 0: default, not yet computed */
    /* saved by the last thread that left the context; unused in the process context */
    _Atomic bool grad_mode, inference;
    _Atomic bool anomaly, tf32, exact_convolutions, without_cudnn, deterministic,
        deterministic_warns;
    _Atomic int attention_without; /* bit mask of disabled lt_attention_algorithm */
    lt_print_options print;        /* torch.set_printoptions */
    _Atomic int sync_mode;         /* copies.h */

    /* memory */
    /* total scaled bytes (memory/pressure.h) of all allocations on the host and on devices, less the
     * bytes freed by let_go; pace Lua's collector */
    _Atomic uint64_t allocated[LT_PACES];
    lt_use use[LT_USES];

    /* from the host's configuration */
    void *user;
    void (*release)(void *user);
    bool (*authorize)(void *user, int access, const char *name);
    void (*log)(void *user, int level, const char *text);
    bool (*progress)(void *user);
    double progress_seconds;

    /* protected by the lock of watch.c */
    double deadline;        /* on lt_clock; INFINITY: none */
    _Atomic double seconds; /* the deadline as requested */
    double next_progress;
    lt_context *next_watched;
    bool watched;

    lt_fork_entry fork;
    pthread_mutex_t lock; /* protects the members below */

    /* copies.c: the ledger */
    struct lt_copy_entry *copies;
    int64_t n_copies, room_for_copies;
    _Atomic int show_copies; /* 0: as the environment sets it, 1: on, -1: off */

    /* random.c */
    uint64_t seed;
    uint8_t ready[1 + LT_MAX_DEVICES]; /* LT_GENERATOR_*; the CPU's first */
    lt_generator generators[1 + LT_MAX_DEVICES];
};

/* Callbacks of the interpreter that called core. */
typedef struct lt_host_binding_class {
    int first; /* the first position: 0 or 1, of dimensions and indices (user_index.h) */
    /* collects garbage; called after a failed allocation, before it is retried */
    void (*reclaim)(void *ctx);
    /* drops recent garbage, as far as that is fast */
    void (*tidy)(void *ctx);
    /* the position in the user's code, "train.lua:31" or "" */
    void (*origin)(void *ctx, char *buffer, size_t n);
} lt_host_binding_class;
typedef struct lt_host_binding {
    const lt_host_binding_class *class; /* NULL: no interpreter */
    void *ctx;
} lt_host_binding;

/* The state of a thread. */
typedef struct lt_thread {
    lt_context *context;
    bool grad_mode;
    bool inference; /* new tensors are inference tensors (autograd/autograd.h) */
    /* the modes of the process context while the thread is in another */
    bool process_grad_mode, process_inference;
    bool helper;         /* works for another thread: never calls a callback of the host */
    bool profiles_calls; /* a recording of the host also records calls of lt_<op> (profile.h) */
    /* number of nested vmap calls, and LT_BATCHES_LEFT (ops/batch/batch.h) */
    uint8_t batches;
    uint8_t duals; /* number of open levels of forward mode (autograd/dual.h) */
    /* NULL: tensors saved for backward are not packed (autograd/autograd.h) */
    struct lt_saved_hooks *saved_hooks;
    /* NULL: tensors saved for backward are not copied before a write (autograd/saved_copies.h) */
    struct lt_saved_copies *saved_copies;
    uint64_t last_node;        /* sequence number of the newest node (autograd/autograd.h) */
    struct lt_graph *backward; /* of the running backward; NULL: none (autograd/graph.h) */
    /* records elementwise ops; NULL: they run at once (compile/trace.h) */
    struct lt_trace *trace;
    struct lt_trace *open_trace; /* the same while it is suspended */
    struct lt_budget *budget;    /* of the file that this thread is loading; NULL: none */
    lt_host_binding binding;     /* of the innermost entry */
} lt_thread;
extern _Thread_local lt_thread lt_tls;
/* &lt_tls, for a function that uses it several times: in a shared library, each use of lt_tls is a
 * call. */
static inline lt_thread *lt_this_thread(void)
{
    lt_thread *here = &lt_tls;
    __asm__("" : "+r"(here)); /* else the compiler computes the address again at each use */
    return here;
}

/* In lt_thread.batches: tensors of a vmap that has ended still exist. An op that receives one
 * raises an error. */
enum { LT_BATCHES_LEFT = 0x80 };
static inline int lt_batch_depth(void) { return lt_tls.batches & ~LT_BATCHES_LEFT; }

extern lt_context lt_process_context;

/* Initializes the fields of a new context in zeroed memory. */
void lt_context_init(lt_context *c);

/* Adds a reference for a charged object; nothing for the process context. */
static inline void lt_context_hold(lt_context *c)
{
    if (c != &lt_process_context) atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
}

/* Registers ending->run to be called when the context ends. Lock-free. */
void lt_context_on_end(lt_context *c, lt_context_ending *ending);

static inline void lt_context_drop(lt_context *c)
{
    if (c != &lt_process_context &&
        atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) == 1)
        c->free(c);
}

/* The previous context of a thread, to be restored by lt_context_return. */
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

/* Calls the context's authorizer before access to a file, process, device or library.
 * LT_ERR_PERMISSION: "not permitted: ...". */
lt_status lt_refuse_access(int access, const char *name);
static inline bool lt_has_authorizer(void)
{
    return __builtin_expect(lt_tls.context->authorize != NULL, 0);
}
static inline lt_status lt_authorize(int access, const char *name)
{
    return lt_has_authorizer() ? lt_refuse_access(access, name) : LT_OK;
}

/* Writes a line, without its newline, to the context's log, or to stderr if there is none. */
void lt_log_line(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
