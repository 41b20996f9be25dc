/* unrolled.cuh - in front of a loop: its body is repeated in the machine code, so that arrays it
 * goes over lie in registers; or it is not. Also a part of the source of generated kernels. */
#ifndef LT_CUDA_UNROLLED_CUH
#define LT_CUDA_UNROLLED_CUH

#ifdef __CUDA_ARCH__
#define LT_UNROLLED     _Pragma("unroll")
#define LT_NOT_UNROLLED _Pragma("unroll 1")
#else
#define LT_UNROLLED
#define LT_NOT_UNROLLED
#endif

#endif
