/* resample.cu - resampling of one dimension: each output index is a weighted sum of input indices,
 * computed by one thread. Products are rounded before each addition, in order, as on the CPU. */
#include "cuda.h"
#include "kernels/launch.cuh"
#include "kernels/offsets.cuh"
#include "kernels/quotients.cuh"

enum { BLOCK = 256 };

static __device__ __forceinline__ float product(float a, float b) { return __fmul_rn(a, b); }
static __device__ __forceinline__ double product(double a, double b) { return __dmul_rn(a, b); }

template <class T>
static __global__ void __launch_bounds__(BLOCK)
    resample(T *out, const T *in, int64_t n, int64_t in_size, int64_t out_size, int64_t inner,
             int64_t all, const int64_t *starts, const int64_t *places, const T *weights,
             lt_quotients by_inner, lt_quotients by_out)
{
    const int64_t e = lt_thread_number();
    if (e >= n) return;
    const int64_t row = by_inner.of(e), plane = by_out.of(row), o = row - plane * out_size;
    const T *from = in + plane * in_size * inner + (e - row * inner);
    const int64_t last = starts[o + 1] < all ? starts[o + 1] : all;
    T sum = 0;
    bool first = true;
    for (int64_t k = starts[o] > 0 ? starts[o] : 0; k < last; k++) {
        const int64_t place = places[k];
        if (place < 0 || place >= in_size) continue;
        const T part = product(weights[k], from[place * inner]);
        sum = first ? part : sum + part;
        first = false;
    }
    out[e] = sum;
}

template <class T>
static void launch_resample(const lt_resampling *r, void *out, const void *in, int64_t n,
                            cudaStream_t stream)
{
    LT_LAUNCH(resample<T>, lt_blocks(n, BLOCK), BLOCK, stream, static_cast<T *>(out),
              static_cast<const T *>(in), n, r->in, r->out, r->inner, r->taps, r->starts, r->places,
              static_cast<const T *>(r->weights), lt_quotients(r->inner, n),
              lt_quotients(r->out, n));
}

lt_status lt_cuda_resample(const lt_resampling *r, void *out, const void *in)
{
    cudaStream_t stream;
    const int64_t n = r->outer * r->out * r->inner;
    if (n == 0) return LT_OK;
    LT_TRY(lt_cuda_enter(r->device.index, &stream));
    if (r->dtype == LT_FLOAT64)
        launch_resample<double>(r, out, in, n, stream);
    else
        launch_resample<float>(r, out, in, n, stream);
    return lt_cuda_launched(r->device.index, stream, "resample");
}
