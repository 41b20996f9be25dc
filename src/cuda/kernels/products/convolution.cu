/* convolution.cu - convolutions by cuDNN (convolution_cudnn.cu), or else by im2col and matrix
 * products: the windows of several images are written as columns and multiplied with the weights;
 * the derivative by the image sums the columns back (col2im). Each element is written by one
 * thread, which adds in a fixed order, so results are deterministic. Half types are summed in
 * float, and intermediate sums are stored as float. */
#include <algorithm>

#include "convolution.cuh"
#include "cuda.h"
#include "kernels/element.cuh"
#include "kernels/launch.cuh"
#include "kernels/offsets.cuh"

namespace {

enum { BLOCK = 256 };
/* size limit of the columns buffer in bytes, unless one image needs more */
const int64_t COLUMN_BYTES = (int64_t)256 << 20;

/* The geometry of the images of one call, for kernels. */
struct conv_windows {
    int64_t channels; /* channels of all images */
    int32_t in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
    int64_t image, column; /* elements per channel; elements of its columns */

    conv_windows(const lt_conv *c, int64_t images)
    {
        channels = images * c->in_channels;
        for (int d = 0; d < 3; d++) {
            in[d] = (int32_t)c->in[d], out[d] = (int32_t)c->out[d],
            kernel[d] = (int32_t)c->kernel[d];
            stride[d] = (int32_t)c->stride[d], padding[d] = (int32_t)c->padding[d],
            dilation[d] = (int32_t)c->dilation[d];
        }
        image = lt_volume(c->in);
        column = lt_volume(c->kernel) * lt_volume(c->out);
    }
};

/* im2col: one thread per element of the columns. */
template <class T>
__global__ void __launch_bounds__(BLOCK) to_columns(conv_windows g, const T *image, T *columns)
{
    const int64_t i = lt_thread_number();
    if (i >= g.channels * g.column) return;
    int64_t rest = i;
    const int x = (int)(rest % g.out[2]);
    rest /= g.out[2];
    const int y = (int)(rest % g.out[1]);
    rest /= g.out[1];
    const int z = (int)(rest % g.out[0]);
    rest /= g.out[0];
    const int kx = (int)(rest % g.kernel[2]);
    rest /= g.kernel[2];
    const int ky = (int)(rest % g.kernel[1]);
    rest /= g.kernel[1];
    const int kz = (int)(rest % g.kernel[0]);
    rest /= g.kernel[0];
    const int64_t iz = (int64_t)z * g.stride[0] - g.padding[0] + (int64_t)kz * g.dilation[0];
    const int64_t iy = (int64_t)y * g.stride[1] - g.padding[1] + (int64_t)ky * g.dilation[1];
    const int64_t ix = (int64_t)x * g.stride[2] - g.padding[2] + (int64_t)kx * g.dilation[2];
    const bool within =
        iz >= 0 && iz < g.in[0] && iy >= 0 && iy < g.in[1] && ix >= 0 && ix < g.in[2];
    columns[i] = within ? image[rest * g.image + (iz * g.in[1] + iy) * g.in[2] + ix]
                        : lt_stored<T, float>::of(0.0f);
}

/* In dimension d: the window that has element k at position i; -1 if there is none. */
__device__ __forceinline__ int64_t window_of(const conv_windows &g, int d, int64_t i, int k)
{
    const int64_t reach = i + g.padding[d] - (int64_t)k * g.dilation[d];
    if (reach < 0 || reach % g.stride[d] != 0 || reach / g.stride[d] >= g.out[d]) return -1;
    return reach / g.stride[d];
}

/* col2im: one thread per element of the images. */
template <class T, class S, class C>
__global__ void __launch_bounds__(BLOCK) from_columns(conv_windows g, T *image, const S *columns)
{
    const int64_t i = lt_thread_number();
    if (i >= g.channels * g.image) return;
    const int64_t channel = i / g.image, at = i % g.image;
    const int64_t ix = at % g.in[2], iy = at / g.in[2] % g.in[1], iz = at / g.in[2] / g.in[1];
    const S *own = columns + channel * g.column;
    C sum = 0;
    for (int kz = 0; kz < g.kernel[0]; kz++) {
        const int64_t z = window_of(g, 0, iz, kz);
        for (int ky = 0; z >= 0 && ky < g.kernel[1]; ky++) {
            const int64_t y = window_of(g, 1, iy, ky);
            for (int kx = 0; y >= 0 && kx < g.kernel[2]; kx++) {
                const int64_t x = window_of(g, 2, ix, kx);
                if (x < 0) continue;
                const int64_t k = ((int64_t)kz * g.kernel[1] + ky) * g.kernel[2] + kx;
                sum += lt_as<C>(own[((k * g.out[0] + z) * g.out[1] + y) * g.out[2] + x]);
            }
        }
    }
    image[i] = lt_stored<T, C>::of(sum);
}

/* y[n, o, p] = bias[o]; one thread per element. */
template <class T>
__global__ void __launch_bounds__(BLOCK)
    put_bias(T *y, const T *bias, int64_t channels, int64_t width, int64_t n)
{
    const int64_t i = lt_thread_number();
    if (i < n) y[i] = bias[i / width % channels];
}

/* y[i] += bias[i / width % channels], after cuDNN: its own call for this costs more host time. One
 * thread per 16 bytes; y is aligned for cuDNN and has fewer than 2^31 elements. */
template <class T, class C>
__global__ void __launch_bounds__(BLOCK)
    add_bias(T *y, const T *bias, lt_divider channels, lt_divider width, uint32_t n)
{
    constexpr uint32_t N = 16 / sizeof(T);
    const uint32_t first = static_cast<uint32_t>(lt_thread_number()) * N;
    if (first >= n) return;
    const int count = static_cast<int>(min(n - first, N));
    C x[N];
    lt_load_row_as<T, C, N>(y + first, x, count, true);
    for (int i = 0; i < static_cast<int>(N); i++) {
        const uint32_t place = width.quotient(first + i);
        if (i < count) x[i] += lt_as<C>(bias[place - channels.quotient(place) * channels.divisor]);
    }
    lt_store_row_as<T, C, N>(y + first, x, count, true);
}

/* total[i] (+)= the sum of part[k * n + i] over k; one thread per element. */
template <class T, class C>
__global__ void __launch_bounds__(BLOCK)
    add_parts(T *total, const C *part, int64_t n, int64_t parts, bool first)
{
    const int64_t i = lt_thread_number();
    if (i >= n) return;
    C sum = first ? static_cast<C>(0) : lt_as<C>(total[i]);
    for (int64_t k = 0; k < parts; k++) sum += part[k * n + i];
    total[i] = lt_stored<T, C>::of(sum);
}

/* ---- instantiations by dtype ----------------------------------------------------------------- */

template <class T, class C> struct typed {
    static void take(const conv_windows &g, const void *image, void *columns, cudaStream_t stream)
    {
        LT_LAUNCH(to_columns<T>, lt_blocks(g.channels * g.column, BLOCK), BLOCK, stream, g,
                  static_cast<const T *>(image), static_cast<T *>(columns));
    }
    static void give(const conv_windows &g, void *image, const void *columns, cudaStream_t stream)
    {
        LT_LAUNCH((from_columns<T, T, C>), lt_blocks(g.channels * g.image, BLOCK), BLOCK, stream, g,
                  static_cast<T *>(image), static_cast<const T *>(columns));
    }
    static void give_wide(const conv_windows &g, void *image, const void *columns,
                          cudaStream_t stream)
    {
        LT_LAUNCH((from_columns<T, C, C>), lt_blocks(g.channels * g.image, BLOCK), BLOCK, stream, g,
                  static_cast<T *>(image), static_cast<const C *>(columns));
    }
    static void bias(void *y, const void *bias, int64_t channels, int64_t width, int64_t n,
                     cudaStream_t stream)
    {
        LT_LAUNCH(put_bias<T>, lt_blocks(n, BLOCK), BLOCK, stream, static_cast<T *>(y),
                  static_cast<const T *>(bias), channels, width, n);
    }
    static void add(void *y, const void *bias, int64_t channels, int64_t width, int64_t n,
                    cudaStream_t stream)
    {
        lt_divider by_channels, by_width;
        by_channels.set(static_cast<uint32_t>(channels));
        by_width.set(static_cast<uint32_t>(width));
        LT_LAUNCH((add_bias<T, C>), lt_blocks(n, BLOCK * (16 / static_cast<int>(sizeof(T)))), BLOCK,
                  stream, static_cast<T *>(y), static_cast<const T *>(bias), by_channels, by_width,
                  static_cast<uint32_t>(n));
    }
    static void parts(void *total, const void *part, int64_t n, int64_t count, bool first,
                      cudaStream_t stream)
    {
        LT_LAUNCH((add_parts<T, C>), lt_blocks(n, BLOCK), BLOCK, stream, static_cast<T *>(total),
                  static_cast<const C *>(part), n, count, first);
    }
};

struct kernels {
    void (*take)(const conv_windows &g, const void *image, void *columns, cudaStream_t stream);
    void (*give)(const conv_windows &g, void *image, const void *columns, cudaStream_t stream);
    /* the same for columns in the accumulation type */
    void (*give_wide)(const conv_windows &g, void *image, const void *columns, cudaStream_t stream);
    void (*bias)(void *y, const void *bias, int64_t channels, int64_t width, int64_t n,
                 cudaStream_t stream);
    void (*add)(void *y, const void *bias, int64_t channels, int64_t width, int64_t n,
                cudaStream_t stream);
    void (*parts)(void *total, const void *part, int64_t n, int64_t count, bool first,
                  cudaStream_t stream);
};

template <class T, class C> kernels kernels_with()
{
    return {typed<T, C>::take, typed<T, C>::give, typed<T, C>::give_wide,
            typed<T, C>::bias, typed<T, C>::add,  typed<T, C>::parts};
}

/* Bytes of an element of the accumulation type. */
int64_t wide_size(lt_dtype dtype) { return dtype == LT_FLOAT64 ? 8 : 4; }

kernels kernels_of(lt_dtype dtype)
{
    switch (dtype) {
    case LT_FLOAT16: return kernels_with<__half, float>();
    case LT_BFLOAT16: return kernels_with<__nv_bfloat16, float>();
    case LT_FLOAT32: return kernels_with<float, float>();
    default: return kernels_with<double, double>();
    }
}

/* ---- products -------------------------------------------------------------------------------- */

/* 1 x 1 kernels with stride 1 and no padding: the images are their own columns. */
bool trivial(const lt_conv *c)
{
    for (int d = 0; d < 3; d++)
        if (c->kernel[d] != 1 || c->stride[d] != 1 || c->padding[d] != 0 || c->in[d] != c->out[d])
            return false;
    return true;
}

struct conv_operands {
    char *x, *w, *y;
    char *columns;
    char *parts; /* gradients of the weights per image, before summation */
};

/* Batched product over `batch` images (of_images) or groups. o points to the first one. */
lt_status multiply(lt_conv_part part, const lt_conv *c, const conv_operands &o, bool of_images,
                   int64_t batch, bool bias)
{
    const int64_t rows = c->out_channels / c->groups,
                  depth = c->in_channels / c->groups * lt_volume(c->kernel);
    /* distance in groups between consecutive products */
    const int64_t width = lt_volume(c->out), step = of_images ? c->groups : 1;
    lt_gemm g = {};
    g.dtype = c->dtype;
    g.device = c->device;
    g.batch = batch;
    g.alpha = 1;
    switch (part) {
    case LT_CONV_Y: /* y = w columns */
        g.m = rows, g.n = width, g.k = depth;
        g.a = o.w, g.lda = depth, g.batch_a = of_images ? 0 : rows * depth;
        g.b = o.columns, g.ldb = width, g.batch_b = step * depth * width;
        g.c = o.y, g.ldc = width, g.batch_c = step * rows * width;
        g.beta = bias ? 1 : 0;
        break;
    case LT_CONV_X: /* columns = w' y */
        g.m = depth, g.n = width, g.k = rows;
        g.a = o.w, g.lda = depth, g.trans_a = true, g.batch_a = of_images ? 0 : rows * depth;
        g.b = o.y, g.ldb = width, g.batch_b = step * rows * width;
        g.c = o.columns, g.ldc = width, g.batch_c = step * depth * width;
        g.wide_result = !trivial(c);
        break;
    default: /* parts = y columns' */
        g.m = rows, g.n = depth, g.k = width;
        g.a = o.y, g.lda = width, g.batch_a = step * rows * width;
        g.b = o.columns, g.ldb = width, g.batch_b = step * depth * width, g.trans_b = true;
        g.c = o.parts, g.ldc = depth, g.batch_c = step * rows * depth;
        g.wide_result = true;
        break;
    }
    return lt_cuda_gemm(&g);
}

/* One batched product per group over all images, or one per image over all groups, whichever needs
 * fewer calls. */
lt_status multiply_all(lt_conv_part part, const lt_conv *c, conv_operands o, int64_t images,
                       bool bias)
{
    const int64_t size = lt_element_size(c->dtype), width = lt_volume(c->out);
    const int64_t of_column = part == LT_CONV_X && !trivial(c) ? wide_size(c->dtype) : size;
    const bool of_images = images >= c->groups;
    const int64_t share = of_images ? c->groups : 1; /* a call covers 1 / share of each image */
    const int64_t calls = of_images ? c->groups : images;
    const int64_t weights =
        c->out_channels / c->groups * (c->in_channels / c->groups) * lt_volume(c->kernel);
    for (int64_t i = 0; i < calls; i++) {
        LT_TRY(multiply(part, c, o, of_images, of_images ? images : c->groups, bias));
        o.columns += c->in_channels * lt_volume(c->kernel) * width * of_column / share;
        o.y += c->out_channels * width * size / share;
        if (of_images) o.w += weights * size;
        if (o.parts != nullptr) o.parts += weights * c->groups * wide_size(c->dtype) / share;
    }
    return LT_OK;
}

/* Images [first, first + count). */
struct image_range {
    int64_t first, count;
};

lt_status convolve(lt_conv_part part, const lt_conv *c, conv_operands o, image_range range,
                   const void *bias, const kernels &k, cudaStream_t stream)
{
    const int64_t first = range.first, images = range.count;
    const int64_t size = lt_element_size(c->dtype), width = lt_volume(c->out);
    const conv_windows g(c, images);
    o.x += first * c->in_channels * g.image * size;
    o.y += first * c->out_channels * width * size;
    if (o.columns == nullptr)
        o.columns = o.x;
    else if (part != LT_CONV_X)
        k.take(g, o.x, o.columns, stream);
    if (part == LT_CONV_Y && bias != nullptr)
        k.bias(o.y, bias, c->out_channels, width, images * c->out_channels * width, stream);
    LT_TRY(multiply_all(part, c, o, images, bias != nullptr));
    if (part == LT_CONV_X && o.columns != o.x) k.give_wide(g, o.x, o.columns, stream);
    if (part == LT_CONV_W)
        k.parts(o.w, o.parts, c->out_channels * (c->in_channels / c->groups) * lt_volume(c->kernel),
                images, first == 0, stream);
    return LT_OK;
}

lt_status by_cudnn(lt_conv_part part, const lt_conv *c, bool channels_last,
                   lt_cuda_conv_arrays arrays, const void *bias, cudaStream_t stream, bool *done)
{
    LT_TRY(lt_cuda_convolution_cudnn(part, c, channels_last, arrays, stream, done));
    if (!*done) return LT_OK;
    const int64_t width = lt_volume(c->out);
    if (bias != nullptr)
        kernels_of(c->dtype).add(arrays.y, bias, c->out_channels, channels_last ? 1 : width,
                                 c->batch * c->out_channels * width, stream);
    return lt_cuda_launched(c->device.index, stream, "convolution");
}

} // namespace

lt_status lt_cuda_convolution(lt_conv_part part, const lt_conv *c, void *x, void *w, void *y,
                              const void *bias)
{
    const int64_t size = lt_element_size(c->dtype), wide = wide_size(c->dtype);
    const int64_t column = c->in_channels * lt_volume(c->kernel) * lt_volume(c->out) *
                           (part == LT_CONV_X ? wide : size);
    const int64_t weights =
        c->out_channels * (c->in_channels / c->groups) * lt_volume(c->kernel) * wide;
    const int64_t own = (trivial(c) ? 0 : column) + (part == LT_CONV_W ? weights : 0);
    const int64_t images =
        std::min(c->batch, own > 0 ? std::max<int64_t>(COLUMN_BYTES / own, 1) : c->batch);
    const kernels k = kernels_of(c->dtype);
    conv_operands o = {static_cast<char *>(x), static_cast<char *>(w), static_cast<char *>(y),
                       nullptr, nullptr};
    lt_cuda_scratch columns, parts;
    cudaStream_t stream;
    bool done;
    LT_TRY(lt_cuda_enter(c->device.index, &stream));
    LT_TRY(by_cudnn(part, c, false, {x, w, y}, bias, stream, &done));
    if (done) return LT_OK;
    if (!trivial(c)) {
        LT_TRY(columns.take(c->device.index, static_cast<size_t>(images * column)));
        o.columns = columns.as<char>();
    }
    if (part == LT_CONV_W) {
        LT_TRY(parts.take(c->device.index, static_cast<size_t>(images * weights)));
        o.parts = parts.as<char>();
    }
    for (int64_t first = 0; first < c->batch; first += images)
        LT_TRY(convolve(part, c, o, {first, std::min(images, c->batch - first)}, bias, k, stream));
    return lt_cuda_launched(c->device.index, stream, "convolution");
}

lt_status lt_cuda_convolution_channels_last(lt_conv_part part, const lt_conv *c, void *x, void *w,
                                            void *y, const void *bias, bool *done)
{
    cudaStream_t stream;
    LT_TRY(lt_cuda_enter(c->device.index, &stream));
    return by_cudnn(part, c, true, {x, w, y}, bias, stream, done);
}

lt_status lt_cuda_columns(bool back, const lt_conv *c, void *x, void *columns)
{
    cudaStream_t stream;
    LT_TRY(lt_cuda_enter(c->device.index, &stream));
    if (back)
        kernels_of(c->dtype).give(conv_windows(c, c->batch), x, columns, stream);
    else
        kernels_of(c->dtype).take(conv_windows(c, c->batch), x, columns, stream);
    return lt_cuda_launched(c->device.index, stream, back ? "col2im" : "im2col");
}
