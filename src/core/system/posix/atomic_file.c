/* atomic_file.c - see system/atomic_file.h. Includes POSIX and core's errors. */
#include "system/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "assertion.h"
#include "context/context.h"
#include "context/interrupt.h"
#include "error.h"

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
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (int)(slash - path) + 1;
}

/* Sets f->path. *before receives the status of an existing file. */
static lt_status resolve(lt_atomic_file *f, struct stat *before, bool *exists)
{
    *exists = stat(f->shown, before) == 0;
    if (!*exists) {
        if (errno != ENOENT) return file_error(f->shown);
        if ((size_t)snprintf(f->path, sizeof f->path, "%s", f->shown) < sizeof f->path)
            return LT_OK;
        errno = ENAMETOOLONG;
        return file_error(f->shown);
    }
    if (!S_ISREG(before->st_mode)) return lt_error(LT_ERR_IO, "%s: not a file", f->shown);
    if (access(f->shown, W_OK) != 0 || realpath(f->shown, f->path) == NULL)
        return file_error(f->shown);
    return LT_OK;
}

/* ---- temporary files ------------------------------------------------------------------------- */

/* The nth temporary name, ".NAME.ltensor-N.tmp" in the folder of the file, with NAME truncated. */
static bool temporary_name(lt_atomic_file *f, int n)
{
    const int folder = folder_length(f->path);
    return (size_t)snprintf(f->temporary, sizeof f->temporary, "%.*s.%.200s.ltensor-%d.tmp", folder,
                            f->path, f->path + folder, n) < sizeof f->temporary;
}

static bool is_linked(int fd, const char *name)
{
    struct stat of_fd, of_name;
    return fstat(fd, &of_fd) == 0 && lstat(name, &of_name) == 0 && of_fd.st_ino == of_name.st_ino &&
           of_fd.st_dev == of_name.st_dev;
}

/* Whether no process writes to a file: it can be locked, or, if the file system has no locks, it
 * was not written for an hour. */
static bool is_left(int fd, const struct stat *info)
{
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) return true;
    return errno != EWOULDBLOCK && time(NULL) - info->st_mtime > 3600;
}

/* Removes the file of a temporary name unless a process is writing it. Holds its lock meanwhile, so
 * that a process that has just created it and is about to lock it notices. False: the name is in
 * use. */
static bool remove_leftover(const char *name)
{
    struct stat info;
    const int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return errno == ENOENT;
    const bool ours = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                      (info.st_uid == geteuid() || geteuid() == 0);
    const bool removed = ours && is_left(fd, &info) && is_linked(fd, name) && unlink(name) == 0;
    close(fd);
    return removed;
}

/* Creates and locks a temporary file; does not lock it if the file system has no locks. */
static int make_temporary(const char *name)
{
    const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) return -1;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 ? is_linked(fd, name) : errno != EWOULDBLOCK) return fd;
    close(fd);
    errno = EEXIST; /* another process removes it as a leftover */
    return -1;
}

/* Removes the other leftovers of killed processes for this file; their names are numbered
 * consecutively. */
static void remove_other_leftovers(lt_atomic_file *f, int used)
{
    char own[PATH_MAX];
    memcpy(own, f->temporary, sizeof own);
    for (int n = used + 1; n < used + ATTEMPTS && temporary_name(f, n); n++)
        if (access(f->temporary, F_OK) != 0 || !remove_leftover(f->temporary)) break;
    memcpy(f->temporary, own, sizeof own);
}

/* Copies owner and mode from the replaced file. Only root may change the owner; the group can be
 * kept if the user is a member. Some file systems have no owners. */
static lt_status keep_owner(lt_atomic_file *f, const struct stat *before)
{
    const bool kept = fchown(f->fd, before->st_uid, before->st_gid) == 0 ||
                      fchown(f->fd, (uid_t)-1, before->st_gid) == 0;
    (void)kept;
    return fchmod(f->fd, before->st_mode & 0777) == 0 ? LT_OK : file_error(f->shown);
}

lt_status lt_atomic_file_open(lt_atomic_file *f, const char *path)
{
    struct stat before;
    bool exists;
    f->shown = path;
    LT_TRY(lt_authorize(LT_ACCESS_FILE_WRITE, path));
    LT_TRY(resolve(f, &before, &exists));
    f->fd = -1;
    for (int n = 0; n < ATTEMPTS && f->fd < 0; n++) {
        errno = ENAMETOOLONG;
        if (!temporary_name(f, n)) break;
        f->fd = make_temporary(f->temporary);
        if (f->fd < 0 && errno != EEXIST) break;
        if (f->fd < 0 && remove_leftover(f->temporary)) f->fd = make_temporary(f->temporary);
        errno = EEXIST; /* a name in use is no reason to stop */
        if (f->fd >= 0) remove_other_leftovers(f, n);
    }
    if (f->fd < 0) return file_error(path);
    lt_status status = exists ? keep_owner(f, &before) : LT_OK;
    if (status != LT_OK) lt_atomic_file_abort(f);
    return status;
}

lt_status lt_atomic_file_write(lt_atomic_file *f, const void *data, size_t n)
{
    LT_ASSERT(f->fd >= 0, "%s is closed", f->shown);
    for (const char *p = data; n > 0;) {
        if (lt_interrupted()) return lt_stopped();
        ssize_t written = write(f->fd, p, n < CHUNK ? n : CHUNK);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return file_error(f->shown);
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

/* Makes the rename durable. Ignores folders that cannot be opened or synced, as on some network
 * file systems. */
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
    LT_ASSERT(f->fd >= 0, "%s is closed", f->shown);
    lt_status status = LT_OK;
    if (sync_fd(f->fd) != 0) {
        status = file_error(f->shown);
        lt_atomic_file_abort(f);
        return status;
    }
    /* Renamed while locked: otherwise another process would remove it as a leftover. */
    if (rename(f->temporary, f->path) != 0) {
        status = file_error(f->shown);
        lt_atomic_file_abort(f);
        return status;
    }
    close(f->fd);
    LT_POISON(f->fd, -1);
    sync_folder(f->path);
    return LT_OK;
}

void lt_atomic_file_abort(lt_atomic_file *f)
{
    LT_ASSERT(f->fd >= 0, "%s is closed", f->shown);
    close(f->fd);
    LT_POISON(f->fd, -1);
    unlink(f->temporary);
}
