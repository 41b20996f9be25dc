/* derivatives_test.c - gradients as a program in C computes them: a step of training, gradients of
 * gradients, hooks, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#undef LT_OPS_BY_NAME /* as a host sees it: with every op */
#include "expect.h"
#include "ltensor.h"
#include "memory/block.h"
#include "memory/limit.h"
#include "memory/system.h"
#include "op/_recurrent.h"

/* A leaf of no dimensions. */
static lt_tensor *leaf(double value)
{
    const lt_dims sizes = {0, {0}};
    lt_tensor *t = NULL;
    assert_ok(lt_full(&sizes, lt_scalar_from_float(value), LT_FLOAT64, NULL, &t));
    assert_ok(lt_tensor_set_requires_grad(t, true));
    return t;
}

static lt_tensor *product(lt_tensor *a, lt_tensor *b)
{
    lt_tensor *out = NULL;
    assert_ok(lt_mul(a, b, &out));
    return out;
}

static void test_gradients_add_up_in_leaves(void **state)
{
    (void)state;
    lt_tensor *x = leaf(3), *y = product(x, x);
    assert_true(lt_tensor_requires_grad(x) && lt_tensor_is_leaf(x) && lt_tensor_grad(x) == NULL);
    assert_true(lt_tensor_requires_grad(y) && !lt_tensor_is_leaf(y));
    assert_ok(lt_backward(y, NULL, true, false));
    assert_true(item(lt_tensor_grad(x)) == 6);
    assert_ok(lt_backward(y, NULL, false, false));
    assert_true(item(lt_tensor_grad(x)) == 12);
    assert_fails(lt_backward(y, NULL, false, false), LT_ERR_RUNTIME, "second time");
    assert_ok(lt_tensor_set_grad(x, NULL));
    assert_null(lt_tensor_grad(x));
    lt_tensor_release(y);
    lt_tensor_release(x);
}

static void test_a_gradient_to_begin_with(void **state)
{
    (void)state;
    const int64_t sizes[] = {3};
    double ones[3] = {1, 1, 1}, weights[3] = {1, 10, 100}, got[3];
    lt_tensor *x = NULL, *y = NULL, *grad = NULL;
    assert_ok(lt_tensor_wrap(ones, LT_FLOAT64, 1, sizes, NULL, NULL, &x));
    assert_ok(lt_tensor_wrap(weights, LT_FLOAT64, 1, sizes, NULL, NULL, &grad));
    assert_ok(lt_tensor_set_requires_grad(x, true));
    assert_ok(lt_neg(x, &y));
    assert_fails(lt_backward(y, NULL, false, false), LT_ERR_RUNTIME, "scalar outputs");
    assert_ok(lt_backward(y, grad, false, false));
    assert_ok(lt_tensor_copy_to(lt_tensor_grad(x), got, sizeof got));
    assert_true(got[0] == -1 && got[1] == -10 && got[2] == -100);
    lt_tensor_release(grad);
    lt_tensor_release(y);
    lt_tensor_release(x);
}

static void test_gradients_of_gradients(void **state)
{
    (void)state;
    lt_tensor *x = leaf(2), *square = product(x, x), *cube = product(square, x), *first = NULL,
              *second = NULL;
    assert_ok(lt_grad(&cube, 1, &x, 1, NULL, false, true, false, &first));
    assert_true(item(first) == 12);
    assert_ok(lt_grad(&first, 1, &x, 1, NULL, false, false, false, &second));
    assert_true(item(second) == 12);
    assert_null(lt_tensor_grad(x)); /* nothing is added to leaves */
    lt_tensor_release(second);
    lt_tensor_release(first);
    lt_tensor_release(cube);
    lt_tensor_release(square);
    lt_tensor_release(x);
}

static void test_inputs_that_are_not_used(void **state)
{
    (void)state;
    lt_tensor *x = leaf(2), *other = leaf(3), *y = product(x, x), *inputs[] = {x, other},
              *grads[2] = {NULL, x};
    assert_fails(lt_grad(&y, 1, inputs, 2, NULL, true, false, false, grads), LT_ERR_RUNTIME,
                 "not have been used");
    assert_ptr_equal(grads[1], x); /* left as it was */
    assert_ok(lt_grad(&y, 1, inputs, 2, NULL, false, false, true, grads));
    assert_true(item(grads[0]) == 4);
    assert_null(grads[1]);
    lt_tensor_release(grads[0]);
    lt_tensor_release(y);
    lt_tensor_release(other);
    lt_tensor_release(x);
}

static void test_nothing_is_recorded_while_it_is_off(void **state)
{
    (void)state;
    lt_tensor *x = leaf(2);
    bool before = lt_set_grad_enabled(false);
    assert_false(lt_grad_enabled());
    lt_tensor *y = product(x, x);
    assert_false(lt_set_grad_enabled(before));
    assert_true(before && lt_grad_enabled());
    assert_false(lt_tensor_requires_grad(y));
    assert_fails(lt_backward(y, NULL, false, false), LT_ERR_RUNTIME, "does not require grad");
    lt_tensor_release(y);
    lt_tensor_release(x);
}

/* ---- hooks ----------------------------------------------------------------------------------- */

typedef struct counter {
    int calls, releases;
    double seen;
    bool refuse;
} counter;

static lt_status halve(void *ctx, lt_tensor *grad, lt_tensor **replacement)
{
    counter *c = ctx;
    lt_tensor *two = NULL;
    c->calls++;
    c->seen = item(grad);
    if (c->refuse) return LT_ERR_INTERRUPTED;
    assert_ok(lt_tensor_from_scalar(lt_scalar_from_float(2), &two));
    lt_status status = lt_div(grad, two, replacement);
    lt_tensor_release(two);
    return status;
}

static void count_release(void *ctx) { ((counter *)ctx)->releases++; }

static void test_a_hook_sees_and_replaces_gradients(void **state)
{
    (void)state;
    counter c = {0};
    int64_t id = 0;
    lt_tensor *x = leaf(3), *y = product(x, x);
    assert_ok(lt_tensor_add_hook(x, halve, count_release, &c, &id));
    assert_ok(lt_backward(y, NULL, true, false));
    assert_true(c.calls == 1 && c.seen == 6 && item(lt_tensor_grad(x)) == 3);
    c.refuse = true;
    assert_int_equal(lt_backward(y, NULL, true, false), LT_ERR_INTERRUPTED);
    assert_ok(lt_tensor_remove_hook(x, id));
    assert_int_equal(c.releases, 1);
    assert_ok(lt_backward(y, NULL, false, false));
    assert_int_equal(c.calls, 2);
    lt_tensor_release(y);
    lt_tensor_release(x);
}

static void test_a_hook_goes_with_its_tensor(void **state)
{
    (void)state;
    counter c = {0};
    lt_tensor *x = leaf(3);
    assert_ok(lt_tensor_add_hook(x, halve, count_release, &c, NULL));
    lt_tensor_release(x);
    assert_int_equal(c.releases, 1);
    lt_tensor *plain = NULL;
    const lt_dims sizes = {0, {0}};
    assert_ok(lt_ones(&sizes, LT_FLOAT32, NULL, &plain));
    assert_fails(lt_tensor_add_hook(plain, halve, count_release, &c, NULL), LT_ERR_RUNTIME,
                 "doesn't require gradient");
    assert_int_equal(c.releases, 1);
    lt_tensor_release(plain);
}

/* ---- wrong handles, no memory ---------------------------------------------------------------- */

static void test_what_is_refused(void **state)
{
    (void)state;
    lt_tensor *x = leaf(1), *whole = NULL, *grad = NULL, *none = NULL;
    const lt_dims sizes = {1, {2}};
    assert_ok(lt_ones(&sizes, LT_INT64, NULL, &whole));
    assert_fails(lt_tensor_set_requires_grad(whole, true), LT_ERR_RUNTIME, "floating point");
    assert_fails(lt_tensor_set_requires_grad(NULL, true), LT_ERR_TYPE, "'t'");
    assert_fails(lt_tensor_set_grad(x, whole), LT_ERR_RUNTIME, "size");
    assert_fails(lt_tensor_set_grad(NULL, x), LT_ERR_TYPE, "'t'");
    assert_fails(lt_backward(NULL, NULL, false, false), LT_ERR_TYPE, "'t'");
    assert_fails(lt_grad(NULL, 1, &x, 1, NULL, false, false, false, &grad), LT_ERR_TYPE,
                 "'outputs'");
    assert_fails(lt_grad(&x, 1, &none, 1, NULL, false, false, false, &grad), LT_ERR_TYPE,
                 "inputs[0]");
    assert_fails(lt_grad(&x, 1, &x, 0, NULL, false, false, false, &grad), LT_ERR_RUNTIME,
                 "n_inputs is 0");
    assert_fails(lt_grad(&x, 1, &x, 1, NULL, false, false, false, NULL), LT_ERR_TYPE, "'grads'");
    assert_fails(lt_tensor_add_hook(NULL, halve, NULL, NULL, NULL), LT_ERR_TYPE, "'t'");
    assert_fails(lt_tensor_add_hook(x, NULL, NULL, NULL, NULL), LT_ERR_TYPE, "'hook'");
    assert_fails(lt_tensor_remove_hook(NULL, 1), LT_ERR_TYPE, "'t'");
    assert_false(lt_tensor_requires_grad(NULL) || lt_tensor_is_leaf(NULL));
    assert_null(lt_tensor_grad(NULL));
    lt_tensor_release(whole);
    lt_tensor_release(x);
}

/* A step of gradient descent, as far as memory allows. */
static lt_status descend(void *leaf)
{
    lt_tensor *x = leaf, *y = NULL, *slope = NULL, *inputs[] = {x};
    int64_t id = 0;
    counter c = {0};
    lt_status status = lt_tensor_add_hook(x, halve, NULL, &c, &id);
    bool hooked = status == LT_OK;
    if (hooked) lt_tensor_remove_hook(x, id);
    if (status == LT_OK) status = lt_mul(x, x, &y);
    if (status == LT_OK) status = lt_grad(&y, 1, inputs, 1, NULL, true, false, false, &slope);
    if (status == LT_OK) status = lt_backward(y, NULL, false, false);
    lt_tensor_release(slope);
    lt_tensor_release(y);
    lt_tensor_set_grad(x, NULL);
    return status;
}

/* The operands of two sequences of three and one steps. */
typedef struct sequences {
    lt_tensor *gates, *state, *weight, *sizes;
} sequences;

/* Derivatives of first and second order of a direction of an LSTM, as far as memory allows. */
static lt_status recurrent_step(const sequences *q, bool reverse)
{
    lt_tensor *output = NULL, *hn = NULL, *cn = NULL, *kept = NULL, *cells = NULL, *total = NULL,
              *slope = NULL, *steepness = NULL, *inputs[] = {q->gates};
    lt_status status = lt__recurrent(q->gates, q->state, q->state, q->weight, NULL, "lstm", reverse,
                                     q->sizes, &output, &hn, &cn, &kept, &cells);
    if (status == LT_OK) status = lt_sum(output, LT_DTYPE_NONE, &total);
    if (status == LT_OK) status = lt_grad(&total, 1, inputs, 1, NULL, true, true, false, &slope);
    if (status == LT_OK) status = lt_sum(slope, LT_DTYPE_NONE, &steepness);
    if (status == LT_OK) status = lt_backward(steepness, NULL, true, false);
    if (status == LT_OK) status = lt_backward(total, NULL, false, false);
    lt_tensor *const made[] = {output, hn, cn, kept, cells, total, slope, steepness};
    for (int i = 0; i < 8; i++) lt_tensor_release(made[i]);
    lt_tensor_set_grad(q->gates, NULL);
    lt_tensor_set_grad(q->weight, NULL);
    return status;
}

static sequences new_sequences(void)
{
    static int64_t rows[] = {2, 1, 1};
    const lt_dims gates = {2, {4, 8}}, state = {2, {2, 2}}, weight = {2, {8, 2}};
    const int64_t steps = 3;
    sequences q;
    assert_ok(lt_ones(&gates, LT_FLOAT64, NULL, &q.gates));
    assert_ok(lt_zeros(&state, LT_FLOAT64, NULL, &q.state));
    assert_ok(lt_ones(&weight, LT_FLOAT64, NULL, &q.weight));
    assert_ok(lt_tensor_wrap(rows, LT_INT64, 1, &steps, NULL, NULL, &q.sizes));
    assert_ok(lt_tensor_set_requires_grad(q.gates, true));
    assert_ok(lt_tensor_set_requires_grad(q.weight, true));
    return q;
}

static lt_status forward_step(void *q) { return recurrent_step(q, false); }
static lt_status reverse_step(void *q) { return recurrent_step(q, true); }

static void check_failing_allocations(lt_status (*step)(void *argument), void *argument)
{
    assert_ok(step(argument));
    const int64_t live = lt_mem_live();
    int n = 0;
    lt_status status;
    do {
        lt_block_trim();
        lt_mem_fail_after(++n);
        status = step(argument);
        lt_mem_fail_after(0);
        assert_true(status == LT_OK || status == LT_ERR_MEMORY);
        assert_int_equal(lt_mem_live(), live);
    } while (status != LT_OK && n < 10000);
    assert_int_equal(status, LT_OK);
    assert_true(n > 1);
}

static void test_every_failing_allocation_is_reported(void **state)
{
    (void)state;
    lt_tensor *x = leaf(2);
    sequences q = new_sequences();
    check_failing_allocations(descend, x);
    check_failing_allocations(forward_step, &q);
    check_failing_allocations(reverse_step, &q);
    lt_tensor *const made[] = {x, q.gates, q.state, q.weight, q.sizes};
    for (int i = 0; i < 5; i++) lt_tensor_release(made[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients_add_up_in_leaves),
        cmocka_unit_test(test_a_gradient_to_begin_with),
        cmocka_unit_test(test_gradients_of_gradients),
        cmocka_unit_test(test_inputs_that_are_not_used),
        cmocka_unit_test(test_nothing_is_recorded_while_it_is_off),
        cmocka_unit_test(test_a_hook_sees_and_replaces_gradients),
        cmocka_unit_test(test_a_hook_goes_with_its_tensor),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_every_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
