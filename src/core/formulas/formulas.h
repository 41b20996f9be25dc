/* formulas.h - the scalar formulas that several families of kernels share: arithmetic, comparisons,
 * and the functions of <math.h>; for the CPU kernels, the CUDA kernels and the simulated GPUs.
 * activation.h, gamma.h and special.h contain the formulas of one family each.
 *
 * A formula is a pure function of one element per operand and of numbers. In C its name ends in the
 * type of its arithmetic: lt_sigmoid_f32, lt_sigmoid_f64, lt_add_i64, lt_add_b8 (bool: 0 or 1 in a
 * byte). In C++ the names are overloaded: lt_sigmoid(float), lt_sigmoid(double), lt_add(int64_t,
 * ...); formulas on bool keep their suffix there, because bytes are also numbers. Half types are
 * computed in float. The formulas are defined in float.inc, int.inc and bool.inc. NaN is tested as
 * x != x, which every supported compiler preserves. Includes only <math.h> and <stdint.h>. */
#ifndef LT_FORMULAS_H
#define LT_FORMULAS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__CUDACC__)
#define LT_FN static inline __host__ __device__
#else
#define LT_FN static inline
#endif

#ifdef __cplusplus
#define LT_FORMULA_NAME(name, suffix) lt_##name
#else
#define LT_FORMULA_NAME(name, suffix) lt_##name##_##suffix
#endif

#define FORMULAS "float.inc"
#include "floats.h"

#include "unused_begin.h"

/* NAME: as in floats.h; T: the type; U: an unsigned type at least as wide, in which overflow wraps.
 */
#define T       uint8_t
#define U       uint32_t
#define NAME(f) LT_FORMULA_NAME(f, u8)
#include "int.inc"
#undef T
#undef U
#undef NAME

#define T       int8_t
#define U       uint32_t
#define NAME(f) LT_FORMULA_NAME(f, i8)
#include "int.inc"
#undef T
#undef U
#undef NAME

#define T       int16_t
#define U       uint32_t
#define NAME(f) LT_FORMULA_NAME(f, i16)
#include "int.inc"
#undef T
#undef U
#undef NAME

#define T       int32_t
#define U       uint32_t
#define NAME(f) LT_FORMULA_NAME(f, i32)
#include "int.inc"
#undef T
#undef U
#undef NAME

#define T       int64_t
#define U       uint64_t
#define NAME(f) LT_FORMULA_NAME(f, i64)
#include "int.inc"
#undef T
#undef U
#undef NAME

#include "bool.inc"

#include "unused_end.h"

#endif
