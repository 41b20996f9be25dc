/* detached.h - calls of libraries that cannot be stopped, on a thread of their own: the caller waits,
 * looks at the interrupt flag, and goes on without the result when it is set. The call then ends in
 * the background, with memory of its own. */
#ifndef LT_DETACHED_H
#define LT_DETACHED_H

#include "ltensor.h"

#define LT_APART_ARRAYS 4

/* An array that the context of a call points to. */
typedef struct lt_detached_array {
    size_t at;     /* of the pointer in the context: offsetof */
    int64_t bytes; /* 0: the pointer is left as it is */
    bool in, out;  /* what the call reads, what it leaves */
} lt_detached_array;

/* call(context), where context has `size` bytes and points to n arrays: the thread has copies of
 * them all, and what it leaves in the context and in the arrays that are out is brought back.
 * LT_ERR_INTERRUPTED, LT_ERR_MEMORY. */
lt_status lt_call_detached(void (*call)(void *context), void *context, size_t size,
                           const lt_detached_array *arrays, int n);

/* How many calls that nobody waits for any more have not ended. */
int lt_detached_count(void);

#endif
