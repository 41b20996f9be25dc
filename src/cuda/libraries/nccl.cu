/* nccl.cu - the device engine (devices/device_engine.h) based on NCCL, opened at the first call.
 * Operations that only copy send bytes, so they support every dtype. */
#include "assertion.h"
#include "devices/device_engine.h"
#include "cuda.h"
#include "nccl_api.h"

struct lt_device_group {
    const lt_nccl *nccl;
    ncclComm_t comm;
};

namespace {

lt_status failed(ncclResult_t result, const char *call)
{
    const auto name = [result] {
        switch (result) {
            LT_NCCL_RESULTS(LT_NAME_CASE)
        }
        return "an unknown result";
    };
    const cudaError_t behind = cudaGetLastError();
    if (behind != cudaSuccess) return lt_cuda_failed(behind, call);
    return lt_cuda_core->error(LT_ERR_DEVICE, "NCCL error: %s, when calling `%s`", name(), call);
}

#define NCCL_TRY(function, ...)                                                                    \
    do {                                                                                           \
        const ncclResult_t result_ = group->nccl->function(__VA_ARGS__);                           \
        if (result_ != ncclSuccess) return failed(result_, "nccl " #function);                     \
    } while (0)

lt_status type_of(lt_dtype dtype, ncclDataType_t *out)
{
    switch (dtype) {
    case LT_BOOL:
    case LT_UINT8: *out = ncclUint8; return LT_OK;
    case LT_INT8: *out = ncclInt8; return LT_OK;
    case LT_INT32: *out = ncclInt32; return LT_OK;
    case LT_INT64: *out = ncclInt64; return LT_OK;
    case LT_FLOAT16: *out = ncclFloat16; return LT_OK;
    case LT_BFLOAT16: *out = ncclBfloat16; return LT_OK;
    case LT_FLOAT32: *out = ncclFloat32; return LT_OK;
    case LT_FLOAT64: *out = ncclFloat64; return LT_OK;
    default: return lt_cuda_core->error(LT_ERR_TYPE, "NCCL has no reductions of this dtype");
    }
}

/* Maps SUM, AVG, PRODUCT, MIN, MAX. For bool, SUM is logical or (max), PRODUCT logical and (min).
 */
lt_status op_of(lt_dtype dtype, int reduction, ncclRedOp_t *out)
{
    static const ncclRedOp_t ops[] = {ncclSum, ncclAvg, ncclProd, ncclMin, ncclMax};
    if (reduction < 0 || reduction > 4)
        return lt_cuda_core->error(LT_ERR_TYPE, "Cannot use ReduceOp.BAND, BOR or BXOR with NCCL");
    *out = ops[reduction];
    if (dtype == LT_BOOL && *out == ncclSum) *out = ncclMax;
    if (dtype == LT_BOOL && *out == ncclProd) *out = ncclMin;
    return LT_OK;
}

lt_status new_id(void *id)
{
    const lt_nccl *nccl;
    LT_TRY(lt_nccl_get(&nccl));
    const ncclResult_t result = nccl->get_unique_id(static_cast<ncclUniqueId *>(id));
    return result == ncclSuccess ? LT_OK : failed(result, "ncclGetUniqueId");
}

lt_status join(const void *id, int rank, int size, lt_device_group **out)
{
    const lt_nccl *nccl;
    ncclComm_t comm;
    LT_TRY(lt_nccl_get(&nccl));
    const ncclResult_t result =
        nccl->init_rank(&comm, size, *static_cast<const ncclUniqueId *>(id), rank);
    if (result != ncclSuccess) return failed(result, "ncclCommInitRank");
    *out = new lt_device_group{nccl, comm};
    return LT_OK;
}

/* Uses ncclCommAbort, which does not wait for other ranks: they may have exited. */
void leave(lt_device_group *group)
{
    LT_ASSERT(group->comm != nullptr, "the group was left before");
    (void)group->nccl->abort(group->comm);
    delete group;
}

lt_status look(lt_device_group *group)
{
    ncclResult_t now = ncclSuccess;
    NCCL_TRY(async_error, group->comm, &now);
    return now == ncclSuccess || now == ncclInProgress ? LT_OK
                                                       : failed(now, "ncclCommGetAsyncError");
}

cudaStream_t stream_of(uint64_t stream) { return reinterpret_cast<cudaStream_t>(stream); }

/* The library's names of a reduction and its dtype. */
struct nccl_reduction {
    ncclDataType_t type = ncclInt8;
    ncclRedOp_t op = ncclSum;

    lt_status of(const lt_device_reduction *r)
    {
        LT_TRY(type_of(r->dtype, &type));
        return op_of(r->dtype, r->reduction, &op);
    }
};

lt_status all_reduce(lt_device_group *group, const lt_device_reduction *r)
{
    nccl_reduction n;
    LT_TRY(n.of(r));
    NCCL_TRY(all_reduce, r->from, r->to, static_cast<size_t>(r->count), n.type, n.op, group->comm,
             stream_of(r->stream));
    return LT_OK;
}

lt_status reduce(lt_device_group *group, const lt_device_reduction *r, int root)
{
    nccl_reduction n;
    LT_TRY(n.of(r));
    NCCL_TRY(reduce, r->from, r->to, static_cast<size_t>(r->count), n.type, n.op, root, group->comm,
             stream_of(r->stream));
    return LT_OK;
}

lt_status reduce_scatter(lt_device_group *group, const lt_device_reduction *r)
{
    nccl_reduction n;
    LT_TRY(n.of(r));
    NCCL_TRY(reduce_scatter, r->from, r->to, static_cast<size_t>(r->count), n.type, n.op,
             group->comm, stream_of(r->stream));
    return LT_OK;
}

lt_status broadcast(lt_device_group *group, const void *from, void *to, int64_t bytes, int root,
                    uint64_t stream)
{
    NCCL_TRY(broadcast, from, to, static_cast<size_t>(bytes), ncclInt8, root, group->comm,
             stream_of(stream));
    return LT_OK;
}

lt_status all_gather(lt_device_group *group, const void *from, void *to, int64_t bytes,
                     uint64_t stream)
{
    NCCL_TRY(all_gather, from, to, static_cast<size_t>(bytes), ncclInt8, group->comm,
             stream_of(stream));
    return LT_OK;
}

lt_status begin(lt_device_group *group)
{
    NCCL_TRY(group_start, );
    return LT_OK;
}

lt_status end(lt_device_group *group)
{
    NCCL_TRY(group_end, );
    return LT_OK;
}

lt_status send(lt_device_group *group, const void *data, int64_t bytes, int peer, uint64_t stream)
{
    NCCL_TRY(send, data, static_cast<size_t>(bytes), ncclInt8, peer, group->comm,
             stream_of(stream));
    return LT_OK;
}

lt_status receive(lt_device_group *group, void *data, int64_t bytes, int peer, uint64_t stream)
{
    NCCL_TRY(receive, data, static_cast<size_t>(bytes), ncclInt8, peer, group->comm,
             stream_of(stream));
    return LT_OK;
}

} // namespace

extern "C" LT_API const lt_device_engine *lt_device_engine_open(void)
{
    static const lt_device_engine engine = {LT_DEVICE_ENGINE_INTERFACE,
                                            "nccl",
                                            new_id,
                                            join,
                                            leave,
                                            look,
                                            all_reduce,
                                            reduce,
                                            reduce_scatter,
                                            broadcast,
                                            all_gather,
                                            begin,
                                            end,
                                            send,
                                            receive};
    return &engine;
}
