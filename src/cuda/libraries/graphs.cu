/* graphs.cu - see graphs.cuh. */
#include "graphs.cuh"

namespace {

constexpr int64_t alignment = 16; /* of addresses that its kernels expect */

} // namespace

lt_cudnn_plan::~lt_cudnn_plan()
{
    for (size_t i = descriptors.size(); i-- > 0;) (void)functions->destroy(descriptors[i]);
}

lt_status lt_cudnn_plan::open() { return lt_cudnn_graph_get(&functions); }

cudnnBackendDescriptor_t lt_cudnn_plan::create(cudnnBackendDescriptorType_t type)
{
    cudnnBackendDescriptor_t made = nullptr;
    if (status != CUDNN_STATUS_SUCCESS) return nullptr;
    descriptors.reserve(descriptors.size() + 1); /* nothing can fail when there is one to be kept */
    note(functions->create(type, &made));
    if (status != CUDNN_STATUS_SUCCESS) return nullptr;
    descriptors.push_back(made);
    return made;
}

void lt_cudnn_plan::set(cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name,
                        cudnnBackendAttributeType_t type, int64_t count, const void *elements)
{
    if (status == CUDNN_STATUS_SUCCESS) note(functions->set(of, name, type, count, elements));
}

void lt_cudnn_plan::link(cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name,
                         cudnnBackendDescriptor_t other)
{
    set(of, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other);
}

void lt_cudnn_plan::finalize(cudnnBackendDescriptor_t descriptor)
{
    if (status == CUDNN_STATUS_SUCCESS) note(functions->finalize(descriptor));
}

cudnnBackendDescriptor_t lt_cudnn_plan::tensor(int64_t uid, cudnnDataType_t type,
                                               const int64_t (&sizes)[4],
                                               const int64_t (&strides)[4], place where)
{
    const bool by_value = where == HOST, is_virtual = where == NOWHERE;
    cudnnBackendDescriptor_t t = create(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    set(t, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &uid);
    set(t, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    set(t, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment);
    set(t, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, sizes);
    set(t, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides);
    set(t, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &is_virtual);
    set(t, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &by_value);
    finalize(t);
    return t;
}

cudnnBackendDescriptor_t lt_cudnn_plan::graph(cudnnHandle_t handle,
                                              cudnnBackendDescriptor_t operation)
{
    cudnnBackendDescriptor_t g = create(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    set(g, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    link(g, CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
    finalize(g);
    return g;
}

void lt_cudnn_plan::choose(cudnnHandle_t handle, cudnnBackendDescriptor_t of)
{
    const cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
    cudnnBackendDescriptor_t heuristics = create(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    link(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, of);
    set(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    finalize(heuristics);
    if (status != CUDNN_STATUS_SUCCESS) return;
    int64_t count = 0;
    note(functions->get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0,
                        &count, nullptr));
    std::vector<cudnnBackendDescriptor_t> engines;
    for (int64_t i = 0; i < count; i++) engines.push_back(create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
    if (status != CUDNN_STATUS_SUCCESS) return;
    note(functions->get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                        count, &count, engines.data()));
    for (int64_t i = 0; i < count && status == CUDNN_STATUS_SUCCESS; i++) {
        cudnnBackendDescriptor_t candidate = create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
        set(candidate, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
        link(candidate, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, engines[(size_t)i]);
        if (status != CUDNN_STATUS_SUCCESS) return;
        const cudnnStatus_t outcome = functions->finalize(candidate);
        if (lt_cudnn_unsupported(outcome)) continue;
        note(outcome);
        plan = candidate;
        note(functions->get(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
                            &count, &bytes));
        return;
    }
}

/* What a version does not know, it calls a bad parameter, or an error of its own: before 9.21 the graph of a mask is
 * CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED. */
lt_status lt_cudnn_plan::made(bool *there) const
{
    *there = status == CUDNN_STATUS_SUCCESS && plan != nullptr;
    const int kind = (int)status / 1000;
    if (status == CUDNN_STATUS_SUCCESS || lt_cudnn_unsupported(status) || kind == (int)CUDNN_STATUS_BAD_PARAM / 1000 ||
        kind == (int)CUDNN_STATUS_INTERNAL_ERROR / 1000)
        return LT_OK;
    return lt_cudnn_failed(status, "cudnnBackendFinalize");
}

lt_status lt_cudnn_plan::execute(cudnnHandle_t handle, const std::vector<int64_t> &uids,
                                 const std::vector<void *> &addresses, void *workspace) const
{
    cudnnBackendDescriptor_t pack = nullptr;
    const int64_t count = (int64_t)uids.size();
    LT_CUDNN_TRY(functions->create(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &pack));
    cudnnStatus_t outcome = functions->set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS,
                                           CUDNN_TYPE_INT64, count, uids.data());
    if (outcome == CUDNN_STATUS_SUCCESS)
        outcome = functions->set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
                                 count, addresses.data());
    if (outcome == CUDNN_STATUS_SUCCESS)
        outcome = functions->set(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1,
                                 &workspace);
    if (outcome == CUDNN_STATUS_SUCCESS) outcome = functions->finalize(pack);
    if (outcome == CUDNN_STATUS_SUCCESS) outcome = functions->execute(handle, plan, pack);
    (void)functions->destroy(pack);
    return outcome == CUDNN_STATUS_SUCCESS ? LT_OK : lt_cudnn_failed(outcome, "cudnnBackendExecute");
}
