/* comm.h - collectives and messages between processes: worlds, groups of ranks, and works (pending
 * operations).
 *
 * A process opens a world once; it is bound to an engine (engine.h). With a threaded engine, the
 * progress thread makes all engine calls: operations are queued for it, and callers wait for their
 * work. Collectives of a group run one after another in the order of their calls; messages run
 * concurrently with them. Both are numbered per group.
 *
 * When a work exceeds its deadline, the rank requests the status of the other ranks of its group
 * (record.c). Any failure is reported to all ranks and fails the world: later operations fail with
 * the same message. Buffers that MPI still uses stay allocated. Calls in a child of fork() return
 * an error. */
#ifndef LT_COMM_H
#define LT_COMM_H

#include "ltensor.h"

typedef struct lt_world lt_world;
typedef struct lt_ranks lt_ranks; /* a group; owned by its world */
typedef struct lt_work lt_work;   /* reference counted */

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

/* The values of PyTorch's ReduceOp. */
typedef enum lt_comm_reduction {
    LT_COMM_SUM,
    LT_COMM_AVG,
    LT_COMM_PRODUCT,
    LT_COMM_MIN,
    LT_COMM_MAX,
    LT_COMM_BAND,
    LT_COMM_BOR,
    LT_COMM_BXOR,
    LT_REDUCTIONS
} lt_comm_reduction;

/* Arguments of an operation. Tensors are contiguous, in host memory and of one dtype; ranks are
 * ranks in the group. */
typedef struct lt_comm_call {
    lt_collective kind;
    const char *name;  /* name of the Lua function, for messages; static */
    lt_tensor *input;  /* NULL: none */
    lt_tensor *output; /* NULL: none; equal to input for in-place operations */
    int peer;          /* root, destination or source (-1: any source) */
    int tag;
    lt_comm_reduction reduction;
    const int64_t *given,
        *got;         /* LT_ALL_TO_ALL: elements to and from each rank; NULL: equal parts. Copied */
    const int *ranks; /* LT_NEW_GROUP: n_ranks of the world, ascending. Copied */
    int n_ranks;
    double timeout;    /* seconds; 0: the group's */
    bool compare_only; /* only compare the call across ranks: another engine executes it */
} lt_comm_call;

/* Opens the world of the process; backend is PyTorch's name, "mpi". The rank and size come from the
 * launcher; without a launcher, the world has one rank. Blocks until the other ranks have joined,
 * for max(timeout, 30) seconds. LT_ERR_DEVICE names a missing library and the package to install.
 */
lt_status lt_world_open(const char *backend, double timeout, lt_world **out);
/* Creates a world of `size` ranks within this process: out[r] is rank r. They have no progress
 * thread: a caller steps its own rank while it waits. Free each with lt_world_free. */
lt_status lt_worlds_fake(int size, double timeout, lt_world **out);
/* Frees a world of lt_worlds_fake. */
void lt_world_free(lt_world *world);

/* all_reduce uses the engine's own reduction where it supports the dtype; its order is the
 * engine's. Set the same value on all ranks, before the first all_reduce. */
void lt_world_set_native(lt_world *world, bool native);
int lt_world_rank(const lt_world *world);
int lt_world_size(const lt_world *world);
const char *lt_world_engine(const lt_world *world);
bool lt_world_debug(const lt_world *world);
/* True if the world has no progress thread: waiting callers must call lt_world_step. */
bool lt_world_inline(const lt_world *world);
/* The group of all ranks. */
lt_ranks *lt_world_ranks(lt_world *world);

/* Steps a world without progress thread once; otherwise does nothing. */
void lt_world_step(lt_world *world);

int lt_ranks_size(const lt_ranks *group);
/* This rank's rank in the group; -1: not a member. */
int lt_ranks_me(const lt_ranks *group);
/* Converts a rank in the group to a rank in the world. */
int lt_ranks_global(const lt_ranks *group, int rank);
/* Default timeout of the group's later operations. */
void lt_ranks_set_timeout(lt_ranks *group, double seconds);

/* New reference: a queued work. Arguments that lib/distributed validates are not checked again. */
lt_status lt_work_begin(lt_ranks *group, const lt_comm_call *call, lt_work **out);
lt_work *lt_work_retain(lt_work *work);
void lt_work_release(lt_work *work);
/* Whether the work has ended; *status is its result. */
bool lt_work_ended(lt_work *work, lt_status *status);
/* Waits for the work. LT_ERR_RUNTIME with the reason if it has failed, or not ended after `seconds`
 * (0: its own timeout). The context's interrupt stops the wait. */
lt_status lt_work_wait(lt_work *work, double seconds);
/* Times of begin and end, by lt_clock; *ended 0: still running. */
void lt_work_times(lt_work *work, double *begun, double *ended);
/* LT_RECV: the sender. LT_NEW_GROUP: the group, NULL if this rank is not a member. */
int lt_work_from(const lt_work *work);
lt_ranks *lt_work_group(const lt_work *work);
int64_t lt_work_sequence(const lt_work *work);
/* The reason of the failure: several lines, including the error of lt_work_wait. Valid as long as
 * the work. */
const char *lt_work_reason(const lt_work *work);

/* Sets RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT from the
 * launcher's variables, unless they are set. */
void lt_comm_environment(void);

/* One line: this rank's current and recent operations. */
void lt_world_describe(lt_world *world, char *buffer, size_t n);

#endif
