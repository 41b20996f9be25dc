/* comm.h - operations between processes: worlds of ranks, groups of them, and the work that they
 * are given.
 *
 * A world is opened once in a process and belongs to an engine (engine.h). Where the engine is
 * threaded one thread, the progress thread, makes all of its calls: work is queued for it, and
 * whoever wants the result waits. Work of a group begins in the order in which it was given, one
 * after another; messages go beside. Each has a sequence number in its group.
 *
 * When a rank's work is late, or fails, it asks all others what they do (record.h), tells them that
 * it has given up, and the world has failed: all that is given to it from then on fails with the
 * same words. What MPI still has of memory stays allocated. What runs in a child of fork() is
 * refused. */
#ifndef LT_COMM_H
#define LT_COMM_H

#include "ltensor.h"

typedef struct lt_world lt_world;
typedef struct lt_ranks lt_ranks; /* a group; belongs to its world */
typedef struct lt_work lt_work;   /* counted */

typedef enum lt_collective {
    LT_BARRIER,
    LT_BROADCAST,
    LT_ALL_REDUCE,
    LT_REDUCE,
    LT_ALL_GATHER,
    LT_REDUCE_SCATTER,
    LT_GATHER,
    LT_SCATTER,
    LT_ALL_TO_ALL,
    LT_SEND,
    LT_RECV,
    LT_NEW_GROUP
} lt_collective;

/* As PyTorch counts ReduceOp. */
typedef enum lt_comm_reduction {
    LT_REDUCE_SUM,
    LT_REDUCE_AVG,
    LT_REDUCE_PRODUCT,
    LT_REDUCE_MIN,
    LT_REDUCE_MAX,
    LT_REDUCE_BAND,
    LT_REDUCE_BOR,
    LT_REDUCE_BXOR,
    LT_REDUCTIONS
} lt_comm_reduction;

/* What a rank asks for. Tensors are contiguous, on the host and of one dtype; ranks are numbers in
 * the group. */
typedef struct lt_comm_call {
    lt_collective kind;
    const char *name;  /* the function's, for messages. Static */
    lt_tensor *input;  /* what this rank gives; NULL: nothing */
    lt_tensor *output; /* what it gets; NULL: nothing. The same as input where both are */
    int peer;          /* the root, or whom a message is to or from (-1: from whomever) */
    int tag;
    lt_comm_reduction reduction;
    const int64_t *given,
        *got; /* LT_ALL_TO_ALL: elements for each rank and from each; NULL: equal parts. Copied */
    const int *ranks; /* LT_NEW_GROUP: n_ranks of the world, ascending. Copied */
    int n_ranks;
    double timeout;    /* seconds; 0: the group's */
    bool compare_only; /* ends after the ranks compared the call: another engine does the rest */
} lt_comm_call;

/* What PyTorch calls a backend: "mpi". The world of the process, joined by the launcher's word;
 * alone when there was no launcher. LT_ERR_DEVICE: what is missing and what to install. Waits for
 * the other ranks, `timeout` seconds at most, or 30. */
lt_status lt_world_open(const char *backend, double timeout, lt_world **out);
/* Worlds of one rank each that are ranks of one world in this process; whoever waits for one looks
 * after it alone. To be freed. */
lt_status lt_worlds_fake(int size, double timeout, lt_world **out);
/* Frees one of lt_worlds_fake. */
void lt_world_free(lt_world *world);

/* all_reduce is the engine's own where it has one for the dtype, in an order of its own: set before
 * the first, on all ranks alike. */
void lt_world_set_native(lt_world *world, bool native);
int lt_world_rank(const lt_world *world);
int lt_world_size(const lt_world *world);
const char *lt_world_engine(const lt_world *world);
bool lt_world_debug(const lt_world *world);
/* Whether what is waited for must be looked after by whoever waits. */
bool lt_world_inline(const lt_world *world);
/* The group of all. */
lt_ranks *lt_world_ranks(lt_world *world);

/* Looks after a world that is not threaded, once. */
void lt_world_step(lt_world *world);

int lt_ranks_size(const lt_ranks *group);
/* This rank's number in the group; -1: it is not in it. */
int lt_ranks_me(const lt_ranks *group);
/* The number in the world of a number in the group. */
int lt_ranks_global(const lt_ranks *group, int rank);
/* Of this group, from now on. */
void lt_ranks_set_timeout(lt_ranks *group, double seconds);

/* New reference: work that is queued. Checks nothing that lib/distributed has checked. */
lt_status lt_work_begin(lt_ranks *group, const lt_comm_call *call, lt_work **out);
lt_work *lt_work_retain(lt_work *work);
void lt_work_release(lt_work *work);
/* Whether it has ended, and if so how. */
bool lt_work_ended(lt_work *work, lt_status *status);
/* Waits; LT_ERR_RUNTIME with the reasons when it has failed, or has not ended after `seconds` (0:
 * its own timeout); the context's interrupt. */
lt_status lt_work_wait(lt_work *work, double seconds);
/* When it was given and when it has ended (0: not yet), by lt_clock. */
void lt_work_times(lt_work *work, double *begun, double *ended);
/* Of what was received: from whom. Of a new group: the group, NULL where this rank is not in it. */
int lt_work_from(const lt_work *work);
lt_ranks *lt_work_group(const lt_work *work);
int64_t lt_work_sequence(const lt_work *work);
/* Why it has failed: several lines, that of lt_work_wait's error among them. Lives as long as the
 * work. */
const char *lt_work_reason(const lt_work *work);

/* Sets RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT by the
 * launcher's variables, where they are not set. */
void lt_comm_environment(void);

/* What this rank does now, and what it did last: one line. */
void lt_world_describe(lt_world *world, char *buffer, size_t n);

#endif
