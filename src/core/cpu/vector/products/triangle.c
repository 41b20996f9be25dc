/* triangle.c - the parts of triangular solves and of the Cholesky factorization that are not matrix
 * products (lt_triangle_loops): as many rows as fit into registers, for all columns. The loops are
 * in triangle.inc. */
#include <math.h>

#include "cpu/common/loops.h"
#include "cpu/vector/turn.h"
#include "lanes.h"

#define ROWS   LT_PRODUCT_ROWS
#define UNROLL _Pragma("GCC unroll 16")

#define T       float
#define L(NAME) NAME##_F32
#define S(name) name##_f32
#include "triangle.inc"
#undef T
#undef L
#undef S
#define T       double
#define L(NAME) NAME##_F64
#define S(name) name##_f64
#include "triangle.inc"
#undef T
#undef L
#undef S

const lt_triangle_loops LT_LOOP(triangle)[2] = {{solve_f32, cholesky_f32, mirror_f32},
                                                {solve_f64, cholesky_f64, mirror_f64}};
