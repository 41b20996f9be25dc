/* is_nan.h - a test for every type of elements: integers are never nan, which a macro may say
 * without a warning. */
#ifndef LT_CPU_IS_NAN_H
#define LT_CPU_IS_NAN_H

#define LT_IS_NAN(x) ((x) != (x))

#endif
