/* complex.c - elementwise loops over complex numbers, by the list that the declarations give.
 * Arithmetic is done by vectors, the functions are those of the C library, one number at a time. */
/* generated from the declarations; first: a library of chosen ops has its own */
#include "kernels_complex.h"

#include "cpu/common/loops.h"

#include <complex.h>
#include <math.h>

#include "pointwise_ops.h"

#if defined(__clang__) /* asked for vectors, it says that functions of the C library have none */
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

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

#undef complex /* is C's name of the type, and the table's */
#define ENTRY(SHAPE, name, NAME) {LT_PW_##NAME, {name##_c64_loop, name##_c128_loop}},
const lt_complex_loops LT_LOOP(complex)[] = {LT_COMPLEX_LIST(ENTRY){.op = -1}};
#undef ENTRY
