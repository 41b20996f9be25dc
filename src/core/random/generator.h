/* generator.h - the state of a generator of random numbers. What works on it is random.h's. */
#ifndef LT_GENERATOR_H
#define LT_GENERATOR_H

#include "ltensor.h"

#define LT_MT_N 624
#define LT_DEFAULT_SEED 67280421310721u /* of generators that were given none; PyTorch's */

struct lt_generator {
    lt_device device;
    uint64_t seed;
    /* mt19937 (CPU) */
    uint32_t mt[LT_MT_N];
    int mt_left;
    int mt_next;
    bool has_next_float, has_next_double; /* PyTorch caches the second normal of a pair, per type */
    float next_float;
    double next_double;
    /* Philox (CUDA): the next unused counter block */
    uint64_t philox_offset;
};

#endif
