/* graphs.cu - see graphs.cuh. */
#include <algorithm>

#include "graphs.cuh"

namespace {

constexpr int64_t alignment = 16; /* of addresses, in bytes */
constexpr int64_t most_notes = 32;

} // namespace

lt_cudnn_plan::~lt_cudnn_plan()
{
    for (size_t i = descriptors.size(); i-- > 0;) (void)functions->destroy(descriptors[i]);
}

/* Records the first failure. Clears CUDA's last error, so that it is not attributed to the
 * fallback. */
void lt_cudnn_plan::note(cudnnStatus_t outcome)
{
    if (outcome == CUDNN_STATUS_SUCCESS) return;
    (void)cudaGetLastError();
    if (status == CUDNN_STATUS_SUCCESS) status = outcome;
}

lt_status lt_cudnn_plan::open() { return lt_cudnn_graph_get(&functions); }

cudnnBackendDescriptor_t lt_cudnn_plan::create(cudnnBackendDescriptorType_t type)
{
    cudnnBackendDescriptor_t made = nullptr;
    if (status != CUDNN_STATUS_SUCCESS) return nullptr;
    /* push_back must not throw: it would leak `made` */
    descriptors.reserve(descriptors.size() + 1);
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

void lt_cudnn_plan::get(cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name,
                        cudnnBackendAttributeType_t type, int64_t asked, int64_t *count,
                        void *elements)
{
    if (status == CUDNN_STATUS_SUCCESS)
        note(functions->get(of, name, type, asked, count, elements));
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

cudnnBackendDescriptor_t lt_cudnn_plan::tensor(int64_t uid, cudnnDataType_t type, int ndim,
                                               const int64_t *sizes, const int64_t *strides,
                                               place where)
{
    const bool by_value = where == HOST, is_virtual = where == NOWHERE;
    cudnnBackendDescriptor_t t = create(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    set(t, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &uid);
    set(t, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    set(t, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment);
    set(t, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, ndim, sizes);
    set(t, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, ndim, strides);
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

/* Engine configurations, best first. */
std::vector<cudnnBackendDescriptor_t> lt_cudnn_plan::rank(cudnnBackendDescriptor_t of)
{
    const cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
    std::vector<cudnnBackendDescriptor_t> ranked;
    int64_t room = 0, count = 0;
    cudnnBackendDescriptor_t heuristics = create(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    link(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, of);
    set(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    finalize(heuristics);
    get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &room,
        nullptr);
    for (int64_t i = 0; i < room; i++) ranked.push_back(create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
    if (room > 0)
        get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, room, &count,
            ranked.data());
    ranked.resize((size_t)(status == CUDNN_STATUS_SUCCESS ? std::min(room, count) : 0));
    return ranked;
}

unsigned lt_cudnn_plan::bits(cudnnBackendDescriptor_t engine, cudnnBackendAttributeName_t name,
                             cudnnBackendAttributeType_t type)
{
    int list[most_notes];
    int64_t count = 0;
    unsigned all = 0;
    get(engine, name, type, most_notes, &count, list);
    for (int64_t i = 0; status == CUDNN_STATUS_SUCCESS && i < std::min(count, most_notes); i++)
        if (list[i] >= 0 && list[i] < most_notes) all |= 1u << list[i];
    return all;
}

lt_cudnn_plan::notes lt_cudnn_plan::notes_of(cudnnBackendDescriptor_t configuration)
{
    int64_t count = 0;
    cudnnBackendDescriptor_t engine = create(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    get(configuration, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count,
        &engine);
    return {bits(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE),
            bits(engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE)};
}

/* Keeps only the allowed configurations. With rather_ready, moves the first one that needs no
 * run-time compilation to the front: compiling takes a second or more for each new shape, too much
 * for a slightly faster convolution in a script with many shapes. It is not moved if it differs
 * from the best one in the use of tensor cores, since an engine without them is many times slower.
 */
void lt_cudnn_plan::sift(std::vector<cudnnBackendDescriptor_t> *configurations,
                         const lt_cudnn_engines &allowed)
{
    constexpr unsigned compiles = 1u << CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION,
                       cores = 1u << CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
    size_t left = 0;
    unsigned best = 0;
    bool ready = false;
    for (cudnnBackendDescriptor_t configuration : *configurations) {
        const notes n = notes_of(configuration);
        if ((n.numerical & allowed.without) != 0) continue;
        if (left == 0) best = n.numerical & cores;
        (*configurations)[left++] = configuration;
        if (ready || (n.behavior & compiles) != 0 || (n.numerical & cores) != best) continue;
        ready = true;
        const auto first = configurations->begin(), behind = first + (ptrdiff_t)left;
        if (allowed.rather_ready) std::rotate(first, behind - 1, behind);
    }
    configurations->resize(left);
}

/* Tries to make the configuration the plan; false if cuDNN rejects it or its workspace cannot be
 * allocated. */
bool lt_cudnn_plan::take(cudnnHandle_t handle, int device, cudnnBackendDescriptor_t configuration)
{
    int64_t count = 0;
    lt_cuda_scratch room;
    cudnnBackendDescriptor_t candidate = create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    set(candidate, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    link(candidate, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
    if (status != CUDNN_STATUS_SUCCESS) return false;
    if (functions->finalize(candidate) != CUDNN_STATUS_SUCCESS) {
        (void)cudaGetLastError();
        return false;
    }
    get(candidate, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &count, &bytes);
    if (status != CUDNN_STATUS_SUCCESS || (bytes > 0 && room.take(device, (size_t)bytes) != LT_OK))
        return false;
    plan = candidate;
    return true;
}

/* Destroys the descriptors from index `first` on, except the plan and its configuration. */
void lt_cudnn_plan::destroy_since(size_t first, cudnnBackendDescriptor_t configuration)
{
    const auto goes = [&](cudnnBackendDescriptor_t d) {
        const bool stays = d == plan || d == configuration;
        if (!stays) (void)functions->destroy(d);
        return !stays;
    };
    descriptors.erase(
        std::remove_if(descriptors.begin() + (ptrdiff_t)first, descriptors.end(), goes),
        descriptors.end());
}

void lt_cudnn_plan::choose(cudnnHandle_t handle, int device, cudnnBackendDescriptor_t of,
                           const lt_cudnn_engines &allowed)
{
    const size_t before = descriptors.size();
    cudnnBackendDescriptor_t chosen = nullptr;
    std::vector<cudnnBackendDescriptor_t> configurations = rank(of);
    if (allowed.without != 0 || allowed.rather_ready) sift(&configurations, allowed);
    for (size_t i = 0;
         i < configurations.size() && status == CUDNN_STATUS_SUCCESS && chosen == nullptr; i++)
        if (take(handle, device, configurations[i])) chosen = configurations[i];
    destroy_since(before, chosen);
}

cudnnStatus_t lt_cudnn_plan::execute(cudnnHandle_t handle, int64_t count, const int64_t *uids,
                                     void *const *addresses, void *workspace) const
{
    cudnnBackendDescriptor_t pack = nullptr;
    cudnnStatus_t outcome = functions->create(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &pack);
    if (outcome != CUDNN_STATUS_SUCCESS) return outcome;
    outcome =
        functions->set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, uids);
    if (outcome == CUDNN_STATUS_SUCCESS)
        outcome = functions->set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
                                 count, addresses);
    if (outcome == CUDNN_STATUS_SUCCESS)
        outcome = functions->set(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1,
                                 &workspace);
    if (outcome == CUDNN_STATUS_SUCCESS) outcome = functions->finalize(pack);
    if (outcome == CUDNN_STATUS_SUCCESS) outcome = functions->execute(handle, plan, pack);
    (void)functions->destroy(pack);
    return outcome;
}
