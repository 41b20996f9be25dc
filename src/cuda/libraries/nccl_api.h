/* nccl_api.h - the NCCL functions and constants in use (vendor.h): communicators with one process
 * per rank, collectives and point-to-point messages on a stream. */
#ifndef LT_CUDA_NCCL_API_H
#define LT_CUDA_NCCL_API_H

#include <cuda_runtime.h>
#include <stddef.h>

#include "libraries/vendor.h"

#define LT_NCCL_LIBRARY                                                                            \
    {                                                                                              \
        "NCCL", "torch.distributed with the backend nccl", "libnccl.so.2", "libnccl.so.2",         \
            "libnccl.so", "nvidia-nccl-cu13"                                                       \
    }

#define LT_NCCL_RESULTS(X)                                                                         \
    X(ncclSuccess, 0)                                                                              \
    X(ncclUnhandledCudaError, 1)                                                                   \
    X(ncclSystemError, 2)                                                                          \
    X(ncclInternalError, 3)                                                                        \
    X(ncclInvalidArgument, 4)                                                                      \
    X(ncclInvalidUsage, 5)                                                                         \
    X(ncclRemoteError, 6)                                                                          \
    X(ncclInProgress, 7)
#define LT_NCCL_TYPES(X)                                                                           \
    X(ncclInt8, 0)                                                                                 \
    X(ncclUint8, 1)                                                                                \
    X(ncclInt32, 2)                                                                                \
    X(ncclInt64, 4)                                                                                \
    X(ncclFloat16, 6)                                                                              \
    X(ncclFloat32, 7)                                                                              \
    X(ncclFloat64, 8)                                                                              \
    X(ncclBfloat16, 9)
#define LT_NCCL_OPS(X) X(ncclSum, 0) X(ncclProd, 1) X(ncclMax, 2) X(ncclMin, 3) X(ncclAvg, 4)

#ifndef LT_VENDOR_HEADERS
typedef struct ncclComm *ncclComm_t;
typedef struct {
    char internal[128];
} ncclUniqueId;
typedef enum { LT_NCCL_RESULTS(LT_ENUM) } ncclResult_t;
typedef enum { LT_NCCL_TYPES(LT_ENUM) } ncclDataType_t;
typedef enum { LT_NCCL_OPS(LT_ENUM) } ncclRedOp_t;
#endif

#define LT_NCCL_FUNCTIONS(X)                                                                       \
    X(get_unique_id, ncclGetUniqueId, (ncclUniqueId * id))                                         \
    X(init_rank, ncclCommInitRank, (ncclComm_t * comm, int ranks, ncclUniqueId id, int rank))      \
    X(abort, ncclCommAbort, (ncclComm_t comm))                                                     \
    X(async_error, ncclCommGetAsyncError, (ncclComm_t comm, ncclResult_t * error))                 \
    X(all_reduce, ncclAllReduce,                                                                   \
      (const void *send, void *receive, size_t count, ncclDataType_t type, ncclRedOp_t op,         \
       ncclComm_t comm, cudaStream_t stream))                                                      \
    X(broadcast, ncclBroadcast,                                                                    \
      (const void *send, void *receive, size_t count, ncclDataType_t type, int root,               \
       ncclComm_t comm, cudaStream_t stream))                                                      \
    X(reduce, ncclReduce,                                                                          \
      (const void *send, void *receive, size_t count, ncclDataType_t type, ncclRedOp_t op,         \
       int root, ncclComm_t comm, cudaStream_t stream))                                            \
    X(all_gather, ncclAllGather,                                                                   \
      (const void *send, void *receive, size_t count, ncclDataType_t type, ncclComm_t comm,        \
       cudaStream_t stream))                                                                       \
    X(reduce_scatter, ncclReduceScatter,                                                           \
      (const void *send, void *receive, size_t count, ncclDataType_t type, ncclRedOp_t op,         \
       ncclComm_t comm, cudaStream_t stream))                                                      \
    X(send, ncclSend,                                                                              \
      (const void *data, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,             \
       cudaStream_t stream))                                                                       \
    X(receive, ncclRecv,                                                                           \
      (void *data, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,                   \
       cudaStream_t stream))                                                                       \
    X(group_start, ncclGroupStart, (void))                                                         \
    X(group_end, ncclGroupEnd, (void))

#define LT_NCCL_MEMBER(field, symbol, arguments) ncclResult_t(*field) arguments;
typedef struct lt_nccl {
    LT_NCCL_FUNCTIONS(LT_NCCL_MEMBER)
} lt_nccl;

/* Returns the table; LT_ERR_DEVICE if NCCL is not installed. */
lt_status lt_nccl_get(const lt_nccl **table);

#endif
