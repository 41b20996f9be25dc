/* complex.c - elementwise loops over complex numbers, by the list that the declarations give. They are few and compiled
 * once, for every processor: sums and products are bound by memory, the functions are those of the C library. */
#include "cpu/common/loops.h"

#include <complex.h>
#include <math.h>

#include "pointwise_ops.h" /* generated from the declarations */

#define T        float
#define C        float complex
#define F(name)  name##f
#define N(name)  name##_c64
#define N2(name) name##_c64_loop
#define PACK(re, im)                                                                               \
    __builtin_complex((float)(re), (float)(im)) /* CMPLXF, which glibc has for GCC alone */
#include "complex.inc"
#undef T
#undef C
#undef F
#undef N
#undef N2
#undef PACK

#define T            double
#define C            double complex
#define F(name)      name
#define N(name)      name##_c128
#define N2(name)     name##_c128_loop
#define PACK(re, im) __builtin_complex((double)(re), (double)(im))
#include "complex.inc"

void lt_enter_complex_loops(lt_pointwise_row *rows)
{
#define ENTER(SHAPE, name, NAME)                                                                   \
    rows[LT_PW_##NAME][LT_COMPLEX64] = name##_c64_loop;                                            \
    rows[LT_PW_##NAME][LT_COMPLEX128] = name##_c128_loop;
    LT_COMPLEX_LIST(ENTER)
#undef ENTER
}
