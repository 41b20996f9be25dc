/* roll.h - elements that are read as if they had been moved on (lt_chain_roll in
 * devices/chain.h). */
#ifndef LT_CPU_ROLL_H
#define LT_CPU_ROLL_H

#include "devices/chain.h"

/* Elements [from, from + n) of v, which is rolled, one after the other. */
void lt_gather_rolled(const lt_chain_value *v, char *to, int64_t from, int64_t n);

/* All of them, by threads. */
lt_status lt_cpu_roll(const lt_chain_value *v, char *to, int64_t numel);

#endif
