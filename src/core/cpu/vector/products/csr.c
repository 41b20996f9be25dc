/* csr.c - rows of a product of a matrix in CSR with a dense one: tiles of 32 and 8 columns whose
 * sums stay in registers while the values of the row go by; of a single column several sums, so
 * that additions do not wait for each other. The loops stand in csr.inc. */
#include "cpu/common/loops.h"

#define LOOPS "cpu/vector/products/csr.inc"
#include "cpu/common/both_floats.h"

const lt_csr_loops LT_LOOP(csr)[1] = {{rows_f32, rows_f64}};
