/* generator.h - the state of a random number generator. random.h has its functions.
 *
 * The lock is held while numbers are drawn and while the state is read or set, as in PyTorch:
 * threads may share a generator. It is recursive, because a long draw calls the host's progress
 * function, which may draw as well. */
#ifndef LT_GENERATOR_H
#define LT_GENERATOR_H

#include "context/fork.h"
#include "ltensor.h"
#include "system/threads.h"

#define LT_MT_N         624
#define LT_DEFAULT_SEED 67280421310721u /* seed of a generator without manual_seed; PyTorch's */

struct lt_generator {
    pthread_mutex_t lock;
    lt_fork_entry fork;
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

static inline void lt_generator_lock(lt_generator *g) { pthread_mutex_lock(&g->lock); }
static inline void lt_generator_unlock(lt_generator *g) { pthread_mutex_unlock(&g->lock); }

#endif
