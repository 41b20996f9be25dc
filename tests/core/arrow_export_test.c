/* arrow_export_test.c - lt_tensor_to_arrow: every dtype, shared and copied memory, its lifetime, and
 * failing allocations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "expect.h"
#include "leaks.h"
#include "memory/block.h"
#include "memory/system.h"
#include "tensor.h"
#include "op/fill_.h"
#include "op/select.h"

static void every_dtype_goes_out_and_comes_back(void **state)
{
    (void)state;
    static const char *const formats[LT_DTYPE_COUNT] = {"b",
                                                        "C",
                                                        "c",
                                                        "s",
                                                        "i",
                                                        "l",
                                                        "e",
                                                        NULL,
                                                        "f",
                                                        "g",
                                                        [LT_UINT16] = "S",
                                                        [LT_UINT32] = "I",
                                                        [LT_UINT64] = "L"};
    for (int d = 0; d < LT_DTYPE_COUNT; d++) {
        const int64_t n = 21;
        lt_tensor *t = NULL, *back = NULL;
        struct ArrowSchema s;
        struct ArrowArray a;
        assert_ok(lt_tensor_new((lt_dtype)d, lt_host, 1, &n, &t));
        for (int64_t i = 0; i < n * (int64_t)lt_dtype_size((lt_dtype)d); i++)
            ((uint8_t *)lt_tensor_data(t))[i] = (uint8_t)(d == LT_BOOL ? i % 3 == 0 : i % 5);
        if (formats[d] == NULL) {
            char message[64];
            snprintf(message, sizeof message, "Arrow has no format for %s",
                     lt_dtype_name((lt_dtype)d));
            assert_fails(lt_tensor_to_arrow(t, &s, &a), LT_ERR_RUNTIME, message);
            lt_tensor_release(t);
            continue;
        }
        assert_ok(lt_tensor_to_arrow(t, &s, &a));
        assert_string_equal(s.format, formats[d]);
        assert_string_equal(s.name, "");
        assert_null(s.metadata);
        assert_null(s.dictionary);
        assert_int_equal(s.flags, ARROW_FLAG_NULLABLE);
        assert_int_equal(a.length, n);
        assert_int_equal(a.null_count, 0);
        assert_int_equal(a.offset, 0);
        assert_int_equal(a.n_buffers, 2);
        assert_int_equal(a.n_children, 0);
        assert_null(a.dictionary);
        assert_null(a.buffers[0]);
        if (d == LT_BOOL) {
            const uint8_t bits[] = {0x49, 0x92, 0x04}; /* every third; what follows the 21st is 0 */
            assert_memory_equal(a.buffers[1], bits, 3);
        } else
            assert_ptr_equal(a.buffers[1], lt_tensor_data(t));
        assert_ok(lt_tensor_from_arrow(&s, &a, &back));
        assert_int_equal(lt_tensor_dtype(back), d);
        assert_memory_equal(lt_tensor_data(back), lt_tensor_data(t),
                            (size_t)n * lt_dtype_size((lt_dtype)d));
        lt_tensor_release(back);
        s.release(&s);
        assert_null(s.release);
        lt_tensor_release(t);
    }
}

static void what_is_lent_lives_on_wherever_its_struct_goes(void **state)
{
    (void)state;
    const int64_t n = 1000;
    lt_tensor *t = NULL, *other = NULL;
    struct ArrowSchema s;
    struct ArrowArray a, moved;
    assert_ok(lt_tensor_new(LT_FLOAT32, lt_host, 1, &n, &t));
    assert_ok(lt_tensor_new(LT_FLOAT32, lt_host, 1, &n, &other));
    assert_ok(lt_fill_(t, lt_scalar_from_float(3)));
    assert_ok(lt_tensor_to_arrow(t, &s, &a));
    moved = a;
    memset(&a, 0xff, sizeof a);
    s.release(&s); /* in any order */
    assert_ok(lt_fill_(t, lt_scalar_from_float(4)));
    assert_true(((const float *)moved.buffers[1])[999] == 4);
    lt_tensor_set_data(t, other); /* x.data = other */
    lt_tensor_release(t);
    lt_tensor_release(other);
    assert_true(((const float *)moved.buffers[1])[999] == 4);
    moved.release(&moved);
    assert_null(moved.release);
}

static void parts_are_shared_and_strided_ones_copied(void **state)
{
    (void)state;
    const int64_t sizes[] = {4, 6};
    for (int d = 0; d < 2; d++) {
        const lt_dtype dtype = d == 0 ? LT_INT16 : LT_BOOL;
        lt_tensor *t = NULL, *row = NULL, *strided = NULL;
        struct ArrowSchema s;
        struct ArrowArray a;
        assert_ok(lt_tensor_new(dtype, lt_host, 2, sizes, &t));
        for (int i = 0; i < 24; i++) {
            if (dtype == LT_BOOL)
                ((bool *)lt_tensor_data(t))[i] = i % 4 == 2;
            else
                ((int16_t *)lt_tensor_data(t))[i] = (int16_t)i;
        }
        assert_ok(lt_select(t, 0, 1, &row));
        assert_ok(lt_select(t, 1, 2, &strided)); /* 2, 8, 14, 20 */
        assert_ok(lt_tensor_to_arrow(row, &s, &a));
        if (dtype == LT_BOOL)
            assert_int_equal(*(const uint8_t *)a.buffers[1], 0x11); /* 6 and 10 */
        else
            assert_ptr_equal(a.buffers[1], (int16_t *)lt_tensor_data(t) + 6);
        a.release(&a);
        assert_ok(lt_tensor_to_arrow(strided, &s, &a));
        assert_int_equal(a.length, 4);
        if (dtype == LT_BOOL) {
            assert_int_equal(*(const uint8_t *)a.buffers[1], 0x05); /* 2 and 14 */
        } else {
            const int16_t expected[] = {2, 8, 14, 20};
            assert_memory_equal(a.buffers[1], expected, sizeof expected);
        }
        a.release(&a);
        lt_tensor_release(strided);
        lt_tensor_release(row);
        lt_tensor_release(t);
    }
}

/* Whatever bytes other libraries have for a bool. */
static void bools_of_any_byte_become_single_bits(void **state)
{
    (void)state;
    uint8_t bytes[] = {0, 2, 255, 0, 1};
    const int64_t n = 5;
    lt_tensor *t = NULL;
    struct ArrowSchema s;
    struct ArrowArray a;
    assert_ok(lt_tensor_wrap(bytes, LT_BOOL, 1, &n, NULL, NULL, &t));
    assert_ok(lt_tensor_to_arrow(t, &s, &a));
    assert_int_equal(*(const uint8_t *)a.buffers[1], 0x16);
    a.release(&a);
    lt_tensor_release(t);
}

static void what_is_no_column_is_not_lent(void **state)
{
    (void)state;
    const int64_t sizes[] = {2, 3};
    lt_tensor *t = NULL, *row = NULL;
    struct ArrowSchema s = {.format = "untouched"};
    struct ArrowArray a = {.length = -7};
    assert_ok(lt_tensor_new(LT_FLOAT32, lt_host, 2, sizes, &t));
    assert_fails(lt_tensor_to_arrow(t, &s, &a), LT_ERR_RUNTIME,
                 "a column has 1 dimension, but the tensor has 2");
    assert_ok(lt_select(t, 0, 0, &row));
    row->flags |= LT_FLAG_REQUIRES_GRAD;
    assert_fails(lt_tensor_to_arrow(row, &s, &a), LT_ERR_RUNTIME,
                 "Can't export tensors that require gradient, use tensor.detach()");
    assert_string_equal(s.format, "untouched");
    assert_int_equal(a.length, -7);
    lt_tensor_release(row);
    lt_tensor_release(t);
}

static void empty_tensors_go_out(void **state)
{
    (void)state;
    const int64_t n = 0;
    for (int d = 0; d < 2; d++) {
        lt_tensor *t = NULL;
        struct ArrowSchema s;
        struct ArrowArray a;
        assert_ok(lt_tensor_new(d == 0 ? LT_FLOAT32 : LT_BOOL, lt_host, 1, &n, &t));
        assert_ok(lt_tensor_to_arrow(t, &s, &a));
        assert_int_equal(a.length, 0);
        assert_null(a.buffers[1]);
        a.release(&a);
        lt_tensor_release(t);
    }
}

static void null_arguments_are_errors(void **state)
{
    (void)state;
    const int64_t n = 1;
    lt_tensor *t = NULL;
    struct ArrowSchema schema;
    struct ArrowArray array;
    assert_ok(lt_tensor_new(LT_FLOAT32, lt_host, 1, &n, &t));
    assert_fails(lt_tensor_to_arrow(NULL, &schema, &array), LT_ERR_TYPE,
                 "argument 't' must not be NULL");
    assert_fails(lt_tensor_to_arrow(t, NULL, &array), LT_ERR_TYPE,
                 "argument 'schema' must not be NULL");
    assert_fails(lt_tensor_to_arrow(t, &schema, NULL), LT_ERR_TYPE,
                 "argument 'array' must not be NULL");
    lt_tensor_release(t);
}

static void each_allocation_of_lending_may_fail(void **state)
{
    (void)state;
    const int64_t sizes[] = {3, 50};
    for (int kind = 0; kind < 3; kind++) { /* shared, gathered, packed */
        lt_tensor *t = NULL, *line = NULL;
        struct ArrowSchema s = {.format = NULL};
        struct ArrowArray a = {.release = NULL};
        assert_ok(lt_tensor_new(kind == 2 ? LT_BOOL : LT_FLOAT32, lt_host, 2, sizes, &t));
        assert_ok(lt_fill_(t, lt_scalar_from_int(1)));
        assert_ok(lt_select(t, kind == 0 ? 0 : 1, 0, &line));
        for (int64_t nth = 1; a.release == NULL; nth++) {
            lt_block_trim();
            lt_mem_fail_after(nth);
            const lt_status status = lt_tensor_to_arrow(line, &s, &a);
            lt_mem_fail_after(0);
            if (status == LT_OK) {
                assert_true(nth > 1);
                break;
            }
            assert_int_equal(status, LT_ERR_MEMORY);
            assert_null(a.release);
            assert_null(s.format);
            assert_true(nth < 10);
        }
        a.release(&a);
        lt_tensor_release(line);
        lt_tensor_release(t);
    }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, note_memory, check_memory)
    const struct CMUnitTest tests[] = {
        TEST(every_dtype_goes_out_and_comes_back),
        TEST(what_is_lent_lives_on_wherever_its_struct_goes),
        TEST(parts_are_shared_and_strided_ones_copied),
        TEST(bools_of_any_byte_become_single_bits),
        TEST(what_is_no_column_is_not_lent),
        TEST(empty_tensors_go_out),
        TEST(null_arguments_are_errors),
        TEST(each_allocation_of_lending_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
