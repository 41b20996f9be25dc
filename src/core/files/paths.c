/* paths.c - see paths.h. Includes core's errors. */
#include "paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context/context.h"
#include "error.h"
#include "system/files.h"

static lt_status path_error(const char *path)
{
    return lt_error(LT_ERR_IO, "%s: %s", path, strerror(errno));
}

/* ---- opening --------------------------------------------------------------------------------- */

lt_status lt_open_to_read(const char *path, int *fd, int64_t *size)
{
    lt_file_info info;
    LT_TRY(lt_authorize(LT_ACCESS_FILE_READ, path));
    *fd = lt_fd_open_read(path);
    if (*fd < 0) return path_error(path);
    lt_status status = LT_OK;
    if (!lt_fd_info(*fd, &info)) {
        status = path_error(path);
    } else if (info.kind == LT_FOLDER) {
        errno = EISDIR;
        status = path_error(path);
    } else if (info.kind != LT_REGULAR_FILE) {
        status = lt_error(LT_ERR_IO, "%s: not a file", path);
        errno = 0;
    }
    if (status == LT_OK) {
        *size = info.size;
        return LT_OK;
    }
    const int code = errno;
    lt_fd_close(*fd);
    errno = code;
    return status;
}

lt_status lt_open_to_write(const char *path, bool append, int *fd)
{
    LT_TRY(lt_authorize(LT_ACCESS_FILE_WRITE, path));
    *fd = append ? lt_fd_open_append(path) : lt_fd_open_write(path);
    return *fd >= 0 ? LT_OK : path_error(path);
}

/* ---- names ----------------------------------------------------------------------------------- */

lt_status lt_remove_file(const char *path)
{
    LT_TRY(lt_authorize(LT_ACCESS_FILE_REMOVE, path));
    return lt_path_remove(path) ? LT_OK : path_error(path);
}

lt_status lt_make_folder(const char *path)
{
    char partial[PATH_MAX];
    lt_file_info info;
    LT_TRY(lt_authorize(LT_ACCESS_FOLDER_MAKE, path));
    const size_t n = strlen(path);
    errno = ENAMETOOLONG;
    if (n >= sizeof partial) return path_error(path);
    memcpy(partial, path, n + 1);
    for (char *p = partial + 1; n > 0; p++) {
        if (*p != '/' && *p != '\0') continue;
        const char end = *p;
        *p = '\0';
        if (!lt_folder_make(partial)) return path_error(path);
        if (end == '\0') break;
        *p = end;
    }
    if (!lt_path_info(path, &info)) return path_error(path);
    errno = ENOTDIR;
    return info.kind == LT_FOLDER ? LT_OK : path_error(path);
}

lt_status lt_list_folder(const char *path, lt_status (*each)(void *context, const char *name),
                         void *context)
{
    LT_TRY(lt_authorize(LT_ACCESS_FILE_READ, path));
    lt_folder *folder = lt_folder_open(path);
    if (folder == NULL) return path_error(path);
    lt_status status = LT_OK;
    const char *name;
    while (status == LT_OK && (name = lt_folder_next(folder)) != NULL) status = each(context, name);
    lt_folder_close(folder);
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
    if (!lt_path_real(folder, real_folder)) return true;
    /* If the path does not exist, resolve its nearest existing parent folder. */
    char existing[PATH_MAX];
    memcpy(existing, path, PATH_MAX);
    while (!lt_path_real(existing, real)) {
        lt_file_info info;
        /* a dangling link: its target cannot be checked */
        if (lt_path_link_info(existing, &info) && info.kind == LT_LINK) return false;
        if (strcmp(existing, ".") == 0 || strcmp(existing, "/") == 0) return false;
        cut_to_folder(existing);
    }
    if (strcmp(real, real_folder) == 0 || is_below(real_folder, real)) return true;
    if (!lt_path_real(beside, real_folder)) return false;
    cut_to_folder(real_folder);
    return is_below(real_folder, real);
}
