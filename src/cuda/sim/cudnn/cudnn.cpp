/* cudnn.cpp - cuDNN's handles and legacy convolution calls (convolution.h) for simulated GPUs:
 * implements cudnn_api.h.
 *
 * The heuristics return two algorithms for each part: a nondeterministic one with a workspace, and
 * a deterministic one without. */
#include "convolution.h"

using namespace lt_sim;

namespace {

/* ---- descriptors ----------------------------------------------------------------------------- */

cudnnStatus_t tensor_set(cudnnTensorDescriptor_t tensor, cudnnDataType_t type, int n,
                         const int *sizes, const int *strides)
{
    NEED(n >= 3 && n <= 5, CUDNN_STATUS_NOT_SUPPORTED); /* 3: states of a recurrent network */
    NEED(known(type), CUDNN_STATUS_BAD_PARAM);
    for (int d = 0; d < n; d++) NEED(sizes[d] > 0 && strides[d] > 0, CUDNN_STATUS_BAD_PARAM);
    tensor->type = type;
    tensor->n = n;
    std::copy(sizes, sizes + n, tensor->sizes);
    std::copy(strides, strides + n, tensor->strides);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t filter_set(cudnnFilterDescriptor_t filter, cudnnDataType_t type,
                         cudnnTensorFormat_t format, int n, const int *sizes)
{
    NEED(n == 4 || n == 5, CUDNN_STATUS_NOT_SUPPORTED);
    NEED(known(type), CUDNN_STATUS_BAD_PARAM);
    for (int d = 0; d < n; d++) NEED(sizes[d] > 0, CUDNN_STATUS_BAD_PARAM);
    filter->type = type;
    filter->format = format;
    filter->n = n;
    std::copy(sizes, sizes + n, filter->sizes);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t convolution_set(cudnnConvolutionDescriptor_t convolution, int n, const int *padding,
                              const int *stride, const int *dilation, cudnnConvolutionMode_t mode,
                              cudnnDataType_t compute)
{
    NEED(n == 2 || n == 3, CUDNN_STATUS_NOT_SUPPORTED);
    NEED(compute == CUDNN_DATA_FLOAT || compute == CUDNN_DATA_DOUBLE, CUDNN_STATUS_BAD_PARAM);
    for (int d = 0; d < n; d++)
        NEED(padding[d] >= 0 && stride[d] > 0 && dilation[d] > 0, CUDNN_STATUS_BAD_PARAM);
    convolution->n = n;
    std::copy(padding, padding + n, convolution->padding);
    std::copy(stride, stride + n, convolution->stride);
    std::copy(dilation, dilation + n, convolution->dilation);
    convolution->mode = mode;
    convolution->compute = compute;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t convolution_set_groups(cudnnConvolutionDescriptor_t convolution, int groups)
{
    NEED(groups > 0, CUDNN_STATUS_BAD_PARAM);
    convolution->groups = groups;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t convolution_set_math(cudnnConvolutionDescriptor_t convolution, cudnnMathType_t math)
{
    convolution->math = math;
    return CUDNN_STATUS_SUCCESS;
}

double number(const void *p, cudnnDataType_t type)
{
    return type == CUDNN_DATA_DOUBLE ? *static_cast<const double *>(p)
                                     : (double)*static_cast<const float *>(p);
}

/* algorithm: 0 or 1, as returned by rank(). */
cudnnStatus_t run(cudnnHandle_t handle, Part part, const Geometry &g, const void *alpha,
                  const void *x, const void *w, const void *y, int algorithm, void *workspace,
                  size_t bytes, const void *beta)
{
    NEED(alpha != nullptr && beta != nullptr, CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
    NEED(algorithm == 0 || algorithm == 1, CUDNN_STATUS_NOT_SUPPORTED);
    if (algorithm == 0) {
        NEED(bytes >= workspace_bytes, CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT);
        NEED(on_device(handle->device, static_cast<const char *>(workspace), (int64_t)bytes),
             CUDNN_STATUS_BAD_PARAM);
    }
    return queue_convolution(handle, part, g, {x, w, y, nullptr, 0}, number(alpha, g.type),
                             number(beta, g.type));
}

template <class Performance>
cudnnStatus_t rank(int asked, int *found, Performance *results, cudnnMathType_t math)
{
    NEED(asked > 0 && found != nullptr && results != nullptr, CUDNN_STATUS_BAD_PARAM);
    *found = std::min(asked, 2);
    for (int i = 0; i < *found; i++) {
        results[i] = {};
        results[i].algo = (decltype(results[i].algo))i;
        results[i].time = -1;
        results[i].memory = i == 0 ? workspace_bytes : 0;
        results[i].determinism = i == 0 ? CUDNN_NON_DETERMINISTIC : CUDNN_DETERMINISTIC;
        results[i].mathType = math;
    }
    return CUDNN_STATUS_SUCCESS;
}

#define RELATE(x, w, convolution, y)                                                               \
    Geometry g;                                                                                    \
    do {                                                                                           \
        cudnnStatus_t related_ = relate(x, w, convolution, y, &g);                                 \
        if (related_ != CUDNN_STATUS_SUCCESS) return related_;                                     \
    } while (0)

cudnnStatus_t rank_forward(cudnnHandle_t handle, cudnnTensorDescriptor_t x,
                           cudnnFilterDescriptor_t w, cudnnConvolutionDescriptor_t convolution,
                           cudnnTensorDescriptor_t y, int asked, int *found,
                           cudnnConvolutionFwdAlgoPerf_t *results)
{
    BEGIN(handle);
    RELATE(x, w, convolution, y);
    return rank(asked, found, results, convolution->math);
}

cudnnStatus_t forward(cudnnHandle_t handle, const void *alpha, cudnnTensorDescriptor_t of_x,
                      const void *x, cudnnFilterDescriptor_t of_w, const void *w,
                      cudnnConvolutionDescriptor_t convolution, cudnnConvolutionFwdAlgo_t algorithm,
                      void *workspace, size_t bytes, const void *beta, cudnnTensorDescriptor_t of_y,
                      void *y)
{
    BEGIN(handle);
    RELATE(of_x, of_w, convolution, of_y);
    return run(handle, FORWARD, g, alpha, x, w, y, algorithm, workspace, bytes, beta);
}

cudnnStatus_t rank_backward_data(cudnnHandle_t handle, cudnnFilterDescriptor_t w,
                                 cudnnTensorDescriptor_t dy,
                                 cudnnConvolutionDescriptor_t convolution,
                                 cudnnTensorDescriptor_t dx, int asked, int *found,
                                 cudnnConvolutionBwdDataAlgoPerf_t *results)
{
    BEGIN(handle);
    RELATE(dx, w, convolution, dy);
    return rank(asked, found, results, convolution->math);
}

cudnnStatus_t backward_data(cudnnHandle_t handle, const void *alpha, cudnnFilterDescriptor_t of_w,
                            const void *w, cudnnTensorDescriptor_t of_dy, const void *dy,
                            cudnnConvolutionDescriptor_t convolution,
                            cudnnConvolutionBwdDataAlgo_t algorithm, void *workspace, size_t bytes,
                            const void *beta, cudnnTensorDescriptor_t of_dx, void *dx)
{
    BEGIN(handle);
    RELATE(of_dx, of_w, convolution, of_dy);
    return run(handle, DATA, g, alpha, dx, w, dy, algorithm, workspace, bytes, beta);
}

cudnnStatus_t rank_backward_filter(cudnnHandle_t handle, cudnnTensorDescriptor_t x,
                                   cudnnTensorDescriptor_t dy,
                                   cudnnConvolutionDescriptor_t convolution,
                                   cudnnFilterDescriptor_t dw, int asked, int *found,
                                   cudnnConvolutionBwdFilterAlgoPerf_t *results)
{
    BEGIN(handle);
    RELATE(x, dw, convolution, dy);
    return rank(asked, found, results, convolution->math);
}

cudnnStatus_t backward_filter(cudnnHandle_t handle, const void *alpha, cudnnTensorDescriptor_t of_x,
                              const void *x, cudnnTensorDescriptor_t of_dy, const void *dy,
                              cudnnConvolutionDescriptor_t convolution,
                              cudnnConvolutionBwdFilterAlgo_t algorithm, void *workspace,
                              size_t bytes, const void *beta, cudnnFilterDescriptor_t of_dw,
                              void *dw)
{
    BEGIN(handle);
    RELATE(of_x, of_dw, convolution, of_dy);
    return run(handle, FILTER, g, alpha, x, dw, dy, algorithm, workspace, bytes, beta);
}

/* ---- handles --------------------------------------------------------------------------------- */

cudnnStatus_t create(cudnnHandle_t *handle)
{
    NEED(handle != nullptr, CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
    NEED(begin_on_device(cudaErrorMemoryAllocation) == cudaSuccess,
         CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED);
    NEED(!capturing(current_device()), CUDNN_STATUS_NOT_INITIALIZED);
    *handle = new (std::nothrow) cudnnContext;
    NEED(*handle != nullptr, CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED);
    (*handle)->device = current_device();
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t set_stream(cudnnHandle_t handle, cudaStream_t stream)
{
    BEGIN(handle);
    CUstream_st *found = find_stream(stream);
    NEED(found != nullptr && found->device->index == handle->device,
         CUDNN_STATUS_BAD_PARAM_STREAM_MISMATCH);
    handle->stream = stream;
    return CUDNN_STATUS_SUCCESS;
}

} // namespace

lt_status lt_cudnn_get(const lt_cudnn **table)
{
    static const lt_cudnn functions = {create,
                                       set_stream,
                                       make,
                                       tensor_set,
                                       destroy,
                                       make,
                                       filter_set,
                                       destroy,
                                       make,
                                       convolution_set,
                                       convolution_set_groups,
                                       convolution_set_math,
                                       destroy,
                                       rank_forward,
                                       forward,
                                       rank_backward_data,
                                       backward_data,
                                       rank_backward_filter,
                                       backward_filter};
    *table = &functions;
    return LT_OK;
}
