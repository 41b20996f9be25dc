/* ltensor_files.h - safetensors files in memory and by callbacks. lt_save and lt_load of ltensor.h
 * read and write them by path. Include it beside ltensor.h. */
#ifndef LTENSOR_FILES_H
#define LTENSOR_FILES_H

#include "ltensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- memory ---------------------------------------------------------------------------------- */

/* As lt_load, for the content of a file. The bytes are copied. */
LT_API lt_status lt_load_memory(const void *bytes, size_t size, lt_archive **out);

/* As lt_save. New: the content of the file, a tensor of uint8 with one dimension on the host. */
LT_API lt_status lt_save_memory(const char *const *names, lt_tensor *const *tensors, int64_t n,
                                lt_tensor **out);

/* ---- callbacks ------------------------------------------------------------------------------- */

/* A file that the host reads, such as an entry of an archive. */
typedef struct lt_reader {
    size_t size;   /* sizeof(lt_reader) in the caller; set it before the call */
    void *user;    /* passed to read */
    int64_t bytes; /* of the file */
    /* Stores 1 to n bytes from offset `at` on in `to`, and returns their number; 0 and negative
     * numbers are failures. Called by the calling thread, with rising offsets. */
    int64_t (*read)(void *user, int64_t at, void *to, int64_t n);
} lt_reader;

/* As lt_load. LT_ERR_IO: the content is damaged, or read failed. LT_ERR_TYPE: no function, or a size
 * that no version had. */
LT_API lt_status lt_load_from(const lt_reader *reader, lt_archive **out);

/* A destination that the host writes. */
typedef struct lt_writer {
    size_t size; /* sizeof(lt_writer) in the caller; set it before the call */
    void *user;  /* passed to write */
    /* Appends n bytes; false is a failure. Called by the calling thread. */
    bool (*write)(void *user, const void *data, size_t n);
} lt_writer;

/* As lt_save, in pieces. After LT_ERR_IO, a failure of write, a part may have been written. */
LT_API lt_status lt_save_to(const lt_writer *writer, const char *const *names,
                            lt_tensor *const *tensors, int64_t n);

#ifdef __cplusplus
}
#endif

#endif
