#include "ops/convert/block_formats.h"

#include <string.h>

#include "dtypes/block_sizes.h"

const lt_block_facts lt_block_formats[LT_BLOCK_FORMATS] = {
#define DESCRIBE(NAME, name, elements, bytes) [LT_BLOCK_##NAME] = {#name, elements, bytes},
    LT_EACH_BLOCK_FORMAT(DESCRIBE)
#undef DESCRIBE
};

bool lt_find_block_format(const char *name, lt_block_format *out)
{
    for (int f = 0; f < LT_BLOCK_FORMATS; f++)
        if (strcmp(name, lt_block_formats[f].name) == 0) {
            *out = (lt_block_format)f;
            return true;
        }
    return false;
}
