/* atomic_file.h - a file that appears under its name complete or not at all.
 *
 * It is written under a temporary name in the same folder, synced, then renamed over what was
 * there. Until lt_atomic_file_commit succeeds, a file that was there before stays as it is; its
 * owner and mode become those of the new one, as far as the system permits. The writer holds a lock
 * (flock) of the temporary file: what a process that was killed has left behind has none, and the
 * next save to the same path removes it. Errors are LT_ERR_IO with the path and the system's
 * reason. */
#ifndef LT_ATOMIC_FILE_H
#define LT_ATOMIC_FILE_H

#include <limits.h>

#include "ltensor.h"

typedef struct lt_atomic_file {
    const char *shown;   /* the path as the user gave it, borrowed */
    char path[PATH_MAX]; /* with symbolic links followed */
    char temporary[PATH_MAX];
    int fd;
} lt_atomic_file;

/* After LT_OK exactly one of commit and abort must follow. */
lt_status lt_atomic_file_open(lt_atomic_file *f, const char *path);
/* Can be interrupted between chunks: LT_ERR_INTERRUPTED. */
lt_status lt_atomic_file_write(lt_atomic_file *f, const void *data, size_t n);
/* A commit that fails has aborted. */
lt_status lt_atomic_file_commit(lt_atomic_file *f);
void lt_atomic_file_abort(lt_atomic_file *f);

#endif
