/* sampling.h - coordinates of grid_sample as formulas of float and double, with the naming scheme
 * of formulas.h, which it includes: lt_sample_index_f32 in C, overloads of lt_sample_index in C++.
 */
#ifndef LT_FORMULAS_SAMPLING_H
#define LT_FORMULAS_SAMPLING_H

#include "formulas.h"

#define FORMULAS "sampling.inc"
#include "floats.h"

#endif
