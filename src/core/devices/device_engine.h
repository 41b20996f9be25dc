/* device_engine.h - interface of a communication engine between GPUs of several processes: one
 * table of functions.
 *
 * Implemented by the GPU backend (src/cuda/libraries/nccl.cu), which exports LT_DEVICE_ENGINE_OPEN.
 * Unlike in engine.h, operations are queued on a stream and return at once; pointers are to GPU
 * memory. All ranks of a group call the same operations in the same order. */
#ifndef LT_DEVICE_ENGINE_H
#define LT_DEVICE_ENGINE_H

#include "ltensor.h"

typedef struct lt_device_group lt_device_group; /* several ranks, one GPU each */

enum { LT_DEVICE_ENGINE_ID = 128 };      /* bytes of a group's id */
enum { LT_DEVICE_ENGINE_INTERFACE = 2 }; /* increment with every change of this file */

/* An element-wise reduction over the ranks. */
typedef struct lt_device_reduction {
    const void *from;
    void *to;
    int64_t count; /* elements; reduce_scatter: of each rank's result */
    lt_dtype dtype;
    int reduction; /* a value of ReduceOp */
    uint64_t stream;
} lt_device_reduction;

typedef struct lt_device_engine {
    int interface;
    const char *name; /* "nccl" */
    lt_status (*new_id)(void *id);
    /* Blocks until all ranks have joined. The group uses the current device from then on. */
    lt_status (*join)(const void *id, int rank, int size, lt_device_group **group);
    void (*leave)(lt_device_group *group);
    /* Returns asynchronous errors of earlier operations. */
    lt_status (*look)(lt_device_group *group);

    /* LT_ERR_TYPE: the reduction is not supported, or not for the dtype. */
    lt_status (*all_reduce)(lt_device_group *group, const lt_device_reduction *r);
    lt_status (*reduce)(lt_device_group *group, const lt_device_reduction *r, int root);
    lt_status (*reduce_scatter)(lt_device_group *group, const lt_device_reduction *r);
    lt_status (*broadcast)(lt_device_group *group, const void *from, void *to, int64_t bytes,
                           int root, uint64_t stream);
    lt_status (*all_gather)(lt_device_group *group, const void *from, void *to, int64_t bytes,
                            uint64_t stream);
    /* Messages between begin and end are started together, so they do not deadlock
     * (ncclGroupStart). */
    lt_status (*begin)(lt_device_group *group);
    lt_status (*end)(lt_device_group *group);
    lt_status (*send)(lt_device_group *group, const void *data, int64_t bytes, int peer,
                      uint64_t stream);
    lt_status (*receive)(lt_device_group *group, void *data, int64_t bytes, int peer,
                         uint64_t stream);
} lt_device_engine;

#define LT_DEVICE_ENGINE_OPEN "lt_device_engine_open"
typedef const lt_device_engine *(*lt_device_engine_open_fn)(void);

#endif
