/* user_kernel_engine.h - the part of users' kernels (kernels/compile/user_kernel.cu) that differs
 * between real GPUs (opening/user_kernel_nvrtc.cu) and simulated ones (sim/user/compile.cpp). */
#ifndef LT_CUDA_USER_KERNEL_ENGINE_H
#define LT_CUDA_USER_KERNEL_ENGINE_H

#include <cuda_runtime.h>
#include <string>

#include "devices/user_kernel.h"

/* Describes the compiler and its version, and asks source.authorize for all that compiling and
 * loading use. On failure, *identity is the message, or empty if it is already set. */
lt_status lt_user_identify(const lt_kernel_source &source, std::string *identity);

/* Compiles. On failure, *image is what the compiler printed. */
bool lt_user_compile(const lt_kernel_source &source, int architecture, std::string *image);

/* Loads an image for the current device; the kernel is never unloaded. */
cudaError_t lt_user_load(const lt_kernel_source &source, const std::string &image, void **kernel);

/* Launches on the current device. *reports: the faults that the simulator's checks found, one a
 * line; their presence is a failure. */
cudaError_t lt_user_launch(void *kernel, const lt_kernel_launch &launch, cudaStream_t stream,
                           std::string *reports);

#endif
