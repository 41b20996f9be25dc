/* atomic_file.c - see system/atomic_file.h. A temporary file cannot be removed while its writer has
 * it open, so it needs no lock: a leftover is a file that can be removed. */
#include "system/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <windows.h>

#include "assertion.h"
#include "context/context.h"
#include "context/interrupt.h"
#include "error.h"
#include "system/files.h"

enum {
    CHUNK = 1 << 23, /* bytes between polls of the interrupt flag */
    ATTEMPTS = 100   /* number of temporary names to try, since other processes use some */
};

static lt_status file_error(const char *path)
{
    return lt_error(LT_ERR_IO, "%s: %s", path, strerror(errno));
}

/* The length of the folder in path, slash included; 0: the current folder. */
static int folder_length(const char *path)
{
    int length = 0;
    for (int i = 0; path[i] != '\0'; i++)
        if (path[i] == '/' || path[i] == '\\') length = i + 1;
    return length;
}

static lt_status find_target(lt_atomic_file *f)
{
    lt_file_info info;
    if (lt_path_info(f->shown, &info)) {
        if (info.kind != LT_REGULAR_FILE) return lt_error(LT_ERR_IO, "%s: not a file", f->shown);
        if (_access(f->shown, 2) != 0 || !lt_path_real(f->shown, f->path))
            return file_error(f->shown);
        return LT_OK;
    }
    if (errno != ENOENT) return file_error(f->shown);
    if ((size_t)snprintf(f->path, sizeof f->path, "%s", f->shown) < sizeof f->path) return LT_OK;
    errno = ENAMETOOLONG;
    return file_error(f->shown);
}

/* The nth temporary name, ".NAME.ltensor-N.tmp" in the folder of the file, with NAME truncated. */
static bool temporary_name(lt_atomic_file *f, int n)
{
    const int folder = folder_length(f->path);
    return (size_t)snprintf(f->temporary, sizeof f->temporary, "%.*s.%.200s.ltensor-%d.tmp", folder,
                            f->path, f->path + folder, n) < sizeof f->temporary;
}

lt_status lt_atomic_file_open(lt_atomic_file *f, const char *path)
{
    f->shown = path;
    f->fd = -1;
    LT_TRY(lt_authorize(LT_ACCESS_FILE_WRITE, path));
    LT_TRY(find_target(f));
    for (int n = 0; n < ATTEMPTS && f->fd < 0; n++) {
        errno = ENAMETOOLONG;
        if (!temporary_name(f, n)) break;
        _unlink(f->temporary);
        f->fd = _open(f->temporary, _O_WRONLY | _O_CREAT | _O_EXCL | _O_BINARY | _O_NOINHERIT,
                      _S_IREAD | _S_IWRITE);
        if (f->fd < 0 && errno != EEXIST && errno != EACCES) break;
    }
    return f->fd >= 0 ? LT_OK : file_error(path);
}

lt_status lt_atomic_file_write(lt_atomic_file *f, const void *data, size_t n)
{
    LT_ASSERT(f->fd >= 0, "%s is closed", f->shown);
    for (const char *p = data; n > 0;) {
        if (lt_interrupted()) return lt_stopped();
        const int written = _write(f->fd, p, (unsigned)(n < CHUNK ? n : CHUNK));
        if (written < 0) return file_error(f->shown);
        p += written;
        n -= (size_t)written;
    }
    return LT_OK;
}

lt_status lt_atomic_file_commit(lt_atomic_file *f)
{
    LT_ASSERT(f->fd >= 0, "%s is closed", f->shown);
    const bool synced = _commit(f->fd) == 0;
    lt_status status = synced ? LT_OK : file_error(f->shown);
    _close(f->fd);
    LT_POISON(f->fd, -1);
    if (synced &&
        !MoveFileExA(f->temporary, f->path, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)) {
        errno = EACCES;
        status = file_error(f->shown);
    }
    if (status != LT_OK) _unlink(f->temporary);
    return status;
}

void lt_atomic_file_abort(lt_atomic_file *f)
{
    LT_ASSERT(f->fd >= 0, "%s is closed", f->shown);
    _close(f->fd);
    LT_POISON(f->fd, -1);
    _unlink(f->temporary);
}
