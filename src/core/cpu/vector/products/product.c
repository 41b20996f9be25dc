/* product.c - register-tiled matrix-matrix and matrix-vector products of float and double
 * (lt_product) on one thread. The sums of a tile of C, some rows by two vectors of columns, stay in
 * registers during the loop over k: each step loads two vectors of B, and an element of A per row.
 * Columns of B are packed into panels, which are reused for all rows of A; the rows of A are packed
 * if there is memory for it, otherwise read in place. A matrix-vector product reads the matrix
 * once, in memory order. The value of an element of C does not depend on how a product is
 * partitioned by rows and columns. The loops are in product.inc. */
#include "cpu/common/loops.h"
#include "cpu/vector/turn.h"
#include "cpu_info.h"
#include "lanes.h"

#define DEPTH LT_PRODUCT_DEPTH

#if defined(__AVX512F__)
#define FEW_ROWS 4 /* rows per block if B has few columns */
/* fixed: two sums for each fill the registers, and hide the latency of a step */
#define ROWS 12
#else
#define FEW_ROWS 3
#define ROWS     6
#endif

/* fully unrolled: gcc keeps the arrays of a remaining loop in memory */
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
