/* internal.h - internal header of src/comm: the structs behind comm.h.
 *
 * One thread per world, the stepping thread, calls the engine; it alone accesses the fields marked
 * "stepping thread". Fields that other threads also write are protected by the world's lock. A work
 * is reference counted: its owner holds one reference, and the world one until the work has ended.
 */
#ifndef LT_COMM_INTERNAL_H
#define LT_COMM_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "comm.h"
#include "context/fork.h"
#include "engine.h"
#include "error.h"
#include "tensor.h"

#define LT_COMM_TEXT 4096 /* bytes of an error message, with the terminating zero */
#define LT_COMM_KEPT 16   /* entries of the flight recorder */

typedef enum lt_work_state {
    LT_WORK_QUEUED,
    LT_WORK_ACTIVE,
    LT_WORK_DONE,
    LT_WORK_FAILED
} lt_work_state;

struct lt_work {
    _Atomic int refs;
    _Atomic int state; /* lt_work_state; store-release after all results */
    lt_ranks *group;
    lt_comm_call call; /* holds references to its tensors */
    int64_t sequence;
    double begun, deadline, ended; /* lt_clock */
    lt_status status;
    char *text;               /* error message */
    int from;                 /* rank in the group of a received message's sender */
    lt_ranks *made;           /* LT_NEW_GROUP: the result */
    lt_work *next;            /* link of world->incoming, then of its group's list */
    struct lt_record *record; /* entry in the ring; reused if its number differs from `number` */
    int64_t number;

    /* steps.c, stepping thread */
    int phase;
    int64_t position, segment; /* in elements; LT_BROADCAST, LT_SEND, LT_RECV: in bytes */
    lt_engine_request *request;
    void *scratch;
    size_t scratch_capacity;
    int64_t *parts;    /* 4 * n: byte counts and offsets of one exchange */
    const void **rows; /* reductions: the n rows to reduce, by rank */
};

/* An entry of the flight recorder: one work. */
typedef struct lt_record {
    char what[160]; /* "all_reduce (sequence 3, Float [4])" */
    int64_t number; /* counts the world's works from 1; 0: unused entry */
    double begun, ended;
    lt_work_state state;
} lt_record;

struct lt_ranks {
    lt_world *world;
    lt_engine_group *group;
    int id, n, me;
    int *ranks;
    double timeout;
    int64_t sequence, messages; /* last numbers used; under the lock */
    lt_work *first, *last;      /* collectives, FIFO; stepping thread */
    lt_work *aside;             /* active messages; stepping thread */
    lt_ranks *next;
};

/* State of another rank, from its control messages. */
typedef struct lt_peer {
    double left;  /* lt_clock of its END message; 0: none received */
    int status;   /* its exit status */
    char *answer; /* to the last status request; NULL: none */
} lt_peer;

struct lt_world {
    const lt_engine *engine;
    lt_engine_world *inner;
    int rank, size;
    bool detail; /* TORCH_DISTRIBUTED_DEBUG=DETAIL */
    bool native; /* all_reduce uses the engine's reduction if it has one */
    pid_t process;
    pthread_t thread;
    lt_fork_entry fork;
    pthread_mutex_t lock;
    pthread_cond_t given, changed; /* wake the stepping thread; wake waiters */

    /* protected by lock */
    bool joined, gone; /* the progress thread has joined; has ended */
    _Atomic bool ending;
    _Atomic int waiting; /* threads in lt_work_wait */
    int exit_status;
    lt_status failed; /* status of join; after a failure, of every work */
    char reason[LT_COMM_TEXT];
    lt_work *incoming, *incoming_last;
    lt_record records[LT_COMM_KEPT];
    int64_t n_records;

    /* stepping thread */
    lt_ranks all, *others;
    int n_groups;
    lt_peer *peers;
    lt_work *stranded; /* failed while the engine still uses their buffers */
    lt_work *culprit;  /* the work that failed the world; only compared, may be freed */
    lt_work *late;     /* the work that the open status request is about */
    double asked;
};

/* steps.c: runs steps until one has to wait for the engine. *moved is set if a request completed or
 * a step ran. */
lt_status lt_work_step(lt_work *work, bool *moved, bool *done);
/* work.c: frees the scratch memory. */
void lt_work_settle(lt_work *work);

/* reduce.c: LT_OK if the reduction supports the dtype, else an error. */
lt_status lt_check_reduction(lt_comm_reduction reduction, lt_dtype dtype);
/* out[i] = rows[0][i] op rows[1][i] op ... over n rows in order; `out` may be one of them. Half
 * types are accumulated in float. */
void lt_reduce_rows(lt_comm_reduction reduction, lt_dtype dtype, const void *const *rows, int n,
                    int64_t count, void *out);

/* row[i] /= by, for float32 and float64. */
void lt_divide_row(lt_dtype dtype, void *row, int64_t count, int by);

/* record.c */
void lt_record_begin(lt_world *world, lt_work *work);
void lt_record_end(lt_world *world, lt_work *work, lt_work_state state);
/* "all_reduce (sequence 3, Float [4])" */
void lt_work_describe(const lt_work *work, char *buffer, size_t n);

/* control.c: control messages, which ranks exchange after a timeout or a failure. */
/* Processes received control messages. Returns true when another rank reports a failure; reason
 * (LT_COMM_TEXT bytes) is set, and more messages may be pending. */
bool lt_control_poll(lt_world *world, bool *moved, char *reason);
/* Requests the status of all ranks of the work's group, once. Returns true when all have replied or
 * the wait for replies has timed out. */
bool lt_control_query_ranks(lt_world *world, lt_work *work, double now);
/* Formats the replies, one line per rank. */
void lt_control_format_replies(lt_world *world, lt_work *work, char *buffer, size_t n);
void lt_control_broadcast(lt_world *world, char kind, const char *text);
/* The first rank of the group that ended more than a second ago; -1: none. */
int lt_control_first_exited(const lt_world *world, const lt_work *work, double now);

/* Steps every active work once. Returns whether any of them made progress. */
bool lt_world_pass(lt_world *world);

/* ranks.c: initializes g; ranks NULL: all n ranks of the world. */
lt_status lt_ranks_fill(lt_ranks *g, lt_world *world, lt_engine_group *group, const int *ranks,
                        int n);
/* Creates a group on all ranks of the world; *out is NULL if this rank is not in it. */
lt_status lt_ranks_make(lt_world *world, const int *ranks, int n, lt_ranks **out);

/* engines.c: the engine for the launcher, or an error that names the missing package. */
lt_status lt_engine_of_launcher(const lt_engine **out);
/* Rank and size from the launcher's environment variables; false: no launcher. */
bool lt_launcher_rank(int *rank, int *size);
/* Without a launcher: an error if Slurm started more than one process. */
lt_status lt_launcher_alone(void);

/* fake.c */
extern const lt_engine lt_fake_engine;
typedef struct lt_fake_hub lt_fake_hub;
typedef struct lt_fake_rank {
    lt_fake_hub *hub;
    int rank;
} lt_fake_rank;
lt_fake_hub *lt_fake_hub_new(int size);
void lt_fake_world_free(lt_engine_world *world);
/* Frees the request of an abandoned operation. */
void lt_fake_request_free(lt_engine_request *request);

#endif
