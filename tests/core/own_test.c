/* own_test.c - operations that a host registers (ltensor_register.h): calls by name, messages,
 * derivatives of first and second order beside finite differences, forward mode, writes, contexts. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#undef LT_OPS_BY_NAME /* as a host sees it: with every op */
#include "expect.h"
#include "ltensor.h"

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

static int released;
static void count_release(void *user)
{
    (void)user;
    released++;
}

/* ---- axpy: a * x^3 + y ----------------------------------------------------------------------- */

static lt_status cubed(lt_tensor *x, double a, lt_tensor **out)
{
    lt_tensor *cube = NULL, *factor = NULL;
    lt_status status = lt_tensor_from_scalar(lt_scalar_from_float(3), &factor);
    if (status == LT_OK) status = lt_pow(x, factor, &cube);
    lt_tensor_release(factor);
    factor = NULL;
    if (status == LT_OK) status = lt_tensor_from_scalar(lt_scalar_from_float(a), &factor);
    if (status == LT_OK) status = lt_mul(cube, factor, out);
    lt_tensor_release(cube);
    lt_tensor_release(factor);
    return status;
}

static double number_of(const lt_value *v)
{
    return v->kind == LT_KIND_DOUBLE ? v->v.d : (double)v->v.i;
}

static lt_status axpy(void *user, const lt_value *args, int nargs, lt_value *results, int nresults)
{
    lt_tensor *product = NULL;
    (void)user;
    if (nargs != 3 || nresults != 1) return lt_op_error(LT_ERR_TYPE, "axpy: wrong numbers");
    lt_status status = cubed(args[0].v.tensor, number_of(&args[2]), &product);
    results[0] = lt_value_tensor(NULL);
    if (status == LT_OK)
        status = lt_add(product, args[1].v.tensor, lt_scalar_from_int(1), &results[0].v.tensor);
    lt_tensor_release(product);
    return status;
}

/* 3 * a * x^2 * grad, and grad. */
static lt_status axpy_derivative(void *user, const lt_op_gradient *g)
{
    lt_tensor *square = NULL, *factor = NULL, *scaled = NULL;
    lt_status status = LT_OK;
    (void)user;
    if (g->needs[1]) g->input_grads[1] = lt_tensor_retain(g->grads[0]);
    if (!g->needs[0]) return LT_OK;
    status = lt_square(g->args[0].v.tensor, &square);
    if (status == LT_OK)
        status = lt_tensor_from_scalar(lt_scalar_from_float(3 * number_of(&g->args[2])), &factor);
    if (status == LT_OK) status = lt_mul(square, factor, &scaled);
    if (status == LT_OK) status = lt_mul(scaled, g->grads[0], &g->input_grads[0]);
    lt_tensor_release(square);
    lt_tensor_release(factor);
    lt_tensor_release(scaled);
    return status;
}

static void register_axpy(void)
{
    lt_op_definition d =
        lt_op_definition_of("own_test::axpy(Tensor x, Tensor y, *, Scalar a=1) -> Tensor", axpy);
    d.doc = "a times x cubed, plus y.";
    d.derivative = axpy_derivative;
    d.saves = "x";
    d.release = count_release;
    assert_ok(lt_op_register(&d));
}

static lt_tensor *of_doubles(int64_t n, const double *values)
{
    lt_tensor *t = NULL;
    assert_ok(lt_tensor_new(LT_FLOAT64, (lt_device){LT_CPU, 0}, 1, &n, &t));
    assert_ok(lt_tensor_copy_from(t, values, (size_t)n * sizeof *values));
    return t;
}

static lt_tensor *call_axpy(lt_tensor *x, lt_tensor *y, double a)
{
    const lt_value args[] = {lt_value_tensor(x), lt_value_tensor(y)};
    const lt_named_value named = {"a", lt_value_double(a)};
    lt_value result = lt_value_none();
    int n = 1;
    assert_ok(lt_call("own_test::axpy", args, 2, &named, 1, &result, &n));
    assert_int_equal(n, 1);
    return result.v.tensor;
}

static int setup(void **state)
{
    (void)state;
    register_axpy();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    released = 0;
    assert_ok(lt_op_unregister("own_test::axpy"));
    assert_int_equal(released, 1);
    return 0;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void test_a_registered_op_is_called_by_name(void **state)
{
    (void)state;
    double values[2];
    lt_tensor *x = of_doubles(2, (double[]){1, 2}), *y = of_doubles(2, (double[]){10, 20});
    const lt_value args[] = {lt_value_tensor(x), lt_value_tensor(y)};
    lt_value result = lt_value_none();
    int n = 1;
    assert_ok(lt_call("own_test::axpy", args, 2, NULL, 0, &result, &n)); /* a=1, the default */
    assert_ok(lt_tensor_copy_to(result.v.tensor, values, sizeof values));
    assert_true(values[0] == 11 && values[1] == 28);
    lt_value_release(&result);
    assert_ok(lt_op_infer("own_test::axpy", args, 2, NULL, 0, &result, &n));
    assert_int_equal(lt_tensor_numel(result.v.tensor), 2);
    lt_value_release(&result);
    lt_tensor_release(x);
    lt_tensor_release(y);
}

static void test_wrong_arguments_are_named(void **state)
{
    (void)state;
    lt_tensor *x = of_doubles(1, (double[]){1});
    const lt_value args[] = {lt_value_tensor(x), lt_value_string("y")};
    const lt_named_value unknown = {"b", lt_value_int(1)};
    assert_fails(lt_call("own_test::axpy", args, 1, NULL, 0, NULL, NULL), LT_ERR_TYPE,
                 "misses the argument 'y'");
    assert_fails(lt_call("own_test::axpy", args, 2, NULL, 0, NULL, NULL), LT_ERR_TYPE,
                 "own_test::axpy(): 'y' (argument 1) must be Tensor, not string");
    assert_fails(lt_call("own_test::axpy", args, 1, &unknown, 1, NULL, NULL), LT_ERR_TYPE,
                 "unknown argument 'b' (known: x, y, a)");
    assert_fails(lt_call("own_test::nothing", NULL, 0, NULL, 0, NULL, NULL), LT_ERR_TYPE,
                 "unknown operation 'own_test::nothing'");
    lt_tensor_release(x);
}

static void test_registered_ops_are_listed(void **state)
{
    (void)state;
    const lt_op_info *found = NULL;
    for (int i = 0; i < lt_op_registered_count(); i++)
        if (strcmp(lt_op_registered_at(i)->name, "own_test::axpy") == 0)
            found = lt_op_registered_at(i);
    assert_non_null(found);
    assert_string_equal(found->signature,
                        "own_test::axpy(Tensor x, Tensor y, *, Scalar a=1) -> Tensor");
    assert_string_equal(found->doc, "a times x cubed, plus y.");
    assert_int_equal(found->n_args, 3);
    assert_string_equal(lt_op_arg(found, 2)->name, "a");
    assert_string_equal(lt_op_arg(found, 2)->default_text, "1");
    assert_true(lt_op_arg(found, 2)->named_only);
    assert_string_equal(lt_op_result(found, 0)->type, "Tensor");
    assert_null(lt_op_registered_at(lt_op_registered_count()));
    assert_null(lt_op_registered_at(-1));
}

/* The loss: the sum of the squares of the gradient by x, of axpy(x, y, a = 2). */
static double gradient_loss(const double *at, lt_tensor **grad_of_loss)
{
    double loss[3], sum = 0;
    lt_tensor *x = of_doubles(3, at), *y = of_doubles(3, (double[]){1, 1, 1});
    assert_ok(lt_tensor_set_requires_grad(x, true));
    lt_tensor *z = call_axpy(x, y, 2), *first = NULL, *square = NULL, *ones = NULL;
    assert_true(lt_tensor_requires_grad(z));
    assert_ok(lt_ones_like(z, LT_DTYPE_NONE, NULL, &ones));
    assert_ok(lt_grad(&z, 1, &x, 1, &ones, true, true, false, &first));
    assert_ok(lt_square(first, &square));
    assert_ok(lt_tensor_copy_to(square, loss, sizeof loss));
    for (int i = 0; i < 3; i++) sum += loss[i];
    if (grad_of_loss != NULL)
        assert_ok(lt_grad(&square, 1, &x, 1, &ones, false, false, false, grad_of_loss));
    lt_tensor *all[] = {x, y, z, first, square, ones};
    for (int i = 0; i < COUNT(all); i++) lt_tensor_release(all[i]);
    return sum;
}

static void test_derivatives_of_both_orders_agree_with_differences(void **state)
{
    (void)state;
    const double at[] = {0.5, -1.25, 2}, h = 1e-5;
    double second[3];
    lt_tensor *grad = NULL;
    /* the first: d/dx (2 x^3 + y) = 6 x^2, so the loss is the sum of 36 x^4 */
    double expected = 0;
    for (int i = 0; i < 3; i++) expected += 36 * pow(at[i], 4);
    assert_true(fabs(gradient_loss(at, &grad) - expected) < 1e-9 * expected);
    assert_ok(lt_tensor_copy_to(grad, second, sizeof second));
    for (int i = 0; i < 3; i++) {
        double up[3], down[3];
        memcpy(up, at, sizeof up);
        memcpy(down, at, sizeof down);
        up[i] += h, down[i] -= h;
        const double difference = (gradient_loss(up, NULL) - gradient_loss(down, NULL)) / (2 * h);
        assert_true(fabs(second[i] - difference) < 1e-4 * (1 + fabs(difference)));
    }
    lt_tensor_release(grad);
}

static void test_a_saved_argument_must_not_change(void **state)
{
    (void)state;
    lt_tensor *x = of_doubles(1, (double[]){1}), *y = of_doubles(1, (double[]){1}), *copy = NULL;
    assert_ok(lt_tensor_set_requires_grad(x, true));
    assert_ok(lt_clone(x, &copy));
    lt_tensor *z = call_axpy(copy, y, 1);
    assert_ok(lt_fill_(copy, lt_scalar_from_int(3)));
    assert_fails(lt_backward(z, NULL, false, false), LT_ERR_RUNTIME,
                 "has been modified by an inplace operation");
    lt_tensor *all[] = {x, y, copy, z};
    for (int i = 0; i < COUNT(all); i++) lt_tensor_release(all[i]);
}

/* ---- other operations ------------------------------------------------------------------------ */

static lt_status twice(void *user, const lt_value *args, int nargs, lt_value *results, int nresults)
{
    (void)user, (void)nargs, (void)nresults;
    results[0] = lt_value_tensor(NULL);
    return lt_add(args[0].v.tensor, args[0].v.tensor, lt_scalar_from_int(1), &results[0].v.tensor);
}

static lt_status same(void *user, const lt_value *args, int nargs, lt_value *results, int nresults)
{
    (void)user, (void)nargs, (void)nresults;
    results[0] = lt_value_tensor(lt_tensor_retain(args[0].v.tensor));
    return LT_OK;
}

static lt_status nothing(void *user, const lt_value *args, int nargs, lt_value *results,
                         int nresults)
{
    (void)user, (void)args, (void)nargs, (void)results, (void)nresults;
    return LT_OK;
}

static lt_status fill_with_one(void *user, const lt_value *args, int nargs, lt_value *results,
                               int nresults)
{
    (void)user, (void)nargs, (void)results, (void)nresults;
    return lt_fill_(args[0].v.tensor, lt_scalar_from_int(1));
}

static void with(const char *declaration, lt_op_function run)
{
    const lt_op_definition d = lt_op_definition_of(declaration, run);
    assert_ok(lt_op_register(&d));
}

static void test_without_a_derivative_backward_is_an_error(void **state)
{
    (void)state;
    lt_tensor *x = of_doubles(1, (double[]){2});
    const lt_value arg = lt_value_tensor(x);
    lt_value result = lt_value_none();
    int n = 1;
    with("own_test::twice(Tensor x) -> Tensor", twice);
    assert_ok(lt_tensor_set_requires_grad(x, true));
    assert_ok(lt_call("own_test::twice", &arg, 1, NULL, 0, &result, &n));
    assert_true(lt_tensor_requires_grad(result.v.tensor));
    assert_fails(lt_backward(result.v.tensor, NULL, false, false), LT_ERR_RUNTIME,
                 "Trying to backward through own_test::twice but no autograd formula was");
    assert_ok(lt_op_unregister("own_test::twice"));
    lt_value_release(&result); /* the graph still refers to the operation */
    lt_tensor_release(x);
}

static void test_results_are_checked(void **state)
{
    (void)state;
    lt_tensor *x = of_doubles(1, (double[]){2});
    const lt_value arg = lt_value_tensor(x);
    with("own_test::same(Tensor x) -> Tensor", same);
    with("own_test::nothing(Tensor x) -> Tensor", nothing);
    assert_fails(lt_call("own_test::same", &arg, 1, NULL, 0, NULL, NULL), LT_ERR_RUNTIME,
                 "must not also be an input to this custom operator");
    assert_fails(lt_call("own_test::nothing", &arg, 1, NULL, 0, NULL, NULL), LT_ERR_RUNTIME,
                 "returned no value as result 1, but a Tensor is declared");
    assert_ok(lt_op_unregister("own_test::same"));
    assert_ok(lt_op_unregister("own_test::nothing"));
    lt_tensor_release(x);
}

static void test_a_written_argument_has_a_new_version(void **state)
{
    (void)state;
    lt_tensor *x = of_doubles(1, (double[]){2}), *y = of_doubles(1, (double[]){1}), *z = NULL;
    const lt_value arg = lt_value_tensor(x), leaf = lt_value_tensor(y);
    lt_scalar number;
    with("own_test::fill(Tensor(a!) x) -> ()", fill_with_one);
    assert_ok(lt_tensor_set_requires_grad(y, true));
    assert_ok(lt_mul(x, y, &z)); /* saves x */
    assert_ok(lt_call("own_test::fill", &arg, 1, NULL, 0, NULL, NULL));
    assert_ok(lt_tensor_item(x, &number));
    assert_true(number.v.d == 1);
    assert_fails(lt_backward(z, NULL, false, false), LT_ERR_RUNTIME, "modified by an inplace");
    assert_fails(lt_call("own_test::fill", &leaf, 1, NULL, 0, NULL, NULL), LT_ERR_RUNTIME,
                 "leaf Variable that requires grad");
    lt_op_definition d = lt_op_definition_of("own_test::bad(Tensor(a!) x) -> ()", fill_with_one);
    d.derivative = axpy_derivative;
    assert_fails(lt_op_register(&d), LT_ERR_TYPE, "cannot have a derivative");
    assert_ok(lt_op_unregister("own_test::fill"));
    lt_tensor *all[] = {x, y, z};
    for (int i = 0; i < COUNT(all); i++) lt_tensor_release(all[i]);
}

static void test_invalid_declarations_are_rejected(void **state)
{
    (void)state;
    const struct {
        const char *text, *message;
    } wrong[] = {{"axpy(Tensor x) -> Tensor", "needs a namespace"},
                 {"a::b(Tensor x)", "expected 'namespace::name(arguments) -> results'"},
                 {"a::b(Tensors x) -> Tensor", "unknown type 'Tensors' of an argument"},
                 {"a::b(Tensor x) -> string", "unknown type 'string' of a result"},
                 {"a::b(Tensor x, int x) -> Tensor", "two arguments named 'x'"},
                 {"a::b(int n=1.5) -> Tensor", "invalid default '1.5'"},
                 {"a::b(int n=nil) -> Tensor", "nil needs an optional type"},
                 {"a::b(int(a!) n) -> Tensor", "only a Tensor can be written"},
                 {"a::b(Tensor) -> Tensor", "needs a type and a name"},
                 {"aten::b(Tensor x) -> Tensor", "namespace is reserved"},
                 {"own_test::axpy(Tensor x) -> Tensor", "already registered"}};
    for (int i = 0; i < COUNT(wrong); i++) {
        const lt_op_definition d = lt_op_definition_of(wrong[i].text, twice);
        assert_true(lt_op_register(&d) != LT_OK);
        if (strstr(lt_error_message(), wrong[i].message) == NULL)
            fail_msg("%s: %s", wrong[i].text, lt_error_message());
    }
    lt_op_definition d = lt_op_definition_of("a::b(Tensor x) -> Tensor", twice);
    d.saves = "x z";
    assert_fails(lt_op_register(&d), LT_ERR_TYPE, "saves has 'z'");
}

static lt_status all_kinds(void *user, const lt_value *args, int nargs, lt_value *results,
                           int nresults)
{
    (void)user, (void)nresults;
    assert_int_equal(nargs, 10);
    assert_true(args[0].kind == LT_KIND_TENSORS && args[0].v.tensors.n == 2);
    assert_int_equal(args[1].kind, LT_KIND_NONE);
    assert_true(args[2].kind == LT_KIND_INT && args[2].v.i == 0); /* the first dimension */
    assert_true(args[3].kind == LT_KIND_DIMS && args[3].v.dims.n == 2);
    assert_true(args[4].kind == LT_KIND_DOUBLE && args[4].v.d == 2);
    assert_true(args[5].kind == LT_KIND_BOOL && args[5].v.b);
    assert_true(args[6].kind == LT_KIND_STRING && strcmp(args[6].v.s, "a, (b") == 0);
    assert_int_equal(args[7].kind, LT_KIND_NONE);
    assert_true(args[8].kind == LT_KIND_BOOL || args[8].kind == LT_KIND_INT);
    assert_int_equal(args[9].kind, LT_KIND_TENSOR);
    results[0] = lt_value_int(7), results[1] = lt_value_bool(true);
    results[2] = lt_value_tensors(1, lt_op_allocate(1));
    if (results[2].v.tensors.v == NULL) return LT_ERR_MEMORY;
    return lt_clone(args[0].v.tensors.v[1], &results[2].v.tensors.v[0]);
}

static void test_every_type_of_argument_arrives(void **state)
{
    (void)state;
    lt_tensor *x = of_doubles(1, (double[]){2}), *y = of_doubles(1, (double[]){3});
    lt_tensor *list[] = {x, y};
    const int64_t sizes[] = {4, 5};
    const lt_value args[] = {lt_value_tensors(2, list), lt_value_none()};
    const lt_named_value named[] = {{"size", lt_value_dims(2, sizes)}};
    lt_value results[] = {lt_value_none(), lt_value_none(), lt_value_none()};
    lt_scalar number;
    int n = 3;
    with("own_test::kinds(Tensor[] list, Tensor? absent, Dim dim=1, Size size=1, float f=2,"
         " bool on=True, str text='a, (b', Dtype? dtype=None, *, Scalar s=1, Tensor|Scalar t=3)"
         " -> (int, bool flag, Tensor[] copies)",
         all_kinds);
    assert_ok(lt_call("own_test::kinds", args, 2, named, 1, results, &n));
    assert_int_equal(n, 3);
    assert_true(results[0].v.i == 7 && results[1].v.b && results[2].v.tensors.n == 1);
    assert_ok(lt_tensor_item(results[2].v.tensors.v[0], &number));
    assert_true(number.v.d == 3);
    lt_value_release(&results[2]);
    assert_ok(lt_op_unregister("own_test::kinds"));
    lt_tensor_release(x);
    lt_tensor_release(y);
}

static void test_an_op_of_a_context_ends_with_it(void **state)
{
    (void)state;
    lt_context *mine = NULL;
    lt_op_definition d = lt_op_definition_of("own_test::mine(Tensor x) -> Tensor", twice);
    d.release = count_release;
    released = 0;
    assert_ok(lt_context_new(NULL, &mine));
    lt_context *before = lt_context_enter(mine);
    assert_ok(lt_op_register(&d));
    assert_fails(lt_op_register(&d), LT_ERR_RUNTIME, "already registered");
    assert_int_equal(lt_op_registered_count(), 2); /* and that of the process */
    lt_context_enter(before);
    assert_fails(lt_call("own_test::mine", NULL, 0, NULL, 0, NULL, NULL), LT_ERR_TYPE,
                 "unknown operation");
    assert_int_equal(released, 0);
    lt_context_release(mine);
    assert_int_equal(released, 1);
    assert_fails(lt_op_unregister("own_test::mine"), LT_ERR_RUNTIME, "no operation");
}

static void test_null_and_missing_files_are_errors(void **state)
{
    (void)state;
    lt_op_definition d = lt_op_definition_of(NULL, twice);
    assert_fails(lt_op_register(NULL), LT_ERR_TYPE, "definition");
    assert_fails(lt_op_register(&d), LT_ERR_TYPE, "declaration");
    d = lt_op_definition_of("a::b() -> Tensor", NULL);
    assert_fails(lt_op_register(&d), LT_ERR_TYPE, "run");
    assert_fails(lt_op_unregister(NULL), LT_ERR_TYPE, "name");
    assert_fails(lt_plugin_load(NULL), LT_ERR_TYPE, "path");
    assert_fails(lt_plugin_load("/nowhere/plugin.so"), LT_ERR_IO, "/nowhere/plugin.so");
    assert_fails(lt_op_infer("add", NULL, 0, NULL, 0, NULL, NULL), LT_ERR_RUNTIME, "built-in");
    assert_null(lt_op_allocate(-1));
}

/* ---- threads --------------------------------------------------------------------------------- */

#define THREADS 8
#define ROUNDS  25

static lt_status twice_derivative(void *user, const lt_op_gradient *g)
{
    (void)user;
    return lt_add(g->grads[0], g->grads[0], lt_scalar_from_int(1), &g->input_grads[0]);
}

/* Calls an op with x for each of its n tensors. */
static lt_status call_with(lt_tensor *x, int n_tensors, const char *name, lt_tensor **out)
{
    const lt_value args[] = {lt_value_tensor(x), lt_value_tensor(x)};
    lt_value result = lt_value_none();
    int n = 1;
    const lt_status status = lt_call(name, args, n_tensors, NULL, 0, &result, &n);
    *out = status == LT_OK ? result.v.tensor : NULL;
    return status;
}

/* Registers an op of a context of its own, calls it and the one of the process, and computes
 * gradients after it was unregistered. The result: the number of failures. */
static void *register_and_call(void *unused)
{
    intptr_t failures = 0;
    for (int i = 0; i < ROUNDS; i++) {
        lt_context *mine = NULL;
        lt_tensor *x = NULL, *y = NULL, *z = NULL, *total = NULL;
        lt_scalar gradient;
        lt_op_definition d = lt_op_definition_of("thread::twice(Tensor x) -> Tensor", twice);
        d.derivative = twice_derivative;
        if (lt_context_new(NULL, &mine) != LT_OK) return (void *)(intptr_t)1;
        lt_context *before = lt_context_enter(mine);
        failures += lt_op_register(&d) != LT_OK;
        failures += lt_full(&(lt_dims){0}, lt_scalar_from_float(3), LT_FLOAT64, NULL, &x) != LT_OK;
        failures += lt_tensor_set_requires_grad(x, true) != LT_OK;
        failures += call_with(x, 2, "own_test::axpy", &y) != LT_OK; /* x^3 + x */
        failures += call_with(x, 1, "thread::twice", &z) != LT_OK;
        failures += lt_add(y, z, lt_scalar_from_int(1), &total) != LT_OK;
        failures += lt_op_unregister("thread::twice") != LT_OK;
        failures += lt_backward(total, NULL, false, false) != LT_OK;
        failures += lt_tensor_item(lt_tensor_grad(x), &gradient) != LT_OK || gradient.v.d != 30;
        lt_tensor *const made[] = {x, y, z, total};
        for (int k = 0; k < COUNT(made); k++) lt_tensor_release(made[k]);
        lt_context_enter(before);
        lt_context_release(mine);
    }
    (void)unused;
    return (void *)failures;
}

static void test_threads_register_and_call_at_once(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, register_and_call, NULL), 0);
    /* meanwhile, an op of the process comes and goes */
    lt_op_definition d = lt_op_definition_of("passing::twice(Tensor x) -> Tensor", twice);
    for (int i = 0; i < 10 * ROUNDS; i++) {
        assert_ok(lt_op_register(&d));
        assert_ok(lt_op_unregister("passing::twice"));
    }
    for (int i = 0; i < THREADS; i++) {
        void *failures = NULL;
        assert_int_equal(pthread_join(threads[i], &failures), 0);
        assert_null(failures);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_registered_op_is_called_by_name),
        cmocka_unit_test(test_wrong_arguments_are_named),
        cmocka_unit_test(test_registered_ops_are_listed),
        cmocka_unit_test(test_derivatives_of_both_orders_agree_with_differences),
        cmocka_unit_test(test_a_saved_argument_must_not_change),
        cmocka_unit_test(test_without_a_derivative_backward_is_an_error),
        cmocka_unit_test(test_results_are_checked),
        cmocka_unit_test(test_a_written_argument_has_a_new_version),
        cmocka_unit_test(test_invalid_declarations_are_rejected),
        cmocka_unit_test(test_every_type_of_argument_arrives),
        cmocka_unit_test(test_an_op_of_a_context_ends_with_it),
        cmocka_unit_test(test_null_and_missing_files_are_errors),
        cmocka_unit_test(test_threads_register_and_call_at_once),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
