/* interrupt.h - the flag that lt_interrupt() sets and long operations look at between chunks. */
#ifndef LT_INTERRUPT_H
#define LT_INTERRUPT_H

#include "ltensor.h"

extern volatile int lt_interrupt_flag;
/* Simple steps between two looks, at most: a few milliseconds on a slow machine. */
#define LT_INTERRUPT_STEP ((int64_t)1 << 20)
#define lt_interrupted() (__builtin_expect(lt_interrupt_flag, 0))

#endif
