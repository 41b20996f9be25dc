/* stdbool.h - for NVRTC: bool is a C++ keyword. */
