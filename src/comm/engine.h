/* engine.h - interface of an engine, which moves bytes between processes: one table of functions.
 *
 * src/comm/mpi implements one for each MPI, as a library that is loaded on first use;
 * src/comm/fake.c implements one for worlds within one process. Contract:
 * - An engine moves bytes of host memory and has no notion of tensors.
 * - Only join, group and leave block on other ranks.
 * - One thread per process calls all functions (comm.h).
 * - Buffers and arrays passed to an operation stay valid until test reports completion.
 * - Engines include this file and ltensor.h only and call core through lt_engine_services. */
#ifndef LT_ENGINE_H
#define LT_ENGINE_H

#include "ltensor.h"

/* Increment with every change of this file. */
#define LT_ENGINE_INTERFACE 2

typedef struct lt_engine_world lt_engine_world;     /* all ranks */
typedef struct lt_engine_group lt_engine_group;     /* some of them, numbered from 0 in the group */
typedef struct lt_engine_request lt_engine_request; /* an operation in progress */

/* Byte count and byte offset in the buffer for each rank of a group. */
typedef struct lt_engine_parts {
    const int64_t *bytes, *at;
} lt_engine_parts;

typedef struct lt_engine_services {
    lt_status (*error)(lt_status status, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
} lt_engine_services;

enum { LT_ENGINE_ANY = -1 }; /* receive from any rank */
/* maximum bytes of a message, of a broadcast and of an engine's own reduction */
enum { LT_ENGINE_MESSAGE = 1 << 30 };
enum { LT_ENGINE_CONTROL = 2048 }; /* maximum bytes of a control message */

typedef struct lt_engine {
    const char *name; /* "openmpi" */
    bool threaded; /* a progress thread makes the calls; else each waiting caller steps the world */
    /* Joins the launcher's world, or the world that `where` describes. */
    lt_status (*join)(void *where, lt_engine_world **world, int *rank, int *size);
    /* Finalizes, when all ranks end; no operation may follow. */
    lt_status (*leave)(lt_engine_world *world);

    /* Creates a group of n ranks; NULL if this rank is not a member. Collective: all ranks of the
     * world call it in the same order. */
    lt_status (*group)(lt_engine_world *world, const int *ranks, int n, lt_engine_group **group);

    /* Collectives: all ranks of a group start the same ones in the same order. */
    lt_status (*barrier)(lt_engine_group *group, lt_engine_request **request);
    lt_status (*broadcast)(lt_engine_group *group, void *data, int64_t bytes, int root,
                           lt_engine_request **request);
    /* Each rank contributes `bytes` bytes; data NULL: in place, they are already in `to`. */
    lt_status (*all_gather)(lt_engine_group *group, const void *data, int64_t bytes, void *to,
                            lt_engine_parts parts, lt_engine_request **request);
    lt_status (*all_to_all)(lt_engine_group *group, const void *data, lt_engine_parts given,
                            void *to, lt_engine_parts got, lt_engine_request **request);

    /* The engine's own in-place reduction, in unspecified order. reduction is an lt_comm_reduction,
     * never LT_COMM_AVG. Both functions are NULL if there is none. */
    bool (*reduces)(lt_dtype dtype, int reduction);
    lt_status (*all_reduce)(lt_engine_group *group, void *data, int64_t count, lt_dtype dtype,
                            int reduction, lt_engine_request **request);

    /* Messages of at most LT_ENGINE_MESSAGE bytes, delivered in the order of sending. */
    lt_status (*send)(lt_engine_group *group, const void *data, int64_t bytes, int to, int tag,
                      lt_engine_request **request);
    lt_status (*receive)(lt_engine_group *group, void *data, int64_t bytes, int from, int tag,
                         lt_engine_request **request);

    /* Sets *done if the request has completed. A completed or failed request is freed. For a
     * receive, *from is the sender and *bytes the size. */
    lt_status (*test)(lt_engine_request *request, bool *done, int *from, int64_t *bytes);

    /* Control messages, independent of the operations, for error handling. Both functions are
     * nonblocking; a message that cannot be sent is dropped. */
    void (*tell)(lt_engine_world *world, int rank, const void *note, int bytes);
    bool (*hear)(lt_engine_world *world, void *note, int *bytes, int *from);
} lt_engine;

/* ---- libraries ------------------------------------------------------------------------------- */

/* Sizes and versions that the program and an engine's library must agree on. It is data, so that it
 * is compared before any code of the library runs. */
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
