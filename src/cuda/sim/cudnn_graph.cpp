/* cudnn_graph.cpp - cuDNN's graph API for simulated GPUs: descriptors with attributes by name, of which a graph of one attention can be made,
 * its heuristics, plans and executions. What a descriptor may have and must have is the documentation's; what a graph has to be for
 * there to be an engine, the support surface of attention. Two engines are told of: the first takes heads whose width is a multiple of 16. */
#include "cudnn_graph.h"

#include <map>
#include <set>

using namespace lt_sim;

namespace {

struct Attribute {
    cudnnBackendAttributeType_t type;
    int64_t count;
    std::vector<char> bytes;
};

struct Descriptor {
    cudnnBackendDescriptorType_t type;
    bool finalized = false;
    int engine = 0; /* of an engine's configuration */
    Descriptor *graph = nullptr;
    std::map<int, Attribute> attributes;

    template <class T> const T *find(cudnnBackendAttributeName_t name) const
    {
        const auto at = attributes.find(name);
        return at != attributes.end() ? reinterpret_cast<const T *>(at->second.bytes.data())
                                      : nullptr;
    }
    Descriptor *linked(cudnnBackendAttributeName_t name) const
    {
        const auto *other = find<cudnnBackendDescriptor_t>(name);
        return other != nullptr ? static_cast<Descriptor *>(*other) : nullptr;
    }
};

size_t size_of(cudnnBackendAttributeType_t type)
{
    switch (type) {
    case CUDNN_TYPE_BOOLEAN: return sizeof(bool);
    case CUDNN_TYPE_DATA_TYPE:
    case CUDNN_TYPE_HEUR_MODE:
    case CUDNN_TYPE_POINTWISE_MODE: return sizeof(int);
    default: return sizeof(int64_t);
    }
}

/* ---- which attributes there are ------------------------------------------------------------------------------------- */

struct Rule {
    cudnnBackendDescriptorType_t of;
    cudnnBackendAttributeName_t name;
    cudnnBackendAttributeType_t type;
    int64_t most;
    bool required;
};

constexpr int64_t many = 64, dimensions = 8;
#define NEEDS(of, name, type, most) {of, name, type, most, true}
#define MAY(of, name, type, most)   {of, name, type, most, false}
#define TENSOR(X, name, type, most)                                                                \
    X(CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_##name, type, most)
#define FORWARD(X, name, type)                                                                     \
    X(CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR, CUDNN_ATTR_OPERATION_SDPA_FWD_##name, type, 1)
#define BACKWARD(X, name, type)                                                                    \
    X(CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR, CUDNN_ATTR_OPERATION_SDPA_BWD_##name, type, 1)
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
#undef MASK

const Rule *rule_of(const Descriptor &d, cudnnBackendAttributeName_t name)
{
    for (const Rule &rule : rules)
        if (rule.of == d.type && rule.name == name) return &rule;
    return nullptr;
}

/* ---- what descriptors say --------------------------------------------------------------------------------------------- */

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

/* False where there is none, or not of four dimensions. */
bool read_tensor(const Descriptor *d, GraphTensor *t)
{
    if (d == nullptr || d->type != CUDNN_BACKEND_TENSOR_DESCRIPTOR || !d->finalized) return false;
    if (d->attributes.at(CUDNN_ATTR_TENSOR_DIMENSIONS).count != 4) return false;
    const bool *is_virtual = d->find<bool>(CUDNN_ATTR_TENSOR_IS_VIRTUAL),
               *by_value = d->find<bool>(CUDNN_ATTR_TENSOR_IS_BY_VALUE);
    t->uid = *d->find<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID);
    t->type = *d->find<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE);
    std::copy_n(d->find<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS), 4, t->sizes);
    std::copy_n(d->find<int64_t>(CUDNN_ATTR_TENSOR_STRIDES), 4, t->strides);
    t->is_virtual = is_virtual != nullptr && *is_virtual;
    t->by_value = by_value != nullptr && *by_value;
    return !(t->is_virtual && t->by_value);
}

/* A graph of one mask, between the two scores of these names. */
bool read_mask(const Descriptor *graph, const int64_t *input, const int64_t *output, Attention *a)
{
    if (graph == nullptr) return input == nullptr && output == nullptr;
    const Descriptor *mask = graph->linked(CUDNN_ATTR_OPERATIONGRAPH_OPS);
    GraphTensor before, after;
    if (input == nullptr || output == nullptr || !graph->finalized || !mask->finalized ||
        mask->type != CUDNN_BACKEND_OPERATION_DIAGONAL_BAND_MASK_DESCRIPTOR ||
        graph->attributes.at(CUDNN_ATTR_OPERATIONGRAPH_OPS).count != 1)
        return false;
    a->causal = true;
    return read_tensor(mask->linked(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_XDESC), &before) &&
           read_tensor(mask->linked(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_YDESC), &after) &&
           read_tensor(mask->linked(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_BDESC), &a->minimum) &&
           before.is_virtual && after.is_virtual && before.uid == *input && after.uid == *output &&
           before.is(a->query.sizes[0], a->query.sizes[1], a->query.sizes[2], a->key.sizes[2]) &&
           after.same_sizes(before) && a->minimum.is(1, 1, 1, 1);
}

#define READ(part, name, to)                                                                       \
    read_tensor(d.linked(CUDNN_ATTR_OPERATION_SDPA_##part##_##name), &a->to)
#define READ_ALL(part)                                                                             \
    (READ(part, QDESC, query) && READ(part, KDESC, key) && READ(part, VDESC, value) &&             \
     READ(part, ODESC, out) && READ(part, STATSDESC, stats) && READ(part, SCALEDESC, scale) &&     \
     read_mask(d.linked(CUDNN_ATTR_OPERATION_SDPA_##part##_SUBGRAPH),                              \
               d.find<int64_t>(CUDNN_ATTR_OPERATION_SDPA_##part##_SUBGRAPH_INPUT_UID),             \
               d.find<int64_t>(CUDNN_ATTR_OPERATION_SDPA_##part##_SUBGRAPH_OUTPUT_UID), a))

/* The operation, or false where its parts do not fit together. */
bool read_attention(const Descriptor &d, Attention *a)
{
    a->backward = d.type == CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR;
    if (!(a->backward ? READ_ALL(BWD) : READ_ALL(FWD))) return false;
    if (a->backward && !(READ(BWD, DODDESC, grad) && READ(BWD, DQDESC, grad_query) &&
                         READ(BWD, DKDESC, grad_key) && READ(BWD, DVDESC, grad_value)))
        return false;
    std::set<int64_t> names;
    for (const auto &list : {a->inputs(), a->outputs(), a->numbers()})
        for (const GraphTensor *t : list)
            if (t->is_virtual || !names.insert(t->uid).second) return false;
    for (const GraphTensor *t : a->numbers())
        if (!t->by_value) return false;
    return a->consistent();
}
#undef READ
#undef READ_ALL

/* Whether an engine computes it. */
bool supported(Attention a, int engine)
{
    const int64_t widths[] = {a.query.sizes[3], a.value.sizes[3]};
    for (int64_t width : widths)
        if (width % (engine == 0 ? 16 : 8) != 0 || width > 256) return false;
    for (const auto &list : {a.inputs(), a.outputs()})
        for (const GraphTensor *t : list) {
            if (t->strides[3] != 1) return false;
            if (t->uid != a.stats.uid && (t->type != a.query.type || t->type == CUDNN_DATA_FLOAT ||
                                          t->type == CUDNN_DATA_DOUBLE))
                return false;
        }
    return true;
}

/* ---- the calls ---------------------------------------------------------------------------------------------------------- */

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
    const Rule *rule = rule_of(*d, name);
    NEED(rule != nullptr && rule->type == type && count > 0 && count <= rule->most,
         CUDNN_STATUS_BAD_PARAM);
    if (name == CUDNN_ATTR_OPERATIONGRAPH_OPS)
        for (int64_t i = 0; i < count; i++)
            NEED(static_cast<Descriptor *>(
                     static_cast<const cudnnBackendDescriptor_t *>(elements)[i])
                     ->finalized, CUDNN_STATUS_BAD_PARAM);
    const char *from = static_cast<const char *>(elements);
    d->attributes[name] = {type, count, std::vector<char>(from, from + (size_t)count * size_of(type))};
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t check_plan(const Descriptor &d)
{
    const Descriptor *engine = d.linked(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
    Attention a;
    NEED(usable(*d.find<cudnnHandle_t>(CUDNN_ATTR_EXECUTION_PLAN_HANDLE)) &&
             engine->type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR && engine->finalized,
         CUDNN_STATUS_BAD_PARAM);
    NEED(read_attention(*engine->graph->linked(CUDNN_ATTR_OPERATIONGRAPH_OPS), &a),
         CUDNN_STATUS_BAD_PARAM);
    NEED(supported(a, engine->engine), CUDNN_STATUS_NOT_SUPPORTED);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t check(const Descriptor &d)
{
    Attention a;
    for (const Rule &rule : rules)
        NEED(rule.of != d.type || !rule.required || d.attributes.count(rule.name) == 1,
             CUDNN_STATUS_BAD_PARAM);
    switch (d.type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR: return check_tensor(d);
    case CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR:
        NEED(read_attention(d, &a), CUDNN_STATUS_BAD_PARAM);
        return CUDNN_STATUS_SUCCESS;
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
        NEED(usable(*d.find<cudnnHandle_t>(CUDNN_ATTR_OPERATIONGRAPH_HANDLE)), CUDNN_STATUS_BAD_PARAM);
        return CUDNN_STATUS_SUCCESS;
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
        NEED(d.linked(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH)->finalized, CUDNN_STATUS_BAD_PARAM);
        return CUDNN_STATUS_SUCCESS;
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR: return check_plan(d);
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
        NEED(d.attributes.at(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS).count ==
                 d.attributes.at(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS).count,
             CUDNN_STATUS_BAD_PARAM);
        return CUDNN_STATUS_SUCCESS;
    case CUDNN_BACKEND_OPERATION_DIAGONAL_BAND_MASK_DESCRIPTOR: /* what 9.19 says of it was seen on an H100 */
        return runtime().settings.cudnn < 92100 ? CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED : CUDNN_STATUS_SUCCESS;
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

cudnnStatus_t get(cudnnBackendDescriptor_t const descriptor, cudnnBackendAttributeName_t name,
                  cudnnBackendAttributeType_t type, int64_t asked, int64_t *count, void *elements)
{
    const Descriptor *d = static_cast<const Descriptor *>(descriptor);
    NEED(d != nullptr, CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
    NEED(d->finalized, CUDNN_STATUS_NOT_INITIALIZED);
    if (d->type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR && name == CUDNN_ATTR_ENGINEHEUR_RESULTS) {
        NEED(type == CUDNN_TYPE_BACKEND_DESCRIPTOR, CUDNN_STATUS_BAD_PARAM);
        auto *engines = static_cast<cudnnBackendDescriptor_t *>(elements);
        for (int i = 0; i < std::min<int64_t>(asked, 2); i++) {
            Descriptor *e = static_cast<Descriptor *>(engines[i]);
            NEED(e != nullptr && e->type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
                 CUDNN_STATUS_BAD_PARAM);
            e->graph = d->linked(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
            e->engine = i;
            e->finalized = true;
        }
        if (count != nullptr) *count = 2;
        return CUDNN_STATUS_SUCCESS;
    }
    NEED(d->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR &&
             name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE && type == CUDNN_TYPE_INT64 &&
             asked == 1 && elements != nullptr,
         CUDNN_STATUS_BAD_PARAM);
    Attention a;
    const Descriptor *engine = d->linked(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
    (void)read_attention(*engine->graph->linked(CUDNN_ATTR_OPERATIONGRAPH_OPS), &a);
    *static_cast<int64_t *>(elements) = (int64_t)a.workspace();
    if (count != nullptr) *count = 1;
    return CUDNN_STATUS_SUCCESS;
}

/* The address that a pack has for a tensor. */
char *address_in(const Descriptor &pack, int64_t uid)
{
    const int64_t *uids = pack.find<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    void *const *addresses = pack.find<void *>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
    for (int64_t i = 0; i < pack.attributes.at(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS).count; i++)
        if (uids[i] == uid) return static_cast<char *>(addresses[i]);
    return nullptr;
}

/* Elements from a tensor's first to its last. */
int64_t reach(const GraphTensor &t)
{
    int64_t last = 0;
    for (int d = 0; d < 4; d++) last += (t.sizes[d] - 1) * t.strides[d];
    return last + 1;
}

/* Calls f(address) for each row. */
template <class F> void each_row(const GraphTensor &t, F f)
{
    for (int64_t b = 0; b < t.sizes[0]; b++)
        for (int64_t h = 0; h < t.sizes[1]; h++)
            for (int64_t r = 0; r < t.sizes[2]; r++)
                f(t.data + bytes_of(b * t.strides[0] + h * t.strides[1] + r * t.strides[2], t.type));
}

cudnnStatus_t execute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                      cudnnBackendDescriptor_t variants)
{
    const Descriptor *p = static_cast<Descriptor *>(plan), *pack = static_cast<Descriptor *>(variants);
    Attention a;
    BEGIN(handle);
    NEED(p != nullptr && p->finalized && pack != nullptr && pack->finalized, CUDNN_STATUS_BAD_PARAM);
    const Descriptor *engine = p->linked(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
    NEED(read_attention(*engine->graph->linked(CUDNN_ATTR_OPERATIONGRAPH_OPS), &a),
         CUDNN_STATUS_BAD_PARAM);
    for (const auto &list : {a.inputs(), a.outputs()})
        for (GraphTensor *t : list) {
            t->data = address_in(*pack, t->uid);
            NEED((uintptr_t)t->data % 16 == 0, CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER);
            NEED(t->data != nullptr && lies(handle->device, t->data, reach(*t), t->type),
                 CUDNN_STATUS_BAD_PARAM);
        }
    float numbers[2] = {1, 0};
    for (size_t i = 0; i < a.numbers().size(); i++) {
        const char *at = address_in(*pack, a.numbers()[i]->uid);
        NEED(at != nullptr && owner(at) == nullptr, CUDNN_STATUS_BAD_PARAM);
        memcpy(&numbers[i], at, sizeof(float));
    }
    char *work = static_cast<char *>(*pack->find<void *>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE));
    NEED(on_device(handle->device, work, (int64_t)a.workspace()), CUDNN_STATUS_BAD_PARAM);
    const float by = numbers[0], least = numbers[1];
    return status_of(queue(handle, "cuDNN's attention", [a, by, least, work](const Uses &uses) mutable {
        for (const GraphTensor *t : a.inputs())
            each_row(*t, [&](char *row) { tell(uses, row, t->sizes[3], t->type, false, 0); });
        for (const GraphTensor *t : a.outputs())
            each_row(*t, [&](char *row) { tell(uses, row, t->sizes[3], t->type, true, 0); });
        uses.writes(work, (int64_t)a.workspace());
        a.compute(by, least);
        return cudaSuccess;
    }));
}

} // namespace

lt_status lt_cudnn_graph_get(const lt_cudnn_graph **table)
{
    static const lt_cudnn_graph functions = {create, destroy_descriptor, finalize, set, get, execute};
    *table = &functions;
    return LT_OK;
}
