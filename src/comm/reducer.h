/* reducer.h - what nn.parallel.DistributedDataParallel does for every parameter in every backward:
 * gradients are copied into buckets as they come, and it is known which buckets are full. When to
 * begin, the operations between ranks and all messages are lib/distributed/reducer.lua's, which is
 * told of the few things that happen once a backward or once a bucket.
 *
 * Parameters count from 0 and have one place for good, buckets are made anew when their order is
 * known better. They are full in their order on every rank, whichever comes first. Used by one
 * thread at a time, the one that runs backward. */
#ifndef LT_REDUCER_H
#define LT_REDUCER_H

#include "ltensor.h"

typedef struct lt_reducer lt_reducer;

typedef enum lt_reducer_event {
    LT_REDUCER_FIRST, /* the first gradient of a backward */
    LT_REDUCER_FULL,  /* lt_reducer_full has grown */
    /* parameter `number` has a gradient once more than it is waited for: to be refused */
    LT_REDUCER_TWICE
} lt_reducer_event;

/* Whom the hooks tell. */
typedef struct lt_reducer_owner {
    lt_status (*tell)(void *ctx, lt_reducer_event event, int number);
    void *ctx;
} lt_reducer_owner;

/* Of n leaves, which it holds and hooks until lt_reducer_close. as_view: their gradients become
 * views of the buckets. */
lt_status lt_reducer_new(lt_tensor *const *parameters, int n, bool as_view, lt_reducer_owner owner,
                         lt_reducer **out);
/* Takes the hooks away and lets go; the owner is told of nothing more. */
void lt_reducer_close(lt_reducer *r);

/* Other buckets, and none of a backward's gradients is there: the parameters in the order of the
 * buckets, which have `counts` of them each; views[i], the part of its bucket that parameter
 * places[i] has. */
lt_status lt_reducer_set_buckets(lt_reducer *r, int n_buckets, const int *counts, const int *places,
                                 lt_tensor *const *views);

/* Before a backward. expecting: its gradients are looked at. */
void lt_reducer_reset(lt_reducer *r, bool expecting);
/* From now on: gradients are only counted, and the order of the first ones is kept. */
void lt_reducer_count_only(lt_reducer *r, bool on);
/* Of how many times a parameter gets its gradient in a backward (0: never, and then it may come),
 * what has been counted. */
void lt_reducer_keep_counts(lt_reducer *r);

/* All that the parameter's gradient gets on this rank is in it; without one it is zeros. */
lt_status lt_reducer_ready(lt_reducer *r, int place);
/* Puts what the bucket holds into the gradients of its parameters. used: a number for each
 * parameter, 0: it gets none; NULL: all do. */
lt_status lt_reducer_take(lt_reducer *r, int bucket, const int64_t *used);

bool lt_reducer_expects(const lt_reducer *r);
int lt_reducer_parameters(const lt_reducer *r);
int lt_reducer_buckets(const lt_reducer *r);
/* How many of the first buckets are full. */
int lt_reducer_full(const lt_reducer *r);
/* How many parameters are not ready. */
int lt_reducer_left(const lt_reducer *r);
bool lt_reducer_is_ready(const lt_reducer *r, int place);
/* How often its gradient has come. */
int lt_reducer_seen(const lt_reducer *r, int place);
/* The parameters in the order in which they became ready, where only counted in which they came; *n
 * of them. */
const int *lt_reducer_order(const lt_reducer *r, int *n);

#endif
