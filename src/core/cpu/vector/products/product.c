/* product.c - products of matrices and vectors of float and double (lt_product), on one thread. The
 * sums of a tile of C, some rows by two vectors of columns, stay in registers while k goes by:
 * every step reads two vectors of B and one element of A for each row. Columns of B are brought
 * side by side into panels first, which pass by a tile's rows of A; these are read where they lie,
 * or side by side where there is room. A product with a vector reads the matrix once, in the order
 * in which it lies. An element of C is the same sum however a product is cut into pieces of rows
 * and columns. The loops stand in product.inc. */
#include "cpu/common/loops.h"
#include "cpu/vector/turn.h"
#include "cpu_info.h"
#include "lanes.h"

#define DEPTH LT_PRODUCT_DEPTH

#if defined(__AVX512F__)
#define FEW_ROWS 4 /* of few columns */
/* fixed: times two sums are what the registers hold, and enough to hide the latency of a step */
#define ROWS 12
#else
#define FEW_ROWS 3
#define ROWS     6
#endif

/* a loop that counts registers: what gcc leaves a loop it keeps in memory */
#define UNROLL _Pragma("GCC unroll 16")

#define T       float
#define SIDE    4
#define L(NAME) NAME##_F32
#define S(name) name##_f32
#include "product.inc"
#undef T
#undef SIDE
#undef L
#undef S
#define T       double
#define SIDE    2
#define L(NAME) NAME##_F64
#define S(name) name##_f64
#include "product.inc"
#undef T
#undef SIDE
#undef L
#undef S

const lt_product_loop LT_LOOP(product)[2] = {product_f32, product_f64};
