/* pool.cu - max and average pooling. Forward: one thread per output element. Backward: one thread
 * per input element, which adds up its windows in a fixed order, so results are deterministic.
 * Computed in float (half types too) or double, integers in int64. Indices (Index) are 32 bits if
 * all are small enough; divisions are then multiplications. */
#include "cuda.h"
#include "kernels/element.cuh"
#include "kernels/launch.cuh"
#include "kernels/offsets.cuh"

namespace {

/* MEANS_FIT, MEANS_BACK_FIT: minimum blocks per multiprocessor of the average kernels (launch
 * bounds); without them, ptxas spills registers to fit more. */
enum { BLOCK = 256, MEANS_FIT = 4, MEANS_BACK_FIT = 3 };

/* Division by a size that is known on the host. */
template <class Index> struct quotient_by {
    using number = std::conditional_t<std::is_same_v<Index, int32_t>, uint32_t, uint64_t>;
    std::conditional_t<std::is_same_v<Index, int32_t>, lt_divider, lt_wide_divider> divider;

    void set(int64_t divisor) { divider.set(static_cast<number>(divisor)); }
    __device__ __forceinline__ Index of(Index i) const
    {
        return static_cast<Index>(divider.quotient(static_cast<number>(i)));
    }
};

template <class Index> struct pooling {
    Index planes, lanes, in_count, out_count, in[3], out[3], kernel[3], stride[3], padding[3],
        dilation[3];
    quotient_by<Index> by_lanes, by_in_count, by_out_count, by_in[3], by_out[3], by_stride[3],
        by_dilation[3];
    bool adaptive, count_padding;
    int64_t divisor;

    explicit pooling(const lt_pooling *p)
        : planes(static_cast<Index>(p->planes)), lanes(static_cast<Index>(p->lanes)),
          in_count(static_cast<Index>(p->in[0] * p->in[1] * p->in[2])),
          out_count(static_cast<Index>(p->out[0] * p->out[1] * p->out[2])), adaptive(p->adaptive),
          count_padding(p->count_padding), divisor(p->divisor)
    {
        by_lanes.set(lanes);
        by_in_count.set(in_count > 0 ? in_count : 1);
        by_out_count.set(out_count > 0 ? out_count : 1);
        for (int d = 0; d < 3; d++) {
            in[d] = (Index)p->in[d], out[d] = (Index)p->out[d], kernel[d] = (Index)p->kernel[d];
            stride[d] = (Index)p->stride[d], padding[d] = (Index)p->padding[d];
            dilation[d] = (Index)p->dilation[d];
            by_in[d].set(in[d] > 0 ? in[d] : 1);
            by_out[d].set(out[d] > 0 ? out[d] : 1);
            by_stride[d].set(stride[d] > 0 ? stride[d] : 1);
            by_dilation[d].set(dilation[d] > 0 ? dilation[d] : 1);
        }
    }
};

/* Whether all indices and intermediate values stay below 2^31. */
bool is_small(const lt_pooling *p)
{
    const int64_t limit = LT_INDEX_LIMIT;
    const int64_t in = p->in[0] * p->in[1] * p->in[2], out = p->out[0] * p->out[1] * p->out[2];
    if (p->planes * p->lanes * in >= limit || p->planes * p->lanes * out >= limit) return false;
    for (int d = 0; d < 3; d++) {
        if ((p->in[d] + 1) * (p->out[d] + 1) >= limit) return false;
        const int64_t reach =
            (p->kernel[d] + 1) * (p->dilation[d] + 1) + 2 * p->padding[d] + p->stride[d];
        if (p->in[d] + reach + p->out[d] * p->stride[d] >= limit) return false;
    }
    return true;
}

/* Plane, lane and coordinates of element i of the output; of the input if `sizes` are its sizes. */
template <class Index> struct element_place {
    Index plane, lane, at, z, y, x;

    __device__ __forceinline__ element_place(const pooling<Index> &p, Index i, Index count,
                                             const quotient_by<Index> &by_count, const Index *sizes,
                                             const quotient_by<Index> *by)
    {
        const Index group = p.by_lanes.of(i);
        lane = i - group * p.lanes;
        plane = by_count.of(group);
        at = group - plane * count;
        const Index line = by[2].of(at);
        z = by[1].of(line);
        y = line - z * sizes[1];
        x = at - line * sizes[2];
    }
};

/* Indices [from, to) of a window in one dimension, with this step; size also counts padding. */
template <class Index> struct window_span {
    Index from, to, step, size;
};

template <class Index>
__device__ __forceinline__ window_span<Index> span_of(const pooling<Index> &p, int d, Index at)
{
    window_span<Index> s;
    s.step = 1;
    if (p.adaptive) {
        s.from = p.by_out[d].of(at * p.in[d]);
        s.to = p.by_out[d].of((at + 1) * p.in[d] + p.out[d] - 1);
        s.size = s.to - s.from;
        return s;
    }
    s.step = p.dilation[d];
    s.from = at * p.stride[d] - p.padding[d];
    s.to = s.from + (p.kernel[d] - 1) * s.step + 1;
    if (s.to > p.in[d] + p.padding[d]) s.to = p.in[d] + p.padding[d];
    s.size = s.to - s.from;
    if (s.from < 0) s.from += p.by_dilation[d].of(-s.from + s.step - 1) * s.step;
    if (s.to > p.in[d]) s.to = p.in[d];
    return s;
}

/* The windows [*first, *last) of one dimension that may contain index i. */
template <class Index>
__device__ __forceinline__ void holders(const pooling<Index> &p, int d, Index i, Index *first,
                                        Index *last)
{
    if (p.adaptive) {
        *first = p.by_in[d].of(i * p.out[d]);
        *last = p.by_in[d].of((i + 1) * p.out[d] + p.in[d] - 1);
    } else {
        const Index reach = (p.kernel[d] - 1) * p.dilation[d] + 1, at = i + p.padding[d];
        *first = at < reach ? 0 : p.by_stride[d].of(at - reach) + 1;
        *last = p.by_stride[d].of(at) + 1;
    }
    if (*last > p.out[d]) *last = p.out[d];
}

template <class Index> __device__ __forceinline__ bool empty(const window_span<Index> &s)
{
    return s.from >= s.to;
}

template <class Index>
__device__ __forceinline__ int64_t divisor_of(const pooling<Index> &p, const window_span<Index> &z,
                                              const window_span<Index> &y,
                                              const window_span<Index> &x)
{
    if (p.divisor != 0) return p.divisor;
    if (p.count_padding && !p.adaptive) return static_cast<int64_t>(z.size) * y.size * x.size;
    return static_cast<int64_t>(z.to - z.from) * (y.to - y.from) * (x.to - x.from);
}

/* Calls f(k, z, y, x) for each window that contains the element: its linear index and coordinates.
 */
template <class Index, class F>
__device__ __forceinline__ void each_holder(const pooling<Index> &p, const element_place<Index> &e,
                                            F f)
{
    Index first[3], last[3];
    holders(p, 0, e.z, &first[0], &last[0]);
    holders(p, 1, e.y, &first[1], &last[1]);
    holders(p, 2, e.x, &first[2], &last[2]);
    for (Index z = first[0]; z < last[0]; z++)
        for (Index y = first[1]; y < last[1]; y++)
            for (Index x = first[2]; x < last[2]; x++)
                f((e.plane * p.out_count + (z * p.out[1] + y) * p.out[2] + x) * p.lanes + e.lane, z,
                  y, x);
}

/* Identity element of the maximum. */
template <class C> __device__ __forceinline__ C lowest() { return static_cast<C>(-INFINITY); }
template <> __device__ __forceinline__ int64_t lowest<int64_t>() { return INT64_MIN; }

template <class T, class C, class Index>
__global__ void __launch_bounds__(BLOCK)
    extremes(pooling<Index> p, T *out, int64_t *indices, const T *in)
{
    const int64_t number = lt_thread_number();
    if (number >= static_cast<int64_t>(p.planes) * p.lanes * p.out_count) return;
    const Index i = static_cast<Index>(number);
    const element_place<Index> e(p, i, p.out_count, p.by_out_count, p.out, p.by_out);
    const T *plane = in + (e.plane * p.in_count * p.lanes + e.lane);
    const window_span<Index> x = span_of(p, 2, e.x), y = span_of(p, 1, e.y), z = span_of(p, 0, e.z);
    C most = lowest<C>();
    Index place = (z.from * p.in[1] + y.from) * p.in[2] + x.from;
    for (Index iz = z.from; iz < z.to; iz += z.step)
        for (Index iy = y.from; iy < y.to; iy += y.step)
            for (Index ix = x.from; ix < x.to; ix += x.step) {
                const Index k = (iz * p.in[1] + iy) * p.in[2] + ix;
                const C v = lt_as<C>(plane[k * p.lanes]);
                if (v > most || v != v) most = v, place = k;
            }
    out[i] = lt_stored<T, C>::of(most);
    if (indices != nullptr) indices[i] = place;
}

template <class T, class C, class Index>
__global__ void __launch_bounds__(BLOCK)
    extremes_back(pooling<Index> p, T *to, const T *grad, const int64_t *indices)
{
    const int64_t number = lt_thread_number();
    if (number >= static_cast<int64_t>(p.planes) * p.lanes * p.in_count) return;
    const Index i = static_cast<Index>(number);
    const element_place<Index> e(p, i, p.in_count, p.by_in_count, p.in, p.by_in);
    C sum = 0;
    each_holder(p, e, [&](Index k, Index, Index, Index) {
        if (indices[k] == e.at) sum += lt_as<C>(grad[k]);
    });
    to[i] = lt_stored<T, C>::of(sum);
}

/* Type of sums and their means. Integers: sums modulo 2^64; means are rounded toward zero, and
 * -2^63 / -1 wraps without a trap. */
template <class C> struct summed {
    using type = C;
    static __device__ __forceinline__ C mean(C sum, int64_t n) { return sum / static_cast<C>(n); }
};
template <> struct summed<int64_t> {
    using type = uint64_t;
    static __device__ __forceinline__ int64_t mean(uint64_t sum, int64_t n)
    {
        return n == -1 ? static_cast<int64_t>(0 - sum) : static_cast<int64_t>(sum) / n;
    }
};

template <class T, class C, class Index>
__global__ void __launch_bounds__(BLOCK, MEANS_FIT) means(pooling<Index> p, T *out, const T *in)
{
    const int64_t number = lt_thread_number();
    if (number >= static_cast<int64_t>(p.planes) * p.lanes * p.out_count) return;
    const Index i = static_cast<Index>(number);
    const element_place<Index> e(p, i, p.out_count, p.by_out_count, p.out, p.by_out);
    const T *plane = in + (e.plane * p.in_count * p.lanes + e.lane);
    const window_span<Index> x = span_of(p, 2, e.x), y = span_of(p, 1, e.y), z = span_of(p, 0, e.z);
    using S = typename summed<C>::type;
    const bool nothing = empty(z) || empty(y) || empty(x);
    /* before the loops, to free the registers of sizes */
    const int64_t divisor = divisor_of(p, z, y, x);
    S sum = 0;
    for (Index iz = z.from; iz < z.to; iz++)
        for (Index iy = y.from; iy < y.to; iy++)
            for (Index ix = x.from; ix < x.to; ix++)
                sum +=
                    static_cast<S>(lt_as<C>(plane[((iz * p.in[1] + iy) * p.in[2] + ix) * p.lanes]));
    out[i] = lt_stored<T, C>::of(nothing ? static_cast<C>(0) : summed<C>::mean(sum, divisor));
}

template <class T, class C, class Index>
__global__ void __launch_bounds__(BLOCK, MEANS_BACK_FIT)
    means_back(pooling<Index> p, T *to, const T *grad)
{
    const int64_t number = lt_thread_number();
    if (number >= static_cast<int64_t>(p.planes) * p.lanes * p.in_count) return;
    const Index i = static_cast<Index>(number);
    const element_place<Index> e(p, i, p.in_count, p.by_in_count, p.in, p.by_in);
    C sum = 0;
    each_holder(p, e, [&](Index k, Index z, Index y, Index x) {
        const int64_t count = divisor_of(p, span_of(p, 0, z), span_of(p, 1, y), span_of(p, 2, x));
        sum += lt_as<C>(grad[k]) / static_cast<C>(count);
    });
    to[i] = lt_stored<T, C>::of(sum);
}

enum step { EXTREMES, EXTREMES_BACK, MEANS, MEANS_BACK };

template <class T, class C, class Index>
void launch(step what, const lt_pooling *given, void *to, int64_t *indices, const void *from,
            cudaStream_t stream)
{
    const bool back = what == EXTREMES_BACK || what == MEANS_BACK;
    const pooling<Index> p(given);
    const unsigned blocks = lt_blocks(
        static_cast<int64_t>(p.planes) * p.lanes * (back ? p.in_count : p.out_count), BLOCK);
    T *out = static_cast<T *>(to);
    const T *in = static_cast<const T *>(from);
    switch (what) {
    case EXTREMES:
        LT_LAUNCH((extremes<T, C, Index>), blocks, BLOCK, stream, p, out, indices, in);
        break;
    case EXTREMES_BACK:
        LT_LAUNCH((extremes_back<T, C, Index>), blocks, BLOCK, stream, p, out, in,
                  static_cast<const int64_t *>(indices));
        break;
    case MEANS: LT_LAUNCH((means<T, C, Index>), blocks, BLOCK, stream, p, out, in); break;
    case MEANS_BACK: LT_LAUNCH((means_back<T, C, Index>), blocks, BLOCK, stream, p, out, in); break;
    }
}

template <class T, class C>
void launch_counted(step what, const lt_pooling *p, void *to, int64_t *indices, const void *from,
                    cudaStream_t stream)
{
    if (is_small(p))
        launch<T, C, int32_t>(what, p, to, indices, from, stream);
    else
        launch<T, C, int64_t>(what, p, to, indices, from, stream);
}

lt_status run(step what, const lt_pooling *given, void *to, int64_t *indices, const void *from,
              const char *name)
{
    cudaStream_t stream;
    LT_TRY(lt_cuda_enter(given->device.index, &stream));
    switch (given->dtype) {
    case LT_FLOAT16: launch_counted<__half, float>(what, given, to, indices, from, stream); break;
    case LT_BFLOAT16:
        launch_counted<__nv_bfloat16, float>(what, given, to, indices, from, stream);
        break;
    case LT_INT64: launch_counted<int64_t, int64_t>(what, given, to, indices, from, stream); break;
    case LT_FLOAT32: launch_counted<float, float>(what, given, to, indices, from, stream); break;
    default: launch_counted<double, double>(what, given, to, indices, from, stream); break;
    }
    return lt_cuda_launched(given->device.index, stream, name);
}

} // namespace

lt_status lt_cuda_max_pool(const lt_pooling *p, void *out, int64_t *indices, const void *in)
{
    return run(EXTREMES, p, out, indices, in, "max_pool");
}

lt_status lt_cuda_max_pool_backward(const lt_pooling *p, void *grad_in, const void *grad,
                                    const int64_t *indices)
{
    return run(EXTREMES_BACK, p, grad_in, const_cast<int64_t *>(indices), grad,
               "max_pool_backward");
}

lt_status lt_cuda_avg_pool(const lt_pooling *p, void *out, const void *in)
{
    return run(MEANS, p, out, nullptr, in, "avg_pool");
}

lt_status lt_cuda_avg_pool_backward(const lt_pooling *p, void *grad_in, const void *grad)
{
    return run(MEANS_BACK, p, grad_in, nullptr, grad, "avg_pool_backward");
}
