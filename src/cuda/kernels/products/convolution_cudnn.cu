/* convolution_cudnn.cu - convolutions by cuDNN.
 *
 * Its heuristics rank algorithms for a shape; the first that fits (deterministic where that is asked for) is kept with the
 * descriptors by each thread, for the next convolution of that shape. Its workspace comes from our allocator with each call; where there is no
 * memory for it the next algorithm is taken. What cuDNN has no algorithm for is left to our own kernels (convolution.cu):
 * the caller is told that nothing was done. Products of floats may be rounded to TF32, as PyTorch's are, unless
 * torch.backends.cudnn.allow_tf32 is false. Arrays whose channels lie last go to cuDNN as they are. */
#include "convolution.cuh"

#include <limits.h>
#include <vector>

#include "cuda.h"
#include "libraries/dnn.cuh"
#include "libraries/plans.cuh"

namespace {

constexpr int most_algorithms = 8;
constexpr uintptr_t alignment = 16; /* of addresses that its kernels expect */

/* All that the choice of an algorithm depends on (plans.cuh). */
struct shape {
    int64_t batch, groups, in_channels, out_channels;
    int64_t in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
    int32_t part, dtype, device, tf32, deterministic, bias, channels_last, unused;
};

struct algorithm {
    int number;
    size_t memory;
    cudnnMathType_t math;
};

/* Sizes as cuDNN wants them, channels second wherever they lie: two of the spatial dimensions where the first is 1. */
struct extents {
    int n, v[5];
    extents(int64_t first, int64_t second, const int64_t *spatial, bool flat) : n(flat ? 4 : 5)
    {
        v[0] = (int)first, v[1] = (int)second;
        for (int d = flat ? 1 : 0; d < 3; d++) v[d + (flat ? 1 : 2)] = (int)spatial[d];
    }
    void strides(bool channels_last, int *to) const
    {
        int step = 1;
        if (channels_last) to[1] = step, step *= v[1];
        for (int d = n; d-- > 0;) {
            if (d == 1 && channels_last) continue;
            to[d] = step, step *= v[d];
        }
    }
};

class plan {
  public:
    plan() = default;
    plan(const plan &) = delete;
    plan &operator=(const plan &) = delete;
    ~plan()
    {
        for (cudnnTensorDescriptor_t tensor : {x, y, bias})
            if (tensor != nullptr) (void)functions->tensor_destroy(tensor);
        if (w != nullptr) (void)functions->filter_destroy(w);
        if (convolution != nullptr) (void)functions->convolution_destroy(convolution);
    }
    lt_status make(cudnnHandle_t handle, const shape &s);

    const lt_cudnn *functions = nullptr;
    cudnnTensorDescriptor_t x = nullptr, y = nullptr, bias = nullptr;
    cudnnFilterDescriptor_t w = nullptr;
    cudnnConvolutionDescriptor_t convolution = nullptr;
    std::vector<algorithm> choices; /* the best first */

  private:
    lt_status describe(cudnnTensorDescriptor_t *tensor, const shape &s, const extents &sizes);
    lt_status describe_windows(const shape &s, bool flat);
    lt_status rank(cudnnHandle_t handle, const shape &s);
    template <class Performance>
    lt_status keep(cudnnStatus_t status, const Performance *results, int found, const shape &s);
};

lt_status plan::describe(cudnnTensorDescriptor_t *tensor, const shape &s, const extents &sizes)
{
    int strides[5];
    sizes.strides(s.channels_last != 0, strides);
    LT_CUDNN_TRY(functions->tensor_create(tensor));
    LT_CUDNN_TRY(functions->tensor_set(*tensor, lt_cudnn_type(s.dtype), sizes.n, sizes.v, strides));
    return LT_OK;
}

cudnnMathType_t math_of(const shape &s) { return lt_cudnn_math(s.dtype, s.tf32 != 0); }

lt_status plan::describe_windows(const shape &s, bool flat)
{
    const int skip = flat ? 1 : 0;
    int padding[3], stride[3], dilation[3];
    for (int d = 0; d < 3; d++)
        padding[d] = (int)s.padding[d], stride[d] = (int)s.stride[d],
        dilation[d] = (int)s.dilation[d];
    LT_CUDNN_TRY(functions->convolution_create(&convolution));
    LT_CUDNN_TRY(functions->convolution_set(
        convolution, 3 - skip, padding + skip, stride + skip, dilation + skip,
        CUDNN_CROSS_CORRELATION, s.dtype == LT_FLOAT64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT));
    LT_CUDNN_TRY(functions->convolution_set_groups(convolution, (int)s.groups));
    LT_CUDNN_TRY(functions->convolution_set_math(convolution, math_of(s)));
    return LT_OK;
}

template <class Performance>
lt_status plan::keep(cudnnStatus_t status, const Performance *results, int found, const shape &s)
{
    if (lt_cudnn_unsupported(status)) return LT_OK;
    if (status != CUDNN_STATUS_SUCCESS)
        return lt_cudnn_failed(status, "cudnnGetConvolutionAlgorithm");
    for (int i = 0; i < found; i++) {
        if (results[i].status != CUDNN_STATUS_SUCCESS) continue;
        if (s.deterministic && results[i].determinism != CUDNN_DETERMINISTIC) continue;
        if (math_of(s) == CUDNN_FMA_MATH && results[i].mathType != CUDNN_FMA_MATH &&
            results[i].mathType != CUDNN_DEFAULT_MATH)
            continue;
        const cudnnMathType_t math =
            math_of(s) == CUDNN_FMA_MATH ? CUDNN_FMA_MATH : results[i].mathType;
        choices.push_back({(int)results[i].algo, results[i].memory, math});
    }
    return LT_OK;
}

lt_status plan::rank(cudnnHandle_t handle, const shape &s)
{
    int found = 0;
    cudnnStatus_t status;
    if (s.part == LT_CONV_Y) {
        cudnnConvolutionFwdAlgoPerf_t results[most_algorithms];
        status =
            functions->rank_forward(handle, x, w, convolution, y, most_algorithms, &found, results);
        return keep(status, results, found, s);
    }
    if (s.part == LT_CONV_X) {
        cudnnConvolutionBwdDataAlgoPerf_t results[most_algorithms];
        status = functions->rank_backward_data(handle, w, y, convolution, x, most_algorithms,
                                               &found, results);
        return keep(status, results, found, s);
    }
    cudnnConvolutionBwdFilterAlgoPerf_t results[most_algorithms];
    status = functions->rank_backward_filter(handle, x, y, convolution, w, most_algorithms, &found,
                                             results);
    return keep(status, results, found, s);
}

lt_status plan::make(cudnnHandle_t handle, const shape &s)
{
    const bool flat =
        s.in[0] == 1 && s.out[0] == 1 && s.kernel[0] == 1 && s.padding[0] == 0 && s.stride[0] == 1;
    const int64_t ones[3] = {1, 1, 1};
    const cudnnTensorFormat_t format = s.channels_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
    const extents weights(s.out_channels, s.in_channels / s.groups, s.kernel, flat);
    functions = lt_cuda_dnn_functions();
    LT_TRY(describe(&x, s, extents(s.batch, s.in_channels, s.in, flat)));
    LT_TRY(describe(&y, s, extents(s.batch, s.out_channels, s.out, flat)));
    if (s.bias) LT_TRY(describe(&bias, s, extents(1, s.out_channels, ones, flat)));
    LT_CUDNN_TRY(functions->filter_create(&w));
    LT_CUDNN_TRY(functions->filter_set(w, lt_cudnn_type(s.dtype), format, weights.n, weights.v));
    LT_TRY(describe_windows(s, flat));
    return rank(handle, s);
}

/* Sizes that cuDNN's int has room for and its formula holds for, and addresses for its widest accesses. */
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
            return false; /* x has more than windows cover: a transposed one's output_padding */
    }
    for (const void *p : addresses)
        if ((uintptr_t)p % alignment != 0) return false;
    return true;
}

shape shape_of(lt_conv_part part, const lt_conv *c, bool channels_last, bool bias)
{
    shape s = {c->batch,
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
               bias ? 1 : 0,
               channels_last ? 1 : 0,
               0};
    for (int d = 0; d < 3; d++) {
        s.in[d] = c->in[d], s.out[d] = c->out[d], s.kernel[d] = c->kernel[d];
        s.stride[d] = c->stride[d], s.padding[d] = c->padding[d], s.dilation[d] = c->dilation[d];
    }
    return s;
}

struct arrays {
    void *x, *w, *y;
    const void *bias;
};

cudnnStatus_t run(const plan *p, cudnnHandle_t handle, lt_conv_part part, const algorithm &how,
                  void *work, const void *one, const void *zero, const arrays &a)
{
    const lt_cudnn *dnn = p->functions;
    cudnnStatus_t status = dnn->convolution_set_math(p->convolution, how.math);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    switch (part) {
    case LT_CONV_Y:
        status =
            dnn->forward(handle, one, p->x, a.x, p->w, a.w, p->convolution,
                         (cudnnConvolutionFwdAlgo_t)how.number, work, how.memory, zero, p->y, a.y);
        if (status == CUDNN_STATUS_SUCCESS && a.bias != nullptr)
            status = dnn->add_tensor(handle, one, p->bias, a.bias, one, p->y, a.y);
        return status;
    case LT_CONV_X:
        return dnn->backward_data(handle, one, p->w, a.w, p->y, a.y, p->convolution,
                                  (cudnnConvolutionBwdDataAlgo_t)how.number, work, how.memory, zero,
                                  p->x, a.x);
    default:
        return dnn->backward_filter(handle, one, p->x, a.x, p->y, a.y, p->convolution,
                                    (cudnnConvolutionBwdFilterAlgo_t)how.number, work, how.memory,
                                    zero, p->w, a.w);
    }
}

/* By the first of the plan's algorithms whose workspace there is memory for, and that cuDNN does not refuse after all. */
lt_status run_best(const plan *p, cudnnHandle_t handle, lt_conv_part part, const lt_conv *c,
                   const arrays &a, bool *done)
{
    const float one_float = 1, zero_float = 0;
    const double one_double = 1, zero_double = 0;
    const bool wide = c->dtype == LT_FLOAT64;
    const void *one = wide ? (const void *)&one_double : &one_float,
               *zero = wide ? (const void *)&zero_double : &zero_float;
    for (const algorithm &how : p->choices) {
        lt_cuda_scratch workspace;
        if (how.memory > 0 && workspace.take(c->device.index, how.memory) != LT_OK) continue;
        const cudnnStatus_t status = run(p, handle, part, how, workspace.as<void>(), one, zero, a);
        if (lt_cudnn_unsupported(status)) continue;
        if (status != CUDNN_STATUS_SUCCESS) return lt_cudnn_failed(status, "cudnnConvolution");
        *done = true;
        return LT_OK;
    }
    return LT_OK;
}

} // namespace

lt_status lt_cuda_convolution_cudnn(lt_conv_part part, const lt_conv *c, bool channels_last, void *x, void *w,
                                    void *y, const void *bias, cudaStream_t stream, bool *done)
{
    lt_cuda_dnn dnn;
    plan *p = nullptr;
    *done = false;
    if (!lt_cuda_core->cudnn_enabled() || lt_cuda_dnn_functions() == nullptr || !suits(c, {x, w, y, bias})) return LT_OK;
    LT_TRY(dnn.open(c->device.index, stream));
    static thread_local lt_cuda_plans<shape, plan> known;
    const shape s = shape_of(part, c, channels_last, bias != nullptr);
    LT_TRY(known.find(
        s, [&](plan *fresh) { return fresh->make(dnn.handle, s); }, &p));
    return run_best(p, dnn.handle, part, c, {x, w, y, bias}, done);
}
