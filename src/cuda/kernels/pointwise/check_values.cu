/* check_values.cu - checks that all elements are in an op's domain, and records the first one that
 * is not (runtime/report.cuh). */
#include "cuda.h"
#include "kernels/launch.cuh"
#include "kernels/offsets.cuh"
#include "runtime/report.cuh"

enum { BLOCK = 256, ITEMS = 4 };

struct value_rule {
    double low, high;
    bool nan, nonzero, shown;
    const char *text;
    lt_cuda_report *report;
};

template <class T> static __device__ __forceinline__ bool is_bad(T v, const value_rule &r)
{
    if (r.nonzero) return v == T(0);
    if (v != v) return !r.nan;
    return v < static_cast<T>(r.low) || v > static_cast<T>(r.high);
}

template <class T>
static __global__ void __launch_bounds__(BLOCK) check(const T *data, int64_t n, value_rule r)
{
    const int64_t first = (int64_t)blockIdx.x * (ITEMS * BLOCK) + threadIdx.x;
    for (int k = 0; k < ITEMS; k++) {
        const int64_t i = first + k * BLOCK;
        if (i < n && is_bad(data[i], r))
            lt_report_value(r.report, r.text, r.shown, static_cast<double>(data[i]));
    }
}

template <class T>
static void launch_check(const lt_value_check *c, const value_rule &r, cudaStream_t stream)
{
    LT_LAUNCH(check<T>, lt_blocks(c->n, BLOCK * ITEMS), BLOCK, stream,
              static_cast<const T *>(c->data), c->n, r);
}

lt_status lt_cuda_check_values(const lt_value_check *c)
{
    cudaStream_t stream;
    value_rule r = {c->low, c->high, c->nan, c->nonzero, c->shown, c->text, nullptr};
    if (c->n == 0) return LT_OK;
    LT_TRY(lt_cuda_enter(c->device.index, &stream));
    LT_TRY(lt_cuda_report_of(c->device.index, &r.report));
    if (c->dtype == LT_FLOAT32)
        launch_check<float>(c, r, stream);
    else if (c->dtype == LT_FLOAT64)
        launch_check<double>(c, r, stream);
    else
        launch_check<int64_t>(c, r, stream);
    return lt_cuda_launched(c->device.index, stream, "check_values");
}
