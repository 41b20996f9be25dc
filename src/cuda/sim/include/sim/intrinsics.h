/* intrinsics.h - CUDA's device functions that the host's math library does not have.
 *
 * <math.h> supplies the rest (expf, fmax, overloads of exp, ...). Only functions with an exactly
 * defined result are included, not fast approximations such as __expf. */
#ifndef LT_SIM_INTRINSICS_H
#define LT_SIM_INTRINSICS_H

#include "execution.h"
#include "float_bits.h"
#include "truncated.h"

#include <limits>
/* Excludes the C++17 special functions from GCC's <math.h>: no kernel uses them, and they take most
 * of its compile time. */
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>

/* CUDA declares min and max in the global namespace. Overloads with mixed signedness are omitted,
 * since they hide mistakes. */
#define MIN_MAX(T)                                                                                 \
    static inline T min(T a, T b) { return b < a ? b : a; }                                        \
    static inline T max(T a, T b) { return a < b ? b : a; }

MIN_MAX(int)
MIN_MAX(unsigned int)
MIN_MAX(long)
MIN_MAX(unsigned long)
MIN_MAX(long long)
MIN_MAX(unsigned long long)
#undef MIN_MAX

static inline float min(float a, float b) { return fminf(a, b); }
static inline float max(float a, float b) { return fmaxf(a, b); }
static inline double min(double a, double b) { return fmin(a, b); }
static inline double max(double a, double b) { return fmax(a, b); }

namespace lt_sim {

/* Rounds to TF32, the input format of tensor cores: 10 fraction bits, to nearest, ties away from
 * zero. */
inline float tf32(float value)
{
    if (!isfinite(value)) return value;
    return bits<float>((bits<unsigned>(value) + 0x1000u) & ~0x1fffu);
}

} // namespace lt_sim

/* Rounds towards zero, by clearing the bits below the highest 24. */
static inline float __uint2float_rz(unsigned v)
{
    const int over = 8 - (v ? __builtin_clz(v) : 31);
    return (float)(over > 0 ? v >> over << over : v);
}

static inline int __popc(unsigned v) { return __builtin_popcount(v); }
static inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
static inline int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
static inline int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
static inline int __ffs(int v) { return __builtin_ffs(v); }
static inline int __ffsll(long long v) { return __builtin_ffsll(v); }

/* Byte i of the result is byte number (bits 0 to 2 of nibble i of selector) of b:a; with bit 3, its
 * sign in all bits. */
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector)
{
    const uint64_t both = (uint64_t)b << 32 | a;
    unsigned result = 0;
    for (int i = 0; i < 4; i++) {
        const unsigned nibble = selector >> (4 * i) & 15,
                       byte = (unsigned)(both >> (8 * (nibble & 7))) & 255;
        result |= (nibble & 8 ? (byte & 128 ? 255u : 0u) : byte) << (8 * i);
    }
    return result;
}

static inline unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)(((uint64_t)a * b) >> 32);
}
static inline int __mulhi(int a, int b) { return (int)(((int64_t)a * b) >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}

/* Rounded separately: the compiler must not fuse them into a multiply-add. */
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline float __fsqrt_rn(float a) { return sqrtf(a); }
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline float __fmul_rn(float a, float b)
{
    volatile float product = a * b;
    return product;
}
static inline double __dmul_rn(double a, double b)
{
    volatile double product = a * b;
    return product;
}

template <class T> T __ldg(const T *p) { return *p; }

/* Yields the CPU, so that a block that the caller waits for can run. */
static inline void __nanosleep(unsigned) { sched_yield(); }

[[noreturn]] static inline void __trap() { throw lt_sim::Trap(); }

static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
static inline float rsqrt(float x) { return rsqrtf(x); }

/* Initial value from the logarithm (S. Winitzki, 2008), refined by Newton's method on erf, or on
 * erfc where erf is flat. */
static inline double erfinv(double x)
{
    if (!(fabs(x) < 1)) return fabs(x) == 1 ? copysign(INFINITY, x) : NAN;
    const double a = 0.147, half_sqrt_pi = 0.88622692545275801365;
    double rest = fabs(x), logarithm = log1p(-rest * rest), t = 2 / (M_PI * a) + logarithm / 2;
    double y = sqrt(sqrt(t * t - logarithm / a) - t);
    for (int i = 0; i < 4; i++) {
        double error = rest < 0.5 ? erf(y) - rest : (1 - rest) - erfc(y);
        double step = error * half_sqrt_pi * exp(y * y);
        y -= step / (1 + y * step);
    }
    return copysign(y, x);
}

static inline float erfinvf(float x) { return (float)erfinv((double)x); }
static inline float erfinv(float x) { return erfinvf(x); }

#endif
