/* gamma.h - the gamma function's relatives, and derivatives of random numbers, which are made of
 * them, as formulas named as those of formulas.h. */
#ifndef LT_FORMULAS_GAMMA_H
#define LT_FORMULAS_GAMMA_H

#include "formulas.h"
#include "stirling.h"

#define FORMULAS "gamma.inc"
#include "floats.h"

#include "unused_begin.h"
#include "draws.h"
#include "unused_end.h"

#endif
