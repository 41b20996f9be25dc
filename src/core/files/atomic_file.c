/* atomic_file.c - see atomic_file.h. Includes POSIX and core's errors. */
#include "atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "context/context.h"
#include "context/interrupt.h"
#include "error.h"

enum {
    CHUNK = 1 << 23, /* bytes between looks at the interrupt flag */
    ATTEMPTS = 100   /* at temporary names, which dead processes may have left behind */
};

static lt_status failed(const char *path) { return lt_error(LT_ERR_IO, "%s: %s", path, strerror(errno)); }

/* The folder of path with its slash; empty for the current one. */
static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (int)(slash - path) + 1;
}

/* Fills in f->path; *mode receives what the new file's mode should be. */
static lt_status resolve(lt_atomic_file *f, mode_t *mode, bool *exists)
{
    struct stat info;
    *exists = stat(f->shown, &info) == 0;
    if (!*exists) {
        if (errno != ENOENT) return failed(f->shown);
        if ((size_t)snprintf(f->path, sizeof f->path, "%s", f->shown) < sizeof f->path) return LT_OK;
        errno = ENAMETOOLONG;
        return failed(f->shown);
    }
    if (!S_ISREG(info.st_mode)) return lt_error(LT_ERR_IO, "%s: not a file", f->shown);
    *mode = info.st_mode & 0777;
    if (access(f->shown, W_OK) != 0 || realpath(f->shown, f->path) == NULL) return failed(f->shown);
    return LT_OK;
}

lt_status lt_atomic_file_open(lt_atomic_file *f, const char *path)
{
    static _Atomic unsigned counter;
    mode_t mode = 0;
    bool exists;
    f->shown = path;
    LT_TRY(lt_authorize(LT_ACCESS_FILE_WRITE, path));
    LT_TRY(resolve(f, &mode, &exists));
    f->fd = -1;
    for (int attempt = 0; attempt < ATTEMPTS && f->fd < 0; attempt++) {
        int n = snprintf(f->temporary, sizeof f->temporary, "%.*s.ltensor-%ld-%u.tmp", folder_length(f->path),
                         f->path, (long)getpid(), atomic_fetch_add(&counter, 1));
        errno = ENAMETOOLONG;
        if ((size_t)n >= sizeof f->temporary) break;
        f->fd = open(f->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (f->fd < 0 && errno != EEXIST) break;
    }
    if (f->fd < 0) return failed(path);
    if (exists && fchmod(f->fd, mode) != 0) {
        lt_status status = failed(path);
        lt_atomic_file_abort(f);
        return status;
    }
    return LT_OK;
}

lt_status lt_atomic_file_write(lt_atomic_file *f, const void *data, size_t n)
{
    for (const char *p = data; n > 0;) {
        if (lt_interrupted()) return lt_stopped();
        ssize_t written = write(f->fd, p, n < CHUNK ? n : CHUNK);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return failed(f->shown);
        p += written;
        n -= (size_t)written;
    }
    return LT_OK;
}

static int sync_fd(int fd)
{
    int result;
    do {
        result = fsync(fd);
    } while (result != 0 && errno == EINTR);
    return result;
}

/* Makes the rename last. Folders that cannot be opened or synced (some network file systems) are as safe as
 * they get. */
static void sync_folder(const char *path)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%.*s.", folder_length(path), path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    sync_fd(fd);
    close(fd);
}

lt_status lt_atomic_file_commit(lt_atomic_file *f)
{
    lt_status status = LT_OK;
    if (sync_fd(f->fd) != 0) {
        status = failed(f->shown);
        lt_atomic_file_abort(f);
        return status;
    }
    /* Errors of delayed writes may come as late as here. */
    if (close(f->fd) != 0 || rename(f->temporary, f->path) != 0) {
        status = failed(f->shown);
        unlink(f->temporary);
        return status;
    }
    sync_folder(f->path);
    return LT_OK;
}

void lt_atomic_file_abort(lt_atomic_file *f)
{
    close(f->fd);
    unlink(f->temporary);
}
