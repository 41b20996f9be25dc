/* docs/guide/embedding.md: Run untrusted scripts */
#include <stdio.h>
#include <string.h>

#include "ltensor_script.h"

int main(void)
{
    const char *text = "function filter(x) return x * 2 end";
    const lt_dims sizes = {1, {2}};
    lt_tensor *picture = NULL;
    lt_script *script = NULL;
    lt_ones(&sizes, LT_FLOAT32, NULL, &picture);
#include "block.inc"
    float values[2] = {0, 0};
    lt_tensor_copy_to(y.v.tensor, values, sizeof values);
    lt_value_release(&y);
    lt_tensor_release(picture);
    lt_script_release(script);
    return values[1] == 2 ? 0 : 1;
}
