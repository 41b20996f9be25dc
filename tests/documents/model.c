/* docs/guide/embedding.md: Run a model of a file */
#include <stdio.h>

#include "ltensor_model.h"

/* The runner has written digits.onnx, the squares of its input. */
int main(void)
{
    const lt_dims sizes = {1, {3}};
    lt_tensor *image = NULL;
    lt_full(&sizes, lt_scalar_from_float(3), LT_FLOAT32, NULL, &image);
#include "block.inc"
    float values[3] = {0, 0, 0};
    lt_tensor_copy_to(output, values, sizeof values);
    lt_tensor_release(output);
    lt_tensor_release(image);
    lt_model_release(model);
    return values[2] == 9 ? 0 : 1;
}
