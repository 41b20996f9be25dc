/* cell.h - recurrent cells as formulas of float and double, with the naming scheme of formulas.h,
 * which it includes: lt_cell_gru_f32 in C, overloads of lt_cell_gru in C++. */
#ifndef LT_FORMULAS_CELL_H
#define LT_FORMULAS_CELL_H

#include "formulas.h"

#define FORMULAS "cell.inc"
#include "floats.h"

#endif
