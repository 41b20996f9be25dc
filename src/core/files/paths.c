/* paths.c - see paths.h. Includes POSIX and core's errors. */
#include "paths.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "context/context.h"
#include "error.h"

static lt_status path_error(const char *path)
{
    return lt_error(LT_ERR_IO, "%s: %s", path, strerror(errno));
}

/* ---- opening --------------------------------------------------------------------------------- */

lt_status lt_open_to_read(const char *path, int *fd, int64_t *size)
{
    struct stat info;
    LT_TRY(lt_authorize(LT_ACCESS_FILE_READ, path));
    /* Without O_NONBLOCK, opening a pipe would wait for its writer. */
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (*fd < 0) return path_error(path);
    lt_status status = LT_OK;
    if (fstat(*fd, &info) != 0) {
        status = path_error(path);
    } else if (S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        status = path_error(path);
    } else if (!S_ISREG(info.st_mode)) {
        status = lt_error(LT_ERR_IO, "%s: not a file", path);
        errno = 0;
    }
    if (status == LT_OK) {
        *size = info.st_size;
        return LT_OK;
    }
    const int code = errno;
    close(*fd);
    errno = code;
    return status;
}

lt_status lt_open_to_write(const char *path, bool append, int *fd)
{
    LT_TRY(lt_authorize(LT_ACCESS_FILE_WRITE, path));
    const int flags =
        O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (append ? O_APPEND : O_TRUNC);
    *fd = open(path, flags, 0666);
    if (*fd < 0) return path_error(path);
    fcntl(*fd, F_SETFL, append ? O_APPEND : 0); /* blocking writes: a reader exists */
    return LT_OK;
}

/* ---- names ----------------------------------------------------------------------------------- */

lt_status lt_remove_file(const char *path)
{
    LT_TRY(lt_authorize(LT_ACCESS_FILE_REMOVE, path));
    return unlink(path) == 0 ? LT_OK : path_error(path);
}

lt_status lt_make_folder(const char *path)
{
    char partial[PATH_MAX];
    struct stat info;
    LT_TRY(lt_authorize(LT_ACCESS_FOLDER_MAKE, path));
    const size_t n = strlen(path);
    errno = ENAMETOOLONG;
    if (n >= sizeof partial) return path_error(path);
    memcpy(partial, path, n + 1);
    for (char *p = partial + 1; n > 0; p++) {
        if (*p != '/' && *p != '\0') continue;
        const char end = *p;
        *p = '\0';
        if (mkdir(partial, 0777) != 0 && errno != EEXIST) return path_error(path);
        if (end == '\0') break;
        *p = end;
    }
    if (stat(path, &info) != 0) return path_error(path);
    errno = ENOTDIR;
    return S_ISDIR(info.st_mode) ? LT_OK : path_error(path);
}

lt_status lt_list_folder(const char *path, lt_status (*each)(void *context, const char *name),
                         void *context)
{
    LT_TRY(lt_authorize(LT_ACCESS_FILE_READ, path));
    DIR *folder = opendir(path);
    if (folder == NULL) return path_error(path);
    lt_status status = LT_OK;
    const struct dirent *entry;
    while (status == LT_OK && (entry = readdir(folder)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            status = each(context, entry->d_name);
    closedir(folder);
    return status;
}

/* ---- inside of a folder ---------------------------------------------------------------------- */

static bool is_separator(char c) { return c == '/' || c == '\\'; }

/* Whether a name is relative and contains no "..". Accepts the separators of other systems, since
 * files may have been written there. */
static bool stays_below(const char *name)
{
    if (*name == '\0' || is_separator(*name)) return false;
    for (const char *p = name; *p != '\0'; p++)
        if ((p == name || is_separator(p[-1])) && p[0] == '.' && p[1] == '.' &&
            (p[2] == '\0' || is_separator(p[2])))
            return false;
    return true;
}

/* Truncates a path to its folder, without the trailing slash. */
static void cut_to_folder(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash == NULL)
        strcpy(path, ".");
    else
        slash[slash == path] = '\0';
}

static bool is_below(const char *folder, const char *path)
{
    const size_t n = strlen(folder);
    if (n == 1) return true; /* the root */
    return strncmp(folder, path, n) == 0 && path[n] == '/';
}

bool lt_path_inside(const char *beside, const char *name, char path[PATH_MAX])
{
    char folder[PATH_MAX], real_folder[PATH_MAX], real[PATH_MAX];
    if (!stays_below(name)) return false;
    const char *slash = strrchr(beside, '/');
    const int length = slash == NULL ? 0 : (int)(slash - beside) + 1;
    if (snprintf(path, PATH_MAX, "%.*s%s", length, beside, name) >= PATH_MAX) return false;
    snprintf(folder, sizeof folder, "%.*s", length, beside);
    if (length == 0) strcpy(folder, ".");
    /* without the folder, no file exists in it */
    if (realpath(folder, real_folder) == NULL) return true;
    /* If the path does not exist, resolve its nearest existing parent folder. */
    char existing[PATH_MAX];
    memcpy(existing, path, PATH_MAX);
    while (realpath(existing, real) == NULL) {
        struct stat info;
        /* a dangling link: its target cannot be checked */
        if (lstat(existing, &info) == 0 && S_ISLNK(info.st_mode)) return false;
        if (strcmp(existing, ".") == 0 || strcmp(existing, "/") == 0) return false;
        cut_to_folder(existing);
    }
    if (strcmp(real, real_folder) == 0 || is_below(real_folder, real)) return true;
    if (realpath(beside, real_folder) == NULL) return false;
    cut_to_folder(real_folder);
    return is_below(real_folder, real);
}
