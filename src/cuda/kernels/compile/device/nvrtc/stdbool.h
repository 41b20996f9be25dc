/* stdbool.h - for NVRTC: bool is a word of C++. */
