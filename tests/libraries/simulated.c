/* simulated.c - a host in C that asks for a simulated GPU, and adds there. */
#include <stdio.h>

#include "ltensor.h"

int main(void)
{
    const lt_device gpu = {LT_CUDA, 0};
    const int64_t size = 3;
    const float numbers[3] = {1, 2, 3};
    float result[3] = {0, 0, 0};
    lt_tensor *x = NULL, *y = NULL;
    if (lt_tensor_new(LT_FLOAT32, gpu, 1, &size, &x) != LT_OK || !lt_has("simulator") ||
        lt_device_count(LT_CUDA) != 1 || lt_tensor_copy_from(x, numbers, sizeof numbers) != LT_OK ||
        lt_mul(x, x, &y) != LT_OK || lt_tensor_copy_to(y, result, sizeof result) != LT_OK ||
        result[2] != 9) {
        fprintf(stderr, "simulated: %s\n", lt_error_message());
        return 1;
    }
    lt_tensor_release(x);
    lt_tensor_release(y);
    return 0;
}
