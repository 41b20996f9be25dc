/* levels.h - the levels of vmap that this thread is in; lt_tls.batches says how many. */
#ifndef LT_OPS_BATCH_LEVELS_H
#define LT_OPS_BATCH_LEVELS_H

#include "batch.h"

typedef struct lt_batch_level {
    int64_t size;
    lt_batch_randomness randomness;
} lt_batch_level;

extern _Thread_local lt_batch_level lt_batch_levels[LT_MAX_BATCHES];

#endif
