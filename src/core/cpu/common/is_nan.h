/* is_nan.h - a test for nan in loops for any type; a macro, since compilers would warn of the
 * comparison for integers. */
#ifndef LT_CPU_IS_NAN_H
#define LT_CPU_IS_NAN_H

#define LT_IS_NAN(x) ((x) != (x))

#endif
