/* numbers.cuh - how elementwise kernels, eager and generated ones, take numbers of the host. */
#ifndef LT_CUDA_NUMBERS_CUH
#define LT_CUDA_NUMBERS_CUH

/* Whether a number as the second input is not rounded to half types first. */
bool lt_cuda_takes_exact_number(int op);
/* The op of one input that is the same as this power of a floating number, or LT_PW_POW. */
int lt_cuda_shorter_power(double exponent);
#endif
