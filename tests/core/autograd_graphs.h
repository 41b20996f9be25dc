/* autograd_graphs.h - small graphs for tests of the backward engine: leaves, ops that must succeed,
 * and runs. */
#ifndef LT_TEST_AUTOGRAD_GRAPHS_H
#define LT_TEST_AUTOGRAD_GRAPHS_H

#include <stdarg.h>
#include <string.h>

#include "autograd/autograd.h"
#include "expect.h"
#include "op/add.h"
#include "op/contiguous.h"
#include "op/mul.h"
#include "op/select.h"
#include "op/sum.h"

#define FAILS(call, message)                                                                       \
    do {                                                                                           \
        assert_int_not_equal((call), LT_OK);                                                       \
        assert_non_null(strstr(lt_error_message(), (message)));                                    \
    } while (0)

static inline lt_tensor *vector(int n, const double *values)
{
    lt_tensor *t = NULL;
    int64_t size = n;
    assert_ok(lt_tensor_new(LT_FLOAT64, lt_host, 1, &size, &t));
    memcpy(lt_data(t), values, (size_t)n * sizeof *values);
    return t;
}

static inline lt_tensor *leaf(int n, const double *values)
{
    lt_tensor *t = vector(n, values);
    assert_ok(lt_set_requires_grad(t, true));
    return t;
}

static inline lt_tensor *number(double x)
{
    lt_tensor *t = NULL;
    assert_ok(lt_tensor_from_scalar(lt_scalar_from_float(x), &t));
    return t;
}

static inline lt_tensor *mul(lt_tensor *a, lt_tensor *b)
{
    lt_tensor *out = NULL;
    assert_ok(lt_mul(a, b, &out));
    return out;
}

static inline lt_tensor *add(lt_tensor *a, lt_tensor *b)
{
    lt_tensor *out = NULL;
    assert_ok(lt_add(a, b, lt_scalar_from_int(1), &out));
    return out;
}

static inline lt_tensor *sum(lt_tensor *a)
{
    lt_tensor *out = NULL;
    assert_ok(lt_sum(a, LT_DTYPE_NONE, &out));
    return out;
}

static inline lt_tensor *select_one(lt_tensor *a, int64_t index)
{
    lt_tensor *out = NULL;
    assert_ok(lt_select(a, 0, index, &out));
    return out;
}

static inline void expect(lt_tensor *t, int n, const double *values)
{
    lt_tensor *dense = NULL;
    assert_non_null(t);
    assert_int_equal(t->numel, n);
    assert_ok(lt_contiguous(t, &dense));
    for (int i = 0; i < n; i++) assert_true(((const double *)lt_data(dense))[i] == values[i]);
    lt_tensor_release(dense);
}
#define EXPECT(t, n, ...) expect((t), (n), (const double[]){__VA_ARGS__})

static inline lt_status backward(lt_tensor *root)
{
    return lt_run_backward(&(lt_backward_args){.roots = &root, .n = 1});
}

static inline lt_status backward_again(lt_tensor *root)
{
    return lt_run_backward(&(lt_backward_args){.roots = &root, .n = 1, .retain_graph = true});
}

static inline lt_status gradient(lt_tensor *root, lt_tensor *input, bool create_graph,
                                 lt_tensor **out)
{
    return lt_run_backward(&(lt_backward_args){.roots = &root,
                                               .n = 1,
                                               .retain_graph = create_graph,
                                               .create_graph = create_graph,
                                               .inputs = &input,
                                               .n_inputs = 1,
                                               .results = out});
}

static inline void release(int n, ...)
{
    va_list list;
    va_start(list, n);
    for (int i = 0; i < n; i++) lt_tensor_release(va_arg(list, lt_tensor *));
    va_end(list);
}

#endif
