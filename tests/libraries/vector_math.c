/* vector_math.c - a program whose own loops call the C library's vector functions (libmvec) beside
 * ltensor's exp: each has its own. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ltensor.h"

static double numbers[256];

int main(void)
{
    for (int i = 0; i < 256; i++) numbers[i] = i / 64.0;
    for (int i = 0; i < 256; i++) numbers[i] = sin(numbers[i]); /* vectorized: _ZGVbN2v_sin */
    const int64_t size = 256;
    lt_tensor *x = NULL, *y = NULL;
    if (lt_tensor_wrap(numbers, LT_FLOAT64, 1, &size, NULL, NULL, &x) != LT_OK ||
        lt_exp(x, &y) != LT_OK)
        return 1;
    const double *result = lt_tensor_data(y);
    for (int i = 0; i < 256; i++)
        if (fabs(result[i] - exp(numbers[i])) > 1e-12) return 1;
    Dl_info info;
    void *f = dlsym(RTLD_DEFAULT, "_ZGVbN2v_sin");
    if (f == NULL || dladdr(f, &info) == 0 || strstr(info.dli_fname, "libmvec") == NULL) {
        fprintf(stderr, "vector_math: the program's vector functions are %s's\n",
                f != NULL ? info.dli_fname : "nobody");
        return 1;
    }
    lt_tensor_release(x);
    lt_tensor_release(y);
    return 0;
}
