/* paths.h - what the library does with paths of the host besides reading and writing what is in the
 * files. Every function asks the context's authorizer first. Errors are LT_ERR_IO with the path and
 * the system's reason, and LT_ERR_PERMISSION. */
#ifndef LT_PATHS_H
#define LT_PATHS_H

#include <limits.h>
#include <stdint.h>

#include "ltensor.h"

/* Opens a file to read it, without waiting: what is no regular file (a pipe, a device, a folder) is
 * an error. *fd must be closed; *size: its bytes. On an error errno says why, 0 where it is neither
 * a regular file nor a folder. */
lt_status lt_open_to_read(const char *path, int *fd, int64_t *size);

/* Opens a file to write it from its beginning (append: to its end), and makes it where there is
 * none. A pipe that nobody reads is an error. *fd must be closed. */
lt_status lt_open_to_write(const char *path, bool append, int *fd);

/* Removes a file, or the symbolic link of that name. */
lt_status lt_remove_file(const char *path);

/* Makes a folder and those around it, where there are none. */
lt_status lt_make_folder(const char *path);

/* Calls each(context, name) for the names in a folder, without . and .., until it gives something
 * else than LT_OK. */
lt_status lt_list_folder(const char *path, lt_status (*each)(void *context, const char *name),
                         void *context);

/* The path of a file that another file names: `name` is relative to the folder of `beside`. False
 * where that leads out of this folder, by the name itself or through symbolic links. Files that lie
 * where `beside` is a symbolic link to count as well: caches of downloads have a folder of links to
 * files that lie together. A path that does not exist may be inside. */
bool lt_path_inside(const char *beside, const char *name, char path[PATH_MAX]);

#endif
