/* convolution_algorithms.cu - convolutions by cuDNN's legacy API, for cases where the graph API has
 * no plan (convolution_cudnn.cu). Each call costs several times as much host time, because it
 * builds internally the state that a plan keeps.
 *
 * cuDNN's heuristics rank the algorithms for a shape; the first suitable one (deterministic, if
 * requested) is used. Its workspace is allocated by our allocator per call; if that fails, the next
 * algorithm is used. */
#include <algorithm>

#include "convolution_cudnn.cuh"

namespace {

constexpr int most_algorithms = 8;

cudnnMathType_t math_of(const lt_conv_shape &s) { return lt_cudnn_math(s.dtype, s.tf32 != 0); }

/* A copy with elements of type int, for cuDNN. */
struct integers {
    int v[5];
    integers(const int64_t *from, int n) { std::copy(from, from + n, v); }
};

} // namespace

lt_conv_algorithms::~lt_conv_algorithms()
{
    for (cudnnTensorDescriptor_t tensor : {x, y})
        if (tensor != nullptr) (void)functions->tensor_destroy(tensor);
    if (w != nullptr) (void)functions->filter_destroy(w);
    if (convolution != nullptr) (void)functions->convolution_destroy(convolution);
}

lt_status lt_conv_algorithms::describe(cudnnTensorDescriptor_t *tensor, const lt_conv_shape &s,
                                       const lt_conv_extents &extents)
{
    const integers sizes(extents.sizes, extents.n), strides(extents.strides, extents.n);
    LT_CUDNN_TRY(functions->tensor_create(tensor));
    LT_CUDNN_TRY(
        functions->tensor_set(*tensor, lt_cudnn_type(s.dtype), extents.n, sizes.v, strides.v));
    return LT_OK;
}

lt_status lt_conv_algorithms::describe_weights(const lt_conv_shape &s,
                                               const lt_conv_extents &extents)
{
    const cudnnTensorFormat_t format = s.channels_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
    const integers sizes(extents.sizes, extents.n);
    LT_CUDNN_TRY(functions->filter_create(&w));
    LT_CUDNN_TRY(functions->filter_set(w, lt_cudnn_type(s.dtype), format, extents.n, sizes.v));
    return LT_OK;
}

lt_status lt_conv_algorithms::describe_windows(const lt_conv_shape &s)
{
    const int skip = s.flat() ? 1 : 0;
    const integers padding(s.padding, 3), stride(s.stride, 3), dilation(s.dilation, 3);
    LT_CUDNN_TRY(functions->convolution_create(&convolution));
    LT_CUDNN_TRY(functions->convolution_set(
        convolution, 3 - skip, padding.v + skip, stride.v + skip, dilation.v + skip,
        CUDNN_CROSS_CORRELATION, s.dtype == LT_FLOAT64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT));
    LT_CUDNN_TRY(functions->convolution_set_groups(convolution, (int)s.groups));
    LT_CUDNN_TRY(functions->convolution_set_math(convolution, math_of(s)));
    return LT_OK;
}

template <class Performance>
lt_status lt_conv_algorithms::keep(cudnnStatus_t status, const Performance *results, int found,
                                   const lt_conv_shape &s)
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

lt_status lt_conv_algorithms::rank(cudnnHandle_t handle, const lt_conv_shape &s)
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

lt_status lt_conv_algorithms::make(cudnnHandle_t handle, const lt_conv_shape &s)
{
    functions = lt_cuda_dnn_functions();
    LT_TRY(describe(&x, s, lt_conv_extents(s, s.batch, s.in_channels, s.in)));
    LT_TRY(describe(&y, s, lt_conv_extents(s, s.batch, s.out_channels, s.out)));
    LT_TRY(describe_weights(
        s, lt_conv_extents(s, s.out_channels, s.in_channels / s.groups, s.kernel)));
    LT_TRY(describe_windows(s));
    return rank(handle, s);
}

cudnnStatus_t lt_conv_algorithms::call(cudnnHandle_t handle, const lt_conv_shape &s,
                                       const algorithm &how, void *work,
                                       const lt_conv_arrays &a) const
{
    const float one_float = 1, zero_float = 0;
    const double one_double = 1, zero_double = 0;
    const bool wide = s.dtype == LT_FLOAT64;
    const void *one = wide ? (const void *)&one_double : &one_float,
               *zero = wide ? (const void *)&zero_double : &zero_float;
    const cudnnStatus_t status = functions->convolution_set_math(convolution, how.math);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    switch (s.part) {
    case LT_CONV_Y:
        return functions->forward(handle, one, x, a.x, w, a.w, convolution,
                                  (cudnnConvolutionFwdAlgo_t)how.number, work, how.memory, zero, y,
                                  a.y);
    case LT_CONV_X:
        return functions->backward_data(handle, one, w, a.w, y, a.y, convolution,
                                        (cudnnConvolutionBwdDataAlgo_t)how.number, work, how.memory,
                                        zero, x, a.x);
    default:
        return functions->backward_filter(handle, one, x, a.x, y, a.y, convolution,
                                          (cudnnConvolutionBwdFilterAlgo_t)how.number, work,
                                          how.memory, zero, w, a.w);
    }
}

lt_status lt_conv_algorithms::run(cudnnHandle_t handle, const lt_conv_shape &s,
                                  const lt_conv_arrays &a, bool *done) const
{
    for (const algorithm &how : choices) {
        lt_cuda_scratch workspace;
        if (how.memory > 0 && workspace.take(s.device, how.memory) != LT_OK) continue;
        const cudnnStatus_t status = call(handle, s, how, workspace.as<void>(), a);
        if (lt_cudnn_unsupported(status)) continue;
        if (status != CUDNN_STATUS_SUCCESS) return lt_cudnn_failed(status, "cudnnConvolution");
        *done = true;
        return LT_OK;
    }
    return LT_OK;
}
