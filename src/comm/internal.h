/* internal.h - what the files of src/comm share: the structs behind comm.h.
 *
 * One thread, the one that steps a world, calls its engine and reads and writes what is marked "the
 * stepping thread's". What others write too is under the world's lock. A work is counted: by its
 * owner and, from its beginning to its end, by the world. */
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

#define LT_COMM_TEXT 4096 /* bytes of a message, with its end */
#define LT_COMM_KEPT 16   /* operations that the flight recorder keeps */

typedef enum lt_work_state {
    LT_WORK_QUEUED,
    LT_WORK_ACTIVE,
    LT_WORK_DONE,
    LT_WORK_FAILED
} lt_work_state;

struct lt_work {
    _Atomic int refs;
    _Atomic int state; /* lt_work_state; written last */
    lt_ranks *group;
    lt_comm_call call; /* holds references to its tensors */
    int64_t sequence;
    double begun, deadline, ended; /* lt_clock */
    lt_status status;
    char *text;               /* of the failure */
    int from;                 /* the message's sender, in the group */
    lt_ranks *made;           /* the new group */
    lt_work *next;            /* the queue's, then the group's */
    struct lt_record *record; /* the entry of this number, unless others have come since */
    int64_t number;

    /* steps.c: the stepping thread's */
    int phase;
    int64_t position, segment; /* elements; of messages bytes */
    lt_engine_request *request;
    void *scratch;
    size_t scratch_capacity;
    int64_t *parts;    /* four for each rank: the arguments of one step */
    const void **rows; /* of a reduction: what each rank has given */
};

/* What the flight recorder keeps of a work. */
typedef struct lt_record {
    char what[160]; /* "all_reduce (sequence 3, Float [4])" */
    int64_t number; /* of the world's works, from 1; 0: nothing */
    double begun, ended;
    lt_work_state state;
} lt_record;

struct lt_ranks {
    lt_world *world;
    lt_engine_group *group;
    int id, n, me;
    int *ranks;
    double timeout;
    int64_t sequence, messages; /* given so far; under the lock */
    lt_work *first, *last;      /* collectives: the stepping thread's */
    lt_work *aside;             /* messages under way: the stepping thread's */
    lt_ranks *next;
};

/* What a rank knows of another. */
typedef struct lt_peer {
    double left;  /* when it said that it ends; 0: it has not */
    int status;   /* its exit status */
    char *answer; /* to the last question */
} lt_peer;

struct lt_world {
    const lt_engine *engine;
    lt_engine_world *inner;
    int rank, size;
    bool detail; /* TORCH_DISTRIBUTED_DEBUG=DETAIL */
    bool native; /* all_reduce is the engine's own, where it has it */
    pid_t process;
    pthread_t thread;
    lt_fork_entry fork;
    pthread_mutex_t lock;
    pthread_cond_t given, changed; /* for the thread; for those who wait */

    /* under the lock */
    bool joined, gone; /* the thread has joined; has ended */
    _Atomic bool ending;
    _Atomic int waiting; /* threads that wait for a work */
    int exit_status;
    lt_status failed; /* of joining, or of everything from now on */
    char reason[LT_COMM_TEXT];
    lt_work *incoming, *incoming_last;
    lt_record records[LT_COMM_KEPT];
    int64_t n_records;

    /* the stepping thread's */
    lt_ranks all, *others;
    int n_groups;
    lt_peer *peers;
    lt_work *stranded; /* have failed while the engine had their memory */
    lt_work *culprit;  /* whose failure is the world's; to be compared, not read */
    lt_work *late;     /* a question about it is out */
    double asked;
};

/* steps.c: goes as far as there is no need to wait. *moved: something has happened. */
lt_status lt_work_step(lt_work *work, bool *moved, bool *done);
/* work.c: gives back what only steps need. */
void lt_work_settle(lt_work *work);

/* reduce.c: whether there is such a reduction of the dtype; else the error. */
lt_status lt_check_reduction(lt_comm_reduction reduction, lt_dtype dtype);
/* out[i] = rows[0][i] op rows[1][i] op ... of n rows, of which one may be `out`. Sums of half types
 * are of floats. */
void lt_reduce_rows(lt_comm_reduction reduction, lt_dtype dtype, const void *const *rows, int n,
                    int64_t count, void *out);

/* Of float32 or float64. */
void lt_divide_row(lt_dtype dtype, void *row, int64_t count, int by);

/* record.c */
void lt_record_begin(lt_world *world, lt_work *work);
void lt_record_end(lt_world *world, lt_work *work, lt_work_state state);
/* "all_reduce (sequence 3, Float [4])" */
void lt_work_describe(const lt_work *work, char *buffer, size_t n);

/* control.c: what ranks tell each other when something goes wrong. */
/* Reads the notes that have come. True: another rank has given up, for this reason (LT_COMM_TEXT bytes);
 * there may be more notes. */
bool lt_control_poll(lt_world *world, bool *moved, char *reason);
/* Whether all of the work's group have answered, or the time for it is over; asks them first. */
bool lt_control_query_ranks(lt_world *world, lt_work *work, double now);
/* The answers, a line for each rank. */
void lt_control_format_replies(lt_world *world, lt_work *work, char *buffer, size_t n);
void lt_control_broadcast(lt_world *world, char kind, const char *text);
/* The first rank of the group that has left long enough ago; -1: none has. */
int lt_control_first_exited(const lt_world *world, const lt_work *work, double now);

/* A pass over all that is under way; whether something happened. */
bool lt_world_pass(lt_world *world);

/* ranks.c: fills g; ranks NULL: all n of the world. */
lt_status lt_ranks_fill(lt_ranks *g, lt_world *world, lt_engine_group *group, const int *ranks,
                        int n);
/* A new group; *out NULL where this rank is not in it. */
lt_status lt_ranks_make(lt_world *world, const int *ranks, int n, lt_ranks **out);

/* engines.c: the engine of the launcher, or the error that says what is missing. */
lt_status lt_engine_of_launcher(const lt_engine **out);
/* The rank and the size that the launcher says; false: there is none. */
bool lt_launcher_rank(int *rank, int *size);
/* Where it says nothing: the error if others were started beside this process all the same. */
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
/* of an operation that nobody waits for any more */
void lt_fake_request_free(lt_engine_request *request);

#endif
