/* functional_test.c - functions of torch.nn.functional, stft and windows from C: their values, and
 * indices and classes that count from 0. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#undef LT_OPS_BY_NAME /* as a host sees it: with every op */
#include "expect.h"
#include "ltensor.h"

static lt_tensor *of_floats(const lt_dims *sizes, const float *values, size_t bytes)
{
    lt_tensor *t = NULL;
    assert_ok(lt_tensor_new(LT_FLOAT32, (lt_device){LT_CPU, 0}, sizes->n, sizes->v, &t));
    assert_ok(lt_tensor_copy_from(t, values, bytes));
    return t;
}

static lt_tensor *of_integers(const lt_dims *sizes, const int64_t *values, size_t bytes)
{
    lt_tensor *t = NULL;
    assert_ok(lt_tensor_new(LT_INT64, (lt_device){LT_CPU, 0}, sizes->n, sizes->v, &t));
    assert_ok(lt_tensor_copy_from(t, values, bytes));
    return t;
}

/* The elements of t, which is released. */
static void assert_elements(lt_tensor *t, const float *wanted, int n)
{
    float got[64];
    assert_int_equal(lt_tensor_numel(t), n);
    assert_ok(lt_tensor_copy_to(t, got, (size_t)n * sizeof *got));
    for (int i = 0; i < n; i++) assert_true(fabsf(got[i] - wanted[i]) < 1e-5f);
    lt_tensor_release(t);
}

static void test_an_image_is_resized_by_a_size_a_factor_and_factors(void **state)
{
    (void)state;
    const float row[] = {1, 2, 4};
    lt_tensor *x = of_floats(&(lt_dims){4, {1, 1, 1, 3}}, row, sizeof row), *y = NULL,
              *factors = NULL;
    const float wanted[] = {1, 1.25f, 1.75f, 2.5f, 3.5f, 4};
    assert_ok(lt_interpolate(x, &(lt_dims){2, {1, 6}}, NULL, "bilinear", NULL, NULL, false, &y));
    assert_elements(y, wanted, 6);
    const double twice = 2;
    y = NULL;
    assert_ok(lt_upsample_nearest(x, NULL, &twice, &y));
    assert_elements(y, (const float[]){1, 1, 2, 2, 4, 4, 1, 1, 2, 2, 4, 4}, 12);
    const double each[] = {1, 2};
    assert_ok(lt_tensor_new(LT_FLOAT64, (lt_device){LT_CPU, 0}, 1, (const int64_t[]){2}, &factors));
    assert_ok(lt_tensor_copy_from(factors, each, sizeof each));
    y = NULL;
    assert_ok(lt_interpolate_factors(x, NULL, factors, "bilinear", NULL, NULL, false, &y));
    assert_elements(y, wanted, 6);
    assert_fails(lt_interpolate(x, NULL, NULL, "bilinear", NULL, NULL, false, &y), LT_ERR_RUNTIME,
                 "either size or scale_factor should be defined");
    const lt_value args[] = {lt_value_tensor(x)};
    const lt_named_value named[] = {{"scale_factor", lt_value_tensor(factors)},
                                    {"mode", lt_value_string("bilinear")}};
    lt_value result = lt_value_none();
    int n = 1;
    assert_ok(lt_call("nn.functional.interpolate", args, 1, named, 2, &result, &n));
    assert_elements(result.v.tensor, wanted, 6);
    lt_tensor_release(factors);
    lt_tensor_release(x);
}

static void test_an_image_is_sampled_at_a_grid(void **state)
{
    (void)state;
    const float pixels[] = {1, 3, 5, 7}, identity[] = {1, 0, 0, 0, 1, 0};
    lt_tensor *x = of_floats(&(lt_dims){4, {1, 1, 2, 2}}, pixels, sizeof pixels),
              *theta = of_floats(&(lt_dims){3, {1, 2, 3}}, identity, sizeof identity), *grid = NULL,
              *y = NULL;
    assert_ok(lt_affine_grid(theta, &(lt_dims){4, {1, 1, 2, 2}}, NULL, &grid));
    assert_ok(lt_grid_sample(x, grid, "bilinear", "zeros", NULL, &y));
    assert_elements(y, pixels, 4);
    lt_tensor_release(grid);
    lt_tensor_release(theta);
    lt_tensor_release(x);
}

static void test_maxima_return_to_indices_from_zero(void **state)
{
    (void)state;
    const float maxima[] = {5};
    lt_tensor *x = of_floats(&(lt_dims){4, {1, 1, 1, 1}}, maxima, sizeof maxima),
              *at = of_integers(&(lt_dims){4, {1, 1, 1, 1}}, (const int64_t[]){2}, 8), *y = NULL;
    const lt_dims two = {1, {2}}, none = {1, {0}};
    assert_ok(lt_max_unpool2d(x, at, &two, NULL, &none, NULL, &y));
    assert_elements(y, (const float[]){0, 0, 5, 0}, 4);
    lt_tensor_release(at);
    lt_tensor_release(x);
}

/* Two steps with a probability of 1/3 for each of three classes: the paths of the label 1 are 11, 01
 * and 10. */
static void test_ctc_loss_counts_classes_from_zero(void **state)
{
    (void)state;
    float uniform[6];
    for (int i = 0; i < 6; i++) uniform[i] = -logf(3);
    lt_tensor *log_probs = of_floats(&(lt_dims){3, {2, 1, 3}}, uniform, sizeof uniform),
              *target = of_integers(&(lt_dims){2, {1, 1}}, (const int64_t[]){1}, 8),
              *length = of_integers(&(lt_dims){1, {1}}, (const int64_t[]){2}, 8),
              *count = of_integers(&(lt_dims){1, {1}}, (const int64_t[]){1}, 8), *y = NULL;
    assert_ok(lt_ctc_loss(log_probs, target, length, count, 0, "sum", false, &y));
    assert_true(fabs(item(y) - log(3)) < 1e-6);
    lt_tensor_release(y);
    lt_tensor_release(count);
    lt_tensor_release(length);
    lt_tensor_release(target);
    lt_tensor_release(log_probs);
}

static void test_a_signal_returns_from_its_short_time_transforms(void **state)
{
    (void)state;
    const float samples[] = {0, 1, 2, 3, 4, 3, 2, 1};
    const bool complex = true;
    lt_tensor *x = of_floats(&(lt_dims){1, {8}}, samples, sizeof samples), *window = NULL,
              *spectrum = NULL, *y = NULL;
    assert_ok(lt_hann_window(4, true, LT_DTYPE_NONE, NULL, &window));
    assert_ok(lt_stft(x, 4, NULL, NULL, window, true, "reflect", false, NULL, &complex, &spectrum));
    assert_int_equal(lt_tensor_sizes(spectrum)[0], 3);
    assert_ok(lt_istft(spectrum, 4, NULL, NULL, window, true, false, NULL, NULL, false, &y));
    assert_elements(y, samples, 8);
    lt_tensor_release(spectrum);
    lt_tensor_release(window);
    lt_tensor_release(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_image_is_resized_by_a_size_a_factor_and_factors),
        cmocka_unit_test(test_an_image_is_sampled_at_a_grid),
        cmocka_unit_test(test_maxima_return_to_indices_from_zero),
        cmocka_unit_test(test_ctc_loss_counts_classes_from_zero),
        cmocka_unit_test(test_a_signal_returns_from_its_short_time_transforms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
