/* levels.h - the active vmap levels of this thread; lt_tls.batches is their number. */
#ifndef LT_OPS_BATCH_LEVELS_H
#define LT_OPS_BATCH_LEVELS_H

#include "batch.h"

typedef struct lt_batch_level {
    int64_t size;
    lt_batch_randomness randomness;
} lt_batch_level;

extern _Thread_local lt_batch_level lt_batch_levels[LT_MAX_BATCHES];

#endif
