/* docs/guide/embedding.md: Train a network */
#include <stdio.h>

#include "ltensor.h"

/* Ten steps of a linear layer, the block once in each. */
int main(void)
{
    const lt_dims inputs = {2, {8, 4}}, outputs = {1, {8}}, sizes = {2, {3, 4}};
    lt_tensor *x = NULL, *labels = NULL, *parameters[1] = {NULL}, *gradients[1],
              *momenta[1] = {NULL};
    lt_scalar first = {0}, last = {0};
    const int n = 1;
    lt_randn(&inputs, NULL, LT_FLOAT32, NULL, &x);
    lt_randint(0, 3, &outputs, NULL, LT_INT64, NULL, &labels);
    lt_zeros(&sizes, LT_FLOAT32, NULL, &parameters[0]);
    lt_zeros(&sizes, LT_FLOAT32, NULL, &momenta[0]);
    lt_tensor_set_requires_grad(parameters[0], true);
    for (int step = 1; step <= 10; step++) {
        lt_tensor *scores = NULL, *loss = NULL;
        lt_linear(x, parameters[0], NULL, &scores);
#include "block.inc"
        lt_tensor_item(loss, step == 1 ? &first : &last);
        lt_tensor_release(scores);
        lt_tensor_release(loss);
    }
    printf("loss %.2f, then %.2f\n", first.v.d, last.v.d);
    lt_tensor *const all[] = {x, labels, parameters[0], momenta[0]};
    for (int i = 0; i < 4; i++) lt_tensor_release(all[i]);
    return last.v.d < first.v.d ? 0 : 1;
}
