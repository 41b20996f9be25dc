/* header_own_test.c - every function of ltensor_register.h: with each of its allocations failing, and
 * with NULL; and a call of an own operation with its derivative. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#undef LT_OPS_BY_NAME
#include "failing.h"
#include "ltensor.h"

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

static lt_status twice(void *user, const lt_value *args, int nargs, lt_value *results, int nresults)
{
    (void)user, (void)nargs, (void)nresults;
    results[0] = lt_value_tensor(NULL);
    return lt_add(args[0].v.tensor, args[0].v.tensor, lt_scalar_from_int(1), &results[0].v.tensor);
}

static lt_status twice_derivative(void *user, const lt_op_gradient *g)
{
    (void)user;
    return lt_add(g->grads[0], g->grads[0], lt_scalar_from_int(1), &g->input_grads[0]);
}

static lt_op_definition definition(void)
{
    lt_op_definition d = lt_op_definition_of(
        "header::twice(Tensor x, Size size=1, string name='a') -> Tensor", twice);
    d.derivative = twice_derivative;
    return d;
}

static lt_status register_one(void)
{
    const lt_op_definition d = definition();
    const lt_status status = lt_op_register(&d);
    if (status == LT_OK) assert_ok(lt_op_unregister("header::twice"));
    return status;
}

static lt_status look(void)
{
    return lt_op_registered_at(lt_op_registered_count()) == NULL ? LT_OK : LT_ERR_RUNTIME;
}

static lt_status report(void)
{
    return lt_op_error(LT_ERR_RUNTIME, "text") == LT_ERR_RUNTIME ? LT_OK : LT_ERR_TYPE;
}

static lt_status allocate(void)
{
    lt_tensor_list list = {2, lt_op_allocate(2)};
    if (list.v == NULL) return LT_ERR_MEMORY;
    lt_tensor_list_release(&list);
    return LT_OK;
}

static lt_status load_nothing(void)
{
    const lt_status status = lt_plugin_load("/nowhere/plugin.so");
    return status == LT_ERR_IO ? LT_OK : status;
}

/* Registers the operation, calls it with one argument that requires grad, and calls f. */
static lt_status with_call(lt_status (*f)(const lt_value *arg, lt_value *result, int *n))
{
    const lt_op_definition d = definition();
    const lt_dims size = {1, {2}};
    lt_tensor *x = NULL;
    lt_value result = lt_value_none();
    int n = 1;
    lt_status status = lt_op_register(&d);
    if (status != LT_OK) return status;
    status = lt_ones(&size, LT_FLOAT32, NULL, &x);
    if (status == LT_OK) status = lt_tensor_set_requires_grad(x, true);
    const lt_value arg = lt_value_tensor(x);
    if (status == LT_OK) status = f(&arg, &result, &n);
    lt_value_release(&result);
    lt_tensor_release(x);
    assert_ok(lt_op_unregister("header::twice"));
    return status;
}

static lt_status infer_with(const lt_value *arg, lt_value *result, int *n)
{
    return lt_op_infer("header::twice", arg, 1, NULL, 0, result, n);
}
static lt_status infer(void) { return with_call(infer_with); }

static lt_status differentiate_with(const lt_value *arg, lt_value *result, int *n)
{
    lt_tensor *grad = NULL;
    lt_status status = lt_call("header::twice", arg, 1, NULL, 0, result, n);
    if (status == LT_OK)
        status = lt_grad(&result->v.tensor, 1, &arg->v.tensor, 1, &arg->v.tensor, false, true,
                         false, &grad);
    lt_tensor_release(grad);
    return status;
}
static lt_status differentiate(void) { return with_call(differentiate_with); }

/* ---- NULL ------------------------------------------------------------------------------------ */

static void register_null(void)
{
    lt_op_definition d = definition();
    assert_fails(lt_op_register(NULL), LT_ERR_TYPE, "definition");
    d.declaration = NULL;
    assert_fails(lt_op_register(&d), LT_ERR_TYPE, "declaration");
    d = definition();
    d.size = 8;
    assert_fails(lt_op_register(&d), LT_ERR_TYPE, "lt_op_definition_of");
}
static void unregister_null(void) { assert_fails(lt_op_unregister(NULL), LT_ERR_TYPE, "name"); }
static void look_null(void) { assert_null(lt_op_registered_at(-1)); }
static void infer_null(void)
{
    assert_fails(lt_op_infer(NULL, NULL, 0, NULL, 0, NULL, NULL), LT_ERR_TYPE, "name");
}
static void report_null(void)
{
    assert_fails(lt_op_error(LT_ERR_IO, NULL), LT_ERR_IO, "failed");
    assert_int_equal(lt_op_error(LT_OK, "not a failure"), LT_ERR_RUNTIME);
}
static void allocate_null(void) { assert_null(lt_op_allocate(-1)); }
static void load_null(void) { assert_fails(lt_plugin_load(NULL), LT_ERR_TYPE, "path"); }

static const row rows[] = {
    {"lt_op_register", register_one, register_null},
    {"lt_op_unregister", register_one, unregister_null},
    {"lt_op_registered_count", look, NULL},
    {"lt_op_registered_at", look, look_null},
    {"lt_op_infer", infer, infer_null},
    {"lt_op_error", report, report_null},
    {"lt_op_allocate", allocate, allocate_null},
    {"lt_plugin_load", load_nothing, load_null},
};

static void test_no_function_is_left_out(void **state)
{
    (void)state;
    assert_int_equal(every_function_has_a_row(__FILE__, "ltensor_register.h", rows, COUNT(rows)),
                     COUNT(rows));
}

static void test_every_failing_allocation_is_reported(void **state)
{
    (void)state;
    int failures = fail_without_a_leak((sweep){fail_each, "a derivative", differentiate});
    for (int i = 0; i < COUNT(rows); i++)
        failures += fail_without_a_leak((sweep){fail_each, rows[i].name, rows[i].call});
    assert_int_equal(complaints, 0);
    assert_true(failures > 20);
}

static void test_null_is_an_error(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(rows); i++)
        if (rows[i].null != NULL) rows[i].null();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_function_is_left_out),
        cmocka_unit_test(test_every_failing_allocation_is_reported),
        cmocka_unit_test(test_null_is_an_error),
    };
    if (count_memory() != LT_OK) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
