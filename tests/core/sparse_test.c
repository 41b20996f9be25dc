/* sparse_test.c - sparse tensors for hosts in C: construction, components, products, gradients, and
 * what is refused. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

#include "ltensor.h"
#include "op/clone.h"
#include "op/crow_indices.h"
#include "op/exp.h"
#include "op/mm.h"
#include "op/nnz.h"
#include "op/sparse_coo_tensor.h"
#include "op/sum.h"
#include "op/to_dense.h"
#include "op/to_sparse_compressed.h"

static void ok(lt_status status)
{
    if (status != LT_OK) fail_msg("%s", lt_error_message());
}

static lt_tensor *from(lt_dtype dtype, const void *data, int ndim, const int64_t *sizes)
{
    lt_tensor *lent = NULL, *own = NULL;
    ok(lt_tensor_wrap((void *)data, dtype, ndim, sizes, NULL, NULL, &lent));
    ok(lt_clone(lent, &own));
    lt_tensor_release(lent);
    return own;
}

/* [[0, 0, 3], [4, 0, 5]], indices from 0 */
static lt_tensor *example(void)
{
    static const int64_t places[] = {0, 1, 1, 2, 0, 2}, two_by_three[] = {2, 3}, three[] = {3};
    static const float numbers[] = {3, 4, 5};
    lt_tensor *indices = from(LT_INT64, places, 2, two_by_three),
              *values = from(LT_FLOAT32, numbers, 1, three), *out = NULL;
    ok(lt_sparse_coo_tensor(indices, values, &(lt_dims){2, {2, 3}}, false, &out));
    lt_tensor_release(indices);
    lt_tensor_release(values);
    return out;
}

static void assert_elements(lt_tensor *t, const float *want, size_t n)
{
    float got[16];
    lt_tensor *dense = NULL;
    ok(lt_to_dense(t, LT_DTYPE_NONE, NULL, &dense));
    ok(lt_tensor_copy_to(dense, got, n * sizeof *got));
    for (size_t i = 0; i < n; i++) assert_true(fabsf(got[i] - want[i]) < 1e-6f);
    lt_tensor_release(dense);
}

static void test_made_of_components(void **state)
{
    (void)state;
    int64_t count = 0;
    lt_tensor *x = example(), *rows = NULL, *begins = NULL;
    int64_t got[3];
    assert_int_equal(lt_tensor_layout(x), LT_SPARSE_COO);
    assert_int_equal(lt_tensor_layout(NULL), LT_STRIDED);
    assert_int_equal(lt_tensor_numel(x), 6);
    assert_null(lt_tensor_data(x));
    ok(lt_nnz(x, &count));
    assert_int_equal(count, 3);
    assert_elements(x, (float[]){0, 0, 3, 4, 0, 5}, 6);
    ok(lt_to_sparse_compressed(x, "sparse_csr", 0, &rows));
    assert_int_equal(lt_tensor_layout(rows), LT_SPARSE_CSR);
    ok(lt_crow_indices(rows, &begins));
    ok(lt_tensor_copy_to(begins, got, sizeof got));
    assert_memory_equal(got, ((int64_t[]){0, 1, 3}), sizeof got);
    lt_tensor_release(begins);
    lt_tensor_release(rows);
    lt_tensor_release(x);
}

static void test_has_a_gradient_with_its_places(void **state)
{
    (void)state;
    static const float numbers[] = {1, 2, 3};
    lt_tensor *x = example(), *column = from(LT_FLOAT32, numbers, 2, (int64_t[]){3, 1}), *y = NULL,
              *sum = NULL;
    ok(lt_tensor_set_requires_grad(x, true));
    ok(lt_mm(x, column, &y));
    assert_elements(y, (float[]){9, 19}, 2);
    ok(lt_sum(y, LT_DTYPE_NONE, &sum));
    ok(lt_backward(sum, NULL, false, false));
    lt_tensor *grad = lt_tensor_grad(x);
    assert_int_equal(lt_tensor_layout(grad), LT_SPARSE_COO);
    assert_elements(grad, (float[]){0, 0, 3, 1, 0, 3}, 6);
    lt_tensor_release(sum);
    lt_tensor_release(y);
    lt_tensor_release(column);
    lt_tensor_release(x);
}

static void test_is_refused_where_there_is_no_form(void **state)
{
    (void)state;
    float got[6];
    lt_scalar number;
    lt_tensor *x = example(), *out = NULL;
    assert_int_equal(lt_exp(x, &out), LT_ERR_RUNTIME);
    assert_non_null(strstr(lt_error_message(), "exp() does not support sparse tensors"));
    assert_int_equal(lt_tensor_copy_from(x, got, sizeof got), LT_ERR_RUNTIME);
    assert_int_equal(lt_tensor_item(x, &number), LT_ERR_RUNTIME);
    assert_null(out);
    lt_tensor_release(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_made_of_components),
        cmocka_unit_test(test_has_a_gradient_with_its_places),
        cmocka_unit_test(test_is_refused_where_there_is_no_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
