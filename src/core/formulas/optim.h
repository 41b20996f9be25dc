/* optim.h - the update rules of optimizers as formulas of float and double, with the naming scheme
 * of formulas.h, which it includes: lt_optim_sgd_f32 in C, overloads of lt_optim_sgd in C++. */
#ifndef LT_FORMULAS_OPTIM_H
#define LT_FORMULAS_OPTIM_H

#include "formulas.h"

#define FORMULAS "optim.inc"
#include "floats.h"

#endif
