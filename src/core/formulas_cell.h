/* formulas_cell.h - recurrent cells as formulas of float and double, named as those of formulas.h, which it includes:
 * lt_cell_gru_f32 in C, overloads of lt_cell_gru in C++. */
#ifndef LT_FORMULAS_CELL_H
#define LT_FORMULAS_CELL_H

#include "formulas.h"

#ifdef __cplusplus
#define LT_FORMULA_NAME(name, suffix) lt_##name
#else
#define LT_FORMULA_NAME(name, suffix) lt_##name##_##suffix
#endif

#define T float
#define NAME(f) LT_FORMULA_NAME(f, f32)
#define M(g) g##f
#include "formulas_cell.inc"
#undef T
#undef NAME
#undef M

#define T double
#define NAME(f) LT_FORMULA_NAME(f, f64)
#define M(g) g
#include "formulas_cell.inc"
#undef T
#undef NAME
#undef M

#undef LT_FORMULA_NAME

#endif
