/* mem_test.c - arithmetic on sizes, arrays, the cache of blocks and its limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "checked.h"
#include "error.h"
#include "mem.h"
#include "tensor.h"

static void sizes_are_multiplied(void **state)
{
    (void)state;
    assert_int_equal(lt_times(6, 7), 42);
    assert_int_equal(lt_times(0, INT64_MAX), 0);
    assert_int_equal(lt_times(INT64_C(1) << 31, INT64_C(1) << 31), INT64_C(1) << 62);
    assert_int_equal(lt_times(INT64_C(1) << 32, INT64_C(1) << 31), LT_TOO_MUCH);
    assert_int_equal(lt_times(-1, 3), LT_TOO_MUCH);
    assert_int_equal(lt_times(3, -1), LT_TOO_MUCH);
    assert_int_equal(lt_times(lt_times(INT64_C(1) << 40, INT64_C(1) << 40), 2), LT_TOO_MUCH);
    assert_int_equal(lt_times(LT_TOO_MUCH, 0), 0);
}

static void sizes_are_added(void **state)
{
    (void)state;
    assert_int_equal(lt_plus(40, 2), 42);
    assert_int_equal(lt_plus(INT64_MAX - 1, 1), INT64_MAX);
    assert_int_equal(lt_plus(INT64_MAX, 1), LT_TOO_MUCH);
    assert_int_equal(lt_plus(LT_TOO_MUCH, 0), LT_TOO_MUCH);
    assert_int_equal(lt_plus(-1, 3), LT_TOO_MUCH);
    assert_int_equal(lt_plus(3, -1), LT_TOO_MUCH);
}

static void positions_stay_within(void **state)
{
    (void)state;
    assert_int_equal(lt_add_within(-3, 5), 2);
    assert_int_equal(lt_add_within(INT64_MAX, 1), INT64_MAX);
    assert_int_equal(lt_add_within(INT64_MIN, -1), INT64_MIN);
    assert_int_equal(lt_sub_within(0, INT64_MIN), INT64_MAX);
    assert_int_equal(lt_sub_within(-2, INT64_MAX), INT64_MIN);
    assert_int_equal(lt_sub_within(-2, 3), -5);
    assert_int_equal(lt_mul_within(-4, 3), -12);
    assert_int_equal(lt_mul_within(INT64_MAX, 2), INT64_MAX);
    assert_int_equal(lt_mul_within(INT64_MAX, -2), INT64_MIN);
    assert_int_equal(lt_mul_within(INT64_MIN, -1), INT64_MAX);
}

static void parts_hold_all(void **state)
{
    (void)state;
    assert_int_equal(lt_parts(0, 3), 0);
    assert_int_equal(lt_parts(6, 3), 2);
    assert_int_equal(lt_parts(7, 3), 3);
    assert_int_equal(lt_parts(INT64_MAX, 2), (INT64_C(1) << 62));
    assert_int_equal(lt_parts(5, INT64_MAX), 1);
}

static void arrays_need_a_size_that_is_a_number(void **state)
{
    (void)state;
    size_t capacity;
    int64_t *a = lt_mem_array(0, sizeof *a); /* never NULL */
    assert_non_null(a);
    lt_mem_free(a);
    a = lt_mem_zarray(1000, sizeof *a);
    assert_non_null(a);
    for (int i = 0; i < 1000; i++) assert_int_equal(a[i], 0);
    a[999] = 7;
    a = lt_mem_rearray(a, 2000, sizeof *a);
    assert_non_null(a);
    assert_int_equal(a[999], 7);
    assert_null(lt_mem_rearray(a, INT64_MAX / 8 + 1, sizeof *a)); /* the old one stays */
    assert_int_equal(a[999], 7);
    lt_mem_free(a);
    const int64_t counts[] = {-1, INT64_MIN, INT64_MAX, INT64_MAX / 8 + 1, INT64_C(1) << 62};
    for (int i = 0; i < 5; i++) {
        assert_null(lt_mem_array(counts[i], 8));
        assert_null(lt_mem_zarray(counts[i], 8));
        assert_null(lt_block_array(counts[i], 8, &capacity));
        assert_non_null(strstr(lt_error_message(), "out of memory"));
    }
}

static void tensors_need_one_too(void **state)
{
    (void)state;
    int64_t n = -1;
    assert_int_equal(lt_check_sizes(3, (int64_t[]){INT64_C(1) << 32, INT64_C(1) << 32, 1}, &n), LT_ERR_RUNTIME);
    assert_int_equal(lt_check_sizes(2, (int64_t[]){INT64_C(1) << 30, INT64_C(1) << 30}, &n), LT_ERR_RUNTIME);
    assert_int_equal(lt_check_sizes(2, (int64_t[]){3, -1}, &n), LT_ERR_RUNTIME);
    assert_int_equal(lt_check_sizes(3, (int64_t[]){0, INT64_C(1) << 62, INT64_C(1) << 62}, &n), LT_ERR_RUNTIME);
    assert_int_equal(lt_check_sizes(3, (int64_t[]){INT64_C(1) << 62, INT64_C(1) << 62, 0}, &n), LT_ERR_RUNTIME);
    assert_int_equal(n, -1);
    assert_int_equal(lt_check_sizes(2, (int64_t[]){INT64_C(1) << 61, 0}, &n), LT_OK);
    assert_int_equal(n, 0);
    assert_int_equal(lt_check_sizes(0, NULL, &n), LT_OK);
    assert_int_equal(n, 1);
    assert_int_equal(lt_check_sizes(1, (int64_t[]){INT64_MAX / 16}, &n), LT_OK);
    assert_int_equal(lt_check_sizes(1, (int64_t[]){INT64_MAX / 16 + 1}, &n), LT_ERR_RUNTIME);
}

/* ---- blocks ------------------------------------------------------------------------------------------------- */

#define MIB ((size_t)1 << 20)

static void a_freed_block_is_handed_out_again(void **state)
{
    (void)state;
    size_t capacity, again;
    lt_block_trim();
    void *p = lt_block_alloc(3 * MIB, &capacity);
    assert_non_null(p);
    assert_true(capacity >= 3 * MIB);
    lt_block_free(p, capacity);
    assert_int_equal(lt_block_kept(), capacity);
    void *q = lt_block_alloc(3 * MIB - 100, &again); /* of the same class */
    assert_ptr_equal(q, p);
    assert_int_equal(again, capacity);
    assert_int_equal(lt_block_kept(), 0);
    lt_block_free(q, again);
    lt_block_trim();
    assert_int_equal(lt_block_kept(), 0);
}

static void blocks_are_aligned_and_large_enough(void **state)
{
    (void)state;
    for (size_t n = 0; n < 5 * MIB; n = n * 3 / 2 + 1) {
        size_t capacity;
        char *p = lt_block_alloc(n, &capacity);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 64, 0);
        assert_true(capacity >= n);
        memset(p, 1, capacity);
        lt_block_free(p, capacity);
    }
    lt_block_trim();
}

/* Blocks of one size after another: what is kept of them never passes the limit. */
static void what_is_kept_is_bounded(void **state)
{
    (void)state;
    void *blocks[40];
    size_t capacity[40];
    lt_block_trim();
    for (int i = 0; i < 40; i++) {
        blocks[i] = lt_block_alloc((size_t)(8 + i % 5) * MIB, &capacity[i]);
        assert_non_null(blocks[i]);
    }
    for (int i = 0; i < 40; i++) {
        lt_block_free(blocks[i], capacity[i]);
        assert_true(lt_block_kept() <= LT_BLOCK_KEEP);
    }
    assert_true(lt_block_kept() > 0);
    size_t large;
    lt_block_trim();
    void *p = lt_block_alloc(LT_BLOCK_KEEP + MIB, &large); /* alone too large to be kept */
    assert_non_null(p);
    lt_block_free(p, large);
    assert_int_equal(lt_block_kept(), 0);
}

static void what_is_held_is_counted(void **state)
{
    (void)state;
    const int64_t before = lt_mem_live();
    size_t small, large;
    void *a = lt_block_alloc(100, &small), *b = lt_block_alloc(MIB, &large);
    assert_int_equal(lt_mem_live(), before + (int64_t)(small + large));
    lt_block_free(a, small);
    lt_block_free(b, large);
    assert_int_equal(lt_mem_live(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_multiplied),
        cmocka_unit_test(sizes_are_added),
        cmocka_unit_test(positions_stay_within),
        cmocka_unit_test(parts_hold_all),
        cmocka_unit_test(arrays_need_a_size_that_is_a_number),
        cmocka_unit_test(tensors_need_one_too),
        cmocka_unit_test(a_freed_block_is_handed_out_again),
        cmocka_unit_test(blocks_are_aligned_and_large_enough),
        cmocka_unit_test(what_is_kept_is_bounded),
        cmocka_unit_test(what_is_held_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
