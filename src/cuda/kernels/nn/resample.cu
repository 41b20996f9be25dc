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
    resample(T *out, const T *in, int64_t n, lt_resampling r, lt_quotients by_inner,
             lt_quotients by_out)
{
    const int64_t e = lt_thread_number();
    if (e >= n) return;
    const T *const weights = static_cast<const T *>(r.weights);
    const int64_t row = by_inner.of(e), plane = by_out.of(row), o = row - plane * r.out;
    const T *from = in + plane * r.in * r.inner + (e - row * r.inner);
    const int64_t last = r.starts[o + 1] < r.taps ? r.starts[o + 1] : r.taps;
    T sum = 0;
    bool first = true;
    for (int64_t k = r.starts[o] > 0 ? r.starts[o] : 0; k < last; k++) {
        const int64_t place = r.places[k];
        if (place < 0 || place >= r.in) continue;
        const T part = product(weights[k], from[place * r.inner]);
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
              static_cast<const T *>(in), n, *r, lt_quotients(r->inner, n),
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
