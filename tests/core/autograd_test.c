/* autograd_test.c - the backward engine from C: graphs, captures, hooks, in-place histories.
 *
 * Every test ends with as much tensor memory in use as it began with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "autograd_graphs.h"
#include "leaks.h"
#include "op/add.h"
#include "op/copy_.h"
#include "op/mul.h"
#include "op/narrow.h"
#include "op/sqrt.h"

/* ---- graphs ---------------------------------------------------------------------------------- */

static void chain(void **state)
{
    (void)state;
    lt_tensor *x = leaf(3, (double[]){1, 2, 3}), *y = mul(x, x), *z = sum(y);
    assert_true(lt_is_leaf(x));
    assert_false(lt_is_leaf(z));
    assert_ok(backward(z));
    EXPECT(lt_tensor_grad(x), 3, 2, 4, 6);
    release(3, x, y, z);
}

static void diamond(void **state)
{
    (void)state;
    lt_tensor *x = leaf(2, (double[]){1, 2}), *a = mul(x, x), *b = mul(a, a), *c = add(a, b),
              *d = sum(c);
    assert_ok(backward(d));
    EXPECT(lt_tensor_grad(x), 2, 2 + 4, 4 + 32);
    release(5, x, a, b, c, d);
}

static void gradients_add_up_over_runs(void **state)
{
    (void)state;
    lt_tensor *x = leaf(2, (double[]){1, 2}), *y = sum(x);
    assert_ok(backward(y));
    assert_ok(backward(y));
    EXPECT(lt_tensor_grad(x), 2, 2, 2);
    release(2, x, y);
}

static void broadcast_operands_get_gradients_of_their_shape(void **state)
{
    (void)state;
    lt_tensor *x = leaf(1, (double[]){3}), *y = leaf(3, (double[]){1, 2, 3}), *p = mul(x, y),
              *s = sum(p);
    assert_ok(backward(s));
    EXPECT(lt_tensor_grad(x), 1, 6);
    EXPECT(lt_tensor_grad(y), 3, 3, 3, 3);
    release(4, x, y, p, s);
}

static void deep_graphs_need_no_stack(void **state)
{
    (void)state;
    lt_tensor *x = leaf(1, (double[]){2}), *one = number(1), *y = lt_tensor_retain(x);
    for (int i = 0; i < 100000; i++) {
        lt_tensor *next = mul(y, one);
        lt_tensor_release(y);
        y = next;
    }
    assert_ok(backward_again(y));
    EXPECT(lt_tensor_grad(x), 1, 1);
    release(3, x, one, y);
}

static void leaves_may_go_before_their_graph(void **state)
{
    (void)state;
    lt_tensor *x = leaf(2, (double[]){1, 2}), *y = mul(x, x), *z = sum(y);
    release(2, x, y);
    assert_ok(backward(z));
    release(1, z);
}

/* ---- what lt_run_backward refuses ------------------------------------------------------------ */

static void roots_are_checked(void **state)
{
    (void)state;
    lt_tensor *x = leaf(3, (double[]){1, 2, 3}), *y = mul(x, x), *plain = vector(1, (double[]){1});
    lt_tensor *two = vector(2, (double[]){1, 1});
    FAILS(backward(plain),
          "element 0 of tensors does not require grad and does not have a grad_fn");
    FAILS(backward(y), "grad can be implicitly created only for scalar outputs");
    FAILS(lt_run_backward(&(lt_backward_args){.roots = &y, .grads = &two, .n = 1}),
          "Mismatch in shape: grad_output[0] has a shape of torch.Size([2]) and output[0] has a "
          "shape of torch.Size([3]).");
    assert_null(lt_tensor_grad(x));
    release(4, x, y, plain, two);
}

static void freed_graphs_cannot_run_again(void **state)
{
    (void)state;
    lt_tensor *x = leaf(2, (double[]){1, 2}), *y = mul(x, x), *z = sum(y);
    assert_ok(backward_again(z));
    assert_ok(backward(z));
    EXPECT(lt_tensor_grad(x), 2, 4, 8);
    FAILS(backward(z), "Trying to backward through the graph a second time");
    release(3, x, y, z);
}

static void changed_operands_are_noticed(void **state)
{
    (void)state;
    lt_tensor *x = leaf(2, (double[]){1, 2}), *one = number(1), *y = mul(x, one), *z = mul(y, y),
              *s = sum(z);
    assert_ok(lt_add_(y, one, lt_scalar_from_int(1)));
    FAILS(backward(s),
          "modified by an inplace operation: [torch.DoubleTensor [2]], which is output 0 of Add");
    release(5, x, one, y, z, s);
}

/* ---- gradients of given inputs --------------------------------------------------------------- */

static void only_inputs_get_gradients(void **state)
{
    (void)state;
    lt_tensor *x = leaf(2, (double[]){1, 2}), *w = leaf(2, (double[]){3, 4}), *y = mul(x, w),
              *z = mul(y, y);
    lt_tensor *s = sum(z), *unused = leaf(1, (double[]){1});
    lt_tensor *inputs[] = {y, x, unused}, *results[3] = {NULL};
    lt_backward_args args = {.roots = &s,
                             .n = 1,
                             .retain_graph = true,
                             .inputs = inputs,
                             .n_inputs = 3,
                             .allow_unused = true,
                             .results = results};
    assert_ok(lt_run_backward(&args));
    EXPECT(results[0], 2, 6, 16);
    EXPECT(results[1], 2, 18, 64);
    assert_null(results[2]);
    assert_null(lt_tensor_grad(x));
    assert_null(lt_tensor_grad(w));
    args.allow_unused = false;
    FAILS(lt_run_backward(&args), "Set allow_unused=True");
    assert_ok(lt_run_backward(
        &(lt_backward_args){.roots = &s, .n = 1, .inputs = inputs + 1, .n_inputs = 1}));
    EXPECT(lt_tensor_grad(x), 2, 18, 64);
    assert_null(lt_tensor_grad(w));
    release(8, x, w, y, z, s, unused, results[0], results[1]);
}

static void second_derivatives(void **state)
{
    (void)state;
    lt_tensor *x = leaf(2, (double[]){2, 3}), *a = mul(x, x), *b = mul(a, x), *s = sum(b),
              *first = NULL, *second = NULL;
    assert_ok(gradient(s, x, true, &first));
    EXPECT(first, 2, 12, 27);
    lt_tensor *t = sum(first);
    assert_ok(gradient(t, x, false, &second));
    EXPECT(second, 2, 12, 18);
    release(7, x, a, b, s, first, second, t);
}

/* ---- hooks ----------------------------------------------------------------------------------- */

static int calls, released;

static lt_status double_it(void *ctx, lt_tensor *grad, lt_tensor **replacement)
{
    (void)ctx;
    calls++;
    return lt_add(grad, grad, lt_scalar_from_int(1), replacement);
}

static lt_status keep_two(void *ctx, lt_tensor *grad, lt_tensor **replacement)
{
    return lt_narrow(grad, 0, 0, *(const int *)ctx, replacement);
}

static void note_release(void *ctx)
{
    (void)ctx;
    released++;
}

static void hooks_replace_gradients(void **state)
{
    (void)state;
    lt_tensor *x = leaf(2, (double[]){1, 2}), *y = mul(x, x), *s = sum(y);
    int64_t of_leaf, of_middle;
    lt_hook hook = {.run = double_it, .release = note_release};
    calls = released = 0;
    assert_ok(lt_register_hook(x, hook, &of_leaf));
    assert_ok(lt_register_hook(y, hook, &of_middle));
    assert_ok(lt_retain_grad(y));
    assert_ok(backward_again(s));
    assert_int_equal(calls, 2);
    EXPECT(lt_tensor_grad(x), 2, 8, 16);
    EXPECT(lt_tensor_grad(y), 2, 2, 2);
    lt_remove_hook(x, of_leaf);
    lt_remove_hook(y, of_middle);
    assert_int_equal(released, 2);
    assert_ok(backward(s));
    assert_int_equal(calls, 2);
    EXPECT(lt_tensor_grad(x), 2, 10, 20);
    EXPECT(lt_tensor_grad(y), 2, 3, 3);
    release(3, x, y, s);
}

static void hooks_may_not_change_sizes(void **state)
{
    (void)state;
    lt_tensor *x = leaf(3, (double[]){1, 2, 3}), *y = mul(x, x), *s = sum(y);
    int64_t id;
    int two = 2;
    released = 0;
    assert_ok(
        lt_register_hook(y, (lt_hook){.run = keep_two, .release = note_release, .ctx = &two}, &id));
    FAILS(backward(s), "hook has changed the size of value");
    assert_null(lt_tensor_grad(x));
    release(3, x, y, s);
    assert_int_equal(released, 1);
}

static lt_status run_backward(void *ctx, lt_tensor *grad, lt_tensor **replacement)
{
    (void)grad;
    (void)replacement;
    calls++;
    return backward(ctx);
}

static void hooks_may_run_backward(void **state)
{
    (void)state;
    lt_tensor *x = leaf(2, (double[]){1, 2}), *y = mul(x, x), *s = sum(y), *other = mul(x, x),
              *inner = sum(other);
    int64_t id;
    calls = 0;
    assert_ok(lt_register_hook(y, (lt_hook){.run = run_backward, .ctx = inner}, &id));
    assert_ok(backward(s));
    assert_int_equal(calls, 1);
    EXPECT(lt_tensor_grad(x), 2, 4, 8);
    release(5, x, y, s, other, inner);
}

/* ---- in-place ops and views ------------------------------------------------------------------ */

static void leaves_are_not_written(void **state)
{
    (void)state;
    lt_tensor *x = leaf(2, (double[]){1, 2}), *part = select_one(x, 0), *one = number(1);
    FAILS(lt_add_(x, one, lt_scalar_from_int(1)),
          "a leaf Variable that requires grad is being used in an in-place operation.");
    FAILS(lt_add_(part, one, lt_scalar_from_int(1)),
          "a view of a leaf Variable that requires grad is being used in an in-place operation.");
    lt_set_grad_enabled(false);
    assert_ok(lt_add_(x, one, lt_scalar_from_int(1)));
    lt_set_grad_enabled(true);
    EXPECT(x, 2, 2, 3);
    release(3, x, part, one);
}

static void writing_a_view_rebases_its_base(void **state)
{
    (void)state;
    lt_tensor *x = leaf(3, (double[]){1, 2, 3}), *w = leaf(1, (double[]){5}), *y = mul(x, x);
    lt_tensor *other = select_one(y, 1), *part = select_one(y, 1), *factor = select_one(w, 0);
    lt_node *fn;
    assert_ok(lt_mul_(part, factor));
    assert_ok(lt_grad_fn(y, &fn));
    assert_string_equal(lt_node_name(fn), "CopySlices");
    assert_ok(lt_grad_fn(other, &fn));
    assert_string_equal(lt_node_name(fn), "AsStridedBackward0");
    lt_tensor *squares = mul(other, other), *total = sum(y), *s = add(squares, total);
    EXPECT(s, 1, 400 + 1 + 20 + 9);
    assert_ok(backward(s));
    /* s = (5 x2^2)^2 + x1^2 + 5 x2^2 + x3^2 where w = 5 */
    EXPECT(lt_tensor_grad(x), 3, 2, 2 * 20 * 20 + 20, 6);
    EXPECT(lt_tensor_grad(w), 1, 2 * 20 * 4 + 4);
    FAILS(backward(total), "Trying to backward through the graph a second time");
    release(9, x, w, y, other, part, factor, squares, total, s);
}

static void writing_into_a_plain_base_gives_it_history(void **state)
{
    (void)state;
    lt_tensor *x = leaf(2, (double[]){1, 2}), *base = vector(4, (double[]){1, 1, 1, 1}),
              *part = NULL;
    assert_ok(lt_narrow(base, 0, 1, 2, &part));
    assert_ok(lt_copy_(part, x, false));
    assert_true(lt_requires_grad(base));
    lt_tensor *y = mul(base, base), *s = sum(y);
    assert_ok(backward(s));
    EXPECT(lt_tensor_grad(x), 2, 2, 4);
    release(5, x, base, part, y, s);
}

static void second_derivatives_through_written_views(void **state)
{
    (void)state;
    lt_tensor *x = leaf(2, (double[]){2, 3}), *y = mul(x, x), *part = select_one(y, 0),
              *first = NULL, *second = NULL;
    lt_tensor *factor = select_one(x, 0);
    assert_ok(lt_mul_(part, factor)); /* y = x1^3, x2^2 */
    lt_tensor *s = sum(y);
    assert_ok(gradient(s, x, true, &first));
    EXPECT(first, 2, 12, 6);
    lt_tensor *t = sum(first);
    assert_ok(gradient(t, x, false, &second));
    EXPECT(second, 2, 12, 2);
    release(8, x, y, part, factor, first, second, s, t);
}

static void views_made_without_grad_mode_are_not_written(void **state)
{
    (void)state;
    lt_tensor *x = leaf(2, (double[]){1, 2}), *y = mul(x, x), *one = number(1), *out = NULL;
    lt_set_grad_enabled(false);
    lt_tensor *part = select_one(y, 0);
    lt_set_grad_enabled(true);
    assert_true(lt_is_leaf(part));
    FAILS(lt_add_(part, one, lt_scalar_from_int(1)),
          "A view was created in no_grad mode and is being modified inplace");
    assert_ok(lt_add_(y, one, lt_scalar_from_int(1)));
    FAILS(lt_mul(part, one, &out),
          "its base or another view of its base has been modified inplace");
    release(4, x, y, one, part);
}

/* ---- custom Functions and anomaly mode ------------------------------------------------------- */

static lt_status give_two(void *ctx, lt_tensor *const *grads, lt_tensor **results,
                          const bool *needs)
{
    (void)ctx;
    (void)grads;
    (void)needs;
    results[0] = vector(2, (double[]){1, 1});
    return LT_OK;
}

static void functions_are_checked(void **state)
{
    (void)state;
    lt_tensor *x = leaf(3, (double[]){1, 2, 3}), *y = vector(3, (double[]){1, 2, 3});
    lt_node *node = NULL;
    assert_ok(lt_node_new(&lt_function_class, 1, 1, &node));
    lt_function_node *function = (lt_function_node *)node;
    function->apply = give_two;
    function->release = note_release;
    assert_ok(lt_save_string(&function->name, "HalfBackward"));
    assert_ok(lt_node_connect(node, 0, x));
    assert_ok(lt_node_attach(node, 0, y));
    lt_node_release(node);
    lt_tensor *s = sum(y);
    FAILS(backward(s), "Function HalfBackward returned an invalid gradient at index 0 - got [2] "
                       "but expected shape "
                       "compatible with [3]");
    released = 0;
    release(3, x, y, s);
    assert_int_equal(released, 1);
}

static void anomaly_mode_finds_nan(void **state)
{
    (void)state;
    lt_tensor *x = leaf(1, (double[]){-1}), *y = NULL;
    lt_set_anomaly(true);
    assert_ok(lt_sqrt(x, &y));
    FAILS(backward(y), "Function 'SqrtBackward0' returned nan values in its 0th output.");
    lt_set_anomaly(false);
    release(2, x, y);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, note_memory, check_memory)
    const struct CMUnitTest tests[] = {
        TEST(chain),
        TEST(diamond),
        TEST(gradients_add_up_over_runs),
        TEST(broadcast_operands_get_gradients_of_their_shape),
        TEST(deep_graphs_need_no_stack),
        TEST(leaves_may_go_before_their_graph),
        TEST(roots_are_checked),
        TEST(freed_graphs_cannot_run_again),
        TEST(changed_operands_are_noticed),
        TEST(only_inputs_get_gradients),
        TEST(second_derivatives),
        TEST(hooks_replace_gradients),
        TEST(hooks_may_not_change_sizes),
        TEST(hooks_may_run_backward),
        TEST(leaves_are_not_written),
        TEST(writing_a_view_rebases_its_base),
        TEST(writing_into_a_plain_base_gives_it_history),
        TEST(second_derivatives_through_written_views),
        TEST(views_made_without_grad_mode_are_not_written),
        TEST(functions_are_checked),
        TEST(anomaly_mode_finds_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
