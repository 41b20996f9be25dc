/* docs/guide/embedding.md: Choose GPUs and streams */
#include "ltensor.h"

/* The runner simulates two GPUs. */
int main(void)
{
    const lt_dims sizes = {2, {4, 4}};
    const lt_device second = {LT_CUDA, 1};
    lt_tensor *a = NULL, *b = NULL, *product = NULL;
    lt_scalar corner = {0};
    lt_ones(&sizes, LT_FLOAT32, &second, &a);
    lt_ones(&sizes, LT_FLOAT32, &second, &b);
#include "block.inc"
    lt_tensor *row = NULL, *element = NULL;
    lt_select(product, 0, 0, &row);
    lt_select(row, 0, 0, &element);
    lt_tensor_item(element, &corner);
    lt_tensor *const all[] = {a, b, product, row, element};
    for (int i = 0; i < 5; i++) lt_tensor_release(all[i]);
    lt_stream_release(stream);
    lt_stream_release(before);
    return corner.v.d == 4 ? 0 : 1;
}
