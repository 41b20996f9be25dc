/* unused_end.h - reenables the warnings that unused_begin.h disabled. */
#if defined(__CUDACC__)
#pragma nv_diagnostic pop
#endif
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
