/* special.h - special functions, and derivatives of random numbers, as formulas named as those of formulas.h. */
#ifndef LT_FORMULAS_SPECIAL_H
#define LT_FORMULAS_SPECIAL_H

#include "formulas.h"
#include "stirling.h"

#define FORMULAS "special.inc"
#include "floats.h"

#include "unused_begin.h"
#include "draws.h"
#include "unused_end.h"

#endif
