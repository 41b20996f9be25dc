/* convolution_graph.cpp - the convolution of a graph (graph.h), computed as by the legacy calls
 * (convolution.h).
 *
 * The engines behave as their notes state: one converts floats to half, one requires run-time
 * compilation, tensor core engines round floats to TF32 and do not support double, and the
 * nondeterministic ones need a workspace of half the image size. */
#include "convolution.h"
#include "graph.h"

namespace lt_sim {

namespace {

enum { CONVERTS, COMPILES, CORES_BY_CHANCE, CORES, BY_CHANCE, PLAIN };

const std::vector<Engine> all_engines = {
    {{CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS}, {}},
    {{CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, {CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION}},
    {{CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}, {}},
    {{CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, {}},
    {{CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}, {}},
    {{}, {}}};

struct Convolution final : Operation {
    Part part;
    GraphTensor x, w, y;
    Geometry g;
    double alpha, beta;
    bool lies_well; /* the layout is supported */

    const std::vector<Engine> &engines() const override { return all_engines; }
    bool there() const override { return runtime().settings.cudnn >= 90000; }
    bool supported(int engine) const override
    {
        return lies_well && (engine != CONVERTS || g.type == CUDNN_DATA_FLOAT) &&
               (engine > CORES || g.type != CUDNN_DATA_DOUBLE);
    }
    size_t workspace(int engine) const override
    {
        return engine == CORES_BY_CHANCE || engine == BY_CHANCE
                   ? workspace_bytes + (size_t)bytes_of(g.count_x(), g.type) / 2
                   : 0;
    }
    cudnnStatus_t execute(cudnnHandle_t handle, int engine, const Descriptor &pack,
                          char *work) override
    {
        Geometry as = g;
        const Operands o = {address_in(pack, x.uid), address_in(pack, w.uid),
                            address_in(pack, y.uid), work, (int64_t)workspace(engine)};
        if (g.type == CUDNN_DATA_FLOAT)
            as.rounding = engine == CONVERTS ? Rounding::half
                          : engine <= CORES  ? Rounding::tf32
                                             : Rounding::none;
        return queue_convolution(handle, part, as, o, alpha, beta);
    }
};

/* Attribute names of one of the three operations. */
struct Names {
    Part part;
    cudnnBackendAttributeName_t x, w, y, windows, alpha, beta;
};
#define NAMES(part, attribute, x, w, y)                                                            \
    {                                                                                              \
        part, CUDNN_ATTR_OPERATION_CONVOLUTION_##attribute##_##x,                                  \
            CUDNN_ATTR_OPERATION_CONVOLUTION_##attribute##_##w,                                    \
            CUDNN_ATTR_OPERATION_CONVOLUTION_##attribute##_##y,                                    \
            CUDNN_ATTR_OPERATION_CONVOLUTION_##attribute##_CONV_DESC,                              \
            CUDNN_ATTR_OPERATION_CONVOLUTION_##attribute##_ALPHA,                                  \
            CUDNN_ATTR_OPERATION_CONVOLUTION_##attribute##_BETA                                    \
    }
Names names_of(cudnnBackendDescriptorType_t type)
{
    switch (type) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
        return NAMES(FORWARD, FORWARD, X, W, Y);
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
        return NAMES(DATA, BWD_DATA, DX, W, DY);
    default: return NAMES(FILTER, BWD_FILTER, X, DW, DY);
    }
}
#undef NAMES

cudnnTensorStruct as_tensor(const GraphTensor &t)
{
    cudnnTensorStruct out;
    out.type = t.type;
    out.n = t.n;
    std::copy_n(t.sizes, t.n, out.sizes);
    std::copy_n(t.strides, t.n, out.strides);
    return out;
}

/* False if the descriptor is missing or invalid, or the padding is asymmetric. */
bool read_windows(const Descriptor *d, cudnnConvolutionStruct *to)
{
    if (d == nullptr || d->type != CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR || !d->finalized)
        return false;
    const int64_t *before = d->find<int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
    to->n = (int)*d->find<int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS);
    if (to->n < 2 || to->n > 3 ||
        !std::equal(before, before + to->n, d->find<int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS)))
        return false;
    std::copy_n(before, to->n, to->padding);
    std::copy_n(d->find<int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES), to->n, to->stride);
    std::copy_n(d->find<int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS), to->n, to->dilation);
    to->mode = *d->find<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE);
    to->compute = *d->find<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE);
    for (int i = 0; i < to->n; i++)
        if (to->padding[i] < 0 || to->stride[i] < 1 || to->dilation[i] < 1) return false;
    return true;
}

/* A factor is a double if the compute type is double, else a float. */
bool read_factor(const Descriptor &d, cudnnBackendAttributeName_t name, bool wide, double *to)
{
    if (d.attributes.at(name).type != (wide ? CUDNN_TYPE_DOUBLE : CUDNN_TYPE_FLOAT)) return false;
    *to = wide ? *d.find<double>(name) : *d.find<float>(name);
    return true;
}

} // namespace

std::unique_ptr<Operation> read_convolution(const Descriptor &d)
{
    const Names names = names_of(d.type);
    auto c = std::make_unique<Convolution>();
    cudnnConvolutionStruct windows;
    c->part = names.part;
    for (auto [name, to] : {std::make_pair(names.x, &c->x), {names.w, &c->w}, {names.y, &c->y}})
        if (!read_tensor(d.linked(name), 4, 5, to) || to->is_virtual || to->by_value)
            return nullptr;
    if (c->x.uid == c->w.uid || c->w.uid == c->y.uid || c->y.uid == c->x.uid ||
        !read_windows(d.linked(names.windows), &windows))
        return nullptr;
    cudnnTensorStruct x = as_tensor(c->x), w = as_tensor(c->w), y = as_tensor(c->y);
    windows.groups = std::max(1, x.sizes[1] / w.sizes[1]);
    const bool in_order = dense(&x) && dense(&w) && dense(&y);
    cudnnFilterStruct weights = {w.type, in_order ? CUDNN_TENSOR_NCHW : CUDNN_TENSOR_NHWC, w.n, {}};
    std::copy_n(w.sizes, w.n, weights.sizes);
    const cudnnStatus_t status = relate(&x, &weights, &windows, &y, &c->g);
    c->lies_well = status == CUDNN_STATUS_SUCCESS && (in_order || dense_channels_last(&w));
    const bool wide = windows.compute == CUDNN_DATA_DOUBLE;
    if ((status != CUDNN_STATUS_SUCCESS && status != CUDNN_STATUS_NOT_SUPPORTED) ||
        !read_factor(d, names.alpha, wide, &c->alpha) ||
        !read_factor(d, names.beta, wide, &c->beta))
        return nullptr;
    return c;
}

} // namespace lt_sim
