/* graph.cpp - cuDNN's graph API for simulated GPUs: descriptors with named attributes, graphs of
 * one operation, heuristics, plans and execution. The rules for attributes are from cuDNN's
 * documentation. */
#include "graph.h"

using namespace lt_sim;

namespace {

size_t size_of(cudnnBackendAttributeType_t type)
{
    switch (type) {
    case CUDNN_TYPE_BOOLEAN: return sizeof(bool);
    case CUDNN_TYPE_DATA_TYPE:
    case CUDNN_TYPE_FLOAT:
    case CUDNN_TYPE_CONVOLUTION_MODE:
    case CUDNN_TYPE_HEUR_MODE:
    case CUDNN_TYPE_POINTWISE_MODE: return sizeof(int);
    default: return sizeof(int64_t);
    }
}

/* ---- rules for attributes -------------------------------------------------------------------- */

struct Rule {
    cudnnBackendDescriptorType_t of;
    cudnnBackendAttributeName_t name;
    cudnnBackendAttributeType_t type;
    int64_t most;
    bool required;
};

constexpr int64_t many = 64, dimensions = 8;
#define NEEDS(of, name, type, most)                                                                \
    {                                                                                              \
        of, name, type, most, true                                                                 \
    }
#define MAY(of, name, type, most)                                                                  \
    {                                                                                              \
        of, name, type, most, false                                                                \
    }
#define TENSOR(X, name, type, most)                                                                \
    X(CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_##name, type, most)
#define FORWARD(X, name, type)                                                                     \
    X(CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR, CUDNN_ATTR_OPERATION_SDPA_FWD_##name, type, 1)
#define BACKWARD(X, name, type)                                                                    \
    X(CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR, CUDNN_ATTR_OPERATION_SDPA_BWD_##name, type, 1)
#define WINDOWS(X, name, type, most)                                                               \
    X(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, CUDNN_ATTR_CONVOLUTION_##name, type, most)
#define CONVOLUTION(part, attribute, x, w, y)                                                      \
    CONVOLVED(part, attribute##_##x, CUDNN_TYPE_BACKEND_DESCRIPTOR),                               \
        CONVOLVED(part, attribute##_##w, CUDNN_TYPE_BACKEND_DESCRIPTOR),                           \
        CONVOLVED(part, attribute##_##y, CUDNN_TYPE_BACKEND_DESCRIPTOR),                           \
        CONVOLVED(part, attribute##_CONV_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR),                     \
        CONVOLVED(part, attribute##_ALPHA, CUDNN_TYPE_FLOAT),                                      \
        CONVOLVED(part, attribute##_ALPHA, CUDNN_TYPE_DOUBLE),                                     \
        CONVOLVED(part, attribute##_BETA, CUDNN_TYPE_FLOAT),                                       \
        CONVOLVED(part, attribute##_BETA, CUDNN_TYPE_DOUBLE)
#define CONVOLVED(part, name, type)                                                                \
    NEEDS(CUDNN_BACKEND_OPERATION_CONVOLUTION_##part##_DESCRIPTOR,                                 \
          CUDNN_ATTR_OPERATION_CONVOLUTION_##name, type, 1)
#define MASK(X, name, type)                                                                        \
    X(CUDNN_BACKEND_OPERATION_DIAGONAL_BAND_MASK_DESCRIPTOR,                                       \
      CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_##name, type, 1)
const Rule rules[] = {
    TENSOR(NEEDS, UNIQUE_ID, CUDNN_TYPE_INT64, 1),
    TENSOR(NEEDS, DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1),
    TENSOR(NEEDS, BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1),
    TENSOR(NEEDS, DIMENSIONS, CUDNN_TYPE_INT64, dimensions),
    TENSOR(NEEDS, STRIDES, CUDNN_TYPE_INT64, dimensions),
    TENSOR(MAY, IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1),
    TENSOR(MAY, IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1),
    FORWARD(NEEDS, QDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR),
    FORWARD(NEEDS, KDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR),
    FORWARD(NEEDS, VDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR),
    FORWARD(NEEDS, ODESC, CUDNN_TYPE_BACKEND_DESCRIPTOR),
    FORWARD(MAY, STATSDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR),
    FORWARD(MAY, SCALEDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR),
    FORWARD(MAY, SUBGRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR),
    FORWARD(MAY, SUBGRAPH_INPUT_UID, CUDNN_TYPE_INT64),
    FORWARD(MAY, SUBGRAPH_OUTPUT_UID, CUDNN_TYPE_INT64),
    BACKWARD(NEEDS, QDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR),
    BACKWARD(NEEDS, KDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR),
    BACKWARD(NEEDS, VDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR),
    BACKWARD(NEEDS, ODESC, CUDNN_TYPE_BACKEND_DESCRIPTOR),
    BACKWARD(NEEDS, STATSDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR),
    BACKWARD(NEEDS, DODDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR),
    BACKWARD(NEEDS, DQDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR),
    BACKWARD(NEEDS, DKDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR),
    BACKWARD(NEEDS, DVDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR),
    BACKWARD(MAY, SCALEDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR),
    BACKWARD(MAY, SUBGRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR),
    BACKWARD(MAY, SUBGRAPH_INPUT_UID, CUDNN_TYPE_INT64),
    BACKWARD(MAY, SUBGRAPH_OUTPUT_UID, CUDNN_TYPE_INT64),
    WINDOWS(NEEDS, COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1),
    WINDOWS(NEEDS, CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1),
    WINDOWS(NEEDS, SPATIAL_DIMS, CUDNN_TYPE_INT64, 1),
    WINDOWS(NEEDS, DILATIONS, CUDNN_TYPE_INT64, dimensions),
    WINDOWS(NEEDS, FILTER_STRIDES, CUDNN_TYPE_INT64, dimensions),
    WINDOWS(NEEDS, PRE_PADDINGS, CUDNN_TYPE_INT64, dimensions),
    WINDOWS(NEEDS, POST_PADDINGS, CUDNN_TYPE_INT64, dimensions),
    CONVOLUTION(FORWARD, FORWARD, X, W, Y),
    CONVOLUTION(BACKWARD_DATA, BWD_DATA, DX, W, DY),
    CONVOLUTION(BACKWARD_FILTER, BWD_FILTER, X, DW, DY),
    MASK(NEEDS, XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR),
    MASK(NEEDS, BDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR),
    MASK(NEEDS, YDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR),
    MASK(NEEDS, COMPARISON_MODE, CUDNN_TYPE_POINTWISE_MODE),
    NEEDS(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, CUDNN_ATTR_OPERATIONGRAPH_OPS,
          CUDNN_TYPE_BACKEND_DESCRIPTOR, many),
    NEEDS(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, CUDNN_ATTR_OPERATIONGRAPH_HANDLE,
          CUDNN_TYPE_HANDLE, 1),
    NEEDS(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
          CUDNN_TYPE_BACKEND_DESCRIPTOR, 1),
    NEEDS(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1),
    NEEDS(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, CUDNN_ATTR_EXECUTION_PLAN_HANDLE,
          CUDNN_TYPE_HANDLE, 1),
    NEEDS(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
          CUDNN_TYPE_BACKEND_DESCRIPTOR, 1),
    NEEDS(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS,
          CUDNN_TYPE_INT64, many),
    NEEDS(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
          CUDNN_TYPE_VOID_PTR, many),
    NEEDS(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, CUDNN_ATTR_VARIANT_PACK_WORKSPACE,
          CUDNN_TYPE_VOID_PTR, 1),
};
#undef NEEDS
#undef MAY
#undef TENSOR
#undef FORWARD
#undef BACKWARD
#undef WINDOWS
#undef CONVOLUTION
#undef CONVOLVED
#undef MASK

const Rule *rule_of(const Descriptor &d, cudnnBackendAttributeName_t name,
                    cudnnBackendAttributeType_t type)
{
    for (const Rule &rule : rules)
        if (rule.of == d.type && rule.name == name && rule.type == type) return &rule;
    return nullptr;
}

/* ---- checks of descriptors ------------------------------------------------------------------- */

cudnnStatus_t check_tensor(const Descriptor &d)
{
    const Attribute &sizes = d.attributes.at(CUDNN_ATTR_TENSOR_DIMENSIONS),
                    &strides = d.attributes.at(CUDNN_ATTR_TENSOR_STRIDES);
    NEED(sizes.count == strides.count, CUDNN_STATUS_BAD_PARAM);
    for (int64_t i = 0; i < sizes.count; i++)
        NEED(d.find<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS)[i] > 0 &&
                 d.find<int64_t>(CUDNN_ATTR_TENSOR_STRIDES)[i] > 0,
             CUDNN_STATUS_BAD_PARAM);
    const cudnnDataType_t type = *d.find<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE);
    NEED(known(type), CUDNN_STATUS_NOT_SUPPORTED);
    NEED(*d.find<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT) % bytes_of(1, type) == 0,
         CUDNN_STATUS_BAD_PARAM);
    return CUDNN_STATUS_SUCCESS;
}

/* Convolution descriptor: one dilation, stride and padding per spatial dimension. */
cudnnStatus_t check_windows(const Descriptor &d)
{
    const int64_t n = *d.find<int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS);
    for (auto name : {CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
                      CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS})
        NEED(d.attributes.at(name).count == n, CUDNN_STATUS_BAD_PARAM);
    return CUDNN_STATUS_SUCCESS;
}

/* Null if d is null, no supported operation, or its tensors do not match. */
std::unique_ptr<Operation> read_operation(const Descriptor *d)
{
    if (d == nullptr) return nullptr;
    switch (d->type) {
    case CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR: return read_attention(*d);
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
        return read_convolution(*d);
    default: return nullptr;
    }
}

/* The operation of a graph. */
std::unique_ptr<Operation> operation_of(const Descriptor *graph)
{
    return read_operation(graph->linked(CUDNN_ATTR_OPERATIONGRAPH_OPS));
}

/* ---- cuDNN's functions ----------------------------------------------------------------------- */

cudnnStatus_t create(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t *out)
{
    Descriptor *made = nullptr;
    const cudnnStatus_t status = make(&made);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    made->type = type;
    *out = made;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t destroy_descriptor(cudnnBackendDescriptor_t d)
{
    return destroy(static_cast<Descriptor *>(d));
}

cudnnStatus_t set(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                  cudnnBackendAttributeType_t type, int64_t count, const void *elements)
{
    Descriptor *d = static_cast<Descriptor *>(descriptor);
    NEED(d != nullptr && elements != nullptr, CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
    NEED(!d->finalized, CUDNN_STATUS_NOT_INITIALIZED);
    const Rule *rule = rule_of(*d, name, type);
    NEED(rule != nullptr && count > 0 && count <= rule->most, CUDNN_STATUS_BAD_PARAM);
    if (name == CUDNN_ATTR_OPERATIONGRAPH_OPS)
        for (int64_t i = 0; i < count; i++)
            NEED(static_cast<Descriptor *>(
                     static_cast<const cudnnBackendDescriptor_t *>(elements)[i])
                     ->finalized,
                 CUDNN_STATUS_BAD_PARAM);
    const char *from = static_cast<const char *>(elements);
    d->attributes[name] = {type, count,
                           std::vector<char>(from, from + (size_t)count * size_of(type))};
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t check_heuristics(const Descriptor &d)
{
    const Descriptor *graph = d.linked(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
    NEED(graph->finalized, CUDNN_STATUS_BAD_PARAM);
    const std::unique_ptr<Operation> operation = operation_of(graph);
    NEED(operation != nullptr, CUDNN_STATUS_BAD_PARAM);
    NEED(operation->there(), CUDNN_STATUS_NOT_SUPPORTED);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t check_plan(const Descriptor &d)
{
    const Descriptor *engine = d.linked(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
    NEED(usable(*d.find<cudnnHandle_t>(CUDNN_ATTR_EXECUTION_PLAN_HANDLE)) &&
             engine->type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR && engine->finalized,
         CUDNN_STATUS_BAD_PARAM);
    NEED(operation_of(engine->graph)->supported(engine->engine), CUDNN_STATUS_NOT_SUPPORTED);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t check(const Descriptor &d)
{
    for (const Rule &rule : rules)
        NEED(rule.of != d.type || !rule.required || d.attributes.count(rule.name) == 1,
             CUDNN_STATUS_BAD_PARAM);
    switch (d.type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR: return check_tensor(d);
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR: return check_windows(d);
    case CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
        NEED(read_operation(&d) != nullptr, CUDNN_STATUS_BAD_PARAM);
        return CUDNN_STATUS_SUCCESS;
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
        NEED(usable(*d.find<cudnnHandle_t>(CUDNN_ATTR_OPERATIONGRAPH_HANDLE)),
             CUDNN_STATUS_BAD_PARAM);
        return CUDNN_STATUS_SUCCESS;
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR: return check_heuristics(d);
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR: return check_plan(d);
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
        NEED(d.attributes.at(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS).count ==
                 d.attributes.at(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS).count,
             CUDNN_STATUS_BAD_PARAM);
        return CUDNN_STATUS_SUCCESS;
    /* the status of 9.19, as observed on an H100 */
    case CUDNN_BACKEND_OPERATION_DIAGONAL_BAND_MASK_DESCRIPTOR:
        return runtime().settings.cudnn < 92100 ? CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED
                                                : CUDNN_STATUS_SUCCESS;
    default: return CUDNN_STATUS_NOT_SUPPORTED;
    }
}

cudnnStatus_t finalize(cudnnBackendDescriptor_t descriptor)
{
    Descriptor *d = static_cast<Descriptor *>(descriptor);
    NEED(d != nullptr && !d->finalized, CUDNN_STATUS_BAD_PARAM);
    const cudnnStatus_t status = check(*d);
    d->finalized = status == CUDNN_STATUS_SUCCESS;
    return status;
}

/* Fills a descriptor that the caller created. */
cudnnStatus_t fill(cudnnBackendDescriptor_t to, cudnnBackendDescriptorType_t type,
                   Descriptor *graph, int engine)
{
    Descriptor *d = static_cast<Descriptor *>(to);
    NEED(d != nullptr && d->type == type, CUDNN_STATUS_BAD_PARAM);
    d->graph = graph;
    d->engine = engine;
    d->finalized = true;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t get_results(const Descriptor &heuristics, int64_t asked, int64_t *count,
                          void *elements)
{
    auto *engines = static_cast<cudnnBackendDescriptor_t *>(elements);
    Descriptor *graph = heuristics.linked(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
    const int64_t all = (int64_t)operation_of(graph)->engines().size();
    for (int i = 0; i < std::min(asked, all); i++) {
        const cudnnStatus_t status = fill(engines[i], CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, graph, i);
        if (status != CUDNN_STATUS_SUCCESS) return status;
    }
    if (count != nullptr) *count = all;
    return CUDNN_STATUS_SUCCESS;
}

template <class Note>
cudnnStatus_t get_notes(const std::vector<Note> &notes, int64_t asked, int64_t *count,
                        void *elements)
{
    NEED(asked == 0 || elements != nullptr, CUDNN_STATUS_BAD_PARAM);
    std::copy_n(notes.data(), std::min(asked, (int64_t)notes.size()),
                static_cast<Note *>(elements));
    if (count != nullptr) *count = (int64_t)notes.size();
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t get_workspace(const Descriptor &plan, int64_t asked, int64_t *count, void *elements)
{
    NEED(asked == 1 && elements != nullptr, CUDNN_STATUS_BAD_PARAM);
    const Descriptor *engine = plan.linked(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
    *static_cast<int64_t *>(elements) =
        (int64_t)operation_of(engine->graph)->workspace(engine->engine);
    if (count != nullptr) *count = 1;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t get(cudnnBackendDescriptor_t const descriptor, cudnnBackendAttributeName_t name,
                  cudnnBackendAttributeType_t type, int64_t asked, int64_t *count, void *elements)
{
    const Descriptor *d = static_cast<const Descriptor *>(descriptor);
    NEED(d != nullptr, CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
    NEED(d->finalized, CUDNN_STATUS_NOT_INITIALIZED);
    const auto asks = [&](cudnnBackendDescriptorType_t of, cudnnBackendAttributeName_t what,
                          cudnnBackendAttributeType_t as) {
        return d->type == of && name == what && type == as;
    };
    if (asks(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, CUDNN_ATTR_ENGINEHEUR_RESULTS,
             CUDNN_TYPE_BACKEND_DESCRIPTOR))
        return get_results(*d, asked, count, elements);
    if (asks(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
             CUDNN_TYPE_INT64))
        return get_workspace(*d, asked, count, elements);
    if (asks(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, CUDNN_ATTR_ENGINECFG_ENGINE,
             CUDNN_TYPE_BACKEND_DESCRIPTOR)) {
        NEED(asked == 1 && elements != nullptr, CUDNN_STATUS_BAD_PARAM);
        if (count != nullptr) *count = 1;
        return fill(*static_cast<cudnnBackendDescriptor_t *>(elements),
                    CUDNN_BACKEND_ENGINE_DESCRIPTOR, d->graph, d->engine);
    }
    if (asks(CUDNN_BACKEND_ENGINE_DESCRIPTOR, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
             CUDNN_TYPE_NUMERICAL_NOTE))
        return get_notes(operation_of(d->graph)->engines()[(size_t)d->engine].numerical, asked,
                         count, elements);
    if (asks(CUDNN_BACKEND_ENGINE_DESCRIPTOR, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE,
             CUDNN_TYPE_BEHAVIOR_NOTE))
        return get_notes(operation_of(d->graph)->engines()[(size_t)d->engine].behavior, asked,
                         count, elements);
    return CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t execute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                      cudnnBackendDescriptor_t variants)
{
    const Descriptor *p = static_cast<Descriptor *>(plan),
                     *pack = static_cast<Descriptor *>(variants);
    BEGIN(handle);
    NEED(p != nullptr && p->finalized && pack != nullptr && pack->finalized,
         CUDNN_STATUS_BAD_PARAM);
    const Descriptor *engine = p->linked(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
    const std::unique_ptr<Operation> operation = operation_of(engine->graph);
    NEED(operation != nullptr, CUDNN_STATUS_BAD_PARAM);
    char *work = static_cast<char *>(*pack->find<void *>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE));
    NEED(on_device(handle->device, work, (int64_t)operation->workspace(engine->engine)),
         CUDNN_STATUS_BAD_PARAM);
    return operation->execute(handle, engine->engine, *pack, work);
}

} // namespace

namespace lt_sim {

bool read_tensor(const Descriptor *d, int least, int most, GraphTensor *t)
{
    if (d == nullptr || d->type != CUDNN_BACKEND_TENSOR_DESCRIPTOR || !d->finalized) return false;
    t->n = (int)d->attributes.at(CUDNN_ATTR_TENSOR_DIMENSIONS).count;
    if (t->n < least || t->n > most) return false;
    const bool *is_virtual = d->find<bool>(CUDNN_ATTR_TENSOR_IS_VIRTUAL),
               *by_value = d->find<bool>(CUDNN_ATTR_TENSOR_IS_BY_VALUE);
    t->uid = *d->find<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID);
    t->type = *d->find<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE);
    std::copy_n(d->find<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS), t->n, t->sizes);
    std::copy_n(d->find<int64_t>(CUDNN_ATTR_TENSOR_STRIDES), t->n, t->strides);
    t->is_virtual = is_virtual != nullptr && *is_virtual;
    t->by_value = by_value != nullptr && *by_value;
    return !(t->is_virtual && t->by_value);
}

char *address_in(const Descriptor &pack, int64_t uid)
{
    const int64_t *uids = pack.find<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    void *const *addresses = pack.find<void *>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
    for (int64_t i = 0; i < pack.attributes.at(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS).count; i++)
        if (uids[i] == uid) return static_cast<char *>(addresses[i]);
    return nullptr;
}

} // namespace lt_sim

lt_status lt_cudnn_graph_get(const lt_cudnn_graph **table)
{
    static const lt_cudnn_graph functions = {create, destroy_descriptor, finalize, set, get,
                                             execute};
    *table = &functions;
    return LT_OK;
}
