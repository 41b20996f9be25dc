/* unused_begin.h - until unused_end.h, disables the warnings about unused formulas and about x < 0
 * for unsigned x. Included repeatedly. */
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wtype-limits"
#endif
#if defined(__CUDACC__)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 177, 186
#endif
