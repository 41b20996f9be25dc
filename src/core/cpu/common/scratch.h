/* scratch.h - temporary memory of an op: on the stack if small, since an allocation takes as long
 * as a small op. Included by src/core/cpu only. */
#ifndef LT_CPU_SCRATCH_H
#define LT_CPU_SCRATCH_H

#include "saturating.h"
#include "memory/block.h"

typedef struct lt_scratch {
    _Alignas(64) char near[4096];
    size_t capacity; /* of allocated memory */
} lt_scratch;

/* Returns n uninitialized entries, aligned to 64 bytes; NULL with an error if out of memory. s need
 * not be initialized and must not move. */
static inline void *lt_scratch_alloc(lt_scratch *s, int64_t n, size_t size)
{
    return lt_mul_sat(n, (int64_t)size) <= (int64_t)sizeof s->near
               ? s->near
               : lt_block_array(n, size, &s->capacity);
}

static inline void lt_scratch_free(lt_scratch *s, void *p)
{
    if (p != s->near) lt_block_free(p, s->capacity);
}

#endif
