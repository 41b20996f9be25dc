/* padding.h - the source elements of padding: reflect, replicate, circular. */
#ifndef LT_DEVICES_PADDING_H
#define LT_DEVICES_PADDING_H

#include <stdint.h>

typedef enum lt_pad_mode { LT_PAD_REFLECT, LT_PAD_REPLICATE, LT_PAD_CIRCULAR } lt_pad_mode;

/* The index in [0, size) of the element that padding copies to index p, which may be outside. */
static inline int64_t lt_pad_source(lt_pad_mode mode, int64_t p, int64_t size)
{
    if (p >= 0 && p < size) return p;
    switch (mode) {
    case LT_PAD_REFLECT: return p < 0 ? -p < size ? -p : 2 * (size - 1) + p : 2 * (size - 1) - p;
    case LT_PAD_REPLICATE: return p < 0 ? 0 : size - 1;
    default: return (p % size + size) % size;
    }
}

#endif
