/* reducer.h - gradient buckets of nn.parallel.DistributedDataParallel: hooks copy the gradients
 * into buckets during backward and detect full buckets. lib/distributed/reducer.lua starts the
 * collectives and raises the errors; it is called once per backward and once per bucket.
 *
 * Parameters have fixed indices from 0; buckets are rebuilt when a better order is known. Buckets
 * become full in index order on every rank, independently of the order of the gradients. Not
 * thread-safe: used by the thread that runs backward. */
#ifndef LT_REDUCER_H
#define LT_REDUCER_H

#include "ltensor.h"

typedef struct lt_reducer lt_reducer;

typedef enum lt_reducer_event {
    LT_REDUCER_FIRST, /* the first gradient of a backward */
    LT_REDUCER_FULL,  /* the result of lt_reducer_full has increased */
    /* parameter `number` has received more gradients than expected: an error */
    LT_REDUCER_TWICE
} lt_reducer_event;

/* Callback for events. */
typedef struct lt_reducer_owner {
    lt_status (*tell)(void *ctx, lt_reducer_event event, int number);
    void *ctx;
} lt_reducer_owner;

/* New reducer of n leaves; retains and hooks them until lt_reducer_close. as_view: their gradients
 * become views of the buckets. */
lt_status lt_reducer_new(lt_tensor *const *parameters, int n, bool as_view, lt_reducer_owner owner,
                         lt_reducer **out);
/* Removes the hooks and releases the reducer; no more events follow. */
void lt_reducer_close(lt_reducer *r);

/* Replaces the buckets and discards a backward in progress. Bucket b has counts[b] parameters;
 * places lists the parameters of all buckets in order, and views[i] is the slice of a bucket for
 * parameter places[i]. Retains the views. */
lt_status lt_reducer_set_buckets(lt_reducer *r, int n_buckets, const int *counts, const int *places,
                                 lt_tensor *const *views);

/* Before each backward. expecting: the hooks process its gradients. */
void lt_reducer_reset(lt_reducer *r, bool expecting);
/* Counting mode: gradients are only counted, and the order of first arrivals is recorded. */
void lt_reducer_count_only(lt_reducer *r, bool on);
/* Stores the counts as the expected number of gradients per parameter and backward. A parameter
 * with count 0 may still receive one. */
void lt_reducer_keep_counts(lt_reducer *r);

/* Marks the parameter ready: its gradient is final on this rank and is copied into its bucket;
 * zeros if it has none. */
lt_status lt_reducer_ready(lt_reducer *r, int place);
/* Copies the bucket into the gradients of its parameters. used: one number per parameter, 0: its
 * gradient stays unchanged; NULL: all are written. */
lt_status lt_reducer_take(lt_reducer *r, int bucket, const int64_t *used);

bool lt_reducer_expects(const lt_reducer *r);
int lt_reducer_parameters(const lt_reducer *r);
int lt_reducer_buckets(const lt_reducer *r);
/* Number of leading full buckets. */
int lt_reducer_full(const lt_reducer *r);
/* Number of parameters that are not ready. */
int lt_reducer_left(const lt_reducer *r);
bool lt_reducer_is_ready(const lt_reducer *r, int place);
/* Gradients received in this backward. */
int lt_reducer_seen(const lt_reducer *r, int place);
/* Parameters in the order in which they became ready (in counting mode: received their first
 * gradient); *n of them. */
const int *lt_reducer_order(const lt_reducer *r, int *n);

#endif
