/* device_engine.h - what core knows of an engine that carries bytes between GPUs of several
 * processes: one table of functions.
 *
 * The backend of the GPUs has it (src/cuda/libraries/nccl.cu), behind LT_DEVICE_ENGINE_OPEN. Unlike
 * engine.h's, its operations are put on a stream and return at once; memory is the GPU's. All ranks
 * of a group call the same ones in the same order. */
#ifndef LT_DEVICE_ENGINE_H
#define LT_DEVICE_ENGINE_H

#include "ltensor.h"

typedef struct lt_device_group lt_device_group; /* some ranks, each with a GPU */

enum { LT_DEVICE_ENGINE_ID = 128 };      /* bytes that name a group to be made */
enum { LT_DEVICE_ENGINE_INTERFACE = 1 }; /* to be raised with every change of this file */

typedef struct lt_device_engine {
    int interface;
    const char *name; /* "nccl" */
    lt_status (*new_id)(void *id);
    /* Waits for all ranks. The device is the current one, and stays the group's. */
    lt_status (*join)(const void *id, int rank, int size, lt_device_group **group);
    void (*leave)(lt_device_group *group);
    /* What has failed in the meantime. */
    lt_status (*look)(lt_device_group *group);

    /* reduction: as ReduceOp counts. LT_ERR_TYPE: it has none for it or for the dtype. */
    lt_status (*all_reduce)(lt_device_group *group, const void *from, void *to, int64_t count,
                            lt_dtype dtype, int reduction, uint64_t stream);
    lt_status (*reduce)(lt_device_group *group, const void *from, void *to, int64_t count,
                        lt_dtype dtype, int reduction, int root, uint64_t stream);
    /* count: of what each rank gets. */
    lt_status (*reduce_scatter)(lt_device_group *group, const void *from, void *to, int64_t count,
                                lt_dtype dtype, int reduction, uint64_t stream);
    lt_status (*broadcast)(lt_device_group *group, const void *from, void *to, int64_t bytes,
                           int root, uint64_t stream);
    lt_status (*all_gather)(lt_device_group *group, const void *from, void *to, int64_t bytes,
                            uint64_t stream);
    /* Between begin and end messages wait for each other as one. */
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
