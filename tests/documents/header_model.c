/* include/ltensor_model.h */
#include <stdio.h>

#include "ltensor_model.h"

/* The runner has written digits.onnx. */
int main(void)
{
    const lt_dims sizes = {1, {3}};
    lt_tensor *image = NULL;
    lt_ones(&sizes, LT_FLOAT32, NULL, &image);
#include "block.inc"
    lt_tensor_release(image);
    return 0;
}
