/* attention_cudnn.cu - attention by cuDNN's fused operations
 * (CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR and its derivative), in the cases where PyTorch
 * prefers cuDNN: compute capability 9.0 and 10.0, unless torch.backends.cudnn.enabled or
 * torch.backends.cuda.cudnn_sdp_enabled() is false.
 *
 * Supported: half types, heads up to 128 wide, no mask or a causal one, keys and values shared by
 * heads. Our kernels (attention.cu) do the rest:
 * - other masks: cuDNN only supports additive ones, and no rows without a key;
 * - dropout: the second derivative needs its mask, and cuDNN then returns no logsumexp;
 * - deterministic mode.
 *
 * The logsumexp of either implementation can be used in the other's backward. Each thread caches
 * plans by shape and strides. */
#include <atomic>
#include <math.h>
#include <new>

#include "attention_cudnn.cuh"
#include "libraries/graphs.cuh"
#include "libraries/plans.cuh"

namespace {

constexpr int64_t widest = 128;
constexpr int64_t element = 2, access = 16; /* bytes per element; alignment of accesses */

/* Key of the plan cache (plans.cuh). Strides: of batch, heads, rows. */
struct attention_shape {
    int64_t batch, heads, own_heads, queries, keys, width, value_width;
    int64_t query[3], key[3], value[3], out[3], grad[3];
    int32_t dtype, device, causal, backward;
};

enum uid : int64_t {
    QUERY = 1,
    KEY,
    VALUE,
    OUT,
    STATS,
    SCALE,
    MINIMUM,
    GRAD,
    GRAD_QUERY,
    GRAD_KEY,
    GRAD_VALUE,
    SCORES,
    MASKED
};

struct attention_plan {
    lt_cudnn_plan of;
    lt_status make(cudnnHandle_t handle, const attention_shape &s);
};

using descriptor = cudnnBackendDescriptor_t;

/* A tensor [batch, heads, rows, width] with contiguous rows. */
descriptor rows(lt_cudnn_plan &g, const attention_shape &s, uid name, int64_t heads, int64_t count,
                int64_t width, const int64_t (&strides)[3])
{
    const int64_t sizes[] = {s.batch, heads, count, width},
                  all[] = {strides[0], strides[1], strides[2], 1};
    return g.tensor(name, lt_cudnn_type(s.dtype), 4, sizes, all, lt_cudnn_plan::DEVICE);
}

/* The same without gaps between rows. */
descriptor dense_rows(lt_cudnn_plan &g, const attention_shape &s, uid name, int64_t heads,
                      int64_t count, int64_t width)
{
    return rows(g, s, name, heads, count, width, {heads * count * width, count * width, width});
}

descriptor number(lt_cudnn_plan &g, uid name)
{
    const int64_t ones[] = {1, 1, 1, 1};
    return g.tensor(name, CUDNN_DATA_FLOAT, 4, ones, ones, lt_cudnn_plan::HOST);
}

descriptor scores(lt_cudnn_plan &g, const attention_shape &s, uid name)
{
    const int64_t sizes[] = {s.batch, s.heads, s.queries, s.keys};
    const int64_t strides[] = {s.heads * s.queries * s.keys, s.queries * s.keys, s.keys, 1};
    return g.tensor(name, CUDNN_DATA_FLOAT, 4, sizes, strides, lt_cudnn_plan::NOWHERE);
}

/* The subgraph between scores and probabilities: replaces scores of keys after the query by the
 * minimum. */
descriptor causal(lt_cudnn_plan &g, cudnnHandle_t handle, const attention_shape &s)
{
    /* keep if query index >= key index */
    const cudnnPointwiseMode_t from = CUDNN_POINTWISE_CMP_GE;
    descriptor mask = g.create(CUDNN_BACKEND_OPERATION_DIAGONAL_BAND_MASK_DESCRIPTOR);
    g.link(mask, CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_XDESC, scores(g, s, SCORES));
    g.link(mask, CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_BDESC, number(g, MINIMUM));
    g.link(mask, CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_YDESC, scores(g, s, MASKED));
    g.set(mask, CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_COMPARISON_MODE, CUDNN_TYPE_POINTWISE_MODE,
          1, &from);
    g.finalize(mask);
    return g.graph(handle, mask);
}

/* Names of the attributes of one of the two operations. */
struct attention_names {
    cudnnBackendDescriptorType_t type;
    cudnnBackendAttributeName_t query, key, value, out, stats, scale, graph, graph_input,
        graph_output;
};
constexpr attention_names forward_names = {CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR,
                                           CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC,
                                           CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC,
                                           CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC,
                                           CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC,
                                           CUDNN_ATTR_OPERATION_SDPA_FWD_STATSDESC,
                                           CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC,
                                           CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH,
                                           CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH_INPUT_UID,
                                           CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH_OUTPUT_UID};
constexpr attention_names backward_names = {CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR,
                                            CUDNN_ATTR_OPERATION_SDPA_BWD_QDESC,
                                            CUDNN_ATTR_OPERATION_SDPA_BWD_KDESC,
                                            CUDNN_ATTR_OPERATION_SDPA_BWD_VDESC,
                                            CUDNN_ATTR_OPERATION_SDPA_BWD_ODESC,
                                            CUDNN_ATTR_OPERATION_SDPA_BWD_STATSDESC,
                                            CUDNN_ATTR_OPERATION_SDPA_BWD_SCALEDESC,
                                            CUDNN_ATTR_OPERATION_SDPA_BWD_SUBGRAPH,
                                            CUDNN_ATTR_OPERATION_SDPA_BWD_SUBGRAPH_INPUT_UID,
                                            CUDNN_ATTR_OPERATION_SDPA_BWD_SUBGRAPH_OUTPUT_UID};

lt_status attention_plan::make(cudnnHandle_t handle, const attention_shape &s)
{
    LT_TRY(of.open());
    const attention_names &n = s.backward ? backward_names : forward_names;
    const int64_t of_stats[] = {s.batch, s.heads, s.queries, 1},
                  steps[] = {s.heads * s.queries, s.queries, 1, 1};
    descriptor attention = of.create(n.type);
    of.link(attention, n.query, rows(of, s, QUERY, s.heads, s.queries, s.width, s.query));
    of.link(attention, n.key, rows(of, s, KEY, s.own_heads, s.keys, s.width, s.key));
    of.link(attention, n.value, rows(of, s, VALUE, s.own_heads, s.keys, s.value_width, s.value));
    of.link(attention, n.out, rows(of, s, OUT, s.heads, s.queries, s.value_width, s.out));
    of.link(attention, n.stats,
            of.tensor(STATS, CUDNN_DATA_FLOAT, 4, of_stats, steps, lt_cudnn_plan::DEVICE));
    of.link(attention, n.scale, number(of, SCALE));
    if (s.causal) {
        const int64_t before = SCORES, after = MASKED;
        of.link(attention, n.graph, causal(of, handle, s));
        of.set(attention, n.graph_input, CUDNN_TYPE_INT64, 1, &before);
        of.set(attention, n.graph_output, CUDNN_TYPE_INT64, 1, &after);
    }
    if (s.backward) {
        of.link(attention, CUDNN_ATTR_OPERATION_SDPA_BWD_DODDESC,
                rows(of, s, GRAD, s.heads, s.queries, s.value_width, s.grad));
        of.link(attention, CUDNN_ATTR_OPERATION_SDPA_BWD_DQDESC,
                dense_rows(of, s, GRAD_QUERY, s.heads, s.queries, s.width));
        of.link(attention, CUDNN_ATTR_OPERATION_SDPA_BWD_DKDESC,
                dense_rows(of, s, GRAD_KEY, s.own_heads, s.keys, s.width));
        of.link(attention, CUDNN_ATTR_OPERATION_SDPA_BWD_DVDESC,
                dense_rows(of, s, GRAD_VALUE, s.own_heads, s.keys, s.value_width));
    }
    of.finalize(attention);
    of.choose(handle, s.device, of.graph(handle, attention), {});
    return LT_OK;
}

/* Whether address and strides are aligned for cuDNN's widest accesses. The stride of a dimension of
 * size 1 is arbitrary. */
bool lies_well(const lt_array &t)
{
    if (t.data == nullptr) return true;
    if ((uintptr_t)t.data % access != 0) return false;
    for (int d = 0; d < 3; d++)
        if (t.sizes[d] > 1 && (t.strides[d] <= 0 || t.strides[d] * element % access != 0))
            return false;
    return t.sizes[3] == 1 || t.strides[3] == 1;
}

/* Whether PyTorch would prefer cuDNN on this device; queried once per device (cached: 1 no, 2 yes).
 */
lt_status prefers(int device, bool *yes)
{
    static std::atomic<int> known[LT_CUDA_MAX_DEVICES];
    int answer = known[device].load(std::memory_order_relaxed);
    if (answer == 0) {
        int major = 0, minor = 0;
        CUDA_TRY(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
        CUDA_TRY(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
        answer = (major == 9 || major == 10) && minor == 0 ? 2 : 1;
        known[device].store(answer, std::memory_order_relaxed);
    }
    *yes = answer == 2;
    return LT_OK;
}

bool suits(const lt_attention *a)
{
    if ((a->dtype != LT_FLOAT16 && a->dtype != LT_BFLOAT16) || a->mask.data != nullptr ||
        a->seed != nullptr)
        return false;
    if (a->width > widest || a->value_width > widest || a->width % 8 != 0 ||
        a->value_width % 8 != 0)
        return false;
    if (a->queries < 2 || a->keys < 2 || a->width == 0 || a->value_width == 0) return false;
    for (const lt_array *t : {&a->query, &a->key, &a->value, &a->out, &a->grad})
        if (!lies_well(*t)) return false;
    return true;
}

void take_strides(const lt_array &t, int64_t (&to)[3])
{
    for (int d = 0; d < 3 && t.data != nullptr; d++) {
        const int64_t dense = t.sizes[3] * (d < 2 ? t.sizes[2] : 1) * (d < 1 ? t.sizes[1] : 1);
        /* strides of dimensions of size 1 may be 0 */
        to[d] = t.sizes[d] > 1 ? t.strides[d] : dense;
    }
}

attention_shape shape_of(const lt_attention *a, bool backward)
{
    attention_shape s = {a->batch,
                         a->heads,
                         a->heads / a->shared_by,
                         a->queries,
                         a->keys,
                         a->width,
                         a->value_width,
                         {},
                         {},
                         {},
                         {},
                         {},
                         a->dtype,
                         a->device.index,
                         a->causal ? 1 : 0,
                         backward ? 1 : 0};
    take_strides(a->query, s.query);
    take_strides(a->key, s.key);
    take_strides(a->value, s.value);
    take_strides(a->out, s.out);
    take_strides(a->grad, s.grad);
    return s;
}

/* Output buffer of a gradient: scratch memory if the caller does not need it, because cuDNN
 * computes all. */
lt_status place_of(void *wanted, const lt_attention *a, int64_t elements, lt_cuda_scratch &spare,
                   void **to)
{
    *to = wanted;
    if (wanted != nullptr) return LT_OK;
    LT_TRY(spare.take(a->device.index, (size_t)(elements * element)));
    *to = spare.as<void>();
    return LT_OK;
}

lt_status run(const attention_plan *p, cudnnHandle_t handle, const lt_attention *a, bool backward)
{
    float scale = (float)a->scale, minimum = -INFINITY;
    const int64_t own = a->batch * (a->heads / a->shared_by) * a->keys;
    lt_cuda_scratch workspace, spare[3];
    std::vector<int64_t> uids = {QUERY, KEY, VALUE, OUT, STATS, SCALE};
    std::vector<void *> addresses = {a->query.data, a->key.data,  a->value.data,
                                     a->out.data,   a->logsumexp, &scale};
    if (a->causal) uids.push_back(MINIMUM), addresses.push_back(&minimum);
    if (backward) {
        void *grads[3];
        LT_TRY(place_of(a->grad_query, a, a->batch * a->heads * a->queries * a->width, spare[0],
                        &grads[0]));
        LT_TRY(place_of(a->grad_key, a, own * a->width, spare[1], &grads[1]));
        LT_TRY(place_of(a->grad_value, a, own * a->value_width, spare[2], &grads[2]));
        uids.insert(uids.end(), {GRAD, GRAD_QUERY, GRAD_KEY, GRAD_VALUE});
        addresses.insert(addresses.end(), {a->grad.data, grads[0], grads[1], grads[2]});
    }
    if (p->of.workspace() > 0) LT_TRY(workspace.take(a->device.index, p->of.workspace()));
    LT_CUDNN_TRY(p->of.execute(handle, (int64_t)uids.size(), uids.data(), addresses.data(),
                               workspace.as<void>()));
    return LT_OK;
}

} // namespace

lt_status lt_attention_by_cudnn(const lt_attention *a, bool backward, cudaStream_t stream,
                                bool *done)
{
    static thread_local lt_cuda_plans<attention_shape, attention_plan> known;
    lt_cuda_dnn dnn;
    attention_plan *p = nullptr;
    bool preferred = false;
    *done = false;
    if (!lt_cuda_core->cudnn_enabled() || !lt_cuda_core->attention_allowed(LT_ATTENTION_CUDNN) ||
        lt_cuda_core->deterministic() || !suits(a) || lt_cuda_dnn_functions() == nullptr)
        return LT_OK;
    LT_TRY(prefers(a->device.index, &preferred));
    if (!preferred) return LT_OK;
    LT_TRY(dnn.open(a->device.index, stream));
    const attention_shape s = shape_of(a, backward);
    LT_TRY(known.find(
        s, [&](attention_plan *fresh) { return fresh->make(dnn.handle, s); }, &p));
    if (!p->of.made()) return LT_OK;
    *done = true;
    try {
        return run(p, dnn.handle, a, backward);
    } catch (const std::bad_alloc &) {
        return lt_cuda_core->error(LT_ERR_MEMORY, "out of memory for a call of cuDNN");
    }
}
