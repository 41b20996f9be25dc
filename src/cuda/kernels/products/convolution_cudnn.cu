/* convolution_cudnn.cu - convolutions by cuDNN's graph API: graphs of one operation
 * (CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR and its two derivatives). Each thread
 * caches the plans by shape.
 *
 * If a graph has no plan, or no memory for its workspace, cuDNN's legacy API is used
 * (convolution_algorithms.cu), and if that fails our own kernels (convolution.cu): *done stays
 * false. Products of floats may be rounded to TF32, as in PyTorch, unless
 * torch.backends.cudnn.allow_tf32 is false, but never to half types. channels_last arrays are
 * passed to cuDNN without a copy. */
#include "convolution.cuh"

#include <limits.h>
#include <new>
#include <optional>

#include "convolution_cudnn.cuh"
#include "libraries/graphs.cuh"
#include "libraries/plans.cuh"

namespace {

constexpr uintptr_t alignment = 16; /* bytes; cuDNN's kernels require it */

enum uid : int64_t { X = 1, W, Y };
constexpr int64_t uids[] = {X, W, Y};

using descriptor = cudnnBackendDescriptor_t;

/* Names of the attributes of one of the three operations. */
struct convolution_names {
    cudnnBackendDescriptorType_t type;
    cudnnBackendAttributeName_t x, w, y, windows, alpha, beta;
};
constexpr convolution_names forward_names = {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                                             CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                                             CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                                             CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                                             CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                                             CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                                             CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
constexpr convolution_names data_names = {
    CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
constexpr convolution_names filter_names = {
    CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};

const convolution_names &names_of(const lt_conv_shape &s)
{
    return s.part == LT_CONV_Y ? forward_names : s.part == LT_CONV_X ? data_names : filter_names;
}

descriptor tensor(lt_cudnn_plan &g, const lt_conv_shape &s, uid name, int64_t first, int64_t second,
                  const int64_t *spatial)
{
    const lt_conv_extents e(s, first, second, spatial);
    return g.tensor(name, lt_cudnn_type(s.dtype), e.n, e.sizes, e.strides, lt_cudnn_plan::DEVICE);
}

descriptor windows(lt_cudnn_plan &g, const lt_conv_shape &s)
{
    const int skip = s.flat() ? 1 : 0;
    const int64_t n = 3 - skip;
    const cudnnDataType_t compute = s.dtype == LT_FLOAT64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
    const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    descriptor of = g.create(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    g.set(of, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute);
    g.set(of, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    g.set(of, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &n);
    g.set(of, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, n, s.dilation + skip);
    g.set(of, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, n, s.stride + skip);
    g.set(of, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, n, s.padding + skip);
    g.set(of, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, n, s.padding + skip);
    g.finalize(of);
    return of;
}

/* alpha = 1, beta = 0: the result overwrites the output. */
void set_factors(lt_cudnn_plan &g, const lt_conv_shape &s, const convolution_names &n,
                 descriptor operation)
{
    const float one_float = 1, zero_float = 0;
    const double one_double = 1, zero_double = 0;
    const bool wide = s.dtype == LT_FLOAT64;
    const cudnnBackendAttributeType_t type = wide ? CUDNN_TYPE_DOUBLE : CUDNN_TYPE_FLOAT;
    g.set(operation, n.alpha, type, 1, wide ? (const void *)&one_double : &one_float);
    g.set(operation, n.beta, type, 1, wide ? (const void *)&zero_double : &zero_float);
}

lt_cudnn_engines engines_of(const lt_conv_shape &s)
{
    lt_cudnn_engines allowed;
    allowed.rather_ready = true;
    if (s.deterministic) allowed.without |= 1u << CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC;
    if (s.dtype == LT_FLOAT32) allowed.without |= 1u << CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS;
    if (s.dtype == LT_FLOAT32 && !s.tf32) allowed.without |= 1u << CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
    return allowed;
}

/* Cache entry of a shape: its graph, and the legacy algorithms once they were needed. */
class plan {
  public:
    lt_status make(cudnnHandle_t handle, const lt_conv_shape &s);
    lt_status run(cudnnHandle_t handle, const lt_conv_shape &s, const lt_conv_arrays &a,
                  bool *done);

  private:
    lt_status run_graph(cudnnHandle_t handle, const lt_conv_shape &s, const lt_conv_arrays &a,
                        bool *done);

    lt_cudnn_plan graph;
    std::optional<lt_conv_algorithms> algorithms;
};

lt_status plan::make(cudnnHandle_t handle, const lt_conv_shape &s)
{
    const convolution_names &n = names_of(s);
    LT_TRY(graph.open());
    descriptor convolution = graph.create(n.type);
    graph.link(convolution, n.x, tensor(graph, s, X, s.batch, s.in_channels, s.in));
    graph.link(convolution, n.w,
               tensor(graph, s, W, s.out_channels, s.in_channels / s.groups, s.kernel));
    graph.link(convolution, n.y, tensor(graph, s, Y, s.batch, s.out_channels, s.out));
    graph.link(convolution, n.windows, windows(graph, s));
    set_factors(graph, s, n, convolution);
    graph.finalize(convolution);
    graph.choose(handle, s.device, graph.graph(handle, convolution), engines_of(s));
    return LT_OK;
}

/* If the plan fails without a device error, *done stays false and the legacy algorithms are used.
 */
lt_status plan::run_graph(cudnnHandle_t handle, const lt_conv_shape &s, const lt_conv_arrays &a,
                          bool *done)
{
    void *const addresses[] = {a.x, a.w, a.y};
    lt_cuda_scratch workspace;
    if (graph.workspace() > 0 && workspace.take(s.device, graph.workspace()) != LT_OK) return LT_OK;
    const cudnnStatus_t status = graph.execute(handle, 3, uids, addresses, workspace.as<void>());
    *done = status == CUDNN_STATUS_SUCCESS;
    return *done || cudaPeekAtLastError() == cudaSuccess
               ? LT_OK
               : lt_cudnn_failed(status, "cudnnBackendExecute");
}

lt_status plan::run(cudnnHandle_t handle, const lt_conv_shape &s, const lt_conv_arrays &a,
                    bool *done)
{
    if (graph.made()) LT_TRY(run_graph(handle, s, a, done));
    if (*done) return LT_OK;
    if (!algorithms) {
        const lt_status status = algorithms.emplace().make(handle, s);
        if (status != LT_OK) algorithms.reset();
        LT_TRY(status);
    }
    return algorithms->run(handle, s, a, done);
}

/* Whether sizes fit into cuDNN's int and satisfy its formula for the output size, and addresses are
 * aligned. */
bool suits(const lt_conv *c, std::initializer_list<const void *> addresses)
{
    const int64_t volume_in = c->in[0] * c->in[1] * c->in[2],
                  volume_out = c->out[0] * c->out[1] * c->out[2];
    const int64_t volume_kernel = c->kernel[0] * c->kernel[1] * c->kernel[2];
    if (c->batch * c->in_channels * volume_in > INT_MAX ||
        c->batch * c->out_channels * volume_out > INT_MAX ||
        c->out_channels * c->in_channels / c->groups * volume_kernel > INT_MAX)
        return false;
    for (int d = 0; d < 3; d++) {
        if (c->padding[d] > INT_MAX || c->stride[d] > INT_MAX || c->dilation[d] > INT_MAX)
            return false;
        const int64_t room =
            c->in[d] + 2 * c->padding[d] - (c->dilation[d] * (c->kernel[d] - 1) + 1);
        if (c->out[d] != room / c->stride[d] + 1)
            return false; /* output_padding of a transposed convolution: x exceeds the windows */
    }
    for (const void *p : addresses)
        if ((uintptr_t)p % alignment != 0) return false;
    return true;
}

lt_conv_shape shape_of(lt_conv_part part, const lt_conv *c, bool channels_last)
{
    lt_conv_shape s = {c->batch,
                       c->groups,
                       c->in_channels,
                       c->out_channels,
                       {},
                       {},
                       {},
                       {},
                       {},
                       {},
                       part,
                       c->dtype,
                       c->device.index,
                       lt_cuda_core->allow_convolution_tf32() ? 1 : 0,
                       lt_cuda_core->deterministic() ? 1 : 0,
                       channels_last ? 1 : 0};
    for (int d = 0; d < 3; d++) {
        s.in[d] = c->in[d], s.out[d] = c->out[d], s.kernel[d] = c->kernel[d];
        s.stride[d] = c->stride[d], s.padding[d] = c->padding[d], s.dilation[d] = c->dilation[d];
    }
    return s;
}

} // namespace

lt_status lt_cuda_convolution_cudnn(lt_conv_part part, const lt_conv *c, bool channels_last,
                                    lt_cuda_conv_arrays arrays, cudaStream_t stream, bool *done)
{
    void *const x = arrays.x, *const w = arrays.w, *const y = arrays.y;
    lt_cuda_dnn dnn;
    plan *p = nullptr;
    *done = false;
    if (!lt_cuda_core->cudnn_enabled() || lt_cuda_dnn_functions() == nullptr ||
        !suits(c, {x, w, y}))
        return LT_OK;
    LT_TRY(dnn.open(c->device.index, stream));
    static thread_local lt_cuda_plans<lt_conv_shape, plan> known;
    const lt_conv_shape s = shape_of(part, c, channels_last);
    LT_TRY(known.find(
        s, [&](plan *fresh) { return fresh->make(dnn.handle, s); }, &p));
    try {
        return p->run(dnn.handle, s, {x, w, y}, done);
    } catch (const std::bad_alloc &) {
        return lt_cuda_core->error(LT_ERR_MEMORY, "out of memory for a call of cuDNN");
    }
}
