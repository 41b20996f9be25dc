/* lanes.c - the loops of Fourier transforms, for one instruction set (loops.h): a vector (of the
 * compiler's vector extension) holds one element of each line. */
#include "cpu/fft/lanes.h"

#include <string.h>

#include "cpu/common/loops.h"

/* ---- shuffles: transpose a square of vectors, deinterleave and interleave complex numbers ---- */

typedef float float_lanes __attribute__((vector_size(LT_FFT_FLOATS * sizeof(float)), may_alias));
typedef double double_lanes
    __attribute__((vector_size(LT_FFT_DOUBLES * sizeof(double)), may_alias));

#define SHUFFLE __builtin_shufflevector
#define INLINE  static inline __attribute__((always_inline))

INLINE void turn_f32(float_lanes *m)
{
    float_lanes a[8];
    for (int i = 0; i < 8; i += 2) {
        a[i] = SHUFFLE(m[i], m[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        a[i + 1] = SHUFFLE(m[i], m[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    float_lanes b[8];
    for (int i = 0; i < 8; i += 4) {
        b[i] = SHUFFLE(a[i], a[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        b[i + 1] = SHUFFLE(a[i], a[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        b[i + 2] = SHUFFLE(a[i + 1], a[i + 3], 0, 1, 8, 9, 4, 5, 12, 13);
        b[i + 3] = SHUFFLE(a[i + 1], a[i + 3], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    for (int i = 0; i < 4; i++) {
        m[i] = SHUFFLE(b[i], b[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        m[i + 4] = SHUFFLE(b[i], b[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}
INLINE float_lanes evens_f32(float_lanes a, float_lanes b)
{
    return SHUFFLE(a, b, 0, 2, 4, 6, 8, 10, 12, 14);
}
INLINE float_lanes odds_f32(float_lanes a, float_lanes b)
{
    return SHUFFLE(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
}
INLINE float_lanes first_half_f32(float_lanes a, float_lanes b)
{
    return SHUFFLE(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}
INLINE float_lanes second_half_f32(float_lanes a, float_lanes b)
{
    return SHUFFLE(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}
INLINE float_lanes reversed_f32(float_lanes a) { return SHUFFLE(a, a, 7, 6, 5, 4, 3, 2, 1, 0); }

INLINE void turn_f64(double_lanes *m)
{
    const double_lanes a = SHUFFLE(m[0], m[1], 0, 4, 2, 6), b = SHUFFLE(m[0], m[1], 1, 5, 3, 7);
    const double_lanes c = SHUFFLE(m[2], m[3], 0, 4, 2, 6), d = SHUFFLE(m[2], m[3], 1, 5, 3, 7);
    m[0] = SHUFFLE(a, c, 0, 1, 4, 5);
    m[1] = SHUFFLE(b, d, 0, 1, 4, 5);
    m[2] = SHUFFLE(a, c, 2, 3, 6, 7);
    m[3] = SHUFFLE(b, d, 2, 3, 6, 7);
}
INLINE double_lanes evens_f64(double_lanes a, double_lanes b) { return SHUFFLE(a, b, 0, 2, 4, 6); }
INLINE double_lanes odds_f64(double_lanes a, double_lanes b) { return SHUFFLE(a, b, 1, 3, 5, 7); }
INLINE double_lanes first_half_f64(double_lanes a, double_lanes b)
{
    return SHUFFLE(a, b, 0, 4, 1, 5);
}
INLINE double_lanes second_half_f64(double_lanes a, double_lanes b)
{
    return SHUFFLE(a, b, 2, 6, 3, 7);
}
INLINE double_lanes reversed_f64(double_lanes a) { return SHUFFLE(a, a, 3, 2, 1, 0); }

/* ---- the loops ------------------------------------------------------------------------------- */

#define T float
#define W LT_FFT_FLOATS
typedef float any_floats __attribute__((vector_size(W * sizeof(float)), aligned(4), may_alias));
#define V       float_lanes
#define ANY     any_floats
#define NAME(x) x##_f32
#include "lanes.inc"
#undef T
#undef W
#undef V
#undef ANY
#undef NAME

#define T double
#define W LT_FFT_DOUBLES
typedef double any_doubles __attribute__((vector_size(W * sizeof(double)), aligned(8), may_alias));
#define V       double_lanes
#define ANY     any_doubles
#define NAME(x) x##_f64
#include "lanes.inc"

const lt_fft_loops LT_LOOP(fft)[2] = {
    {lines_f32, down_f32, across_f32, halves_f32},
    {lines_f64, down_f64, across_f64, halves_f64},
};
