/* formulas_optim.h - the update rules of optimizers as formulas of float and double, named as those of formulas.h,
 * which it includes: lt_optim_sgd_f32 in C, overloads of lt_optim_sgd in C++. */
#ifndef LT_FORMULAS_OPTIM_H
#define LT_FORMULAS_OPTIM_H

#include "formulas.h"

#ifdef __cplusplus
#define LT_FORMULA_NAME(name, suffix) lt_##name
#else
#define LT_FORMULA_NAME(name, suffix) lt_##name##_##suffix
#endif

#define T float
#define NAME(f) LT_FORMULA_NAME(f, f32)
#define M(g) g##f
#include "formulas_optim.inc"
#undef T
#undef NAME
#undef M

#define T double
#define NAME(f) LT_FORMULA_NAME(f, f64)
#define M(g) g
#include "formulas_optim.inc"
#undef T
#undef NAME
#undef M

#undef LT_FORMULA_NAME

#endif
