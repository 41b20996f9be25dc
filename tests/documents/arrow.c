/* docs/guide/embedding.md: Share memory with other libraries */
#include "ltensor.h"

int main(void)
{
    const lt_dims sizes = {1, {3}};
    lt_tensor *t = NULL, *column = NULL;
    lt_ones(&sizes, LT_FLOAT32, NULL, &t);
#include "block.inc"
    schema.release(&schema);
    const bool shared = lt_tensor_data(column) == lt_tensor_data(t);
    lt_tensor_release(t);
    lt_tensor_release(column);
    return shared ? 0 : 1;
}
