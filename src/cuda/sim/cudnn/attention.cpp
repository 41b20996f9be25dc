/* attention.cpp - the attention of a graph (graph.h), computed head by head in float with OpenBLAS.
 * Graphs outside cuDNN's documented support surface have no engine. The heuristics return two
 * engines; the first supports only head widths that are multiples of 16. */
#include "graph.h"

#include <math.h>
#include <set>

namespace lt_sim {

namespace {

/* An attention operation; the last four tensors are used by backward only. */
struct Attention final : Operation {
    bool backward = false, causal = false;
    GraphTensor query, key, value, out, stats, scale, minimum, grad, grad_query, grad_key,
        grad_value;

    const std::vector<Engine> &engines() const override
    {
        static const std::vector<Engine> two(2);
        return two;
    }
    bool supported(int engine) const override;
    size_t workspace(int engine) const override;
    cudnnStatus_t execute(cudnnHandle_t handle, int engine, const Descriptor &pack,
                          char *work) override;

    /* The tensors read, the tensors written, and the scalars passed by value. */
    std::vector<GraphTensor *> inputs(), outputs(), numbers();
    /* Whether shapes and dtypes match. */
    bool consistent() const;
    void compute(float by, float least) const;
};

using Numbers = std::vector<float>;

char *row_of(const GraphTensor &t, int64_t batch, int64_t head, int64_t row)
{
    return t.data +
           bytes_of(batch * t.strides[0] + head * t.strides[1] + row * t.strides[2], t.type);
}

/* The elements of a head, row by row. */
Numbers head_of(const GraphTensor &t, int64_t batch, int64_t head)
{
    Numbers all;
    for (int64_t row = 0; row < t.sizes[2]; row++) {
        const Numbers one = read<float>(row_of(t, batch, head, row), t.sizes[3], t.type);
        all.insert(all.end(), one.begin(), one.end());
    }
    return all;
}

void write_head(const GraphTensor &t, int64_t batch, int64_t head, const Numbers &all)
{
    const int64_t width = t.sizes[3];
    for (int64_t row = 0; row < t.sizes[2]; row++)
        write(row_of(t, batch, head, row),
              Numbers(all.begin() + row * width, all.begin() + (row + 1) * width), t.type, 1, 0);
}

/* Masked scores of a head. */
Numbers scores_of(const Attention &a, const Numbers &q, const Numbers &k, float by, float least)
{
    const int64_t queries = a.query.sizes[2], keys = a.key.sizes[2], width = a.query.sizes[3];
    Numbers s((size_t)(queries * keys));
    product(CblasNoTrans, CblasTrans, queries, keys, width, q.data(), width, k.data(), width, 0,
            s.data());
    for (int64_t i = 0; i < queries; i++)
        for (int64_t j = 0; j < keys; j++)
            s[(size_t)(i * keys + j)] = a.causal && j > i ? least : s[(size_t)(i * keys + j)] * by;
    return s;
}

void forward_head(const Attention &a, int64_t b, int64_t h, float by, float least)
{
    const int64_t queries = a.query.sizes[2], keys = a.key.sizes[2], width = a.value.sizes[3];
    const int64_t own = h / (a.query.sizes[1] / a.key.sizes[1]);
    Numbers p = scores_of(a, head_of(a.query, b, h), head_of(a.key, b, own), by, least);
    Numbers stats, out((size_t)(queries * width));
    for (int64_t i = 0; i < queries; i++) {
        float *row = p.data() + i * keys, sum = 0;
        const float top = *std::max_element(row, row + keys);
        for (int64_t j = 0; j < keys; j++) sum += row[j] = expf(row[j] - top);
        for (int64_t j = 0; j < keys; j++) row[j] /= sum;
        stats.push_back(top + logf(sum));
    }
    const Numbers v = head_of(a.value, b, own);
    product(CblasNoTrans, CblasNoTrans, queries, width, keys, p.data(), keys, v.data(), width, 0,
            out.data());
    write_head(a.out, b, h, out);
    write_head(a.stats, b, h, stats);
}

/* Adds to the gradients of the head's key and value. */
void backward_head(const Attention &a, int64_t b, int64_t h, float by, float least, Numbers &to_key,
                   Numbers &to_value)
{
    const int64_t queries = a.query.sizes[2], keys = a.key.sizes[2], width = a.query.sizes[3],
                  value_width = a.value.sizes[3];
    const int64_t own = h / (a.query.sizes[1] / a.key.sizes[1]);
    const Numbers q = head_of(a.query, b, h), k = head_of(a.key, b, own),
                  v = head_of(a.value, b, own), out = head_of(a.out, b, h),
                  grad = head_of(a.grad, b, h), stats = head_of(a.stats, b, h);
    Numbers p = scores_of(a, q, k, by, least), slopes(p.size()), to_query(q.size());
    for (size_t i = 0; i < p.size(); i++) p[i] = expf(p[i] - stats[i / (size_t)keys]);
    product(CblasTrans, CblasNoTrans, keys, value_width, queries, p.data(), keys, grad.data(),
            value_width, 1, to_value.data());
    product(CblasNoTrans, CblasTrans, queries, keys, value_width, grad.data(), value_width,
            v.data(), value_width, 0, slopes.data());
    for (int64_t i = 0; i < queries; i++) {
        float mean = 0;
        for (int64_t c = 0; c < value_width; c++)
            mean += grad[(size_t)(i * value_width + c)] * out[(size_t)(i * value_width + c)];
        for (int64_t j = i * keys; j < (i + 1) * keys; j++)
            slopes[(size_t)j] = p[(size_t)j] * (slopes[(size_t)j] - mean) * by;
    }
    product(CblasNoTrans, CblasNoTrans, queries, width, keys, slopes.data(), keys, k.data(), width,
            0, to_query.data());
    product(CblasTrans, CblasNoTrans, keys, width, queries, slopes.data(), keys, q.data(), width, 1,
            to_key.data());
    write_head(a.grad_query, b, h, to_query);
}

std::vector<GraphTensor *> Attention::inputs()
{
    std::vector<GraphTensor *> all = {&query, &key, &value};
    if (backward) all.insert(all.end(), {&out, &stats, &grad});
    return all;
}

std::vector<GraphTensor *> Attention::outputs()
{
    return backward ? std::vector<GraphTensor *>{&grad_query, &grad_key, &grad_value}
                    : std::vector<GraphTensor *>{&out, &stats};
}

std::vector<GraphTensor *> Attention::numbers()
{
    return causal ? std::vector<GraphTensor *>{&scale, &minimum}
                  : std::vector<GraphTensor *>{&scale};
}

bool Attention::consistent() const
{
    const int64_t batch = query.sizes[0], heads = query.sizes[1], queries = query.sizes[2],
                  width = query.sizes[3], own = key.sizes[1], keys = key.sizes[2],
                  value_width = value.sizes[3];
    if (heads % own != 0 || !key.is(batch, own, keys, width) ||
        !value.is(batch, own, keys, value_width) || !out.is(batch, heads, queries, value_width) ||
        !stats.is(batch, heads, queries, 1) || !scale.is(1, 1, 1, 1))
        return false;
    if (stats.type != CUDNN_DATA_FLOAT || scale.type != CUDNN_DATA_FLOAT) return false;
    return !backward || (grad.same_sizes(out) && grad_query.same_sizes(query) &&
                         grad_key.same_sizes(key) && grad_value.same_sizes(value));
}

/* Space for the float sums of the query gradients. */
size_t Attention::workspace(int) const
{
    const int64_t elements = query.sizes[0] * query.sizes[1] * query.sizes[2] * query.sizes[3];
    return backward ? (size_t)elements * sizeof(float) : 0;
}

void Attention::compute(float by, float least) const
{
    const int64_t heads = query.sizes[1], own = key.sizes[1];
    for (int64_t b = 0; b < query.sizes[0]; b++)
        for (int64_t o = 0; o < own; o++) {
            Numbers to_key((size_t)(key.sizes[2] * key.sizes[3])),
                to_value((size_t)(value.sizes[2] * value.sizes[3]));
            for (int64_t h = o * (heads / own); h < (o + 1) * (heads / own); h++)
                backward ? backward_head(*this, b, h, by, least, to_key, to_value)
                         : forward_head(*this, b, h, by, least);
            if (!backward) continue;
            write_head(grad_key, b, o, to_key);
            write_head(grad_value, b, o, to_value);
        }
}

/* Reads a graph with a single mask, between the scores with these two ids. */
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
    return read_tensor(mask->linked(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_XDESC), 4, 4,
                       &before) &&
           read_tensor(mask->linked(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_YDESC), 4, 4, &after) &&
           read_tensor(mask->linked(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_BDESC), 4, 4,
                       &a->minimum) &&
           before.is_virtual && after.is_virtual && before.uid == *input && after.uid == *output &&
           before.is(a->query.sizes[0], a->query.sizes[1], a->query.sizes[2], a->key.sizes[2]) &&
           after.same_sizes(before) && a->minimum.is(1, 1, 1, 1);
}

#define READ(part, name, to)                                                                       \
    read_tensor(d.linked(CUDNN_ATTR_OPERATION_SDPA_##part##_##name), 4, 4, &a->to)
#define READ_ALL(part)                                                                             \
    (READ(part, QDESC, query) && READ(part, KDESC, key) && READ(part, VDESC, value) &&             \
     READ(part, ODESC, out) && READ(part, STATSDESC, stats) && READ(part, SCALEDESC, scale) &&     \
     read_mask(d.linked(CUDNN_ATTR_OPERATION_SDPA_##part##_SUBGRAPH),                              \
               d.find<int64_t>(CUDNN_ATTR_OPERATION_SDPA_##part##_SUBGRAPH_INPUT_UID),             \
               d.find<int64_t>(CUDNN_ATTR_OPERATION_SDPA_##part##_SUBGRAPH_OUTPUT_UID), a))

/* False if the descriptor's tensors do not match. */
bool read(const Descriptor &d, Attention *a)
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

/* Whether the engine supports it: head widths that are multiples of 16 (engine 0) or 8, at most
 * 256. */
bool Attention::supported(int engine) const
{
    Attention a = *this;
    const int64_t widths[] = {query.sizes[3], value.sizes[3]};
    for (int64_t width : widths)
        if (width % (engine == 0 ? 16 : 8) != 0 || width > 256) return false;
    for (const auto &list : {a.inputs(), a.outputs()})
        for (const GraphTensor *t : list) {
            if (t->strides[3] != 1) return false;
            if (t->uid != stats.uid && (t->type != query.type || t->type == CUDNN_DATA_FLOAT ||
                                        t->type == CUDNN_DATA_DOUBLE))
                return false;
        }
    return true;
}

/* Number of elements from a tensor's first to its last. */
int64_t reach(const GraphTensor &t)
{
    int64_t last = 0;
    for (int d = 0; d < t.n; d++) last += (t.sizes[d] - 1) * t.strides[d];
    return last + 1;
}

/* Calls f(address) for each row. */
template <class F> void each_row(const GraphTensor &t, F f)
{
    for (int64_t b = 0; b < t.sizes[0]; b++)
        for (int64_t h = 0; h < t.sizes[1]; h++)
            for (int64_t r = 0; r < t.sizes[2]; r++)
                f(t.data +
                  bytes_of(b * t.strides[0] + h * t.strides[1] + r * t.strides[2], t.type));
}

cudnnStatus_t Attention::execute(cudnnHandle_t handle, int, const Descriptor &pack, char *work)
{
    Attention a = *this;
    for (const auto &list : {a.inputs(), a.outputs()})
        for (GraphTensor *t : list) {
            t->data = address_in(pack, t->uid);
            NEED((uintptr_t)t->data % 16 == 0, CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER);
            NEED(t->data != nullptr && lies(handle->device, t->data, reach(*t), t->type),
                 CUDNN_STATUS_BAD_PARAM);
        }
    float numbers[2] = {1, 0};
    for (size_t i = 0; i < a.numbers().size(); i++) {
        const char *at = address_in(pack, a.numbers()[i]->uid);
        NEED(at != nullptr && owner(at) == nullptr, CUDNN_STATUS_BAD_PARAM);
        memcpy(&numbers[i], at, sizeof(float));
    }
    const float by = numbers[0], least = numbers[1];
    return status_of(
        queue(handle, "cuDNN's attention", [a, by, least, work](const Uses &uses) mutable {
            for (const GraphTensor *t : a.inputs())
                each_row(*t, [&](char *row) { tell(uses, row, t->sizes[3], t->type, false, 0); });
            for (const GraphTensor *t : a.outputs())
                each_row(*t, [&](char *row) { tell(uses, row, t->sizes[3], t->type, true, 0); });
            uses.writes(work, (int64_t)a.workspace(0));
            a.compute(by, least);
            return cudaSuccess;
        }));
}

} // namespace

std::unique_ptr<Operation> read_attention(const Descriptor &d)
{
    auto a = std::make_unique<Attention>();
    return read(d, a.get()) ? std::move(a) : nullptr;
}

} // namespace lt_sim
