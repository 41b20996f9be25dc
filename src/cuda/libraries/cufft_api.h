/* cufft_api.h - the cuFFT functions and constants in use (vendor.h): batched 1-D transforms of
 * contiguous rows of one length. */
#ifndef LT_CUDA_CUFFT_API_H
#define LT_CUDA_CUFFT_API_H

#include <cuda_runtime.h>

#include "libraries/vendor.h"

#define LT_CUFFT_LIBRARY                                                                           \
    {                                                                                              \
        "cuFFT", "a Fourier transform on a GPU", "libcufft.so.12", "libcufft.so.11",               \
            "libcufft.so", "nvidia-cufft"                                                          \
    }

#define LT_CUFFT_STATUSES(X)                                                                       \
    X(CUFFT_SUCCESS, 0)                                                                            \
    X(CUFFT_INVALID_PLAN, 1)                                                                       \
    X(CUFFT_ALLOC_FAILED, 2)                                                                       \
    X(CUFFT_INVALID_VALUE, 4)                                                                      \
    X(CUFFT_INTERNAL_ERROR, 5)                                                                     \
    X(CUFFT_EXEC_FAILED, 6)                                                                        \
    X(CUFFT_SETUP_FAILED, 7)                                                                       \
    X(CUFFT_INVALID_SIZE, 8)
#define LT_CUFFT_TYPES(X)                                                                          \
    X(CUFFT_R2C, 0x2a)                                                                             \
    X(CUFFT_C2R, 0x2c)                                                                             \
    X(CUFFT_C2C, 0x29)                                                                             \
    X(CUFFT_D2Z, 0x6a)                                                                             \
    X(CUFFT_Z2D, 0x6c)                                                                             \
    X(CUFFT_Z2Z, 0x69)

#ifndef LT_VENDOR_HEADERS
typedef enum { LT_CUFFT_STATUSES(LT_ENUM) } cufftResult;
typedef enum { LT_CUFFT_TYPES(LT_ENUM) } cufftType;
typedef int cufftHandle;
typedef float cufftReal;
typedef double cufftDoubleReal;
typedef float2 cufftComplex;
typedef double2 cufftDoubleComplex;
enum { CUFFT_FORWARD = -1, CUFFT_INVERSE = 1 };
#endif

#define LT_CUFFT_FUNCTIONS(X)                                                                      \
    X(create, cufftCreate, (cufftHandle * plan))                                                   \
    X(set_auto_allocation, cufftSetAutoAllocation, (cufftHandle plan, int automatic))              \
    X(make_plan, cufftMakePlanMany64,                                                              \
      (cufftHandle plan, int rank, long long *n, long long *inembed, long long istride,            \
       long long idist, long long *onembed, long long ostride, long long odist, cufftType type,    \
       long long batch, size_t *bytes))                                                            \
    X(set_work_area, cufftSetWorkArea, (cufftHandle plan, void *area))                             \
    X(destroy, cufftDestroy, (cufftHandle plan))                                                   \
    X(set_stream, cufftSetStream, (cufftHandle plan, cudaStream_t stream))                         \
    X(c2c, cufftExecC2C, (cufftHandle plan, cufftComplex * in, cufftComplex * out, int direction)) \
    X(r2c, cufftExecR2C, (cufftHandle plan, cufftReal * in, cufftComplex * out))                   \
    X(c2r, cufftExecC2R, (cufftHandle plan, cufftComplex * in, cufftReal * out))                   \
    X(z2z, cufftExecZ2Z,                                                                           \
      (cufftHandle plan, cufftDoubleComplex * in, cufftDoubleComplex * out, int direction))        \
    X(d2z, cufftExecD2Z, (cufftHandle plan, cufftDoubleReal * in, cufftDoubleComplex * out))       \
    X(z2d, cufftExecZ2D, (cufftHandle plan, cufftDoubleComplex * in, cufftDoubleReal * out))

struct lt_cufft {
#define X(field, symbol, arguments) cufftResult(*field) arguments;
    LT_CUFFT_FUNCTIONS(X)
#undef X
};

/* Returns the table; loads the library at the first call. */
lt_status lt_cufft_get(const lt_cufft **table);

#endif
