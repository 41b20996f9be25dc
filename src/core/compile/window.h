/* window.h - a stretch of a program in which elementwise ops are recorded instead of done
 * (torch.compile).
 *
 * An op that is recorded gives a tensor without memory (hollow.h), and keeps what it reads: a
 * pending value. It is computed, with all that it is made of, when somebody is about to look at its
 * memory, before memory that it reads is written, and when the window is closed. So nobody can tell
 * that it was not there, and the program is run as it stands: whatever it decides, prints or
 * changes happens each time. What is computed together is computed in few passes (evaluate.h), and
 * what nobody holds any more is not computed.
 *
 * A window belongs to a thread and to the context in which it was opened. Which values somebody
 * holds is known exactly once the collector of an interpreter has dropped its garbage, for which
 * closing and writing ask (lt_guest_class.tidy). Ops that are more than one kernel suspend the
 * window while their own code runs, which looks at memory as it pleases
 * (scripts/gen/autograd.lua). */
#ifndef LT_WINDOW_H
#define LT_WINDOW_H

#include "context/context.h"
#include "devices/chain.h"
#include "hollow.h"
#include "tensor.h"

typedef struct lt_window lt_window;

/* How many windows are open, of all threads. */
extern _Atomic int32_t lt_open_windows;

static inline bool lt_any_window(void)
{
    return __builtin_expect(atomic_load_explicit(&lt_open_windows, memory_order_relaxed) != 0, 0);
}

/* Records from now on what has at least so many elements. Within a window: that one goes on. */
lt_status lt_window_open(int64_t least);
/* The same, of values that no interpreter gets to see before it is closed. */
lt_status lt_window_open_within(int64_t least);
/* What is still held is computed now, where the next close is the last: a caller who knows that
 * nobody else holds anything asks before. */
lt_status lt_window_finish(void);
/* What is still held is computed. LT_ERR_MEMORY, LT_ERR_INTERRUPTED: it was not, and whoever reads
 * it is told so. The window is closed whatever happens. */
lt_status lt_window_close(void);

/* ---- recording ------------------------------------------------------------------------------- */

/* An elementwise op as lt_pointwise_run has found it. */
typedef struct lt_recorded {
    int op;
    lt_dtype compute, dtype; /* computed in, and of the result */
    lt_tensor *const *inputs;
    int n;
    const lt_scalar *params;
    int n_params, ndim;
    const int64_t *sizes;
    const lt_fused_gather *gather; /* of the input of a copy, on the host; NULL: none */
} lt_recorded;

/* *out stays NULL where the op is to be done at once: there is no window, it is suspended, or it
 * does not take such ops. */
lt_status lt_window_record(const lt_recorded *op, lt_tensor **out);

/* An op that may take elements as they are computed asks this instead of lt_refuse_hollow: pending
 * values stay pending. */
lt_status lt_window_spare(const char *op, const lt_tensor *t);

/* What an op does with a tensor whose elements are computed as it takes them; NULL: they are in
 * memory. */
typedef lt_status (*lt_feed_to)(const void *context, const lt_fed *fed);

/* Whether t is pending and may be fed to an op: in the order of its strides, which leave no
 * gaps. */
bool lt_window_feeds(const lt_tensor *t);
/* The same of an op whose kernels on the host take lines of so many elements: they lie one after
 * the other. */
bool lt_window_feeds_lines(const lt_tensor *t, int64_t length);
/* The same of softmax, its derivative and norms of rows, of GPUs as well. */
bool lt_window_feeds_rows(const lt_tensor *t, int64_t length);
/* t, of which that is so, is given to `take` as it is computed, with memory of its own only where
 * `keep` says that it will be read again. op: who takes it. */
lt_status lt_window_feed(const char *op, const lt_tensor *t, bool keep, lt_feed_to take,
                         const void *context);

/* Who is about to write t's memory asks: pending values that read it are computed. */
lt_status lt_window_write(const lt_tensor *t);
static inline lt_status lt_before_write(const lt_tensor *t)
{
    return __builtin_expect(atomic_load_explicit(&t->storage->readers, memory_order_relaxed) != 0,
                            0)
               ? lt_window_write(t)
               : LT_OK;
}

/* What the window takes at least; 0: there is none, or it is suspended. */
int64_t lt_window_least(void);

/* Everything that is pending on this thread is computed: before tensors go where nobody asks, and
 * before another stream of a GPU is the current one, or what is queued on one so far is waited for,
 * marked or recorded. */
lt_status lt_window_settle(void);

/* From here to the end of the block ops are done at once. */
static inline lt_window *lt_window_suspend(void)
{
    if (!lt_any_window()) return NULL;
    lt_window *outer = lt_here.window;
    lt_here.window = NULL;
    return outer;
}
static inline void lt_window_resume(lt_window *const *outer)
{
    if (__builtin_expect(*outer != NULL, 0)) lt_here.window = *outer;
}
#define LT_AT_ONCE()                                                                               \
    __attribute__((cleanup(lt_window_resume))) lt_window *const outer_window =                     \
        lt_window_suspend();                                                                       \
    (void)outer_window

/* ---- what was done --------------------------------------------------------------------------- */

/* One time that values were computed. */
typedef struct lt_window_note {
    const char *reason; /* the op that looked, "write", "limit" or "end" */
    int ops, steps;     /* recorded ones; those left when equal ones are merged */
    int passes;         /* over memory */
    int written;        /* values */
    int64_t elements;   /* of the largest */
    char where[64];     /* the line of the script, "" */
} lt_window_note;

/* Of the window that this thread closed last, in order; at most LT_WINDOW_NOTES are kept. *all: how
 * many there were. */
enum { LT_WINDOW_NOTES = 64 };
const lt_window_note *lt_window_notes(int *n, int64_t *all);
/* Why ops on a device were not recorded in that window; NULL: they were, or there was none. */
const char *lt_window_why_not(void);

#endif
