/* files.c - see system/files.h. Paths are in the code page of the process, and both kinds of
 * slashes separate names. */
#include "system/files.h"

#include <direct.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <windows.h>

/* ---- descriptors ----------------------------------------------------------------------------- */

#define PLAIN (_O_BINARY | _O_NOINHERIT)

/* The C library reports a folder as EACCES. */
static int open_path(const char *path, int flags)
{
    lt_file_info info;
    const int fd = _open(path, flags | PLAIN, _S_IREAD | _S_IWRITE);
    if (fd < 0 && errno == EACCES && lt_path_info(path, &info) && info.kind == LT_FOLDER)
        errno = EISDIR;
    return fd;
}

int lt_fd_open_read(const char *path) { return open_path(path, _O_RDONLY); }

int lt_fd_open_write(const char *path) { return open_path(path, _O_WRONLY | _O_CREAT | _O_TRUNC); }

int lt_fd_open_append(const char *path)
{
    return open_path(path, _O_WRONLY | _O_CREAT | _O_APPEND);
}

int lt_fd_open_update(const char *path) { return open_path(path, _O_RDWR); }

int lt_fd_create_private(const char *path) { return open_path(path, _O_RDWR | _O_CREAT | _O_EXCL); }

void lt_fd_close(int fd) { _close(fd); }

static lt_file_info info_of(const struct _stat64 *s)
{
    const unsigned type = s->st_mode & _S_IFMT;
    return (lt_file_info){.kind = type == _S_IFREG   ? LT_REGULAR_FILE
                                  : type == _S_IFDIR ? LT_FOLDER
                                                     : LT_OTHER_FILE,
                          .size = s->st_size};
}

bool lt_fd_info(int fd, lt_file_info *info)
{
    struct _stat64 s;
    if (_fstat64(fd, &s) != 0) return false;
    *info = info_of(&s);
    return true;
}

bool lt_fd_resize(int fd, int64_t size) { return _chsize_s(fd, size) == 0; }

int64_t lt_fd_read_at(int fd, void *to, size_t n, int64_t at)
{
    OVERLAPPED place = {.Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32)};
    DWORD count = 0;
    const DWORD size = n < (1u << 30) ? (DWORD)n : 1u << 30;
    if (ReadFile((HANDLE)_get_osfhandle(fd), to, size, &count, &place)) return count;
    if (GetLastError() == ERROR_HANDLE_EOF) return 0;
    errno = EIO;
    return -1;
}

/* A view keeps the mapping. */
void *lt_fd_map(int fd, size_t n, bool shared)
{
    const HANDLE file = (HANDLE)_get_osfhandle(fd);
    const HANDLE mapping =
        CreateFileMappingA(file, NULL, shared ? PAGE_READWRITE : PAGE_WRITECOPY, 0, 0, NULL);
    void *data = mapping != NULL
                     ? MapViewOfFile(mapping, shared ? FILE_MAP_WRITE : FILE_MAP_COPY, 0, 0, n)
                     : NULL;
    if (mapping != NULL) CloseHandle(mapping);
    if (data == NULL) errno = ENOMEM;
    return data;
}

void lt_fd_unmap(void *data, size_t n)
{
    (void)n;
    UnmapViewOfFile(data);
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* A temporary file, which Windows keeps in memory as long as it can (T) and deletes (D). */
bool lt_text_stream_open(lt_text_stream *s)
{
    char folder[MAX_PATH], path[MAX_PATH];
    *s = (lt_text_stream){NULL};
    if (GetTempPathA(sizeof folder, folder) > 0 && GetTempFileNameA(folder, "lt", 0, path) > 0)
        s->file = fopen(path, "w+bTD");
    return s->file != NULL;
}

char *lt_text_stream_close(lt_text_stream *s)
{
    const long n = ftell(s->file);
    if (ferror(s->file) == 0 && n >= 0) s->text = calloc((size_t)n + 1, 1);
    rewind(s->file);
    if (s->text != NULL && fread(s->text, 1, (size_t)n, s->file) != (size_t)n) {
        free(s->text);
        s->text = NULL;
    }
    fclose(s->file);
    return s->text;
}

/* ---- paths ----------------------------------------------------------------------------------- */

bool lt_path_exists(const char *path) { return _access(path, 0) == 0; }

bool lt_path_info(const char *path, lt_file_info *info)
{
    struct _stat64 s;
    if (_stat64(path, &s) != 0) return false;
    *info = info_of(&s);
    return true;
}

bool lt_path_link_info(const char *path, lt_file_info *info)
{
    const DWORD attributes = GetFileAttributesA(path);
    if (attributes != INVALID_FILE_ATTRIBUTES && attributes & FILE_ATTRIBUTE_REPARSE_POINT) {
        *info = (lt_file_info){.kind = LT_LINK};
        return true;
    }
    return lt_path_info(path, info);
}

/* Opens the file, since only its handle resolves links. */
bool lt_path_real(const char *path, char real[PATH_MAX])
{
    const HANDLE file = CreateFileA(path, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                    NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    errno = ENOENT;
    if (file == INVALID_HANDLE_VALUE) return false;
    char full[PATH_MAX + 4];
    const DWORD n = GetFinalPathNameByHandleA(file, full, sizeof full, 0);
    CloseHandle(file);
    errno = ENAMETOOLONG;
    if (n == 0 || n >= sizeof full) return false;
    const char *start = strncmp(full, "\\\\?\\", 4) == 0 ? full + 4 : full;
    if (strlen(start) >= PATH_MAX) return false;
    strcpy(real, start);
    for (char *p = real; *p != '\0'; p++)
        if (*p == '\\') *p = '/';
    return true;
}

bool lt_path_remove(const char *path) { return _unlink(path) == 0; }

bool lt_folder_make(const char *path) { return _mkdir(path) == 0 || errno == EEXIST; }

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
