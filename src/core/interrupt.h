/* interrupt.h - the flag that lt_interrupt() sets and long operations look at between chunks. */
#ifndef LT_INTERRUPT_H
#define LT_INTERRUPT_H

#include "ltensor.h"

extern volatile int lt_interrupt_flag;
#define lt_interrupted() (__builtin_expect(lt_interrupt_flag, 0))

#endif
