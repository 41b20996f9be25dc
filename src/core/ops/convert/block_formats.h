/* block_formats.h - the formats of quantized weights by name, with the sizes of their blocks. */
#ifndef LT_BLOCK_FORMATS_H
#define LT_BLOCK_FORMATS_H

#include <stdbool.h>

#include "dtypes/block_format.h"

typedef struct lt_block_facts {
    const char *name;
    int elements, bytes; /* of a block */
} lt_block_facts;

extern const lt_block_facts lt_block_formats[LT_BLOCK_FORMATS];

/* The format of this name; false: none has it. */
bool lt_find_block_format(const char *name, lt_block_format *out);

#endif
