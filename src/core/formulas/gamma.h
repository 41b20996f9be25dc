/* gamma.h - the gamma function and related functions, and derivatives of random numbers, which use
 * them, as formulas with the naming scheme of formulas.h. */
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
