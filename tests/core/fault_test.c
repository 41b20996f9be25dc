/* fault_test.c - every allocation of an operation is made to fail in turn: the operation must
 * report it, leave its output alone and keep nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "autograd/autograd.h"
#include "error.h"
#include "memory/block.h"
#include "memory/limit.h"
#include "memory/system.h"
#include "tensor.h"
#include "op/add.h"
#include "op/full.h"
#include "op/mean.h"
#include "op/mm.h"
#include "op/mul.h"
#include "op/ones.h"
#include "op/softmax.h"
#include "op/sum.h"
#include "op/tanh.h"
#include "op/to.h"

static lt_tensor *a, *b, *weight;

static int setup(void **state)
{
    (void)state;
    const lt_dims sizes = {.n = 2, .v = {40, 40}};
    assert_int_equal(lt_ones(&sizes, LT_FLOAT32, NULL, &a), LT_OK);
    assert_int_equal(lt_full(&sizes, lt_scalar_from_float(2), LT_FLOAT32, NULL, &b), LT_OK);
    assert_int_equal(lt_ones(&sizes, LT_FLOAT32, NULL, &weight), LT_OK);
    assert_int_equal(lt_set_requires_grad(weight, true), LT_OK);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    lt_tensor_release(a);
    lt_tensor_release(b);
    lt_tensor_release(weight);
    return 0;
}

typedef lt_status (*operation)(lt_tensor **out);

/* Fails the first, second, ... allocation until the operation succeeds. */
static void fail_each(operation run)
{
    lt_block_trim();
    for (int64_t n = 1; n < 1000; n++) {
        int64_t live = lt_mem_live();
        lt_tensor *out = NULL;
        lt_block_trim();
        lt_mem_fail_after(n);
        lt_status status = run(&out);
        lt_mem_fail_after(0);
        if (status == LT_OK) {
            assert_non_null(out);
            lt_tensor_release(out);
            assert_int_equal(lt_mem_live(), live);
            assert_true(n > 1);
            return;
        }
        assert_int_equal(status, LT_ERR_MEMORY);
        assert_null(out);
        assert_int_equal(lt_mem_live(), live);
    }
    fail_msg("the operation did not come to an end");
}

static lt_status run_add(lt_tensor **out) { return lt_add(a, b, lt_scalar_from_int(1), out); }
static lt_status run_mm(lt_tensor **out) { return lt_mm(a, b, out); }
static lt_status run_softmax(lt_tensor **out) { return lt_softmax(a, 1, LT_DTYPE_NONE, out); }
static lt_status run_sum(lt_tensor **out)
{
    const lt_dims dims = {.n = 1, .v = {0}};
    return lt_sum_dim(a, &dims, false, LT_DTYPE_NONE, out);
}
static lt_status run_promotion(lt_tensor **out)
{
    lt_tensor *wide = NULL;
    LT_TRY(lt_to_dtype(a, LT_FLOAT64, false, false, &wide));
    lt_status status = lt_mul(wide, b, out);
    lt_tensor_release(wide);
    return status;
}
static lt_status run_recorded(lt_tensor **out)
{
    lt_tensor *product = NULL;
    LT_TRY(lt_mm(a, weight, &product));
    lt_status status = lt_tanh(product, out);
    lt_tensor_release(product);
    return status;
}

/* The whole way back, with the gradient as result. */
static lt_status run_backward(lt_tensor **out)
{
    lt_tensor *y = NULL, *loss = NULL, *grad = NULL;
    lt_status status;
    LT_CHECK(run_recorded(&y));
    LT_CHECK(lt_mean(y, LT_DTYPE_NONE, &loss));
    LT_CHECK(lt_run_backward(&(lt_backward_args){
        .roots = &loss, .n = 1, .inputs = &weight, .n_inputs = 1, .results = &grad}));
    *out = grad;
done:
    lt_tensor_release(y);
    lt_tensor_release(loss);
    return status;
}

static void test_elementwise(void **state)
{
    (void)state;
    fail_each(run_add);
    fail_each(run_promotion);
}

static void test_reductions(void **state)
{
    (void)state;
    fail_each(run_sum);
    fail_each(run_softmax);
}

static void test_product(void **state)
{
    (void)state;
    fail_each(run_mm);
}

static void test_graph(void **state)
{
    (void)state;
    fail_each(run_recorded);
    fail_each(run_backward);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elementwise),
        cmocka_unit_test(test_reductions),
        cmocka_unit_test(test_product),
        cmocka_unit_test(test_graph),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
