/* detached.h - runs a library call that cannot be interrupted on its own thread: the caller waits and
 * polls the interrupt flag; when the flag is set, the caller abandons the call. An abandoned call
 * finishes in the background, on memory of its own. */
#ifndef LT_DETACHED_H
#define LT_DETACHED_H

#include "ltensor.h"

#define LT_APART_ARRAYS 4

/* An array that the context of a call points to. */
typedef struct lt_detached_array {
    size_t at;     /* offset of the pointer in the context */
    int64_t bytes; /* 0: the pointer is left as it is */
    bool in, out;  /* copied to the call; copied back from it */
} lt_detached_array;

/* Runs call(context) on another thread. context has `size` bytes and points to n arrays. The thread
 * works on copies of context and arrays; afterwards the context and the arrays with `out` are
 * copied back. LT_ERR_INTERRUPTED or LT_ERR_DEADLINE (nothing is copied back), LT_ERR_MEMORY. */
lt_status lt_call_detached(void (*call)(void *context), void *context, size_t size,
                           const lt_detached_array *arrays, int n);

/* The number of abandoned calls that are still running. */
int lt_detached_count(void);

#endif
