/* workload.h - the work that tests of processes and of threads give the library. It aborts on an
 * error, since it also runs on other threads and in child processes, where cmocka cannot report. */
#ifndef LT_TEST_WORKLOAD_H
#define LT_TEST_WORKLOAD_H

#include <stdio.h>
#include <stdlib.h>

#include "ltensor.h"
#include "op/conv2d.h"
#include "op/exp.h"
#include "op/expand.h"
#include "op/mm.h"
#include "op/rand.h"
#include "op/slogdet.h"
#include "op/sum.h"

static inline void need(lt_status status)
{
    if (status == LT_OK) return;
    fprintf(stderr, "%s\n", lt_error_message());
    abort();
}

static inline lt_tensor *random_of(int ndim, const int64_t *sizes)
{
    lt_dims dims = {.n = ndim};
    lt_tensor *t = NULL;
    for (int i = 0; i < ndim; i++) dims.v[i] = sizes[i];
    need(lt_rand(&dims, NULL, LT_FLOAT32, NULL, &t));
    return t;
}

/* An elementwise loop, a product, a convolution by oneDNN and a factorization by OpenBLAS of n rows:
 * 600 by several threads, 1100 also on a thread of its own. */
static inline void compute(int64_t n)
{
    const lt_dims one = {2, {1, 1}}, zero = {2, {0, 0}};
    lt_tensor *x = random_of(1, (int64_t[]){1000000}), *a = random_of(2, (int64_t[]){n, n});
    lt_tensor *images = random_of(4, (int64_t[]){4, 16, 24, 24}),
              *kernels = random_of(4, (int64_t[]){16, 16, 3, 3});
    lt_tensor *results[5] = {NULL};
    need(lt_exp(x, &results[0]));
    need(lt_mm(a, a, &results[1]));
    need(lt_conv2d(images, kernels, NULL, &one, &zero, &one, 1, &results[2]));
    need(lt_slogdet(a, &results[3], &results[4]));
    const double e = ((const float *)lt_tensor_data(results[0]))[0];
    if (!(e >= 1 && e < 3)) abort();
    for (int i = 0; i < 5; i++) lt_tensor_release(results[i]);
    lt_tensor_release(x);
    lt_tensor_release(a);
    lt_tensor_release(images);
    lt_tensor_release(kernels);
}

/* The sum of 2^40 numbers takes minutes. */
static inline lt_status compute_for_long(void)
{
    lt_tensor *one = random_of(1, (int64_t[]){1}), *many = NULL, *sum = NULL;
    const lt_dims sizes = {2, {1 << 20, 1 << 20}};
    need(lt_expand(one, &sizes, &many));
    const lt_status status = lt_sum(many, LT_DTYPE_NONE, &sum);
    lt_tensor_release(one);
    lt_tensor_release(many);
    lt_tensor_release(sum);
    return status;
}

#endif
