/* activation.h - activations and their derivatives as formulas of float and double, with the naming
 * scheme of formulas.h. */
#ifndef LT_FORMULAS_ACTIVATION_H
#define LT_FORMULAS_ACTIVATION_H

#include "formulas.h"

#define FORMULAS "activation.inc"
#include "floats.h"

#endif
