/* floats.h - instantiates the formulas in the file FORMULAS for float and double: lt_sigmoid_f32
 * and lt_sigmoid_f64 in C, overloads of lt_sigmoid in C++. Included once per file, after formulas.h
 * (which itself begins with such an include). The file uses T, the type, NAME(f), the formula's
 * name, and M(g), the C function g for the type. */
#include "unused_begin.h"

#define T       float
#define NAME(f) LT_FORMULA_NAME(f, f32)
#define M(g)    g##f
#include FORMULAS
#undef T
#undef NAME
#undef M

#define T       double
#define NAME(f) LT_FORMULA_NAME(f, f64)
#define M(g)    g
#include FORMULAS
#undef T
#undef NAME
#undef M

#include "unused_end.h"
#undef FORMULAS
