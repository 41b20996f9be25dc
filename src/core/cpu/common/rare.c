/* rare.c - the special functions of formulas/rare.h, compiled once for all instruction sets: a call
 * costs little compared with the function. */
#include "formulas/rare.h"
#include "formulas/rare_kernels.h"

double lt_rare_one_f64(double x, double function) { return lt_rare_of(x, (int)function); }
float lt_rare_one_f32(float x, float function) { return (float)lt_rare_of(x, (int)function); }
double lt_rare_pair_f64(double a, double b, double function)
{
    return lt_rare_pair_of(a, b, (int)function);
}

float lt_rare_pair_f32(float a, float b, float function)
{
    if ((int)function == LT_RARE_NEXTAFTER)
        return nextafterf(a, b); /* the next float, not the next double */
    return (float)lt_rare_pair_of(a, b, (int)function);
}
