/* autograd_memory_test.c - memory of graphs that no backward run frees, whose tensors were written by
 * their own results, and failing allocations. check_memory detects tensors that keep themselves
 * alive. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "autograd_graphs.h"
#include "leaks.h"
#include "memory/limit.h"
#include "memory/system.h"
#include "op/add.h"
#include "op/cat.h"
#include "op/copy_.h"
#include "op/exp.h"
#include "op/max.h"
#include "op/mul.h"
#include "op/narrow.h"
#include "op/sum.h"

static void tensors_written_by_themselves_are_freed(void **state)
{
    (void)state;
    lt_tensor *x = leaf(2, (double[]){2, 3}), *y = mul(x, x);
    assert_ok(lt_mul_(y, y));
    lt_tensor *first = select_one(y, 0), *second = select_one(y, 1);
    assert_ok(lt_mul_(first, second));
    FAILS(lt_mul_(y, second),
          "unsupported operation: some elements of the input tensor and the written-to tensor "
          "refer to a "
          "single memory location. Please clone() the tensor before performing the operation.");
    assert_ok(lt_mul_(second, first));
    release(4, x, y, first, second);
}

static void tensors_written_by_what_they_led_to_are_freed(void **state)
{
    (void)state;
    lt_tensor *x = leaf(2, (double[]){2, 3}), *y = mul(x, x), *square = mul(y, y), *exp = NULL,
              *max = NULL, *at = NULL;
    assert_ok(lt_exp(y, &exp));
    assert_ok(lt_add_(y, square, lt_scalar_from_int(1)));
    assert_ok(lt_add_(y, exp, lt_scalar_from_int(1)));
    assert_ok(lt_max_dim(y, 0, true, &max, &at));
    assert_ok(lt_mul_(y, max));
    release(6, x, y, square, exp, max, at);
}

static void plain_tensors_written_by_what_they_led_to_are_freed(void **state)
{
    (void)state;
    lt_tensor *x = leaf(2, (double[]){2, 3}), *y = vector(2, (double[]){1, 2}), *z = mul(y, x);
    assert_ok(lt_add_(y, z, lt_scalar_from_int(1)));
    lt_tensor *part = select_one(y, 1), *scaled = mul(part, part);
    assert_ok(lt_copy_(part, scaled, false));
    release(5, x, y, z, part, scaled);
}

static void lists_written_by_what_they_led_to_are_freed(void **state)
{
    (void)state;
    lt_tensor *x = leaf(2, (double[]){2, 3}), *y = mul(x, x), *parts[] = {y, y}, *both = NULL,
              *half = NULL;
    assert_ok(lt_cat(&(lt_tensor_list){2, parts}, 0, &both));
    lt_tensor *square = mul(both, both);
    assert_ok(lt_narrow(square, 0, 0, 2, &half));
    assert_ok(lt_mul_(y, half));
    assert_ok(lt_mul_(half, y));
    release(5, x, y, both, half, square);
}

/* Saved arguments get their history back for second derivatives. */
static void saved_arguments_lead_on(void **state)
{
    (void)state;
    lt_tensor *x = leaf(2, (double[]){2, 3}), *y = mul(x, x), *z = mul(y, y), *s = sum(z),
              *first = NULL, *second = NULL;
    assert_ok(gradient(s, x, true, &first)); /* x^4: 4 x^3, then 12 x^2 */
    lt_tensor *t = sum(first);
    release(2, y, z);
    assert_ok(gradient(t, x, false, &second));
    EXPECT(second, 2, 48, 108);
    release(5, x, s, first, second, t);
}

static lt_status double_it(void *ctx, lt_tensor *grad, lt_tensor **replacement)
{
    (void)ctx;
    return lt_add(grad, grad, lt_scalar_from_int(1), replacement);
}

/* Every allocation fails in turn: an error each time, nothing lost. */
static void exhausted_memory_is_an_error(void **state)
{
    (void)state;
    bool done = false;
    for (int64_t n = 1; !done; n++) {
        lt_tensor *x = leaf(2, (double[]){1, 2}), *y = mul(x, x), *part = select_one(y, 0);
        lt_tensor *factor = select_one(x, 1), *s = NULL, *result = NULL;
        int64_t id;
        assert_ok(lt_retain_grad(y));
        lt_mem_fail_after(n);
        lt_status status = lt_mul_(part, factor);
        if (status == LT_OK) status = lt_sum(y, LT_DTYPE_NONE, &s);
        if (status == LT_OK) status = lt_register_hook(y, (lt_hook){.run = double_it}, &id);
        if (status == LT_OK) status = gradient(s, x, true, &result);
        if (status == LT_OK) status = backward(s);
        lt_mem_fail_after(0);
        done = status == LT_OK;
        if (!done) assert_int_equal(status, LT_ERR_MEMORY);
        /* The graph of result leads to x, but x has no .grad with a graph. */
        release(6, x, y, part, factor, s, result);
        if (lt_mem_live() != live_before)
            fail_msg("leak after the failure of allocation %d", (int)n);
    }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, note_memory, check_memory)
    const struct CMUnitTest tests[] = {
        TEST(tensors_written_by_themselves_are_freed),
        TEST(tensors_written_by_what_they_led_to_are_freed),
        TEST(plain_tensors_written_by_what_they_led_to_are_freed),
        TEST(lists_written_by_what_they_led_to_are_freed),
        TEST(saved_arguments_lead_on),
        TEST(exhausted_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
