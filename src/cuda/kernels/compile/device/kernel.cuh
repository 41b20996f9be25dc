/* kernel.cuh - prelude of generated kernels (source.cu). Compiled by NVRTC, which reads its missing
 * headers from device/nvrtc, and in the simulation by the host's compiler. */
#include <cuda_runtime.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <type_traits>

#include "conversion.cuh"
#include "arguments.cuh"
#include "formulas.h"
#include "activation.h"
#include "special.h"

#define LT_FUSED_MEMBER __device__ __forceinline__
#define LT_FUSED_FN     static LT_FUSED_MEMBER

#ifdef __CUDACC__
#define LT_EACH(i, N) _Pragma("unroll") for (int i = 0; i < (N); i++)
#else
#define LT_EACH(i, N) for (int i = 0; i < (N); i++)
#endif

/* Prevents the compiler from contracting a product into an fma with the next step's sum: eager ops
 * round in between. zero is always 0, which the compiler cannot see. lt_product: the same for a
 * plain product, at no cost. */
#ifdef __CUDACC__
LT_FUSED_FN float lt_no_contraction(float x, uint32_t zero)
{
    return __int_as_float(__float_as_int(x) ^ static_cast<int>(zero));
}
LT_FUSED_FN double lt_no_contraction(double x, uint32_t zero)
{
    return __hiloint2double(__double2hiint(x) ^ static_cast<int>(zero), __double2loint(x));
}
LT_FUSED_FN float lt_product(float x, float y) { return __fmul_rn(x, y); }
LT_FUSED_FN double lt_product(double x, double y) { return __dmul_rn(x, y); }
#else
/* The host's compiler runs with contraction off. */
template <class T> T lt_no_contraction(T x, uint32_t) { return x; }
template <class T> T lt_product(T x, T y) { return x * y; }
#endif

template <class C> LT_FUSED_FN C lt_number_in(const lt_fused_number &number)
{
    if constexpr (std::is_same_v<C, double>)
        return number.d;
    else
        return number.f;
}

/* Rounds x to a value that element type S can represent. */
template <class S, class C> LT_FUSED_FN C lt_fitted(C x)
{
    if constexpr (std::is_same_v<S, bool>)
        return static_cast<C>(x != 0);
    else
        return lt_as<C>(lt_stored<S, C>::of(x));
}

/* Loads the first n of N contiguous elements. whole: n == N and p is aligned for vector accesses.
 */
template <class S, int N> LT_FUSED_FN void lt_load_run(const char *p, S *values, int n, bool whole)
{
    const S *const from = reinterpret_cast<const S *>(p);
    if (whole) {
        constexpr int M = lt_together<S, N>;
        LT_EACH(i, N / M)
        {
            const lt_vector<S, M> v = reinterpret_cast<const lt_vector<S, M> *>(from)[i];
            LT_EACH(j, M) values[i * M + j] = v.v[j];
        }
        return;
    }
    LT_EACH(i, N) values[i] = i < n ? from[i] : S{};
}

template <class S, int N> LT_FUSED_FN void lt_store_run(char *p, const S *values, int n, bool whole)
{
    S *const to = reinterpret_cast<S *>(p);
    if (whole) {
        constexpr int M = lt_together<S, N>;
        LT_EACH(i, N / M)
        {
            lt_vector<S, M> v;
            LT_EACH(j, M) v.v[j] = values[i * M + j];
            reinterpret_cast<lt_vector<S, M> *>(to)[i] = v;
        }
        return;
    }
    LT_EACH(i, N) if (i < n) to[i] = values[i];
}

/* Byte offset of element `number` of a strided value. */
template <int DIMS> LT_FUSED_FN int32_t lt_walked(const lt_fused_walk &walk, uint32_t number)
{
    int32_t offset = 0;
    LT_EACH(d, DIMS - 1)
    {
        const uint32_t rest = (__umulhi(number, walk.magic[d]) + number) >> walk.shift[d];
        offset += static_cast<int32_t>(number - rest * walk.size[d]) * walk.stride[d];
        number = rest;
    }
    return offset + static_cast<int32_t>(number) * walk.stride[DIMS - 1];
}

/* Ends a source that has defined lt_fused_of(arguments, thread); further arguments are the launch
 * bounds. */
#ifdef __CUDACC__
#define LT_FUSED_KERNEL(ARGUMENTS, ...)                                                            \
    extern "C" __global__ void __launch_bounds__(__VA_ARGS__)                                      \
        lt_fused_kernel(const __grid_constant__ ARGUMENTS a)                                       \
    {                                                                                              \
        lt_fused_of(a, blockIdx.x *blockDim.x + threadIdx.x);                                      \
    }
#else
#define LT_FUSED_KERNEL(ARGUMENTS, ...)                                                            \
    extern "C" const uint64_t lt_fused_kernel_bytes = sizeof(ARGUMENTS);                           \
    extern "C" void lt_fused_kernel(const void *a, uint32_t thread)                                \
    {                                                                                              \
        lt_fused_of(*static_cast<const ARGUMENTS *>(a), thread);                                   \
    }
#endif
