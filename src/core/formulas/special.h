/* special.h - special functions as formulas named as those of formulas.h; the gamma function's
 * relatives stand in gamma.h. */
#ifndef LT_FORMULAS_SPECIAL_H
#define LT_FORMULAS_SPECIAL_H

#include "formulas.h"

#define FORMULAS "special.inc"
#include "floats.h"

#endif
