/* atomic_file.h - replaces a file atomically: readers see the old file or the complete new one.
 *
 * The data are written to a temporary file in the same folder, which is synced and then renamed.
 * Until lt_atomic_file_commit succeeds, an existing file is unchanged; the new one gets its owner
 * and mode as far as the system permits. The writer holds a lock (flock) on the temporary file: the
 * leftover of a killed process is unlocked, and the next save to the same path removes it. Errors
 * are LT_ERR_IO with the path and the system's reason. */
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

/* After LT_OK, call exactly one of commit and abort. */
lt_status lt_atomic_file_open(lt_atomic_file *f, const char *path);
/* Can be interrupted between chunks. */
lt_status lt_atomic_file_write(lt_atomic_file *f, const void *data, size_t n);
/* A failed commit aborts. */
lt_status lt_atomic_file_commit(lt_atomic_file *f);
void lt_atomic_file_abort(lt_atomic_file *f);

#endif
