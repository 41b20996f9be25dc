/* special.h - special functions as formulas with the naming scheme of formulas.h; gamma.h has the
 * gamma function and its relatives. */
#ifndef LT_FORMULAS_SPECIAL_H
#define LT_FORMULAS_SPECIAL_H

#include "formulas.h"

#define FORMULAS "special.inc"
#include "floats.h"

#endif
