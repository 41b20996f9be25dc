/* sample.cu - grid_sample and its derivatives: one thread per point computes its taps once and
 * loops over channels. The derivative by the image uses atomic additions, in any order;
 * deterministic mode uses other ops instead (ops/vision/sample.c). */
#include "cuda.h"
#include "formulas/sampling.h"
#include "kernels/launch.cuh"
#include "kernels/quotients.cuh"

enum { BLOCK = 256 };

/* The taps of a point along one dimension: offsets in the image (-1: outside), weights, and
 * derivatives of the weights by the grid coordinate. */
template <class T, int A> struct axis {
    int64_t offset[A];
    T weight[A], slope[A];
};

template <class T>
static __device__ __forceinline__ int64_t located(T place, int64_t size, int64_t step)
{
    return place >= 0 && place <= static_cast<T>(size - 1) ? static_cast<int64_t>(place) * step
                                                           : -1;
}

template <class T, int A>
static __device__ __forceinline__ axis<T, A> axis_at(const lt_sampling &s, T x, int d)
{
    axis<T, A> a;
    const int64_t n = s.in[2 - d], step = s.x_step[2 - d];
    const T size = static_cast<T>(n);
    T slope = 1, at = lt_sample_index(x, size, s.align_corners);
    if (A < 4) at = lt_sample_pad(at, size, s.padding, s.align_corners, s.dims == 3, &slope);
    slope *= lt_sample_scale(size, s.align_corners);
    if constexpr (A == 1) {
        a.offset[0] = located(lt_round(at), n, step);
        a.weight[0] = 1;
        a.slope[0] = 0;
    } else {
        const T low = lt_floor(at), t = at - low;
        if constexpr (A == 2) {
            a.weight[0] = 1 - t;
            a.weight[1] = t;
            a.slope[0] = -slope;
            a.slope[1] = slope;
            a.offset[0] = located(low, n, step);
            a.offset[1] = located(low + 1, n, step);
        } else {
            a.weight[0] = lt_cubic_outer(t + 1);
            a.weight[1] = lt_cubic_inner(t);
            a.weight[2] = lt_cubic_inner(1 - t);
            a.weight[3] = lt_cubic_outer(2 - t);
            a.slope[0] = slope * lt_cubic_outer_slope(t + 1);
            a.slope[1] = slope * lt_cubic_inner_slope(t);
            a.slope[2] = -slope * lt_cubic_inner_slope(1 - t);
            a.slope[3] = -slope * lt_cubic_outer_slope(2 - t);
            LT_UNROLLED
            for (int k = 0; k < 4; k++) {
                T unused;
                a.offset[k] = located(lt_sample_pad(low + static_cast<T>(k - 1), size, s.padding,
                                                    s.align_corners, false, &unused),
                                      n, step);
            }
        }
    }
    return a;
}

/* Calls f(number, offset, weight, kx, ky, kz) for each tap of a point. DIMS 2: kz is 0. In volumes,
 * taps outside have weight 0; in images they keep their weight, so that NaN propagates. */
template <class T, int DIMS, int A, class F>
static __device__ __forceinline__ void each_tap(const axis<T, A> (&axes)[DIMS], F f)
{
    constexpr int planes = DIMS == 3 ? A : 1;
    LT_UNROLLED
    for (int kz = 0; kz < planes; kz++) LT_UNROLLED
    for (int ky = 0; ky < A; ky++) LT_UNROLLED
    for (int kx = 0; kx < A; kx++) {
        int64_t offset = axes[0].offset[kx] < 0 || axes[1].offset[ky] < 0
                             ? -1
                             : axes[0].offset[kx] + axes[1].offset[ky];
        T weight = axes[0].weight[kx] * axes[1].weight[ky];
        if constexpr (DIMS == 3) {
            offset = offset < 0 || axes[2].offset[kz] < 0 ? -1 : offset + axes[2].offset[kz];
            weight = offset < 0 ? 0 : weight * axes[2].weight[kz];
        }
        f((kz * A + ky) * A + kx, offset, weight, kx, ky, kz);
    }
}

template <class T, int DIMS, int A>
static __device__ __forceinline__ void find_all(const lt_sampling &s, const T *grid, int64_t point,
                                                axis<T, A> (&axes)[DIMS])
{
    LT_UNROLLED
    for (int d = 0; d < DIMS; d++) axes[d] = axis_at<T, A>(s, grid[point * DIMS + d], d);
}

template <class T, int DIMS, int A>
static __global__ void __launch_bounds__(BLOCK)
    forward(lt_sampling s, T *y, const T *x, const T *grid, int64_t n, lt_quotients by_points)
{
    const int64_t e = lt_thread_number();
    if (e >= n) return;
    const int64_t image = by_points.of(e), point = e - image * s.points;
    axis<T, A> axes[DIMS];
    find_all<T, DIMS, A>(s, grid, e, axes);
    for (int64_t c = 0; c < s.channels; c++) {
        const T *plane = x + image * s.x_batch + c * s.x_channel;
        T sum = 0;
        each_tap<T, DIMS, A>(axes, [&](int, int64_t offset, T weight, int, int, int) {
            const T value = offset < 0 ? 0 : plane[offset];
            sum += A == 1 ? value : value * weight;
        });
        y[(image * s.channels + c) * s.points + point] = sum;
    }
}

/* grad_x is dense and zero-filled; s has the strides of grad_x. */
template <class T, int DIMS, int A>
static __global__ void __launch_bounds__(BLOCK)
    backward_x(lt_sampling s, T *grad_x, const T *grad, const T *grid, int64_t n,
               lt_quotients by_points)
{
    const int64_t e = lt_thread_number();
    if (e >= n) return;
    const int64_t image = by_points.of(e), point = e - image * s.points;
    axis<T, A> axes[DIMS];
    find_all<T, DIMS, A>(s, grid, e, axes);
    for (int64_t c = 0; c < s.channels; c++) {
        T *plane = grad_x + image * s.x_batch + c * s.x_channel;
        const T g = grad[(image * s.channels + c) * s.points + point];
        each_tap<T, DIMS, A>(axes, [&](int, int64_t offset, T weight, int, int, int) {
            if (offset >= 0) atomicAdd(plane + offset, weight * g);
        });
    }
}

template <class T, int DIMS, int A>
static __global__ void __launch_bounds__(BLOCK)
    backward_grid(lt_sampling s, T *grad_grid, const T *grad, const T *x, const T *grid, int64_t n,
                  lt_quotients by_points)
{
    const int64_t e = lt_thread_number();
    if (e >= n) return;
    const int64_t image = by_points.of(e), point = e - image * s.points;
    axis<T, A> axes[DIMS];
    find_all<T, DIMS, A>(s, grid, e, axes);
    T sums[DIMS] = {};
    for (int64_t c = 0; c < s.channels; c++) {
        const T *plane = x + image * s.x_batch + c * s.x_channel;
        const T g = grad[(image * s.channels + c) * s.points + point];
        each_tap<T, DIMS, A>(axes, [&](int, int64_t offset, T, int kx, int ky, int kz) {
            if (DIMS == 3 && offset < 0) return;
            const T part = offset < 0 ? 0 : g * plane[offset];
            const int at[3] = {kx, ky, kz};
            LT_UNROLLED
            for (int d = 0; d < DIMS; d++) {
                T factor = part * axes[d].slope[at[d]];
                LT_UNROLLED
                for (int other = 0; other < DIMS; other++)
                    if (other != d) factor *= axes[other].weight[at[other]];
                sums[d] += factor;
            }
        });
    }
    LT_UNROLLED
    for (int d = 0; d < DIMS; d++) grad_grid[e * DIMS + d] = sums[d];
}

struct arrays {
    void *y, *grad_x, *grad_grid;
    const void *x, *grid, *grad;
};

template <class T, int DIMS, int A>
static void launch_sample_kernel(const lt_sampling &s, const arrays &a, cudaStream_t stream)
{
    const int64_t n = s.batch * s.points;
    const lt_quotients by_points(s.points, n);
    const T *x = static_cast<const T *>(a.x), *grid = static_cast<const T *>(a.grid),
            *grad = static_cast<const T *>(a.grad);
    if (a.y != nullptr)
        LT_LAUNCH((forward<T, DIMS, A>), lt_blocks(n, BLOCK), BLOCK, stream, s,
                  static_cast<T *>(a.y), x, grid, n, by_points);
    if (a.grad_x != nullptr) {
        lt_sampling dense = s;
        dense.x_step[2] = 1;
        dense.x_step[1] = s.in[2];
        dense.x_step[0] = s.in[2] * s.in[1];
        dense.x_channel = dense.x_step[0] * s.in[0];
        dense.x_batch = dense.x_channel * s.channels;
        LT_LAUNCH((backward_x<T, DIMS, A>), lt_blocks(n, BLOCK), BLOCK, stream, dense,
                  static_cast<T *>(a.grad_x), grad, grid, n, by_points);
    }
    if (a.grad_grid != nullptr)
        LT_LAUNCH((backward_grid<T, DIMS, A>), lt_blocks(n, BLOCK), BLOCK, stream, s,
                  static_cast<T *>(a.grad_grid), grad, x, grid, n, by_points);
}

template <class T>
static void launch_all(const lt_sampling &s, const arrays &a, cudaStream_t stream)
{
    const bool volume = s.dims == 3;
    if (s.mode == LT_SAMPLE_NEAREST)
        volume ? launch_sample_kernel<T, 3, 1>(s, a, stream)
               : launch_sample_kernel<T, 2, 1>(s, a, stream);
    else if (s.mode == LT_SAMPLE_BILINEAR)
        volume ? launch_sample_kernel<T, 3, 2>(s, a, stream)
               : launch_sample_kernel<T, 2, 2>(s, a, stream);
    else
        launch_sample_kernel<T, 2, 4>(s, a, stream);
}

static lt_status launch_sampling(const lt_sampling *s, const arrays &a)
{
    cudaStream_t stream;
    LT_TRY(lt_cuda_enter(s->device.index, &stream));
    const bool wide = s->dtype == LT_FLOAT64;
    if (a.grad_x != nullptr) {
        const size_t bytes =
            static_cast<size_t>(s->batch * s->channels * s->in[0] * s->in[1] * s->in[2]) *
            (wide ? 8 : 4);
        CUDA_TRY(cudaMemsetAsync(a.grad_x, 0, bytes, stream));
    }
    if (wide)
        launch_all<double>(*s, a, stream);
    else
        launch_all<float>(*s, a, stream);
    return lt_cuda_launched(s->device.index, stream, "grid_sample");
}

lt_status lt_cuda_sample(const lt_sampling *s, void *y, const void *x, const void *grid)
{
    return launch_sampling(s, {y, nullptr, nullptr, x, grid, nullptr});
}

lt_status lt_cuda_sample_backward(const lt_sampling *s, void *grad_x, void *grad_grid,
                                  const void *grad, const void *x, const void *grid)
{
    return launch_sampling(s, {nullptr, grad_x, grad_grid, x, grid, grad});
}
