/* signals.c - see system/threads.h. Windows calls handlers of Ctrl-C in a thread of their own. */
#include "system/threads.h"

void lt_signals_block(lt_signal_set *before) { (void)before; }

void lt_signals_restore(const lt_signal_set *before) { (void)before; }
