/* numbers.cuh - how eager and generated elementwise kernels treat host scalars. */
#ifndef LT_CUDA_NUMBERS_CUH
#define LT_CUDA_NUMBERS_CUH

/* Whether a scalar second input is used exactly, not rounded to the half type first. */
bool lt_cuda_takes_exact_number(int op);
/* The unary op that equals this power of a floating-point number, or LT_PW_POW. */
int lt_cuda_shorter_power(double exponent);
#endif
