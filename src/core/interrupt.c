/* interrupt.c - see interrupt.h. */
#include "interrupt.h"

volatile int lt_interrupt_flag;

void lt_interrupt(void) { lt_interrupt_flag = 1; }
void lt_interrupt_clear(void) { lt_interrupt_flag = 0; }
