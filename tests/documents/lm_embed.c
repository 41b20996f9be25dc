/* docs/guide/language-models.md: Use a model from C */
#include <stdio.h>

#include "ltensor_lm.h"

/* The runner has written all-MiniLM-L6-v2, an encoder with vectors of 16 elements. */
int main(void)
{
#include "block.inc"
    const bool fits =
        vectors != NULL && lt_tensor_sizes(vectors)[0] == 2 && lt_tensor_sizes(vectors)[1] == 16;
    lt_tensor_release(vectors);
    lt_lm_release(model);
    return fits ? 0 : 1;
}
