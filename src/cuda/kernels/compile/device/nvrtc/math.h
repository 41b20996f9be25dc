/* math.h - for NVRTC, which has the functions built in. */
#ifndef LT_NVRTC_MATH_H
#define LT_NVRTC_MATH_H

#define INFINITY __int_as_float(0x7f800000)
#define NAN      __int_as_float(0x7fc00000)

#endif
