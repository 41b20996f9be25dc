/* dtype_test.c - kinds of elements: their names and sizes, what two of them promote to and which
 * may be stored in which (by PyTorch's tables), single numbers in memory, and in what an op on
 * tensors and numbers computes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dtypes/dtype.h"
#include "dtypes/half.h"
#include "dtypes/promotion.h"
#include "expect.h"
#include "tensor.h"

#include "../reference/dtypes.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void every_dtype_has_a_size_and_a_name(void **state)
{
    (void)state;
    for (int d = 0; d < LT_DTYPE_COUNT; d++) {
        assert_int_equal(lt_dtype_size((lt_dtype)d), bytes[d]);
        assert_int_equal(lt_dtype_from_name(lt_dtype_name((lt_dtype)d)), d);
        assert_non_null(lt_dtype_scalar_name((lt_dtype)d));
    }
    const int others[] = {LT_DTYPE_NONE, LT_DTYPE_COUNT, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < COUNT(others); i++) {
        assert_int_equal(lt_dtype_size((lt_dtype)others[i]), 0);
        assert_null(lt_dtype_name((lt_dtype)others[i]));
    }
}

static void some_have_a_second_name(void **state)
{
    (void)state;
    assert_int_equal(lt_dtype_from_name("short"), LT_INT16);
    assert_int_equal(lt_dtype_from_name("int"), LT_INT32);
    assert_int_equal(lt_dtype_from_name("long"), LT_INT64);
    assert_int_equal(lt_dtype_from_name("half"), LT_FLOAT16);
    assert_int_equal(lt_dtype_from_name("float"), LT_FLOAT32);
    assert_int_equal(lt_dtype_from_name("double"), LT_FLOAT64);
    assert_int_equal(lt_dtype_from_name("cfloat"), LT_COMPLEX64);
    assert_int_equal(lt_dtype_from_name("Float"), LT_DTYPE_NONE); /* the name of messages alone */
    assert_int_equal(lt_dtype_from_name("float3"), LT_DTYPE_NONE);
    assert_int_equal(lt_dtype_from_name(""), LT_DTYPE_NONE);
}

static void each_is_of_one_kind(void **state)
{
    (void)state;
    for (int d = 0; d < LT_DTYPE_COUNT; d++) {
        const lt_dtype dtype = (lt_dtype)d;
        assert_int_equal(lt_dtype_is_float(dtype) + lt_dtype_is_float8(dtype) +
                             lt_dtype_is_integral(dtype) + lt_dtype_is_complex(dtype),
                         1);
        assert_int_equal(lt_dtype_is_inexact(dtype), !lt_dtype_is_integral(dtype));
        assert_int_equal(lt_dtype_size(dtype),
                         (lt_dtype_is_complex(dtype) ? 2 : 1) * lt_dtype_size(lt_real_of(dtype)));
        assert_int_equal(lt_dtype_is_int(dtype), lt_dtype_is_integral(dtype) && dtype != LT_BOOL);
    }
    assert_false(lt_dtype_is_float(LT_INT64));
    assert_true(lt_dtype_is_float(LT_FLOAT16) && lt_dtype_is_float(LT_BFLOAT16));
}

static void pairs_promote_as_in_pytorch(void **state)
{
    (void)state;
    for (int a = 0; a < LT_DTYPE_COUNT; a++)
        for (int b = 0; b < LT_DTYPE_COUNT; b++)
            if (lt_promote((lt_dtype)a, (lt_dtype)b) != promoted[a][b])
                fail_msg("%s and %s give %s", lt_dtype_name((lt_dtype)a),
                         lt_dtype_name((lt_dtype)b),
                         lt_dtype_name(lt_promote((lt_dtype)a, (lt_dtype)b)));
}

static void results_are_stored_as_in_pytorch(void **state)
{
    (void)state;
    for (int a = 0; a < LT_DTYPE_COUNT; a++)
        for (int b = 0; b < LT_DTYPE_COUNT; b++)
            if (lt_can_cast((lt_dtype)a, (lt_dtype)b) != castable[a][b])
                fail_msg("from %s to %s: %d", lt_dtype_name((lt_dtype)a),
                         lt_dtype_name((lt_dtype)b), !castable[a][b]);
}

/* ---- single numbers -------------------------------------------------------------------------- */

static double round_trip(lt_dtype dtype, lt_scalar number)
{
    uint64_t memory[2] = {0, 0};
    lt_store_scalar(memory, dtype, number);
    return lt_scalar_double(lt_load_scalar(memory, dtype));
}

static void numbers_come_back_from_memory(void **state)
{
    (void)state;
    for (int d = LT_UINT8; d < LT_FLOAT8_E5M2; d++) { /* of one byte: tests/lua/float8_spec.lua */
        const lt_dtype dtype = (lt_dtype)d;
        assert_true(round_trip(dtype, lt_scalar_from_int(100)) == 100);
        assert_true(round_trip(dtype, lt_scalar_from_bool(true)) == 1);
        assert_true(round_trip(dtype, lt_scalar_from_float(2.75)) ==
                    (lt_dtype_is_inexact(dtype) ? 2.75 : 2)); /* towards 0 */
        if (dtype != LT_UINT8 && !lt_dtype_is_unsigned(dtype))
            assert_true(round_trip(dtype, lt_scalar_from_float(-2.75)) ==
                        (lt_dtype_is_inexact(dtype) ? -2.75 : -2));
        uint64_t memory[2] = {0, 0};
        lt_store_scalar(memory, dtype, lt_scalar_from_int(1));
        const lt_scalar back = lt_load_scalar(memory, dtype);
        assert_int_equal(back.kind, lt_dtype_is_complex(dtype) ? LT_SCALAR_COMPLEX
                                    : lt_dtype_is_float(dtype) ? LT_SCALAR_FLOAT
                                                               : LT_SCALAR_INT);
    }
    assert_true(round_trip(LT_BOOL, lt_scalar_from_float(0.5)) == 1 &&
                round_trip(LT_BOOL, lt_scalar_from_int(-7)) == 1);
    assert_true(round_trip(LT_BOOL, lt_scalar_from_float(0)) == 0 &&
                round_trip(LT_BOOL, lt_scalar_from_float(NAN)) == 1);
}

static void the_ends_of_ranges_are_kept(void **state)
{
    (void)state;
    const struct {
        lt_dtype dtype;
        int64_t least, most;
    } ranges[] = {
        {LT_UINT8, 0, UINT8_MAX},         {LT_INT8, INT8_MIN, INT8_MAX},
        {LT_INT16, INT16_MIN, INT16_MAX}, {LT_INT32, INT32_MIN, INT32_MAX},
        {LT_INT64, INT64_MIN, INT64_MAX}, {LT_UINT16, 0, UINT16_MAX},
        {LT_UINT32, 0, UINT32_MAX},
    };
    for (size_t i = 0; i < COUNT(ranges); i++) {
        uint64_t memory = 0;
        lt_store_scalar(&memory, ranges[i].dtype, lt_scalar_from_int(ranges[i].least));
        assert_true(lt_load_scalar(&memory, ranges[i].dtype).v.i == ranges[i].least);
        lt_store_scalar(&memory, ranges[i].dtype, lt_scalar_from_int(ranges[i].most));
        assert_true(lt_load_scalar(&memory, ranges[i].dtype).v.i == ranges[i].most);
        if (ranges[i].dtype == LT_INT64) continue;
        lt_store_scalar(&memory, ranges[i].dtype,
                        lt_scalar_from_int(ranges[i].most + 1)); /* the low bits */
        assert_true(lt_load_scalar(&memory, ranges[i].dtype).v.i == ranges[i].least);
    }
    uint64_t most = 0; /* what no int64_t holds is a double, and one makes it */
    lt_store_scalar(&most, LT_UINT64, lt_scalar_from_int(-1));
    assert_true(most == UINT64_MAX && lt_load_scalar(&most, LT_UINT64).v.d == 0x1p64);
    lt_store_scalar(&most, LT_UINT64, lt_scalar_from_float(0x1.8p63));
    assert_true(most == UINT64_C(3) << 62);
    lt_store_scalar(&most, LT_UINT64, lt_scalar_from_int(INT64_MAX));
    assert_true(lt_load_scalar(&most, LT_UINT64).v.i == INT64_MAX);
    assert_true(lt_scalar_int(lt_scalar_from_float(NAN)) == 0);
    assert_true(lt_scalar_int(lt_scalar_from_float(INFINITY)) == INT64_MAX &&
                lt_scalar_int(lt_scalar_from_float(-INFINITY)) == INT64_MIN);
    assert_true(lt_scalar_int(lt_scalar_from_float(0x1p63)) == INT64_MAX &&
                lt_scalar_int(lt_scalar_from_float(-0x1p63)) == INT64_MIN);
    assert_true(lt_scalar_int(lt_scalar_from_float(-2.9)) == -2);
}

static void small_floats_are_rounded_as_in_pytorch(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(stored); i++) {
        double number;
        uint16_t half = 0, bfloat16 = 0;
        memcpy(&number, &stored[i].number, sizeof number);
        lt_store_scalar(&half, LT_FLOAT16, lt_scalar_from_float(number));
        lt_store_scalar(&bfloat16, LT_BFLOAT16, lt_scalar_from_float(number));
        if (half != stored[i].half || bfloat16 != stored[i].bfloat16)
            fail_msg("%a is 0x%04x and 0x%04x, not 0x%04x and 0x%04x", number, half, bfloat16,
                     stored[i].half, stored[i].bfloat16);
    }
}

static void a_float_rounds_to_bfloat16_and_back_in_one_step(void **state)
{
    static const uint16_t lows[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
    (void)state;
    for (uint32_t high = 0; high <= 0xffff; high++)
        for (size_t i = 0; i < COUNT(lows); i++) {
            const float f = lt_bits_to_float(high << 16 | lows[i]);
            const lt_bfloat16 rounded = lt_float_to_bfloat16(f);
            if (f == f)
                assert_int_equal(lt_round_to_upper_half(f) & 0xffff0000u,
                                 (uint32_t)rounded.bits << 16);
            else if (lows[i] == 0)
                assert_int_equal(lt_round_to_upper_half(f) >> 16, high);
            assert_true((f != f) == (rounded.bits == 0x7fc0));
        }
}

/* ---- what an op computes in ------------------------------------------------------------------ */

static lt_dtype of(lt_dtype a, int a_ndim, lt_dtype b, int b_ndim)
{
    const int64_t one[] = {1};
    lt_tensor *pair[2] = {NULL, NULL};
    assert_ok(lt_tensor_new(a, (lt_device){LT_CPU, 0}, a_ndim, one, &pair[0]));
    assert_ok(lt_tensor_new(b, (lt_device){LT_CPU, 0}, b_ndim, one, &pair[1]));
    const lt_dtype result = lt_result_type(pair, 2);
    lt_tensor_release(pair[0]);
    lt_tensor_release(pair[1]);
    return result;
}

static lt_dtype with_number(lt_dtype a, int ndim, lt_scalar number)
{
    const int64_t one[] = {1};
    lt_tensor *pair[2] = {NULL, NULL};
    assert_ok(lt_tensor_new(a, (lt_device){LT_CPU, 0}, ndim, one, &pair[0]));
    assert_ok(lt_tensor_from_scalar(number, &pair[1]));
    const lt_dtype result = lt_result_type(pair, 2);
    assert_int_equal(lt_result_type_scalar(pair[0], number), result);
    lt_tensor_release(pair[0]);
    lt_tensor_release(pair[1]);
    return result;
}

static void dimensions_outrank_none_and_numbers(void **state)
{
    (void)state;
    assert_int_equal(of(LT_FLOAT32, 1, LT_FLOAT64, 1), LT_FLOAT64);
    assert_int_equal(of(LT_FLOAT32, 1, LT_FLOAT64, 0),
                     LT_FLOAT32); /* of one kind: the one with dimensions */
    assert_int_equal(of(LT_INT8, 1, LT_INT64, 0), LT_INT8);
    assert_int_equal(of(LT_INT64, 1, LT_FLOAT16, 0), LT_FLOAT16); /* of a higher kind */
    assert_int_equal(of(LT_BOOL, 1, LT_UINT8, 0), LT_UINT8);
    assert_int_equal(of(LT_FLOAT16, 0, LT_FLOAT64, 0), LT_FLOAT64);
    assert_int_equal(with_number(LT_FLOAT16, 1, lt_scalar_from_float(0.5)), LT_FLOAT16);
    assert_int_equal(with_number(LT_FLOAT16, 0, lt_scalar_from_float(0.5)), LT_FLOAT16);
    assert_int_equal(with_number(LT_INT8, 1, lt_scalar_from_int(1000)), LT_INT8);
    assert_int_equal(with_number(LT_BOOL, 1, lt_scalar_from_int(1)), LT_INT64);
    assert_int_equal(with_number(LT_BOOL, 1, lt_scalar_from_bool(true)), LT_BOOL);
    assert_int_equal(with_number(LT_INT64, 1, lt_scalar_from_float(1)), LT_FLOAT32);
}

static void numbers_are_of_the_default_dtype(void **state)
{
    (void)state;
    assert_int_equal(lt_get_default_dtype(), LT_FLOAT32);
    assert_ok(lt_set_default_dtype(LT_FLOAT64));
    assert_int_equal(with_number(LT_INT64, 1, lt_scalar_from_float(1)), LT_FLOAT64);
    assert_int_equal(lt_scalar_dtype(lt_scalar_from_float(1)), LT_FLOAT64);
    assert_ok(lt_set_default_dtype(LT_FLOAT32));
    assert_int_equal(lt_scalar_dtype(lt_scalar_from_float(1)), LT_FLOAT32);
    assert_int_equal(lt_scalar_dtype(lt_scalar_from_int(1)), LT_INT64);
    assert_int_equal(lt_scalar_dtype(lt_scalar_from_bool(true)), LT_BOOL);
    const int others[] = {LT_INT64, LT_BOOL, LT_DTYPE_NONE, LT_DTYPE_COUNT, 1000};
    for (size_t i = 0; i < COUNT(others); i++)
        assert_fails(lt_set_default_dtype((lt_dtype)others[i]), LT_ERR_TYPE,
                     "only floating-point types");
    assert_int_equal(lt_get_default_dtype(), LT_FLOAT32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dtype_has_a_size_and_a_name),
        cmocka_unit_test(some_have_a_second_name),
        cmocka_unit_test(each_is_of_one_kind),
        cmocka_unit_test(pairs_promote_as_in_pytorch),
        cmocka_unit_test(results_are_stored_as_in_pytorch),
        cmocka_unit_test(numbers_come_back_from_memory),
        cmocka_unit_test(the_ends_of_ranges_are_kept),
        cmocka_unit_test(small_floats_are_rounded_as_in_pytorch),
        cmocka_unit_test(a_float_rounds_to_bfloat16_and_back_in_one_step),
        cmocka_unit_test(dimensions_outrank_none_and_numbers),
        cmocka_unit_test(numbers_are_of_the_default_dtype),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
