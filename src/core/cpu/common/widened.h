/* widened.h - half types for kernels of float: converts arrays to blocks of float and back.
 * Included by src/core/cpu only. */
#ifndef LT_CPU_WIDENED_H
#define LT_CPU_WIDENED_H

#include "dtypes/dtype.h"
#include "loops.h"
#include "memory/block.h"

typedef struct lt_widened {
    float *data;
    size_t capacity;
} lt_widened;

static inline void lt_convert_dense(lt_dtype to_dtype, void *to, lt_dtype from_dtype,
                                    const void *from, int64_t n)
{
    lt_loops.cast[to_dtype][from_dtype](
        (char *[]){to, (char *)from},
        (int64_t[]){(int64_t)lt_dtype_size(to_dtype), (int64_t)lt_dtype_size(from_dtype)}, n, NULL);
}

/* Allocates n floats and converts `from` into them; if `from` is NULL, they are uninitialized. */
static inline lt_status lt_widen(lt_widened *w, lt_dtype dtype, const void *from, int64_t n)
{
    w->data = lt_block_array(n, sizeof(float), &w->capacity);
    if (w->data == NULL) return LT_ERR_MEMORY;
    if (from != NULL) lt_convert_dense(LT_FLOAT32, w->data, dtype, from, n);
    return LT_OK;
}

static inline void lt_widened_free(lt_widened *w) { lt_block_free(w->data, w->capacity); }

#endif
