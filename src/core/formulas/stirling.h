/* stirling.h - the remainder of Stirling's series for factorials; used to draw random numbers and
 * by their derivatives. */
#ifndef LT_FORMULAS_STIRLING_H
#define LT_FORMULAS_STIRLING_H

#include "formulas.h"

#include "unused_begin.h"
/* log(k!) less the first terms of Stirling's series. */
LT_FN double lt_stirling_tail(double k)
{
    const double tails[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983,
                            0.02079067210376509, 0.0166446911898211, 0.0138761288230707,
                            0.0118967099458917,  0.0104112652619720, 0.00925546218271273,
                            0.00833056343336287};
    if (k < 10) return tails[(int)k];
    const double square = (k + 1) * (k + 1);
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}
#include "unused_end.h"

#endif
