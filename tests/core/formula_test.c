/* formula_test.c - formulas from text as a program in C uses them (ltensor_kernel.h): results,
 * gradients, options and errors. */
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

static lt_tensor *floats(float a, float b)
{
    const int64_t sizes[] = {2};
    const float values[] = {a, b};
    lt_tensor *t = NULL;
    assert_ok(lt_tensor_new(LT_FLOAT32, (lt_device){LT_CPU, 0}, 1, sizes, &t));
    assert_ok(lt_tensor_copy_from(t, values, sizeof values));
    return t;
}

static lt_formula *formula(const char *text, const lt_kernel_options *options)
{
    lt_formula *f = NULL;
    assert_ok(lt_kernel_elementwise(text, options, &f));
    return f;
}

static void test_a_formula_is_called_with_tensors_and_numbers(void **state)
{
    (void)state;
    lt_formula *f = formula("x * x + w", NULL);
    lt_tensor *x = floats(2, 3), *y = NULL;
    const lt_value args[] = {lt_value_tensor(x), lt_value_double(1)};
    assert_int_equal(lt_formula_inputs(f), 2);
    assert_int_equal(lt_formula_outputs(f), 1);
    assert_string_equal(lt_formula_input(f, 1), "w");
    assert_null(lt_formula_input(f, 2));
    for (int i = 0; i < 3; i++) {
        assert_ok(lt_formula_call(f, args, 2, &y));
        assert_true(((float *)lt_tensor_data(y))[0] == 5 && ((float *)lt_tensor_data(y))[1] == 10);
        lt_tensor_release(y);
    }
    lt_tensor_release(x);
    lt_formula_release(f);
}

static void test_options_name_inputs_and_outputs(void **state)
{
    (void)state;
    static const char *const inputs[] = {"b", "a"}, *const outputs[] = {"sum", "product"};
    lt_kernel_options options = lt_kernel_options_new();
    options.inputs = inputs, options.n_inputs = 2;
    options.outputs = outputs, options.n_outputs = 2;
    options.dtype = LT_FLOAT64;
    lt_formula *f = formula("sum = a + b; product = a - b", &options);
    lt_tensor *x = floats(2, 3), *results[2];
    const lt_value args[] = {lt_value_tensor(x), lt_value_int(7)};
    assert_int_equal(lt_formula_outputs(f), 2);
    assert_ok(lt_formula_call(f, args, 2, results));
    assert_int_equal(lt_tensor_dtype(results[0]), LT_FLOAT64);
    assert_true(((double *)lt_tensor_data(results[0]))[0] == 9);
    assert_true(((double *)lt_tensor_data(results[1]))[1] == 4);
    lt_tensor_release(results[0]);
    lt_tensor_release(results[1]);
    lt_tensor_release(x);
    lt_formula_release(f);
}

static void test_gradients_reach_the_inputs(void **state)
{
    (void)state;
    lt_formula *f = lt_formula_retain(formula("x * x * w", NULL));
    lt_tensor *x = floats(2, 3), *y = NULL, *sum = NULL;
    const lt_value args[] = {lt_value_tensor(x), lt_value_int(5)};
    assert_ok(lt_tensor_set_requires_grad(x, true));
    assert_ok(lt_formula_call(f, args, 2, &y));
    lt_formula_release(f);
    lt_formula_release(f);
    assert_ok(lt_sum(y, LT_DTYPE_NONE, &sum));
    assert_ok(lt_backward(sum, NULL, false, false));
    assert_true(((float *)lt_tensor_data(lt_tensor_grad(x)))[1] == 30);
    lt_tensor_release(y);
    lt_tensor_release(sum);
    lt_tensor_release(x);
}

static void store_sevens(char *const *data, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++) ((float *)data[2])[i] = 7;
}

static void test_a_loop_replaces_the_interpreter(void **state)
{
    (void)state;
    lt_formula *f = formula("x * 3", NULL), *sine = formula("sin(x)", NULL);
    lt_tensor *x = floats(2, 3), *y = NULL;
    const lt_value arg = lt_value_tensor(x);
    char *source = NULL;
    assert_ok(lt_formula_c_source(f, &arg, 1, &source));
    assert_non_null(strstr(source, "void lt_loop(char *const *data, int64_t from, int64_t to)"));
    lt_string_release(source);
    assert_ok(lt_formula_c_source(sine, &arg, 1, &source));
    assert_null(source);
    static const lt_formula_loop loops[] = {store_sevens, NULL};
    static const float expected[] = {7, 6};
    for (int i = 0; i < 2; i++) {
        assert_ok(lt_formula_set_loop(f, &arg, 1, loops[i]));
        assert_ok(lt_formula_call(f, &arg, 1, &y));
        assert_true(((float *)lt_tensor_data(y))[0] == expected[i]);
        lt_tensor_release(y);
    }
    assert_int_equal(lt_formula_c_source(NULL, &arg, 1, &source), LT_ERR_TYPE);
    assert_int_equal(lt_formula_c_source(f, &arg, 0, &source), LT_ERR_TYPE);
    lt_tensor_release(x);
    lt_formula_release(f);
    lt_formula_release(sine);
}

static void test_wrong_texts_options_and_arguments_are_refused(void **state)
{
    (void)state;
    lt_formula *f = NULL;
    lt_tensor *y = NULL;
    lt_kernel_options options = lt_kernel_options_new();
    const lt_value text = lt_value_string("x");
    assert_fails(lt_kernel_elementwise("x +* 2", NULL, &f), LT_ERR_TYPE, "column 4");
    assert_fails(lt_kernel_elementwise(NULL, NULL, &f), LT_ERR_TYPE, "'text'");
    assert_fails(lt_kernel_elementwise("x", NULL, NULL), LT_ERR_TYPE, "'out'");
    options.n_inputs = 17;
    assert_fails(lt_kernel_elementwise("x", &options, &f), LT_ERR_TYPE, "at most 16");
    options.n_inputs = 0, options.size = 4;
    assert_fails(lt_kernel_elementwise("x", &options, &f), LT_ERR_TYPE, "lt_kernel_options_new");
    options = lt_kernel_options_new(), options.name = "a b";
    assert_fails(lt_kernel_elementwise("x", &options, &f), LT_ERR_TYPE, "'a b'");
    assert_null(f);
    f = formula("x", NULL);
    assert_fails(lt_formula_call(f, &text, 1, &y), LT_ERR_TYPE, "'x'");
    assert_fails(lt_formula_call(f, &text, 0, &y), LT_ERR_TYPE, "0 arguments");
    assert_fails(lt_formula_call(NULL, &text, 1, &y), LT_ERR_TYPE, "'f'");
    assert_fails(lt_formula_call(f, &text, 1, NULL), LT_ERR_TYPE, "'results'");
    assert_null(y);
    lt_formula_release(f);
    lt_formula_release(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_formula_is_called_with_tensors_and_numbers),
        cmocka_unit_test(test_options_name_inputs_and_outputs),
        cmocka_unit_test(test_gradients_reach_the_inputs),
        cmocka_unit_test(test_a_loop_replaces_the_interpreter),
        cmocka_unit_test(test_wrong_texts_options_and_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
