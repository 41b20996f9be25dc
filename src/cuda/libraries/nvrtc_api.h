/* nvrtc_api.h - the NVRTC functions and constants in use (vendor.h): compiles source text to
 * machine code for one architecture. Needs no GPU. */
#ifndef LT_CUDA_NVRTC_API_H
#define LT_CUDA_NVRTC_API_H

#include <cuda_runtime.h>
#include <stddef.h>

#include "libraries/vendor.h"

#define LT_NVRTC_LIBRARY(purpose)                                                                  \
    {                                                                                              \
        "NVRTC", purpose, "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "nvidia-cuda-nvrtc"   \
    }

#ifdef LT_SIM_CUDA_RUNTIME_H
#define LT_NVRTC_NAME "host"
#define LT_NVRTC_ABSENT                                                                            \
    "no C++ compiler was found for simulated GPUs (CXX, c++), or LTENSOR_NVRTC is 0"
#else
#define LT_NVRTC_NAME "nvrtc"
#define LT_NVRTC_ABSENT                                                                            \
    "NVIDIA's library NVRTC was not found (libnvrtc.so.13 or .12), or LTENSOR_NVRTC is 0"
#endif

/* Results that the callers distinguish. */
#define LT_NVRTC_RESULTS(X)                                                                        \
    X(NVRTC_SUCCESS, 0)                                                                            \
    X(NVRTC_ERROR_OUT_OF_MEMORY, 1) X(NVRTC_ERROR_INVALID_INPUT, 3) X(NVRTC_ERROR_COMPILATION, 6)

#ifndef LT_VENDOR_HEADERS
typedef struct _nvrtcProgram *nvrtcProgram;
typedef enum { LT_NVRTC_RESULTS(LT_ENUM) } nvrtcResult;
#endif

#define LT_NVRTC_FUNCTIONS(X)                                                                      \
    X(version, nvrtcVersion, (int *major, int *minor))                                             \
    X(create, nvrtcCreateProgram,                                                                  \
      (nvrtcProgram * program, const char *source, const char *name, int headers,                  \
       const char *const *texts, const char *const *names))                                        \
    X(destroy, nvrtcDestroyProgram, (nvrtcProgram * program))                                      \
    X(compile, nvrtcCompileProgram, (nvrtcProgram program, int n, const char *const *options))     \
    X(image_size, nvrtcGetCUBINSize, (nvrtcProgram program, size_t * bytes))                       \
    X(image, nvrtcGetCUBIN, (nvrtcProgram program, char *image))

/* For users' kernels on real GPUs. */
#define LT_NVRTC_USER_FUNCTIONS(X)                                                                 \
    X(add_name, nvrtcAddNameExpression, (nvrtcProgram program, const char *name))                  \
    X(lowered_name, nvrtcGetLoweredName,                                                           \
      (nvrtcProgram program, const char *name, const char **lowered))                              \
    X(log_size, nvrtcGetProgramLogSize, (nvrtcProgram program, size_t * bytes))                    \
    X(log, nvrtcGetProgramLog, (nvrtcProgram program, char *log))

struct lt_nvrtc {
#define X(field, symbol, arguments) nvrtcResult(*field) arguments;
    LT_NVRTC_FUNCTIONS(X)
#undef X
};

/* Returns the table; loads the library at the first call. */
lt_status lt_nvrtc_get(const lt_nvrtc **table);

#endif
