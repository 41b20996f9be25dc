/* complex_cast.h - the conversions of complex dtypes, entered into a table that has those of the others. */
#ifndef LT_CPU_COMPLEX_CAST_H
#define LT_CPU_COMPLEX_CAST_H

#include "loops.h"

void lt_complete_casts(lt_loop (*cast)[LT_DTYPE_COUNT]);

#endif
