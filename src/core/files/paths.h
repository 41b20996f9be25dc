/* paths.h - opens, creates, removes and lists paths of the host. Every function first calls the
 * context's authorizer. Errors are LT_ERR_IO with the path and the system's reason, and
 * LT_ERR_PERMISSION. */
#ifndef LT_PATHS_H
#define LT_PATHS_H

#include <limits.h>
#include <stdint.h>

#include "ltensor.h"

/* Opens a regular file for reading, without blocking; a pipe, device or folder is an error. The
 * caller closes *fd; *size: bytes. On an error errno is set; it is 0 for neither a regular file nor
 * a folder. */
lt_status lt_open_to_read(const char *path, int *fd, int64_t *size);

/* Opens a file for writing, truncated (append: at its end), and creates it if it does not exist. A
 * pipe without a reader is an error. The caller closes *fd. */
lt_status lt_open_to_write(const char *path, bool append, int *fd);

/* Removes a file or a symbolic link. */
lt_status lt_remove_file(const char *path);

/* Creates a folder and its missing parents. */
lt_status lt_make_folder(const char *path);

/* Calls each(context, name) for the names in a folder, without . and .., until it returns an error.
 */
lt_status lt_list_folder(const char *path, lt_status (*each)(void *context, const char *name),
                         void *context);

/* Resolves `name`, which the file `beside` contains, relative to the folder of `beside`. False if
 * it leads out of this folder, by its name or through symbolic links. If `beside` is a symbolic
 * link, the folder of its target is allowed too: download caches consist of a folder of links to
 * files in another folder. A path that does not exist may be inside. */
bool lt_path_inside(const char *beside, const char *name, char path[PATH_MAX]);

#endif
