/* unrolled.cuh - pragmas before a loop: LT_UNROLLED unrolls it fully, so that the arrays it indexes
 * stay in registers; LT_NOT_UNROLLED prevents unrolling. Also part of the source of generated
 * kernels. */
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
