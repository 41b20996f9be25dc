/* host_test.c - ltensor.h as a program in C uses it: memory of its own as tensors, elements out and
 * in, files, devices, generators, lists; and what it is told when it does it wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#undef LT_OPS_BY_NAME /* as a host sees it: with every op */
#include "ltensor.h"
#include "expect.h"
#include "find_backend.h"
#include "memory/block.h"
#include "memory/limit.h"
#include "memory/system.h"

static const lt_device cpu = {LT_CPU, 0};

static double sum_of(lt_tensor *t)
{
    lt_tensor *sum = NULL;
    assert_ok(lt_sum(t, LT_FLOAT64, &sum));
    double result = item(sum);
    lt_tensor_release(sum);
    return result;
}

static void count_release(void *ctx) { ++*(int *)ctx; }

/* ---- versions -------------------------------------------------------------------------------- */

static void test_the_library_says_what_it_is(void **state)
{
    (void)state;
    assert_int_equal(lt_version_number(), LT_VERSION_NUMBER);
    assert_string_equal(lt_version(), LT_VERSION);
    int major = 0, minor = 0, patch = 0;
    assert_int_equal(sscanf(LT_VERSION, "%d.%d.%d", &major, &minor, &patch), 3);
    assert_int_equal(LT_VERSION_NUMBER, major * 1000000 + minor * 1000 + patch);
    assert_non_null(strstr(lt_build_options(), "ltensor " LT_VERSION));
}

static void test_features_are_asked_for_by_name(void **state)
{
    (void)state;
    assert_false(lt_has("cuda") && lt_has("simulator"));
    assert_int_equal(lt_has("cuda") || lt_has("simulator"), lt_device_count(LT_CUDA) > 0);
    assert_false(lt_has("lua")); /* this program has none of it */
    assert_true(lt_has("avx2") || !lt_has("avx512"));
    assert_false(lt_has("perpetual motion"));
    assert_false(lt_has(NULL));
}

/* ---- memory of the host ---------------------------------------------------------------------- */

static void test_a_column_of_records_is_a_tensor(void **state)
{
    (void)state;
    struct {
        int32_t id;
        float weight;
    } records[4] = {{1, 10}, {2, 20}, {3, 30}, {4, 40}};
    int released = 0;
    const int64_t sizes[] = {4}, strides[] = {2}; /* in floats */
    lt_tensor *weights = NULL;
    assert_ok(lt_tensor_wrap_strided(&records[0].weight, LT_FLOAT32, cpu, 1, sizes, strides,
                                     count_release, &released, &weights));
    assert_false(lt_tensor_is_contiguous(weights));
    assert_true(sum_of(weights) == 100);
    lt_tensor *two = NULL;
    assert_ok(lt_tensor_from_scalar(lt_scalar_from_float(2), &two));
    assert_ok(lt_mul_(weights, two));
    lt_tensor_release(two);
    assert_true(records[3].weight == 80);
    assert_int_equal(records[3].id, 4);
    lt_tensor *first = NULL;
    assert_ok(lt_narrow(weights, 0, 0, 1, &first));
    lt_tensor_release(weights);
    assert_int_equal(released, 0); /* a view uses the memory still */
    lt_tensor_release(first);
    assert_int_equal(released, 1);
}

static void test_a_transposed_matrix_without_a_copy(void **state)
{
    (void)state;
    int64_t numbers[6] = {0, 1, 2, 3, 4, 5}, row_major[6];
    const int64_t sizes[] = {3, 2}, strides[] = {1, 3};
    lt_tensor *t = NULL;
    assert_ok(lt_tensor_wrap_strided(numbers, LT_INT64, cpu, 2, sizes, strides, NULL, NULL, &t));
    assert_ok(lt_tensor_copy_to(t, row_major, sizeof row_major));
    assert_memory_equal(row_major, ((int64_t[]){0, 3, 1, 4, 2, 5}), sizeof row_major);
    lt_tensor_release(t);
}

static void test_strides_are_checked(void **state)
{
    (void)state;
    float number = 1;
    const int64_t sizes[] = {2, 2}, backwards[] = {-1, 1}, far[] = {INT64_MAX / 2, 1},
                  overlapping[] = {0, 1};
    lt_tensor *t = NULL;
    int released = 0;
    assert_fails(lt_tensor_wrap_strided(&number, LT_FLOAT32, cpu, 2, sizes, backwards,
                                        count_release, &released, &t),
                 LT_ERR_RUNTIME, "negative strides are not supported, got [-1, 1]");
    assert_fails(lt_tensor_wrap_strided(&number, LT_FLOAT32, cpu, 2, sizes, far, count_release,
                                        &released, &t),
                 LT_ERR_RUNTIME, "strides=[");
    assert_fails(
        lt_tensor_wrap_strided(NULL, LT_FLOAT32, cpu, 2, sizes, NULL, count_release, &released, &t),
        LT_ERR_TYPE, "data");
    assert_null(t);
    assert_int_equal(released, 0);
    float two[2] = {1, 2};
    assert_ok(lt_tensor_wrap_strided(two, LT_FLOAT32, cpu, 2, sizes, overlapping, NULL, NULL, &t));
    assert_true(sum_of(t) == 6);
    assert_fails(
        lt_exp_(t), LT_ERR_RUNTIME,
        "more than one element of the written-to tensor refers to a single memory location");
    lt_tensor_release(t);
}

/* ---- elements -------------------------------------------------------------------------------- */

static void test_elements_go_in_and_out_of_any_layout(void **state)
{
    (void)state;
    const lt_dims sizes = {2, {2, 3}};
    float in[6] = {1, 2, 3, 4, 5, 6}, out[6] = {0};
    lt_tensor *t = NULL, *transposed = NULL;
    assert_ok(lt_zeros(&sizes, LT_FLOAT32, NULL, &t));
    assert_ok(lt_transpose(t, 0, 1, &transposed)); /* 3 x 2 */
    assert_ok(lt_tensor_copy_from(transposed, in, sizeof in));
    assert_ok(lt_tensor_copy_to(transposed, out, sizeof out));
    assert_memory_equal(out, in, sizeof in);
    assert_ok(lt_tensor_copy_to(t, out, sizeof out));
    assert_memory_equal(out, ((float[]){1, 3, 5, 2, 4, 6}), sizeof out);
    assert_fails(lt_tensor_copy_to(t, out, 5 * sizeof *out), LT_ERR_RUNTIME,
                 "6 elements of float32, 24 bytes, and bytes is 20");
    assert_fails(lt_tensor_copy_from(t, NULL, sizeof in), LT_ERR_TYPE, "'data'");
    lt_tensor_release(transposed);
    lt_tensor_release(t);
}

static void test_a_parameter_may_be_written(void **state)
{
    (void)state;
    const lt_dims sizes = {1, {3}};
    const double values[3] = {1, 2, 3};
    lt_tensor *weight = NULL;
    assert_ok(lt_zeros(&sizes, LT_FLOAT64, NULL, &weight));
    assert_ok(lt_tensor_set_requires_grad(weight, true));
    assert_ok(lt_tensor_copy_from(weight, values, sizeof values));
    assert_true(lt_tensor_is_leaf(weight) && sum_of(weight) == 6);
    assert_true(lt_grad_enabled());
    lt_tensor_release(weight);
}

static void test_any_byte_is_a_truth_value(void **state)
{
    (void)state;
    const lt_dims sizes = {1, {3}};
    const unsigned char bytes[3] = {0, 7, 255};
    lt_tensor *t = NULL;
    assert_ok(lt_zeros(&sizes, LT_BOOL, NULL, &t));
    assert_ok(lt_tensor_copy_from(t, bytes, sizeof bytes));
    assert_true(sum_of(t) == 2);
    lt_tensor_release(t);
}

static void test_numbers_come_out_of_tensors(void **state)
{
    (void)state;
    lt_tensor *t = NULL;
    lt_scalar number = lt_scalar_from_int(-1);
    assert_ok(lt_arange(lt_scalar_from_int(3), NULL, lt_scalar_from_int(1), LT_INT64, NULL, &t));
    assert_fails(lt_tensor_item(t, &number), LT_ERR_RUNTIME, "3 elements");
    assert_int_equal(number.v.i, -1);
    assert_true(sum_of(t) == 3);
    lt_tensor_release(t);
}

static void test_other_dtypes(void **state)
{
    (void)state;
    lt_tensor *t = NULL, *wide = NULL, *same = NULL;
    const lt_dims sizes = {1, {4}};
    assert_ok(lt_ones(&sizes, LT_FLOAT32, NULL, &t));
    assert_ok(lt_tensor_to(t, LT_FLOAT64, NULL, &wide));
    assert_int_equal(lt_tensor_dtype(wide), LT_FLOAT64);
    assert_ok(lt_tensor_to(wide, LT_DTYPE_NONE, &cpu, &same));
    assert_ptr_equal(same, wide);
    assert_fails(lt_tensor_to(t, (lt_dtype)99, NULL, &same), LT_ERR_TYPE, "unknown dtype 99");
    lt_tensor_release(same);
    lt_tensor_release(wide);
    lt_tensor_release(t);
}

/* Memory of a GPU, a simulated one where the environment asks for no other. */
static void test_memory_of_a_gpu(void **state)
{
    (void)state;
    const lt_device gpu = {LT_CUDA, 0};
    const int64_t sizes[] = {2, 3}, column[] = {2}, stride[] = {3};
    const float in[6] = {1, 2, 3, 4, 5, 6};
    float out[6] = {0};
    int released = 0;
    lt_tensor *t = NULL, *second = NULL, *host = NULL;
    if (lt_device_count(LT_CUDA) == 0) fail_msg("%s", lt_error_message());
    assert_ok(lt_tensor_new(LT_FLOAT32, gpu, 2, sizes, &t));
    assert_ok(lt_tensor_copy_from(t, in, sizeof in));
    assert_ok(lt_tensor_wrap_strided((float *)lt_tensor_data(t) + 1, LT_FLOAT32, gpu, 1, column,
                                     stride, count_release, &released, &second));
    assert_true(sum_of(second) == 7);
    assert_ok(lt_exp_(second));
    lt_tensor_release(second);
    assert_int_equal(released, 1);
    assert_ok(lt_tensor_copy_to(t, out, sizeof out));
    assert_true(out[0] == 1 && out[1] > 7.389f && out[1] < 7.3891f && out[5] == 6);
    assert_ok(lt_tensor_to(t, LT_FLOAT64, &cpu, &host));
    assert_int_equal(lt_tensor_device(host).type, LT_CPU);
    lt_tensor_release(host);
    lt_tensor_release(t);
}

/* ---- files ----------------------------------------------------------------------------------- */

static const char *file_name(void)
{
    static char name[64];
    snprintf(name, sizeof name, "/tmp/ltensor_host_test.%d.safetensors", (int)getpid());
    return name;
}

static void test_tensors_are_saved_and_loaded(void **state)
{
    (void)state;
    const lt_dims sizes = {2, {2, 3}};
    lt_tensor *weight = NULL, *bias = NULL;
    lt_archive *archive = NULL;
    assert_ok(lt_full(&sizes, lt_scalar_from_float(0.5), LT_FLOAT32, NULL, &weight));
    assert_ok(lt_arange(lt_scalar_from_int(3), NULL, lt_scalar_from_int(1), LT_INT64, NULL, &bias));
    assert_ok(lt_save(file_name(), (const char *[]){"layer.weight", "layer.bias"},
                      (lt_tensor *[]){weight, bias}, 2));
    assert_ok(lt_load(file_name(), &archive));
    assert_int_equal(lt_archive_count(archive), 2);
    lt_tensor *found = lt_archive_find(archive, "layer.weight");
    assert_int_equal(lt_tensor_sizes(found)[1], 3);
    assert_true(sum_of(found) == 3);
    assert_null(lt_archive_find(archive, "layer"));
    assert_ptr_equal(lt_archive_find(archive, lt_archive_name(archive, 0)),
                     lt_archive_tensor(archive, 0));
    assert_null(lt_archive_tensor(archive, 2));
    lt_tensor_retain(found); /* outlives the archive */
    lt_archive_release(archive);
    assert_true(sum_of(found) == 3);
    lt_tensor_release(found);
    lt_tensor_release(weight);
    lt_tensor_release(bias);
    unlink(file_name());
}

static void test_files_that_cannot_be(void **state)
{
    (void)state;
    lt_archive *archive = NULL;
    lt_tensor *t = NULL;
    const lt_dims sizes = {1, {1}};
    assert_ok(lt_ones(&sizes, LT_FLOAT32, NULL, &t));
    assert_fails(lt_load("/dev/null/file", &archive), LT_ERR_IO, "/dev/null/file");
    assert_fails(lt_load(NULL, &archive), LT_ERR_TYPE, "'path'");
    assert_null(archive);
    assert_fails(lt_save("/dev/null/file", (const char *[]){"a"}, &t, 1), LT_ERR_IO, "/dev/null");
    assert_fails(lt_save(file_name(), (const char *[]){"a", NULL}, (lt_tensor *[]){t, t}, 2),
                 LT_ERR_TYPE, "names[1]");
    assert_fails(lt_save(file_name(), (const char *[]){"a", "b"}, (lt_tensor *[]){t, NULL}, 2),
                 LT_ERR_TYPE, "tensors[1]");
    lt_tensor_release(t);
}

/* ---- devices and generators ------------------------------------------------------------------ */

static void test_devices_tell_of_themselves(void **state)
{
    (void)state;
    char name[64], little[3];
    size_t available = 0, all = 0;
    assert_int_equal(lt_device_count(LT_CPU), 1);
    assert_ok(lt_device_name(cpu, name, sizeof name));
    assert_string_equal(name, "cpu");
    assert_ok(lt_device_name(cpu, little, sizeof little));
    assert_string_equal(little, "cp");
    assert_ok(lt_device_memory(cpu, &available, &all));
    assert_true(available > 0 && available <= all);
    assert_ok(lt_device_synchronize(cpu));
    for (int8_t i = 0; i < lt_device_count(LT_CUDA); i++) {
        const lt_device gpu = {LT_CUDA, i};
        assert_ok(lt_device_name(gpu, name, sizeof name));
        assert_ok(lt_device_memory(gpu, &available, &all));
        assert_true(strlen(name) > 0 && available <= all);
        assert_ok(lt_device_synchronize(gpu));
    }
}

static void test_devices_that_are_not_there(void **state)
{
    (void)state;
    const lt_device none = {5, 0}, far = {LT_CUDA, 100};
    lt_tensor *t = NULL;
    assert_int_equal(lt_device_count((lt_device_type)5), 0);
    assert_fails(lt_device_synchronize(none), LT_ERR_TYPE, "5 is not a type of device");
    assert_fails(lt_tensor_new(LT_FLOAT32, none, 0, NULL, &t), LT_ERR_TYPE,
                 "5 is not a type of device");
    assert_int_equal(lt_device_memory(far, NULL, NULL), LT_ERR_DEVICE);
    assert_null(t);
}

static void test_seeds_repeat_numbers(void **state)
{
    (void)state;
    const lt_dims sizes = {1, {5}};
    float first[5], second[5];
    for (int run = 0; run < 2; run++) {
        lt_tensor *t = NULL;
        lt_manual_seed(7);
        assert_ok(lt_randn(&sizes, NULL, LT_FLOAT32, NULL, &t));
        assert_ok(lt_tensor_copy_to(t, run == 0 ? first : second, sizeof first));
        lt_tensor_release(t);
    }
    assert_memory_equal(first, second, sizeof first);
}

static void test_a_generator_is_a_stream_of_its_own(void **state)
{
    (void)state;
    const lt_dims sizes = {1, {5}};
    float first[5], second[5];
    lt_generator *mine = NULL;
    assert_ok(lt_generator_new(cpu, &mine));
    for (int run = 0; run < 2; run++) {
        lt_tensor *t = NULL, *other = NULL;
        assert_ok(lt_generator_seed(mine, 42));
        assert_ok(lt_rand(&sizes, NULL, LT_FLOAT32, NULL, &other)); /* draws from another */
        assert_ok(lt_rand(&sizes, mine, LT_FLOAT32, NULL, &t));
        assert_ok(lt_tensor_copy_to(t, run == 0 ? first : second, sizeof first));
        lt_tensor_release(other);
        lt_tensor_release(t);
    }
    assert_memory_equal(first, second, sizeof first);
    assert_true(first[0] > 0.8822 && first[0] < 0.8823); /* torch.manual_seed(42); torch.rand(5) */
    lt_generator_release(mine);
    assert_fails(lt_generator_seed(NULL, 1), LT_ERR_TYPE, "'generator'");
}

/* ---- lists ----------------------------------------------------------------------------------- */

static void test_lists_are_freed(void **state)
{
    (void)state;
    const lt_dims sizes = {2, {100, 3}};
    lt_tensor *t = NULL;
    lt_tensor_list rows = {0, NULL};
    assert_ok(lt_ones(&sizes, LT_FLOAT32, NULL, &t));
    int64_t live = 0;
    for (int i = 0; i < 1000; i++) {
        assert_ok(lt_unbind(t, 0, &rows));
        assert_int_equal(rows.n, 100);
        assert_true(sum_of(rows.v[99]) == 3);
        lt_tensor_list_release(&rows);
        assert_null(rows.v);
        if (i == 0) live = lt_mem_live();
    }
    assert_int_equal(lt_mem_live(), live);
    lt_tensor_list_release(&rows); /* empty already */
    lt_tensor_list_release(NULL);
    lt_tensor_release(t);
}

/* ---- wrong handles, no memory ---------------------------------------------------------------- */

static void test_null_is_refused_everywhere(void **state)
{
    (void)state;
    lt_tensor *t = NULL, *none = NULL;
    lt_scalar number;
    const int64_t sizes[] = {2};
    float data[2] = {0};
    assert_ok(lt_tensor_new(LT_FLOAT32, cpu, 1, sizes, &t));
    assert_fails(lt_tensor_new(LT_FLOAT32, cpu, 1, NULL, &none), LT_ERR_TYPE, "'sizes'");
    assert_fails(lt_tensor_new(LT_FLOAT32, cpu, 1, sizes, NULL), LT_ERR_TYPE, "'out'");
    assert_fails(lt_tensor_new((lt_dtype)77, cpu, 1, sizes, &none), LT_ERR_TYPE,
                 "unknown dtype 77");
    assert_fails(lt_tensor_new(LT_FLOAT32, cpu, -1, sizes, &none), LT_ERR_RUNTIME, "-1");
    assert_fails(lt_tensor_wrap(NULL, LT_FLOAT32, 1, sizes, NULL, NULL, &none), LT_ERR_TYPE,
                 "data");
    assert_fails(lt_tensor_item(NULL, &number), LT_ERR_TYPE,
                 "lt_tensor_item(): argument 't' must not be NULL");
    assert_fails(lt_tensor_item(t, NULL), LT_ERR_TYPE, "'out'");
    assert_fails(lt_tensor_copy_from(NULL, data, sizeof data), LT_ERR_TYPE, "'t'");
    assert_fails(lt_tensor_copy_to(NULL, data, sizeof data), LT_ERR_TYPE, "'t'");
    assert_fails(lt_tensor_to(NULL, LT_FLOAT32, NULL, &none), LT_ERR_TYPE, "'t'");
    assert_fails(lt_tensor_to(t, LT_FLOAT32, NULL, NULL), LT_ERR_TYPE, "'out'");
    assert_fails(lt_device_name(cpu, NULL, 3), LT_ERR_TYPE, "'buffer'");
    assert_fails(lt_generator_new(cpu, NULL), LT_ERR_TYPE, "'out'");
    assert_fails(lt_load("x", NULL), LT_ERR_TYPE, "'out'");
    assert_fails(lt_save(NULL, NULL, NULL, 0), LT_ERR_TYPE, "'path'");
    assert_fails(lt_save("x", NULL, &t, 1), LT_ERR_TYPE, "'names'");
    assert_null(none);
    lt_tensor_release(NULL);
    lt_generator_release(NULL);
    lt_archive_release(NULL);
    assert_null(lt_tensor_retain(NULL));
    assert_int_equal(lt_tensor_dtype(NULL), LT_DTYPE_NONE);
    assert_int_equal(lt_tensor_device(NULL).type, LT_CPU);
    assert_int_equal(lt_tensor_ndim(NULL) + lt_tensor_numel(NULL), 0);
    assert_true(lt_tensor_sizes(NULL) == NULL && lt_tensor_strides(NULL) == NULL &&
                lt_tensor_data(NULL) == NULL);
    assert_false(lt_tensor_is_contiguous(NULL));
    assert_int_equal(lt_archive_count(NULL), 0);
    assert_true(lt_archive_name(NULL, 0) == NULL && lt_archive_tensor(NULL, 0) == NULL &&
                lt_archive_find(NULL, "a") == NULL);
    assert_int_equal(lt_dtype_size((lt_dtype)77), 0);
    assert_null(lt_dtype_name(LT_DTYPE_NONE));
    lt_tensor_release(t);
}

static lt_status wrap(void)
{
    static float data[4];
    const int64_t sizes[] = {2, 2}, strides[] = {1, 2};
    lt_tensor *t = NULL;
    lt_status status =
        lt_tensor_wrap_strided(data, LT_FLOAT32, cpu, 2, sizes, strides, NULL, NULL, &t);
    if (status == LT_OK) status = lt_tensor_copy_from(t, data, sizeof data);
    lt_tensor_release(t);
    return status;
}

static lt_status through_a_file(void)
{
    const lt_dims sizes = {1, {1000}};
    lt_tensor *t = NULL;
    lt_archive *archive = NULL;
    lt_status status = lt_ones(&sizes, LT_FLOAT32, NULL, &t);
    if (status == LT_OK) status = lt_save(file_name(), (const char *[]){"a"}, &t, 1);
    if (status == LT_OK) status = lt_load(file_name(), &archive);
    lt_archive_release(archive);
    lt_tensor_release(t);
    return status;
}

static lt_status generate(void)
{
    lt_generator *generator = NULL;
    lt_status status = lt_generator_new(cpu, &generator);
    lt_generator_release(generator);
    return status;
}

static lt_status unbind(void)
{
    const lt_dims sizes = {1, {4}};
    lt_tensor *t = NULL;
    lt_tensor_list list = {0, NULL};
    lt_status status = lt_ones(&sizes, LT_FLOAT32, NULL, &t);
    if (status == LT_OK) status = lt_unbind(t, 0, &list);
    lt_tensor_list_release(&list);
    lt_tensor_release(t);
    return status;
}

static void test_every_failing_allocation_is_reported(void **state)
{
    (void)state;
    lt_status (*const runs[])(void) = {wrap, through_a_file, generate, unbind};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        assert_ok(runs[i]());
        int64_t live = lt_mem_live();
        int n = 0;
        lt_status status;
        do {
            lt_block_trim();
            lt_mem_fail_after(++n);
            status = runs[i]();
            lt_mem_fail_after(0);
            assert_true(status == LT_OK || status == LT_ERR_MEMORY);
            assert_int_equal(lt_mem_live(), live);
        } while (status != LT_OK && n < 1000);
        assert_int_equal(status, LT_OK);
        assert_true(n > 1);
    }
    unlink(file_name());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_library_says_what_it_is),
        cmocka_unit_test(test_features_are_asked_for_by_name),
        cmocka_unit_test(test_a_column_of_records_is_a_tensor),
        cmocka_unit_test(test_a_transposed_matrix_without_a_copy),
        cmocka_unit_test(test_strides_are_checked),
        cmocka_unit_test(test_elements_go_in_and_out_of_any_layout),
        cmocka_unit_test(test_a_parameter_may_be_written),
        cmocka_unit_test(test_any_byte_is_a_truth_value),
        cmocka_unit_test(test_numbers_come_out_of_tensors),
        cmocka_unit_test(test_other_dtypes),
        cmocka_unit_test(test_memory_of_a_gpu),
        cmocka_unit_test(test_tensors_are_saved_and_loaded),
        cmocka_unit_test(test_files_that_cannot_be),
        cmocka_unit_test(test_devices_tell_of_themselves),
        cmocka_unit_test(test_devices_that_are_not_there),
        cmocka_unit_test(test_seeds_repeat_numbers),
        cmocka_unit_test(test_a_generator_is_a_stream_of_its_own),
        cmocka_unit_test(test_lists_are_freed),
        cmocka_unit_test(test_null_is_refused_everywhere),
        cmocka_unit_test(test_every_failing_allocation_is_reported),
    };
    find_backend();
    setenv("LTENSOR_SIM_GPUS", "1", 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
