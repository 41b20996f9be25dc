/* complex.h - the elementwise loops over complex numbers (complex.c). */
#ifndef LT_CPU_COMPLEX_H
#define LT_CPU_COMPLEX_H

#include "cpu/common/loops.h"

/* Enters them into the table of all loops, by op and dtype. */
void lt_enter_complex_loops(lt_pointwise_row *rows);

#endif
