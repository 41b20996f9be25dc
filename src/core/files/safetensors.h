/* safetensors.h - reads and writes named tensors and texts in the safetensors format
 * (https://github.com/huggingface/safetensors, section "Format"): the length of a JSON header as 8
 * bytes, the header, the elements of all tensors without gaps, little-endian.
 *
 * Input is checked before memory is allocated for it, so that memory is bounded by the file's size.
 * Errors are LT_ERR_IO and name the file and the defect. */
#ifndef LT_SAFETENSORS_H
#define LT_SAFETENSORS_H

#include "byte_source.h"
#include "ltensor.h"

typedef struct lt_named_tensor {
    const char *name; /* UTF-8 */
    lt_tensor *tensor;
} lt_named_tensor;

typedef struct lt_named_text {
    const char *name, *text; /* UTF-8 */
} lt_named_text;

/* The contents of a file: tensors on the host, in the order of their elements in the file. */
typedef struct lt_safetensors {
    int64_t n, n_texts;
    /* owned references; a caller that steals one sets the entry to NULL */
    lt_named_tensor *tensors;
    lt_named_text *texts;
    void *json; /* owns the names and texts */
} lt_safetensors;

/* mapped: the elements are mapped privately: pages are loaded on first access, and writes to a
 * tensor do not change the file. The file must not be truncated meanwhile. Bools, and elements that
 * are not aligned in the file, are read into memory instead. */
lt_status lt_safetensors_read(const char *path, bool mapped, lt_safetensors *out);
/* The same for an open source, without mapping. */
lt_status lt_safetensors_read_source(lt_byte_source *source, lt_safetensors *out);
void lt_safetensors_free(lt_safetensors *file);

/* A destination of bytes. */
typedef struct lt_byte_sink {
    void *user;
    const char *shown; /* for messages */
    /* NULL, or receives the number of bytes before the first one is written */
    lt_status (*begin)(void *user, int64_t bytes);
    lt_status (*write)(void *user, const void *data, size_t n);
} lt_byte_sink;

/* Writes the content of a file; see lt_safetensors_write. */
lt_status lt_safetensors_write_sink(const lt_byte_sink *sink, const lt_named_tensor *tensors,
                                    int64_t n, const lt_named_text *texts, int64_t n_texts);

/* Writes the file atomically. Tensors may have any strides and device (each is copied to the host
 * in turn, with the cause "save"); names must be unique and different from "__metadata__". */
lt_status lt_safetensors_write(const char *path, const lt_named_tensor *tensors, int64_t n,
                               const lt_named_text *texts, int64_t n_texts);

#endif
