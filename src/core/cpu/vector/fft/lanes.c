/* lanes.c - the loops of Fourier transforms, for one instruction set (loops.h): a vector of the compiler's holds an element of each
 * line. */
#include "cpu/fft/lanes.h"

#include <string.h>

#include "cpu/common/loops.h"

#define T float
#define W LT_FFT_FLOATS
typedef float float_lanes __attribute__((vector_size(W * sizeof(float)), may_alias));
#define V       float_lanes
#define NAME(x) x##_f32
#include "lanes.inc"
#undef T
#undef W
#undef V
#undef NAME

#define T double
#define W LT_FFT_DOUBLES
typedef double double_lanes __attribute__((vector_size(W * sizeof(double)), may_alias));
#define V       double_lanes
#define NAME(x) x##_f64
#include "lanes.inc"

const lt_fft_loop LT_LOOP(fft)[2] = {block_f32, block_f64};
