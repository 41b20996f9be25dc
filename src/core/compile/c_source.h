/* c_source.h - the C source of a fusion group as one loop, for the host's compiler. */
#ifndef LT_C_SOURCE_H
#define LT_C_SOURCE_H

#include "compile/fusion.h"

/* New, for lt_mem_free: the source of the function lt_loop (ltensor_kernel.h's lt_formula_loop). Its
 * data are the values of the group that have an address, by their numbers; the bits of its results
 * are those of the group. Numbers are read, except the exponents 2, 3 and others with formulas of
 * their own. NULL: the group has an operation or a dtype that such loops do not compute. All
 * arithmetic is in float32 and bool, by functions that are inlined. */
lt_status lt_fusion_c_source(const lt_fusion *c, char **out);

#endif
