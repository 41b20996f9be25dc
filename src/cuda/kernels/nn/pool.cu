/* pool.cu - extremes and averages of windows. Forward a thread has an element of the result, backward one of the
 * input, for which it goes through the windows that hold it in one order: nothing is added by two threads. Computed
 * in float (half types too) or double, integers in int64. */
#include "cuda.h"
#include "kernels/element.cuh"
#include "kernels/launch.cuh"
#include "kernels/offsets.cuh"

namespace {

enum { BLOCK = 256 };

struct pooling {
    int64_t planes, in_count, out_count;
    int32_t in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
    bool adaptive, count_padding;
    int64_t divisor;

    explicit pooling(const lt_pooling *p)
        : planes(p->planes), in_count(p->in[0] * p->in[1] * p->in[2]), out_count(p->out[0] * p->out[1] * p->out[2]),
          adaptive(p->adaptive), count_padding(p->count_padding), divisor(p->divisor)
    {
        for (int d = 0; d < 3; d++) {
            in[d] = (int32_t)p->in[d], out[d] = (int32_t)p->out[d], kernel[d] = (int32_t)p->kernel[d];
            stride[d] = (int32_t)p->stride[d], padding[d] = (int32_t)p->padding[d], dilation[d] = (int32_t)p->dilation[d];
        }
    }
};

/* Elements [from, to) of one dimension, step apart; size counts those in the padding. */
struct span {
    int64_t from, to, step, size;
};

__device__ __forceinline__ span span_of(const pooling &p, int d, int64_t at)
{
    span s;
    s.step = 1;
    if (p.adaptive) {
        s.from = at * p.in[d] / p.out[d];
        s.to = ((at + 1) * p.in[d] + p.out[d] - 1) / p.out[d];
        s.size = s.to - s.from;
        return s;
    }
    s.step = p.dilation[d];
    s.from = at * p.stride[d] - p.padding[d];
    s.to = s.from + (int64_t)(p.kernel[d] - 1) * s.step + 1;
    if (s.to > (int64_t)p.in[d] + p.padding[d]) s.to = (int64_t)p.in[d] + p.padding[d];
    s.size = s.to - s.from;
    if (s.from < 0) s.from += (-s.from + s.step - 1) / s.step * s.step;
    if (s.to > p.in[d]) s.to = p.in[d];
    return s;
}

/* The windows [*first, *last) of one dimension that may hold position i. */
__device__ __forceinline__ void holders(const pooling &p, int d, int64_t i, int64_t *first, int64_t *last)
{
    if (p.adaptive) {
        *first = i * p.out[d] / p.in[d];
        *last = ((i + 1) * p.out[d] + p.in[d] - 1) / p.in[d];
    } else {
        const int64_t reach = (int64_t)(p.kernel[d] - 1) * p.dilation[d] + 1, at = i + p.padding[d];
        *first = at < reach ? 0 : (at - reach) / p.stride[d] + 1;
        *last = at / p.stride[d] + 1;
    }
    if (*last > p.out[d]) *last = p.out[d];
}

__device__ __forceinline__ bool empty(const span &s) { return s.from >= s.to; }

__device__ __forceinline__ int64_t divisor_of(const pooling &p, const span &z, const span &y, const span &x)
{
    if (p.divisor != 0) return p.divisor;
    if (p.count_padding && !p.adaptive) return z.size * y.size * x.size;
    return (z.to - z.from) * (y.to - y.from) * (x.to - x.from);
}

/* What every element is at least. */
template <class C> __device__ __forceinline__ C lowest() { return static_cast<C>(-INFINITY); }
template <> __device__ __forceinline__ int64_t lowest<int64_t>() { return INT64_MIN; }

template <class T, class C>
__global__ void __launch_bounds__(BLOCK) extremes(pooling p, T *out, int64_t *indices, const T *in)
{
    const int64_t i = lt_thread_number();
    if (i >= p.planes * p.out_count) return;
    const int64_t at = i % p.out_count;
    const T *plane = in + i / p.out_count * p.in_count;
    const span x = span_of(p, 2, at % p.out[2]), y = span_of(p, 1, at / p.out[2] % p.out[1]), z = span_of(p, 0, at / p.out[2] / p.out[1]);
    C most = lowest<C>();
    int64_t place = (z.from * p.in[1] + y.from) * p.in[2] + x.from;
    for (int64_t iz = z.from; iz < z.to; iz += z.step)
        for (int64_t iy = y.from; iy < y.to; iy += y.step)
            for (int64_t ix = x.from; ix < x.to; ix += x.step) {
                const int64_t k = (iz * p.in[1] + iy) * p.in[2] + ix;
                const C v = lt_as<C>(plane[k]);
                if (v > most || v != v) most = v, place = k;
            }
    out[i] = lt_stored<T, C>::of(most);
    if (indices != nullptr) indices[i] = place;
}

template <class T, class C>
__global__ void __launch_bounds__(BLOCK) extremes_back(pooling p, T *to, const T *grad, const int64_t *indices)
{
    const int64_t i = lt_thread_number();
    if (i >= p.planes * p.in_count) return;
    const int64_t plane = i / p.in_count, at = i % p.in_count;
    int64_t first[3], last[3];
    holders(p, 0, at / p.in[2] / p.in[1], &first[0], &last[0]);
    holders(p, 1, at / p.in[2] % p.in[1], &first[1], &last[1]);
    holders(p, 2, at % p.in[2], &first[2], &last[2]);
    C sum = 0;
    for (int64_t z = first[0]; z < last[0]; z++)
        for (int64_t y = first[1]; y < last[1]; y++)
            for (int64_t x = first[2]; x < last[2]; x++) {
                const int64_t k = plane * p.out_count + (z * p.out[1] + y) * p.out[2] + x;
                if (indices[k] == at) sum += lt_as<C>(grad[k]);
            }
    to[i] = lt_stored<T, C>::of(sum);
}

/* What sums are held in, modulo 2^64 of integers, and their means: towards zero, -2^63 / -1 without a trap. */
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

template <class T, class C> __global__ void __launch_bounds__(BLOCK) means(pooling p, T *out, const T *in)
{
    const int64_t i = lt_thread_number();
    if (i >= p.planes * p.out_count) return;
    const int64_t at = i % p.out_count;
    const T *plane = in + i / p.out_count * p.in_count;
    const span x = span_of(p, 2, at % p.out[2]), y = span_of(p, 1, at / p.out[2] % p.out[1]), z = span_of(p, 0, at / p.out[2] / p.out[1]);
    using S = typename summed<C>::type;
    S sum = 0;
    for (int64_t iz = z.from; iz < z.to; iz++)
        for (int64_t iy = y.from; iy < y.to; iy++)
            for (int64_t ix = x.from; ix < x.to; ix++) sum += static_cast<S>(lt_as<C>(plane[(iz * p.in[1] + iy) * p.in[2] + ix]));
    const bool nothing = empty(z) || empty(y) || empty(x);
    out[i] = lt_stored<T, C>::of(nothing ? static_cast<C>(0) : summed<C>::mean(sum, divisor_of(p, z, y, x)));
}

template <class T, class C> __global__ void __launch_bounds__(BLOCK) means_back(pooling p, T *to, const T *grad)
{
    const int64_t i = lt_thread_number();
    if (i >= p.planes * p.in_count) return;
    const int64_t plane = i / p.in_count, at = i % p.in_count;
    int64_t first[3], last[3];
    holders(p, 0, at / p.in[2] / p.in[1], &first[0], &last[0]);
    holders(p, 1, at / p.in[2] % p.in[1], &first[1], &last[1]);
    holders(p, 2, at % p.in[2], &first[2], &last[2]);
    C sum = 0;
    for (int64_t z = first[0]; z < last[0]; z++)
        for (int64_t y = first[1]; y < last[1]; y++)
            for (int64_t x = first[2]; x < last[2]; x++) {
                const int64_t k = plane * p.out_count + (z * p.out[1] + y) * p.out[2] + x;
                const int64_t count = divisor_of(p, span_of(p, 0, z), span_of(p, 1, y), span_of(p, 2, x));
                sum += lt_as<C>(grad[k]) / static_cast<C>(count);
            }
    to[i] = lt_stored<T, C>::of(sum);
}

enum step { EXTREMES, EXTREMES_BACK, MEANS, MEANS_BACK };

template <class T, class C>
void launch(step what, const pooling &p, void *to, int64_t *indices, const void *from, cudaStream_t stream)
{
    const bool back = what == EXTREMES_BACK || what == MEANS_BACK;
    const unsigned blocks = lt_blocks(p.planes * (back ? p.in_count : p.out_count), BLOCK);
    T *out = static_cast<T *>(to);
    const T *in = static_cast<const T *>(from);
    switch (what) {
    case EXTREMES: LT_LAUNCH((extremes<T, C>), blocks, BLOCK, stream, p, out, indices, in); break;
    case EXTREMES_BACK: LT_LAUNCH((extremes_back<T, C>), blocks, BLOCK, stream, p, out, in, static_cast<const int64_t *>(indices)); break;
    case MEANS: LT_LAUNCH((means<T, C>), blocks, BLOCK, stream, p, out, in); break;
    case MEANS_BACK: LT_LAUNCH((means_back<T, C>), blocks, BLOCK, stream, p, out, in); break;
    }
}

lt_status run(step what, const lt_pooling *given, void *to, int64_t *indices, const void *from, const char *name)
{
    const pooling p(given);
    cudaStream_t stream;
    LT_TRY(lt_cuda_enter(given->device.index, &stream));
    switch (given->dtype) {
    case LT_FLOAT16: launch<__half, float>(what, p, to, indices, from, stream); break;
    case LT_BFLOAT16: launch<__nv_bfloat16, float>(what, p, to, indices, from, stream); break;
    case LT_INT64: launch<int64_t, int64_t>(what, p, to, indices, from, stream); break;
    case LT_FLOAT32: launch<float, float>(what, p, to, indices, from, stream); break;
    default: launch<double, double>(what, p, to, indices, from, stream); break;
    }
    return lt_cuda_launched(given->device.index, stream, name);
}

} // namespace

lt_status lt_cuda_max_pool(const lt_pooling *p, void *out, int64_t *indices, const void *in)
{
    return run(EXTREMES, p, out, indices, in, "max_pool");
}

lt_status lt_cuda_max_pool_backward(const lt_pooling *p, void *grad_in, const void *grad, const int64_t *indices)
{
    return run(EXTREMES_BACK, p, grad_in, const_cast<int64_t *>(indices), grad, "max_pool_backward");
}

lt_status lt_cuda_avg_pool(const lt_pooling *p, void *out, const void *in)
{
    return run(MEANS, p, out, nullptr, in, "avg_pool");
}

lt_status lt_cuda_avg_pool_backward(const lt_pooling *p, void *grad_in, const void *grad)
{
    return run(MEANS_BACK, p, grad_in, nullptr, grad, "avg_pool_backward");
}
