/* engine.h - what core knows of an engine that carries bytes between processes: one table of
 * functions.
 *
 * src/comm/mpi fills one for each MPI, as a library that is opened when a script asks for it;
 * src/comm/fake.c fills one for worlds that live in one process. An engine knows no tensors: it
 * moves bytes of host memory and never waits for another rank, but in join, group and leave. All
 * its functions are called by one thread of a process (comm.h). What it is given stays where it is
 * until test says that the request is done. Engines include this file and ltensor.h, and call core
 * only through lt_engine_services. */
#ifndef LT_ENGINE_H
#define LT_ENGINE_H

#include "ltensor.h"

/* To be raised with every change of this file. */
#define LT_ENGINE_INTERFACE 2

typedef struct lt_engine_world lt_engine_world;     /* all ranks */
typedef struct lt_engine_group lt_engine_group;     /* some of them, numbered from 0 in the group */
typedef struct lt_engine_request lt_engine_request; /* what has been begun */

/* What one rank gives to each of a group, or gets from each: bytes, and where they lie, by rank. */
typedef struct lt_engine_parts {
    const int64_t *bytes, *at;
} lt_engine_parts;

typedef struct lt_engine_services {
    lt_status (*error)(lt_status status, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
} lt_engine_services;

enum { LT_ENGINE_ANY = -1 }; /* a message from whomever */
/* bytes of a message, of a broadcast and of a reduction of its own at most */
enum { LT_ENGINE_MESSAGE = 1 << 30 };
enum { LT_ENGINE_CONTROL = 2048 }; /* bytes of a note at most */

typedef struct lt_engine {
    const char *name; /* "openmpi" */
    bool threaded;    /* others are waited for: a thread makes the calls. Else whoever waits does */
    /* Makes this process a rank of the world that its launcher began, or the one that `where`
     * says. */
    lt_status (*join)(void *where, lt_engine_world **world, int *rank, int *size);
    /* All are about to end: nothing more is begun. */
    lt_status (*leave)(lt_engine_world *world);

    /* A group of the n ranks; NULL where this one is not among them. All ranks of the world call
     * it, in one order. */
    lt_status (*group)(lt_engine_world *world, const int *ranks, int n, lt_engine_group **group);

    /* Collectives: all ranks of a group begin the same ones in the same order. */
    lt_status (*barrier)(lt_engine_group *group, lt_engine_request **request);
    lt_status (*broadcast)(lt_engine_group *group, void *data, int64_t bytes, int root,
                           lt_engine_request **request);
    /* Each gives `bytes` bytes to all; data NULL: they lie where they belong in `to` already. */
    lt_status (*all_gather)(lt_engine_group *group, const void *data, int64_t bytes, void *to,
                            lt_engine_parts parts, lt_engine_request **request);
    lt_status (*all_to_all)(lt_engine_group *group, const void *data, lt_engine_parts given,
                            void *to, lt_engine_parts got, lt_engine_request **request);

    /* Reductions of its own, in an order of its own, of what lies in data; reduction: as ReduceOp
     * counts, never the mean. Both NULL: it has none. */
    bool (*reduces)(lt_dtype dtype, int reduction);
    lt_status (*all_reduce)(lt_engine_group *group, void *data, int64_t count, lt_dtype dtype,
                            int reduction, lt_engine_request **request);

    /* Messages, of LT_ENGINE_MESSAGE bytes at most, arrive in the order in which they were sent. */
    lt_status (*send)(lt_engine_group *group, const void *data, int64_t bytes, int to, int tag,
                      lt_engine_request **request);
    lt_status (*receive)(lt_engine_group *group, void *data, int64_t bytes, int from, int tag,
                         lt_engine_request **request);

    /* Whether it is done; then, and when it has failed, the request is no more. Of what was
     * received: from whom and how much. */
    lt_status (*test)(lt_engine_request *request, bool *done, int *from, int64_t *bytes);

    /* Notes beside all this, for what goes wrong. Both return at once; a note that cannot go out is
     * lost. */
    void (*tell)(lt_engine_world *world, int rank, const void *note, int bytes);
    bool (*hear)(lt_engine_world *world, void *note, int *bytes, int *from);
} lt_engine;

/* ---- libraries ------------------------------------------------------------------------------- */

/* What a program and an engine's library must agree on: data that is looked at before anything in
 * it runs. */
typedef struct lt_engine_abi {
    uint32_t size, table, services, interface;
    char version[20]; /* LT_VERSION */
} lt_engine_abi;

#define LT_ENGINE_ABI "lt_engine_abi_of_library"
#define LT_ENGINE_ABI_HERE                                                                         \
    {                                                                                              \
        sizeof(lt_engine_abi), sizeof(lt_engine), sizeof(lt_engine_services), LT_ENGINE_INTERFACE, \
            LT_VERSION                                                                             \
    }

#define LT_ENGINE_OPEN "lt_engine_open"
typedef const lt_engine *(*lt_engine_open_fn)(const lt_engine_services *services);

#endif
