/* cuda_runtime.h - for NVRTC, which has it built in. */
