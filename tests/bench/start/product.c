/* product.c - the smallest program with a use: multiplies two matrices and says one number.
 * product_torch.cpp is the same with libtorch; run.sh measures both. */
#include <stdio.h>

#include "ltensor.h"

#define N 64

static float a[N * N], b[N * N];

int main(void)
{
    const int64_t sizes[] = {N, N};
    lt_tensor *x = NULL, *y = NULL, *product = NULL;
    for (int i = 0; i < N * N; i++) a[i] = (float)(i % 7), b[i] = (float)(i % 5);
    if (lt_tensor_wrap(a, LT_FLOAT32, 2, sizes, NULL, NULL, &x) != LT_OK ||
        lt_tensor_wrap(b, LT_FLOAT32, 2, sizes, NULL, NULL, &y) != LT_OK ||
        lt_mm(x, y, &product) != LT_OK) {
        fprintf(stderr, "%s\n", lt_error_message());
        return 1;
    }
    printf("%g\n", ((const float *)lt_tensor_data(product))[N * N - 1]);
    lt_tensor_release(x);
    lt_tensor_release(y);
    lt_tensor_release(product);
    return 0;
}
