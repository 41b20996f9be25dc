/* complex.c - elementwise loops over complex numbers, from the list that the declarations generate.
 * Arithmetic is vectorized; functions are the C library's, one element at a time. */
/* generated from the declarations; included first, since a library of selected ops replaces it */
#include "kernels_complex.h"

#include "cpu/common/loops.h"

#include <complex.h>
#include <math.h>

#include "pointwise_ops.h"

#if defined(__clang__) /* warns that the library functions cannot be vectorized */
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

#define T        float
#define C        float complex
#define F(name)  name##f
#define N(name)  name##_c64
#define N2(name) name##_c64_loop
#define PACK(re, im)                                                                               \
    __builtin_complex((float)(re), (float)(im)) /* glibc's CMPLXF is for GCC only */
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

#undef complex /* the table has a member of this name */
#define ENTRY(SHAPE, name, NAME) {LT_PW_##NAME, {name##_c64_loop, name##_c128_loop}},
const lt_complex_loops LT_LOOP(complex)[] = {LT_COMPLEX_LIST(ENTRY){.op = -1}};
#undef ENTRY
