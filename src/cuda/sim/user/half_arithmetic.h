/* half_arithmetic.h - arithmetic of a half type for users' kernels: each result is computed in
 * float and rounded once, as on a GPU. */
#ifndef LT_SIM_USER_HALF_ARITHMETIC_H
#define LT_SIM_USER_HALF_ARITHMETIC_H

#include <math.h>

#define LT_HALF_ARITHMETIC(T)                                                                      \
    static inline T operator+(T a, T b) { return T((float)a + (float)b); }                         \
    static inline T operator-(T a, T b) { return T((float)a - (float)b); }                         \
    static inline T operator*(T a, T b) { return T((float)a * (float)b); }                         \
    static inline T operator/(T a, T b) { return T((float)a / (float)b); }                         \
    static inline T operator-(T a) { return T(-(float)a); }                                        \
    static inline T &operator+=(T &a, T b) { return a = a + b; }                                   \
    static inline T &operator-=(T &a, T b) { return a = a - b; }                                   \
    static inline T &operator*=(T &a, T b) { return a = a * b; }                                   \
    static inline T __hadd(T a, T b) { return a + b; }                                             \
    static inline T __hsub(T a, T b) { return a - b; }                                             \
    static inline T __hmul(T a, T b) { return a * b; }                                             \
    static inline T __hdiv(T a, T b) { return a / b; }                                             \
    static inline T __hneg(T a) { return -a; }                                                     \
    static inline T __hfma(T a, T b, T c) { return T(fmaf((float)a, (float)b, (float)c)); }        \
    static inline bool __heq(T a, T b) { return (float)a == (float)b; }                            \
    static inline bool __hlt(T a, T b) { return (float)a < (float)b; }                             \
    static inline bool __hle(T a, T b) { return (float)a <= (float)b; }                            \
    static inline bool __hgt(T a, T b) { return (float)a > (float)b; }                             \
    static inline bool __hge(T a, T b) { return (float)a >= (float)b; }                            \
    static inline T __hmax(T a, T b) { return (float)a > (float)b ? a : b; }                       \
    static inline T __hmin(T a, T b) { return (float)a < (float)b ? a : b; }

#endif
