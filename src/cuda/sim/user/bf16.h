/* bf16.h - the end of cuda_bf16.h for users' kernels. */
#ifndef LT_SIM_USER_BF16_H
#define LT_SIM_USER_BF16_H

#include "half_arithmetic.h"

LT_HALF_ARITHMETIC(__nv_bfloat16)

#endif
