/* range.cu - arange: computed in int64 if start and step are integers, else in double, rounded
 * after the product and after the sum as on the CPU; then converted to the dtype. */
#include "cuda.h"
#include "kernels/element.cuh"
#include "kernels/launch.cuh"
#include "kernels/offsets.cuh"

enum { BLOCK = 256 };

static __device__ __forceinline__ int64_t range_element(int64_t start, int64_t step, int64_t i)
{
    return (int64_t)((uint64_t)start + (uint64_t)i * (uint64_t)step);
}

static __device__ __forceinline__ double range_element(double start, double step, int64_t i)
{
    return __dadd_rn(start, __dmul_rn((double)i, step));
}

template <class C>
static __global__ void __launch_bounds__(BLOCK)
    range(char *data, lt_dtype dtype, int size, int64_t n, C start, C step, bool backwards)
{
    const int64_t i = lt_thread_number();
    if (i < n)
        lt_store<C>(dtype, data + i * size, range_element(start, step, backwards ? n - 1 - i : i));
}

lt_status lt_cuda_range(const lt_array *out, lt_scalar start, lt_scalar step, bool backwards)
{
    cudaStream_t stream;
    int64_t n = 1;
    for (int d = 0; d < out->ndim; d++) n *= out->sizes[d];
    if (n == 0) return LT_OK;
    LT_TRY(lt_cuda_enter(out->device.index, &stream));
    char *const data = static_cast<char *>(out->data);
    const int size = (int)lt_element_size(out->dtype);
    if (start.kind != LT_SCALAR_FLOAT && step.kind != LT_SCALAR_FLOAT)
        LT_LAUNCH(range<int64_t>, lt_blocks(n, BLOCK), BLOCK, stream, data, out->dtype, size, n,
                  start.v.i, step.v.i, backwards);
    else
        LT_LAUNCH(range<double>, lt_blocks(n, BLOCK), BLOCK, stream, data, out->dtype, size, n,
                  lt_number<double>(start), lt_number<double>(step), backwards);
    return lt_cuda_launched(out->device.index, stream, "range");
}
