/* files.c - see system/files.h. */
#include "system/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- descriptors ----------------------------------------------------------------------------- */

/* Without O_NONBLOCK, opening a pipe would wait for its other end. */
#define AT_ONCE (O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

int lt_fd_open_read(const char *path) { return open(path, O_RDONLY | AT_ONCE); }

static int open_write(const char *path, int flag)
{
    const int fd = open(path, O_WRONLY | O_CREAT | AT_ONCE | flag, 0666);
    /* blocking writes: a reader exists */
    if (fd >= 0) fcntl(fd, F_SETFL, flag & O_APPEND);
    return fd;
}

int lt_fd_open_write(const char *path) { return open_write(path, O_TRUNC); }

int lt_fd_open_append(const char *path) { return open_write(path, O_APPEND); }

int lt_fd_open_update(const char *path) { return open(path, O_RDWR | AT_ONCE); }

int lt_fd_create_private(const char *path)
{
    return open(path, O_RDWR | O_CREAT | O_EXCL | AT_ONCE, 0600);
}

void lt_fd_close(int fd) { close(fd); }

static lt_file_info info_of(const struct stat *s)
{
    return (lt_file_info){.kind = S_ISREG(s->st_mode)   ? LT_REGULAR_FILE
                                  : S_ISDIR(s->st_mode) ? LT_FOLDER
                                  : S_ISLNK(s->st_mode) ? LT_LINK
                                                        : LT_OTHER_FILE,
                          .size = s->st_size};
}

bool lt_fd_info(int fd, lt_file_info *info)
{
    struct stat s;
    if (fstat(fd, &s) != 0) return false;
    *info = info_of(&s);
    return true;
}

bool lt_fd_resize(int fd, int64_t size) { return ftruncate(fd, size) == 0; }

int64_t lt_fd_read_at(int fd, void *to, size_t n, int64_t at)
{
    ssize_t count;
    do {
        count = pread(fd, to, n, (off_t)at);
    } while (count < 0 && errno == EINTR);
    return count;
}

void *lt_fd_map(int fd, size_t n, bool shared)
{
    void *data = mmap(NULL, n, PROT_READ | PROT_WRITE, shared ? MAP_SHARED : MAP_PRIVATE, fd, 0);
    return data != MAP_FAILED ? data : NULL;
}

void lt_fd_unmap(void *data, size_t n) { munmap(data, n); }

/* ---- texts ----------------------------------------------------------------------------------- */

bool lt_text_stream_open(lt_text_stream *s)
{
    s->file = open_memstream(&s->text, &s->size);
    return s->file != NULL;
}

char *lt_text_stream_close(lt_text_stream *s)
{
    const bool written = ferror(s->file) == 0;
    if (fclose(s->file) == 0 && written) return s->text;
    free(s->text);
    return NULL;
}

/* ---- paths ----------------------------------------------------------------------------------- */

bool lt_path_exists(const char *path) { return access(path, F_OK) == 0; }

bool lt_path_info(const char *path, lt_file_info *info)
{
    struct stat s;
    if (stat(path, &s) != 0) return false;
    *info = info_of(&s);
    return true;
}

bool lt_path_link_info(const char *path, lt_file_info *info)
{
    struct stat s;
    if (lstat(path, &s) != 0) return false;
    *info = info_of(&s);
    return true;
}

bool lt_path_real(const char *path, char real[PATH_MAX]) { return realpath(path, real) != NULL; }

bool lt_path_remove(const char *path) { return unlink(path) == 0; }

bool lt_folder_make(const char *path) { return mkdir(path, 0777) == 0 || errno == EEXIST; }

lt_folder *lt_folder_open(const char *path) { return (lt_folder *)opendir(path); }

const char *lt_folder_next(lt_folder *folder)
{
    const struct dirent *entry;
    while ((entry = readdir((DIR *)folder)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            return entry->d_name;
    return NULL;
}

void lt_folder_close(lt_folder *folder) { closedir((DIR *)folder); }
