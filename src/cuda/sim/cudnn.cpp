/* cudnn.cpp - cuDNN's convolutions for simulated GPUs: the calls of cudnn_api.h as products of weights and windows by OpenBLAS
 * (stand_in.h). Half types are converted to float and rounded once at the end.
 *
 * Two algorithms are told of for each part: one with a workspace, not deterministic, and one without, which is. */
#include "cudnn.h"

using namespace lt_sim;

struct cudnnFilterStruct {
    cudnnDataType_t type;
    cudnnTensorFormat_t format;
    int n = 0;
    int sizes[5];
};
struct cudnnConvolutionStruct {
    int n = 0;
    int padding[3], stride[3], dilation[3];
    int groups = 1;
    cudnnConvolutionMode_t mode;
    cudnnDataType_t compute;
    cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};

namespace {

constexpr size_t workspace_bytes = 2048;

/* ---- descriptors ------------------------------------------------------------------------------------------------ */

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

/* ---- what the three descriptors say together -------------------------------------------------------------------------- */

struct Geometry {
    int n, images, groups, inputs, outputs; /* channels of a group */
    int in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, kernel[3] = {1, 1, 1};
    int stride[3] = {1, 1, 1}, padding[3] = {0, 0, 0}, dilation[3] = {1, 1, 1};
    cudnnDataType_t type;
    bool rounded = false; /* floats to TF32 first, as tensor cores take them */
    bool channels_last;   /* of all three */

    static int64_t volume(const int *v) { return (int64_t)v[0] * v[1] * v[2]; }
    int64_t depth() const { return inputs * volume(kernel); }
    int64_t count_x() const { return (int64_t)images * groups * inputs * volume(in); }
    int64_t count_y() const { return (int64_t)images * groups * outputs * volume(out); }
    int64_t count_w() const { return (int64_t)groups * outputs * depth(); }
};

cudnnStatus_t relate(cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
                     cudnnConvolutionDescriptor_t c, cudnnTensorDescriptor_t y, Geometry *g)
{
    NEED(x != nullptr && w != nullptr && c != nullptr && y != nullptr,
         CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
    NEED(x->n == w->n && y->n == w->n && c->n == w->n - 2, CUDNN_STATUS_BAD_PARAM);
    NEED(x->type == w->type && y->type == w->type, CUDNN_STATUS_BAD_PARAM);
    NEED((w->type == CUDNN_DATA_DOUBLE) == (c->compute == CUDNN_DATA_DOUBLE),
         CUDNN_STATUS_NOT_SUPPORTED);
    g->channels_last = w->format == CUDNN_TENSOR_NHWC;
    NEED(c->mode == CUDNN_CROSS_CORRELATION, CUDNN_STATUS_NOT_SUPPORTED);
    for (cudnnTensorDescriptor_t t : {x, y})
        NEED(g->channels_last ? dense_channels_last(t) && t->type != CUDNN_DATA_DOUBLE : dense(t),
             CUDNN_STATUS_NOT_SUPPORTED);
    NEED(w->sizes[0] % c->groups == 0 && x->sizes[1] == w->sizes[1] * c->groups &&
             y->sizes[1] == w->sizes[0] && y->sizes[0] == x->sizes[0],
         CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
    g->n = c->n;
    g->images = x->sizes[0];
    g->groups = c->groups;
    g->inputs = w->sizes[1];
    g->outputs = w->sizes[0] / c->groups;
    g->type = w->type;
    g->rounded = w->type == CUDNN_DATA_FLOAT && c->math != CUDNN_FMA_MATH;
    for (int d = 0; d < c->n; d++) {
        const int at = 3 - c->n + d;
        g->in[at] = x->sizes[d + 2], g->out[at] = y->sizes[d + 2], g->kernel[at] = w->sizes[d + 2];
        g->stride[at] = c->stride[d], g->padding[at] = c->padding[d],
        g->dilation[at] = c->dilation[d];
        const int64_t room = (int64_t)g->in[at] + 2 * g->padding[at] -
                             ((int64_t)g->dilation[at] * (g->kernel[at] - 1) + 1);
        NEED(room >= 0 && g->out[at] == room / g->stride[at] + 1,
             CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
    }
    return CUDNN_STATUS_SUCCESS;
}

/* Calls f(index in the columns, index in a group's image) for each element of a window that lies within the image. */
template <class F> void each_element(const Geometry &g, F f)
{
    int64_t row = 0;
    const int64_t width = Geometry::volume(g.out);
    for (int channel = 0; channel < g.inputs; channel++)
        for (int kz = 0; kz < g.kernel[0]; kz++)
            for (int ky = 0; ky < g.kernel[1]; ky++)
                for (int kx = 0; kx < g.kernel[2]; kx++, row++)
                    for (int64_t p = 0; p < width; p++) {
                        const int64_t x = p % g.out[2], y = p / g.out[2] % g.out[1],
                                      z = p / g.out[2] / g.out[1];
                        const int64_t iz =
                            z * g.stride[0] - g.padding[0] + (int64_t)kz * g.dilation[0];
                        const int64_t iy =
                            y * g.stride[1] - g.padding[1] + (int64_t)ky * g.dilation[1];
                        const int64_t ix =
                            x * g.stride[2] - g.padding[2] + (int64_t)kx * g.dilation[2];
                        if (iz < 0 || iz >= g.in[0] || iy < 0 || iy >= g.in[1] || ix < 0 ||
                            ix >= g.in[2])
                            continue;
                        f(row * width + p,
                          ((channel * (int64_t)g.in[0] + iz) * g.in[1] + iy) * g.in[2] + ix);
                    }
}

enum Part { FORWARD, DATA, FILTER };

/* `outer` matrices of rows x columns, transposed. */
template <class T>
std::vector<T> transposed(const std::vector<T> &from, int64_t outer, int64_t rows, int64_t columns)
{
    std::vector<T> to(from.size());
    for (int64_t o = 0; o < outer; o++)
        for (int64_t r = 0; r < rows; r++)
            for (int64_t c = 0; c < columns; c++)
                to[(size_t)((o * columns + c) * rows + r)] =
                    from[(size_t)((o * rows + r) * columns + c)];
    return to;
}

/* One of the three arrays. */
struct Array {
    void *p;
    int64_t outer, channels, volume;
    int64_t count() const { return outer * channels * volume; }
};

/* What takes part in a product, channels before places; zeros, where it is the result. */
template <class T> std::vector<T> part_of(const Geometry &g, const Array &a, bool is_result)
{
    if (is_result) return std::vector<T>((size_t)a.count());
    std::vector<T> numbers = read<T>(a.p, a.count(), g.type);
    if (g.channels_last) numbers = transposed(numbers, a.outer, a.volume, a.channels);
    if (g.rounded)
        for (T &x : numbers) x = (T)tf32((float)x);
    return numbers;
}

template <class T>
void write_part(const Geometry &g, const Array &a, const std::vector<T> &numbers, double alpha,
                double beta)
{
    write(a.p, g.channels_last ? transposed(numbers, a.outer, a.channels, a.volume) : numbers,
          g.type, alpha, beta);
}

template <class T>
void convolve(Part part, const Geometry &g, void *px, void *pw, void *py, double alpha, double beta)
{
    const Array of_images = {px, g.images, g.groups * g.inputs, Geometry::volume(g.in)},
                of_weights = {pw, g.groups * g.outputs, g.inputs, Geometry::volume(g.kernel)},
                of_results = {py, g.images, g.groups * g.outputs, Geometry::volume(g.out)};
    std::vector<T> x = part_of<T>(g, of_images, part == DATA),
                   w = part_of<T>(g, of_weights, part == FILTER),
                   y = part_of<T>(g, of_results, part == FORWARD);
    const int64_t width = Geometry::volume(g.out), depth = g.depth();
    std::vector<T> columns((size_t)(depth * width));
    for (int64_t i = 0; i < (int64_t)g.images * g.groups; i++) {
        T *of_x = x.data() + i * g.inputs * Geometry::volume(g.in),
          *of_y = y.data() + i * g.outputs * width;
        T *of_w = w.data() + i % g.groups * g.outputs * depth;
        if (part != DATA) {
            std::fill(columns.begin(), columns.end(), T(0));
            each_element(g, [&](int64_t column, int64_t element) {
                columns[(size_t)column] = of_x[element];
            });
        }
        if (part == FORWARD)
            product(CblasNoTrans, CblasNoTrans, g.outputs, width, depth, of_w, depth,
                    columns.data(), width, 0, of_y);
        else if (part == FILTER)
            product(CblasNoTrans, CblasTrans, g.outputs, depth, width, of_y, width, columns.data(),
                    width, 1, of_w);
        else {
            product(CblasTrans, CblasNoTrans, depth, width, g.outputs, of_w, depth, of_y, width, 0,
                    columns.data());
            each_element(g, [&](int64_t column, int64_t element) {
                of_x[element] += columns[(size_t)column];
            });
        }
    }
    if (part == FORWARD)
        write_part(g, of_results, y, alpha, beta);
    else
        part == DATA ? write_part(g, of_images, x, alpha, beta)
                     : write_part(g, of_weights, w, alpha, beta);
}

double number(const void *p, cudnnDataType_t type)
{
    return type == CUDNN_DATA_DOUBLE ? *static_cast<const double *>(p)
                                     : (double)*static_cast<const float *>(p);
}

/* algorithm: 0 or 1, as `rank` told. */
cudnnStatus_t run(cudnnHandle_t handle, Part part, const Geometry &g, const void *alpha,
                  const void *x, const void *w, const void *y, int algorithm, void *workspace,
                  size_t bytes, const void *beta)
{
    NEED(alpha != nullptr && beta != nullptr, CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
    const int device = handle->device;
    for (const void *p : {x, w, y})
        NEED((uintptr_t)p % 16 == 0, CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER);
    NEED(lies(device, x, g.count_x(), g.type) && lies(device, w, g.count_w(), g.type) &&
             lies(device, y, g.count_y(), g.type),
         CUDNN_STATUS_BAD_PARAM);
    NEED(algorithm == 0 || algorithm == 1, CUDNN_STATUS_NOT_SUPPORTED);
    if (algorithm == 0) {
        NEED(bytes >= workspace_bytes, CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT);
        NEED(on_device(device, static_cast<const char *>(workspace), (int64_t)bytes),
             CUDNN_STATUS_BAD_PARAM);
    }
    const double scale = number(alpha, g.type), keep = number(beta, g.type);
    void *to_x = const_cast<void *>(x), *to_w = const_cast<void *>(w),
         *to_y = const_cast<void *>(y);
    return status_of(queue(handle, "cuDNN's convolution", [=](const Uses &uses) {
        tell(uses, x, g.count_x(), g.type, part == DATA, keep);
        tell(uses, w, g.count_w(), g.type, part == FILTER, keep);
        tell(uses, y, g.count_y(), g.type, part == FORWARD, keep);
        if (g.type == CUDNN_DATA_DOUBLE)
            convolve<double>(part, g, to_x, to_w, to_y, scale, keep);
        else
            convolve<float>(part, g, to_x, to_w, to_y, scale, keep);
        return cudaSuccess;
    }));
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

/* A number for each channel, `width` elements of which follow each other. */
template <class T>
void add_channels(const void *a, void *c, int64_t images, int64_t channels, int64_t width,
                  cudnnDataType_t type, double alpha, double beta)
{
    const std::vector<T> row = read<T>(a, channels, type);
    std::vector<T> sum = read<T>(c, images * channels * width, type);
    for (size_t i = 0; i < sum.size(); i++)
        sum[i] = (T)(beta * sum[i] + alpha * row[i / (size_t)width % (size_t)channels]);
    write(c, sum, type, 1, 0);
}

cudnnStatus_t add_tensor(cudnnHandle_t handle, const void *alpha, cudnnTensorDescriptor_t of_a,
                         const void *a, const void *beta, cudnnTensorDescriptor_t of_c, void *c)
{
    BEGIN(handle);
    NEED(of_a->n == of_c->n && of_a->type == of_c->type && of_a->sizes[1] == of_c->sizes[1],
         CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
    int64_t width = 1;
    for (int d = 0; d < of_a->n; d++) {
        NEED(d == 1 || of_a->sizes[d] == 1, CUDNN_STATUS_NOT_SUPPORTED);
        if (d > 1) width *= of_c->sizes[d];
    }
    int64_t images = of_c->sizes[0];
    const int64_t channels = of_c->sizes[1];
    const cudnnDataType_t type = of_c->type;
    NEED(dense(of_c) || dense_channels_last(of_c), CUDNN_STATUS_NOT_SUPPORTED);
    if (!dense(of_c)) images *= width, width = 1;
    NEED(lies(handle->device, a, channels, type) &&
             lies(handle->device, c, images * channels * width, type),
         CUDNN_STATUS_BAD_PARAM);
    const double scale = number(alpha, type), keep = number(beta, type);
    return status_of(queue(handle, "cudnnAddTensor", [=](const Uses &uses) {
        tell(uses, a, channels, type, false, 0);
        tell(uses, c, images * channels * width, type, true, keep);
        if (type == CUDNN_DATA_DOUBLE)
            add_channels<double>(a, c, images, channels, width, type, scale, keep);
        else
            add_channels<float>(a, c, images, channels, width, type, scale, keep);
        return cudaSuccess;
    }));
}

/* ---- handles -------------------------------------------------------------------------------------------------------- */

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
                                       backward_filter,
                                       add_tensor};
    *table = &functions;
    return LT_OK;
}
