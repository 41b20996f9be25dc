/* kernels.cu - what tests/lua/ptx_report_spec.lua gives the report of machine code to read, so that
 * no toolkit is needed:
 *   nvcc -std=c++17 -O3 -arch=sm_90 -Xptxas -v -cubin -o kernels.cubin kernels.cu 2>kernels.usage
 *   cuobjdump -res-usage kernels.cubin >kernels.resources; nvdisasm -c kernels.cubin | sed 's/
 *   *$//' >kernels.sass */
#include <stdint.h>
struct args {
    float *out;
    const float *a, *b;
    int64_t n, m;
    char pad[300];
    float value;
};
/* as a hot kernel is */
__global__ void __launch_bounds__(256) wide(args a)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i >= a.n) return;
    const float4 x = reinterpret_cast<const float4 *>(a.a)[i],
                 y = reinterpret_cast<const float4 *>(a.b)[i];
    reinterpret_cast<float4 *>(a.out)[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}
/* the same, an element a thread, at a place that a division of 64 bits finds */
__global__ void __launch_bounds__(256) divides(args a)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a.n) return;
    const int64_t j = i / a.m;
    a.out[i] = a.a[i] + a.b[j];
}
/* a copy of the parameters for each thread, as the address of one is taken */
__global__ void __launch_bounds__(256) framed(args a)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a.n) return;
    float *p = a.b != nullptr ? a.out + i : &a.value;
    *p = a.a[i];
}
__global__ void __launch_bounds__(256) sums(float *out, const float4 *a, int64_t n)
{
    float s = 0;
    for (int64_t i = threadIdx.x; i < n; i += 256) {
        float4 x = a[i];
        s += x.x + x.y + x.z + x.w;
    }
    out[threadIdx.x] = s;
}
