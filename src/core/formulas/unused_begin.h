/* unused_begin.h - until unused_end.h a formula that a translation unit does not use is no mistake,
 * nor is x < 0 where x is unsigned. Included as often as there are formulas. */
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wtype-limits"
#endif
#if defined(__CUDACC__)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 177, 186
#endif
