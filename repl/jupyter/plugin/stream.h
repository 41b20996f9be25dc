/* stream.h - converts the bytes from a redirected file descriptor into the contents of `stream`
 * messages: JSON in UTF-8. Characters that arrive in parts are joined; invalid bytes become U+FFFD.
 * Includes the C library only. */
#ifndef REPL_JUPYTER_STREAM_H
#define REPL_JUPYTER_STREAM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct jupyter_stream {
    int descriptor, saved; /* 1 or 2; a duplicate of the original one */
    int from;              /* the pipe's nonblocking read end */
    pthread_mutex_t lock;  /* held while bytes are read from the pipe and counted */
    uint64_t taken;        /* number of bytes read from the pipe */
    char begun[4];         /* the first bytes of an incomplete character */
    size_t begun_size;
} jupyter_stream;

/* The number of bytes written so far, by any thread or process. */
uint64_t stream_written(jupyter_stream *s);

/* Returns the content of a message with the output up to the offset `end`; NULL: no output, or out
 * of memory. whole: includes an incomplete character at the end. The caller frees it. */
char *stream_take(jupyter_stream *s, const char *name, uint64_t end, bool whole, size_t *size);
/* Closes its files. */
void stream_close(jupyter_stream *s);

/* Returns `before`, the bytes escaped for a JSON string, and `after`; NULL: out of memory. The
 * caller frees it. */
char *stream_json(const char *before, const char *bytes, size_t n, const char *after, size_t *size);

#endif
