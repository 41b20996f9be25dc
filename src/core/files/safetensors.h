/* safetensors.h - named tensors and texts in a file of the safetensors format
 * (https://github.com/huggingface/safetensors, section "Format"): the length of a JSON header as 8
 * bytes, the header, the elements of all tensors without gaps, little-endian.
 *
 * What is read is checked before anything is allocated for it, so that memory is bounded by the
 * file's size. Errors are LT_ERR_IO and name the file and what is wrong with it. */
#ifndef LT_SAFETENSORS_H
#define LT_SAFETENSORS_H

#include "ltensor.h"

typedef struct lt_named_tensor {
    const char *name; /* UTF-8 */
    lt_tensor *tensor;
} lt_named_tensor;

typedef struct lt_named_text {
    const char *name, *text; /* UTF-8 */
} lt_named_text;

/* What a file holds: tensors in the order of their elements in it, on the host. */
typedef struct lt_safetensors {
    int64_t n, n_texts;
    lt_named_tensor *tensors; /* counted; whoever takes one over leaves NULL in its place */
    lt_named_text *texts;
    void *json; /* owns the names and texts */
} lt_safetensors;

/* mapped: elements stay in the file, which is mapped: its pages come when they are looked at, and
 * what is written to a tensor stays in memory. It must not become shorter meanwhile. Elements that
 * are not aligned in the file, and bools, are read. */
lt_status lt_safetensors_read(const char *path, bool mapped, lt_safetensors *out);
void lt_safetensors_free(lt_safetensors *file);

/* Writes the file atomically. Tensors may be of any layout, on any device (copied to the host one
 * at a time, as cause "save"); names must differ from each other and from "__metadata__". */
lt_status lt_safetensors_write(const char *path, const lt_named_tensor *tensors, int64_t n,
                               const lt_named_text *texts, int64_t n_texts);

#endif
