/* include/ltensor_lm.h */
#include <stdio.h>

#include "ltensor_lm.h"

static bool write_piece(const char *piece, size_t n, void *file)
{
    return fwrite(piece, 1, n, file) == n;
}

/* The runner has written model.gguf. */
int main(void)
{
#include "block.inc"
    return 0;
}
