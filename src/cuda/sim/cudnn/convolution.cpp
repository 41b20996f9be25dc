/* convolution.cpp - see convolution.h. */
#include "convolution.h"

namespace lt_sim {

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
    g->rounding =
        w->type == CUDNN_DATA_FLOAT && c->math != CUDNN_FMA_MATH ? Rounding::tf32 : Rounding::none;
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

namespace {

/* im2col: calls f(index in the column matrix, index in a group's image) for each window element
 * inside the image. */
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

/* Transposes `outer` matrices of rows x columns. */
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

/* Address and shape of x, w or y. */
struct Array {
    void *p;
    int64_t outer, channels, volume;
    int64_t count() const { return outer * channels * volume; }
};

/* Reads an operand in channels-first order, rounded as g requires; zeros if it is the result. */
template <class T> std::vector<T> part_of(const Geometry &g, const Array &a, bool is_result)
{
    if (is_result) return std::vector<T>((size_t)a.count());
    std::vector<T> numbers = read<T>(a.p, a.count(), g.type);
    if (g.channels_last) numbers = transposed(numbers, a.outer, a.volume, a.channels);
    if (g.rounding != Rounding::none)
        for (T &x : numbers)
            x = (T)(g.rounding == Rounding::tf32 ? tf32((float)x)
                                                 : __half2float(__float2half_rn((float)x)));
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

} // namespace

cudnnStatus_t queue_convolution(cudnnHandle_t handle, Part part, const Geometry &g,
                                const Operands &o, double alpha, double beta)
{
    for (const void *p : {o.x, o.w, o.y})
        NEED((uintptr_t)p % 16 == 0, CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER);
    NEED(lies(handle->device, o.x, g.count_x(), g.type) &&
             lies(handle->device, o.w, g.count_w(), g.type) &&
             lies(handle->device, o.y, g.count_y(), g.type),
         CUDNN_STATUS_BAD_PARAM);
    return status_of(queue(handle, "cuDNN's convolution", [=](const Uses &uses) {
        void *x = const_cast<void *>(o.x), *w = const_cast<void *>(o.w),
             *y = const_cast<void *>(o.y);
        tell(uses, x, g.count_x(), g.type, part == DATA, beta);
        tell(uses, w, g.count_w(), g.type, part == FILTER, beta);
        tell(uses, y, g.count_y(), g.type, part == FORWARD, beta);
        uses.writes(o.workspace, o.workspace_bytes);
        if (g.type == CUDNN_DATA_DOUBLE)
            convolve<double>(part, g, x, w, y, alpha, beta);
        else
            convolve<float>(part, g, x, w, y, alpha, beta);
        return cudaSuccess;
    }));
}

} // namespace lt_sim
