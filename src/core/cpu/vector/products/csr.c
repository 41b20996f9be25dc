/* csr.c - rows of a product of a CSR matrix with a dense one: the sums of tiles of 32 and 8 columns
 * stay in registers during the loop over the values of a row. A single column has several sums, so
 * that additions do not depend on each other. The loops are in csr.inc. */
#include "cpu/common/loops.h"

#define LOOPS "cpu/vector/products/csr.inc"
#include "cpu/common/both_floats.h"

const lt_csr_loops LT_LOOP(csr)[1] = {{rows_f32, rows_f64}};
