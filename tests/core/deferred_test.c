/* deferred_test.c - memory that is taken away for a while (core's compile/deferred.h), as a host in C meets it:
 * every way to elements is refused and nothing is written, until there is memory again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "expect.h"
#include "compile/deferred.h"
#include "ltensor_ops.h"
#include "tensor.h"

#define ELEMENTS 600
#define GONE     "of parameter 'weight', was freed: it was taken"

static const lt_freed_part parts[] = {{0, "bias"}, {100 * sizeof(float), "weight"}};
static lt_tensor *whole, *view, *empty; /* elements 101 to 110 of a storage, freed in the tests */

static int setup(void **state)
{
    (void)state;
    const int64_t n = ELEMENTS, few = 10, step = 1;
    assert_int_equal(lt_deferred_storages, 0);
    assert_ok(lt_tensor_new(LT_FLOAT32, lt_host, 1, &n, &whole));
    assert_ok(lt_fill_(whole, lt_scalar_from_float(3)));
    assert_ok(lt_tensor_view(whole, 1, &few, &step, 101, &view));
    assert_ok(lt_storage_freed(whole, parts, 2, "it was taken", &empty));
    assert_int_equal(lt_deferred_storages, 1);
    assert_ok(lt_storage_exchange(whole, empty));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    assert_ok(lt_storage_exchange(whole, empty));
    lt_tensor_release(empty);
    assert_int_equal(lt_deferred_storages, 0);
    lt_scalar first;
    lt_tensor *one = NULL;
    assert_ok(lt_select(view, 0, 0, &one));
    assert_ok(lt_tensor_item(one, &first));
    assert_true(first.v.d == 3);
    assert_ptr_equal(lt_tensor_data(view), (float *)lt_tensor_data(whole) + 101);
    lt_tensor_release(one);
    lt_tensor_release(view);
    lt_tensor_release(whole);
    return 0;
}

static void operations_refuse_it(void **state)
{
    (void)state;
    lt_tensor *out = NULL, *ones = NULL;
    assert_ok(lt_ones_like(view, LT_DTYPE_NONE, NULL, &ones));
    assert_fails(lt_exp(view, &out), LT_ERR_RUNTIME,
                 "exp(): the memory of the Float Tensor [10], " GONE);
    assert_fails(lt_exp(whole, &out), LT_ERR_RUNTIME, "of parameter 'bias'");
    assert_fails(lt_add(ones, view, lt_scalar_from_int(1), &out), LT_ERR_RUNTIME, GONE);
    assert_fails(lt_add_(view, ones, lt_scalar_from_int(1)), LT_ERR_RUNTIME, GONE);
    assert_fails(lt_add_out(ones, ones, lt_scalar_from_int(1), view), LT_ERR_RUNTIME, GONE);
    assert_fails(lt_cat(&(lt_tensor_list){2, (lt_tensor *[]){ones, view}}, 0, &out), LT_ERR_RUNTIME,
                 GONE);
    const lt_value arguments[] = {lt_value_tensor(view)};
    lt_value result = lt_value_none();
    int n_results = 1;
    assert_fails(lt_call("exp", arguments, 1, NULL, 0, &result, &n_results), LT_ERR_RUNTIME, GONE);
    assert_null(out);
    lt_tensor_release(ones);
}

static void so_does_what_is_no_operation(void **state)
{
    (void)state;
    float numbers[10];
    char path[] = "/tmp/freed-XXXXXX";
    const int fd = mkstemp(path);
    void *managed = NULL;
    lt_scalar item;
    lt_tensor *one = NULL;
    assert_true(fd >= 0 && close(fd) == 0 && unlink(path) == 0);
    assert_ok(lt_select(view, 0, 0, &one));
    assert_null(lt_tensor_data(view));
    assert_non_null(strstr(lt_error_message(), GONE));
    assert_fails(lt_tensor_item(one, &item), LT_ERR_RUNTIME, GONE);
    assert_fails(lt_tensor_copy_to(view, numbers, sizeof numbers), LT_ERR_RUNTIME, GONE);
    assert_fails(lt_tensor_copy_from(view, numbers, sizeof numbers), LT_ERR_RUNTIME, GONE);
    assert_fails(lt_tensor_to_dlpack(view, true, &managed), LT_ERR_RUNTIME, GONE);
    assert_fails(lt_save(path, (const char *const[]){"view"}, &view, 1), LT_ERR_RUNTIME, GONE);
    assert_int_not_equal(access(path, F_OK), 0);
    lt_tensor_release(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(operations_refuse_it, setup, teardown),
        cmocka_unit_test_setup_teardown(so_does_what_is_no_operation, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
