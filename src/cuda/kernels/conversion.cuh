/* conversion.cuh - conversions between C types and to the element types of memory, and vectorized
 * loads and stores of rows. Also included by generated kernels (kernels/compile/): NVRTC reads its
 * own versions of the system headers included below from compile/device/nvrtc. */
#ifndef LT_CUDA_CONVERSION_CUH
#define LT_CUDA_CONVERSION_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdint.h>
#include <type_traits>

#include "kernels/unrolled.cuh"

#define LT_CUDA_FN static __host__ __device__ __forceinline__

/* Float to integer, saturating as the GPU's instruction does. C++ leaves out-of-range values
 * undefined, and x86 returns a different value, so the simulator clamps explicitly. */
#ifdef LT_SIM_CUDA_RUNTIME_H
#define LT_TRUNCATED(To, v) lt_sim::truncated<To>(v)
#else
#define LT_TRUNCATED(To, v) static_cast<To>(v)
#endif

/* Converts between C types. */
template <class To, class From> LT_CUDA_FN To lt_as(From v)
{
    if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> &&
                  !std::is_same_v<To, bool>)
        return LT_TRUNCATED(To, v);
    else
        return static_cast<To>(v);
}
template <class To> LT_CUDA_FN To lt_as(__half v) { return lt_as<To>(__half2float(v)); }
template <class To> LT_CUDA_FN To lt_as(__nv_bfloat16 v) { return lt_as<To>(__bfloat162float(v)); }

/* Converts to an element type: narrow integers keep the low bits, as on the CPU. */
template <class To, class From> struct lt_stored {
    LT_CUDA_FN To of(From v) { return lt_as<To>(v); }
};
template <class From> struct lt_stored<__half, From> {
    LT_CUDA_FN __half of(From v) { return __float2half_rn(static_cast<float>(v)); }
};
template <class From> struct lt_stored<__nv_bfloat16, From> {
    LT_CUDA_FN __nv_bfloat16 of(From v) { return __float2bfloat16_rn(static_cast<float>(v)); }
};
template <class From> struct lt_stored<uint8_t, From> {
    LT_CUDA_FN uint8_t of(From v) { return static_cast<uint8_t>(lt_as<int64_t>(v)); }
};
template <class From> struct lt_stored<int8_t, From> {
    LT_CUDA_FN int8_t of(From v) { return static_cast<int8_t>(lt_as<int32_t>(v)); }
};
template <class From> struct lt_stored<int16_t, From> {
    LT_CUDA_FN int16_t of(From v) { return static_cast<int16_t>(lt_as<int32_t>(v)); }
};

/* ---- vectors: N contiguous elements ---------------------------------------------------------- */

template <class T, int N> struct alignas(sizeof(T) * N) lt_vector {
    T v[N];
};

/* Elements per access when N contiguous elements are moved: at most 16 bytes. */
template <class S, int N>
constexpr int lt_together = N *static_cast<int>(sizeof(S)) <= 16 ? N
                                                                 : 16 / static_cast<int>(sizeof(S));

/* Loads the first n of N elements at p and sets the rest to 0. aligned: p is aligned for vector
 * accesses. */
template <class S, class C, int N>
LT_CUDA_FN void lt_load_row_as(const void *p, C *values, int n, bool aligned)
{
    const S *from = static_cast<const S *>(p);
    if (aligned && n >= N) {
        constexpr int M = lt_together<S, N>;
        LT_UNROLLED
        for (int i = 0; i < N; i += M) {
            const lt_vector<S, M> v = *reinterpret_cast<const lt_vector<S, M> *>(from + i);
            LT_UNROLLED
            for (int j = 0; j < M; j++) values[i + j] = lt_as<C>(v.v[j]);
        }
        return;
    }
    LT_UNROLLED
    for (int i = 0; i < N; i++) values[i] = i < n ? lt_as<C>(from[i]) : C{0};
}

template <class S, class C, int N>
LT_CUDA_FN void lt_store_row_as(void *p, const C *values, int n, bool aligned)
{
    S *to = static_cast<S *>(p);
    if (aligned && n >= N) {
        constexpr int M = lt_together<S, N>;
        LT_UNROLLED
        for (int i = 0; i < N; i += M) {
            lt_vector<S, M> v;
            LT_UNROLLED
            for (int j = 0; j < M; j++) v.v[j] = lt_stored<S, C>::of(values[i + j]);
            *reinterpret_cast<lt_vector<S, M> *>(to + i) = v;
        }
        return;
    }
    LT_UNROLLED
    for (int i = 0; i < N; i++)
        if (i < n) to[i] = lt_stored<S, C>::of(values[i]);
}

#endif
