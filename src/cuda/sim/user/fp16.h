/* fp16.h - the end of cuda_fp16.h for users' kernels. */
#ifndef LT_SIM_USER_FP16_H
#define LT_SIM_USER_FP16_H

#include "half_arithmetic.h"

LT_HALF_ARITHMETIC(__half)

#endif
