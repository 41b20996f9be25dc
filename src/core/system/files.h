/* files.h - files, folders and paths of the system. Functions return false, -1 or NULL and set
 * errno on failure. They check no permission of the context: files/paths.h does. */
#ifndef LT_SYSTEM_FILES_H
#define LT_SYSTEM_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <limits.h>

typedef enum lt_file_kind { LT_REGULAR_FILE, LT_FOLDER, LT_LINK, LT_OTHER_FILE } lt_file_kind;

typedef struct lt_file_info {
    lt_file_kind kind;
    int64_t size; /* bytes */
} lt_file_info;

/* ---- descriptors: closed in programs that the process executes ---- */

/* Opens for reading, without waiting for the writer of a pipe. */
int lt_fd_open_read(const char *path);
/* Opens for writing, truncated or at the end of the file; creates the file if it does not exist. A
 * pipe without a reader is an error. */
int lt_fd_open_write(const char *path);
int lt_fd_open_append(const char *path);
/* Opens for reading and writing, without waiting. */
int lt_fd_open_update(const char *path);
/* Creates a file for reading and writing that only its user may access; an error if it exists. */
int lt_fd_create_private(const char *path);
void lt_fd_close(int fd);

bool lt_fd_info(int fd, lt_file_info *info);
bool lt_fd_resize(int fd, int64_t size);
/* Reads 1 to n bytes at an offset, which repeats after a signal. Returns their number; 0: the end
 * of the file. */
int64_t lt_fd_read_at(int fd, void *to, size_t n, int64_t at);

/* Maps n > 0 bytes from the start of an open file; shared: writes go to the file, otherwise they
 * are private. */
void *lt_fd_map(int fd, size_t n, bool shared);
void lt_fd_unmap(void *data, size_t n);

/* ---- texts ---- */

/* A stream that collects a text in memory. */
typedef struct lt_text_stream {
    FILE *file;
    char *text;
    size_t size;
} lt_text_stream;

bool lt_text_stream_open(lt_text_stream *s);
/* Closes the stream. Returns the text, which free() frees; NULL: a write failed. */
char *lt_text_stream_close(lt_text_stream *s);

/* ---- paths ---- */

/* Whether a file exists. */
bool lt_path_exists(const char *path);
/* Information about a file; a symbolic link is followed, or has the kind LT_LINK. */
bool lt_path_info(const char *path, lt_file_info *info);
bool lt_path_link_info(const char *path, lt_file_info *info);
/* Stores the absolute path without symbolic links. */
bool lt_path_real(const char *path, char real[PATH_MAX]);
bool lt_path_remove(const char *path);
/* Creates a folder; its parent exists. True also if the path exists already. */
bool lt_folder_make(const char *path);

typedef struct lt_folder lt_folder;
lt_folder *lt_folder_open(const char *path);
/* The next name in the folder, valid until the next call, without . and ..; NULL: the end. */
const char *lt_folder_next(lt_folder *folder);
void lt_folder_close(lt_folder *folder);

#endif
