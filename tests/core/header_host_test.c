/* header_host_test.c - every function of ltensor_binding.h, ltensor_device.h, ltensor_files.h,
 * ltensor_host.h, ltensor_messages.h and ltensor_threads.h: with each of its allocations failing,
 * and with NULL for each of its pointers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#undef LT_OPS_BY_NAME
#include "ltensor.h"
#include "ltensor_files.h"
#include "ltensor_messages.h"
#include "ltensor_threads.h"

#include "failing.h"
#include "find_backend.h"

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

static const lt_device cpu = {LT_CPU, 0}, gpu = {LT_CUDA, 0};
static const int64_t sizes[] = {2, 3};
static float numbers[6] = {1, 2, 3, 4, 5, 6};
static char file_name[64];
static lt_tensor *x, *on_gpu;
static lt_generator *generator;
static lt_stream *stream;

static int setup(void **state)
{
    (void)state;
    snprintf(file_name, sizeof file_name, "/tmp/ltensor-header-host-%ld", (long)getpid());
    assert_ok(lt_tensor_new(LT_FLOAT32, cpu, 2, sizes, &x));
    assert_ok(lt_tensor_copy_from(x, numbers, sizeof numbers));
    assert_ok(lt_tensor_to(x, LT_DTYPE_NONE, &gpu, &on_gpu));
    assert_ok(lt_generator_new(cpu, &generator));
    assert_ok(lt_stream_new(gpu, 0, &stream));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    lt_stream_release(stream);
    lt_tensor_release(on_gpu);
    lt_tensor_release(x);
    lt_generator_release(generator);
    unlink(file_name);
    return 0;
}

/* ---- ltensor_binding.h ----------------------------------------------------------------------- */

static lt_status status_name(void)
{
    assert_string_equal(lt_status_name(LT_ERR_PERMISSION), "LT_ERR_PERMISSION");
    return LT_OK;
}

static lt_status op_call(void)
{
    const lt_op *op = lt_op_find("add");
    const lt_value args[] = {lt_value_tensor(x), lt_value_double(1)};
    lt_value result = lt_value_none();
    int n = 1;
    const lt_status status = lt_op_call(op, args, 2, NULL, 0, &result, &n);
    if (status == LT_OK) lt_value_release(&result);
    return status;
}
static void op_call_null(void)
{
    const lt_value arg = lt_value_tensor(x);
    lt_value result = lt_value_none();
    int n = 1;
    assert_no_null(lt_op_call(NULL, &arg, 1, NULL, 0, &result, &n), "'op'");
    const lt_op *op = lt_op_find("exp");
    assert_fails(lt_op_call(op, NULL, 1, NULL, 0, &result, &n), LT_ERR_TYPE, "'args'");
    assert_fails(lt_op_call(op, &arg, 1, NULL, 1, &result, &n), LT_ERR_TYPE, "'named'");
    assert_fails(lt_op_call(op, &arg, 1, NULL, 0, &result, NULL), LT_ERR_TYPE, "'nresults'");
}

static lt_status op_look(void)
{
    const lt_op *op = lt_op_find("sum");
    assert_true(lt_op_overloads(op) > 1);
    assert_string_equal(lt_op_overload(op, 1)->name, "sum");
    return LT_OK;
}
static void op_look_null(void)
{
    assert_null(lt_op_find(NULL));
    assert_null(lt_op_overload(NULL, 0));
    assert_int_equal(lt_op_overloads(NULL), 0);
}

static const row of_bindings[] = {
    {"lt_status_name", status_name, NULL},     {"lt_op_find", op_look, op_look_null},
    {"lt_op_call", op_call, op_call_null},     {"lt_op_overloads", op_look, op_look_null},
    {"lt_op_overload", op_look, op_look_null},
};

/* ---- ltensor_device.h ------------------------------------------------------------------------ */

static lt_status memory_usage(void)
{
    lt_memory_usage usage = {.size = sizeof usage};
    LT_TRY(lt_context_memory_usage(lt_context_current(), cpu, &usage));
    LT_TRY(lt_context_memory_usage(lt_context_current(), gpu, &usage));
    return lt_context_reset_memory_peak(lt_context_current(), cpu);
}
static void memory_usage_null(void)
{
    lt_memory_usage usage = {.size = sizeof usage};
    assert_no_null(lt_context_memory_usage(NULL, cpu, &usage), "'context'");
    assert_no_null(lt_context_memory_usage(lt_context_current(), cpu, NULL), "'out'");
    assert_no_null(lt_context_reset_memory_peak(NULL, cpu), "'context'");
}

static lt_status cache_limit(void) { return lt_memory_set_cache_limit(lt_memory_cache_limit()); }
static lt_status memory_trim(void)
{
    int64_t bytes;
    LT_TRY(lt_device_memory_trim(cpu, NULL));
    return lt_device_memory_trim(gpu, &bytes);
}

static void memory_trim_null(void) { assert_ok(lt_device_memory_trim(cpu, NULL)); }

static lt_status current_device(void)
{
    lt_device device;
    LT_TRY(lt_device_current(&device));
    return lt_device_set_current(device);
}
static void current_device_null(void) { assert_no_null(lt_device_current(NULL), "'out'"); }

static lt_status stream_new(void)
{
    lt_stream *made = NULL;
    const lt_status status = lt_stream_new(gpu, -1, &made);
    assert_int_equal(status == LT_OK, made != NULL);
    lt_stream_release(lt_stream_retain(made));
    lt_stream_release(made);
    return status;
}
static void stream_new_null(void)
{
    assert_no_null(lt_stream_new(gpu, 0, NULL), "'out'");
    assert_no_null(lt_stream_wrap(gpu, 0, NULL), "'out'");
    assert_no_null(lt_stream_current(gpu, NULL), "'out'");
    assert_null(lt_stream_retain(NULL));
    lt_stream_release(NULL);
}

static lt_status stream_use(void)
{
    lt_stream *before = NULL;
    LT_TRY(lt_stream_current(gpu, &before));
    lt_status status = lt_stream_use(stream);
    if (status == LT_OK) status = lt_stream_use(before);
    lt_stream_release(before);
    return status;
}
static lt_status stream_wait(void)
{
    bool done;
    LT_TRY(lt_stream_wait(stream, stream));
    LT_TRY(lt_stream_query(stream, &done));
    LT_TRY(lt_tensor_record_stream(on_gpu, stream));
    return lt_stream_synchronize(stream);
}
static void stream_wait_null(void)
{
    bool done;
    assert_no_null(lt_stream_use(NULL), "'stream'");
    assert_no_null(lt_stream_synchronize(NULL), "'stream'");
    assert_no_null(lt_stream_query(NULL, &done), "'stream'");
    assert_no_null(lt_stream_query(stream, NULL), "'done'");
    assert_no_null(lt_stream_wait(NULL, stream), "'stream'");
    assert_no_null(lt_stream_wait(stream, NULL), "'other'");
    assert_no_null(lt_tensor_record_stream(NULL, stream), "'t'");
    assert_no_null(lt_tensor_record_stream(on_gpu, NULL), "'stream'");
    assert_int_equal(lt_stream_device(NULL).type, LT_CPU);
    assert_int_equal(lt_stream_handle(NULL), 0);
}

static const row of_devices[] = {
    {"lt_context_memory_usage", memory_usage, memory_usage_null},
    {"lt_context_reset_memory_peak", memory_usage, memory_usage_null},
    {"lt_memory_set_cache_limit", cache_limit, NULL},
    {"lt_memory_cache_limit", cache_limit, NULL},
    {"lt_device_memory_trim", memory_trim, memory_trim_null},
    {"lt_device_current", current_device, current_device_null},
    {"lt_device_set_current", current_device, NULL},
    {"lt_stream_new", stream_new, stream_new_null},
    {"lt_stream_wrap", stream_use, stream_new_null},
    {"lt_stream_current", stream_use, stream_new_null},
    {"lt_stream_retain", stream_new, stream_new_null},
    {"lt_stream_release", stream_new, stream_new_null},
    {"lt_stream_use", stream_use, stream_wait_null},
    {"lt_stream_synchronize", stream_wait, stream_wait_null},
    {"lt_stream_query", stream_wait, stream_wait_null},
    {"lt_stream_wait", stream_wait, stream_wait_null},
    {"lt_stream_device", stream_wait, stream_wait_null},
    {"lt_stream_handle", stream_wait, stream_wait_null},
    {"lt_tensor_record_stream", stream_wait, stream_wait_null},
};

/* ---- ltensor_files.h ------------------------------------------------------------------------- */

static const char *const file_names[] = {"x"};

static int64_t read_part(void *user, int64_t at, void *to, int64_t n)
{
    memcpy(to, (char *)lt_tensor_data(user) + at, (size_t)n);
    return n;
}

/* A file in memory; written and read by callbacks if `by_host`. */
static lt_status load_saved(lt_tensor *content, bool by_host)
{
    lt_archive *archive = NULL;
    const size_t n = (size_t)lt_tensor_numel(content);
    const lt_reader reader = {sizeof reader, content, (int64_t)n, read_part};
    const lt_status status = by_host ? lt_load_from(&reader, &archive)
                                     : lt_load_memory(lt_tensor_data(content), n, &archive);
    assert_int_equal(status == LT_OK, archive != NULL);
    lt_archive_release(archive);
    return status;
}

static lt_status memory_file(void)
{
    lt_tensor *content = NULL;
    LT_TRY(lt_save_memory(file_names, &x, 1, &content));
    const lt_status status = load_saved(content, false);
    lt_tensor_release(content);
    return status;
}
static void memory_file_null(void)
{
    lt_archive *archive;
    lt_tensor *content = NULL;
    assert_no_null(lt_save_memory(NULL, &x, 1, &content), "'names'");
    assert_no_null(lt_save_memory(file_names, NULL, 1, &content), "'tensors'");
    assert_no_null(lt_save_memory(file_names, &content, 1, &content), "tensors[0]");
    assert_no_null(lt_save_memory(file_names, &x, 1, NULL), "'out'");
    assert_no_null(lt_load_memory(NULL, 1, &archive), "'bytes'");
    assert_no_null(lt_load_memory("", 0, NULL), "'out'");
}

static bool drop_part(void *user, const void *data, size_t n)
{
    (void)data;
    *(size_t *)user += n;
    return true;
}

static lt_status host_file(void)
{
    lt_tensor *content = NULL;
    size_t written = 0;
    const lt_writer writer = {sizeof writer, &written, drop_part};
    LT_TRY(lt_save_memory(file_names, &x, 1, &content));
    lt_status status = lt_save_to(&writer, file_names, &x, 1);
    if (status == LT_OK) assert_int_equal(written, lt_tensor_numel(content));
    if (status == LT_OK) status = load_saved(content, true);
    lt_tensor_release(content);
    return status;
}
static void host_file_null(void)
{
    lt_archive *archive;
    lt_reader reader = {sizeof reader, NULL, 0, NULL};
    lt_writer writer = {sizeof writer, NULL, NULL};
    assert_no_null(lt_save_to(NULL, file_names, &x, 1), "'writer'");
    assert_no_null(lt_save_to(&writer, file_names, &x, 1), "'write'");
    assert_no_null(lt_load_from(NULL, &archive), "'reader'");
    assert_no_null(lt_load_from(&reader, &archive), "'read'");
    assert_no_null(lt_load_from(&reader, NULL), "'out'");
}

static const row of_files[] = {
    {"lt_load_memory", memory_file, memory_file_null},
    {"lt_save_memory", memory_file, memory_file_null},
    {"lt_load_from", host_file, host_file_null},
    {"lt_save_to", host_file, host_file_null},
};

/* ---- ltensor_host.h -------------------------------------------------------------------------- */

static lt_status configure(void)
{
    const lt_context_config config = lt_context_defaults();
    LT_TRY(lt_context_process_configure(&config));
    return lt_context_process_configure(NULL);
}

/* NULL is the default configuration. */
static void configure_null(void) { assert_ok(lt_context_process_configure(NULL)); }

static lt_status to_string(void)
{
    char *text = NULL;
    const lt_status status = lt_tensor_to_string(x, &text);
    assert_int_equal(status == LT_OK, text != NULL);
    lt_string_release(text);
    return status;
}
static void to_string_null(void)
{
    char *text;
    assert_no_null(lt_tensor_to_string(NULL, &text), "'t'");
    assert_no_null(lt_tensor_to_string(x, NULL), "'out'");
    lt_string_release(NULL);
}

static lt_status generator_state(void)
{
    lt_tensor *state = NULL, *of_default = NULL;
    lt_status status = lt_generator_get_state(generator, &state);
    if (status == LT_OK) status = lt_generator_set_state(generator, state);
    if (status == LT_OK) status = lt_get_rng_state(cpu, &of_default);
    if (status == LT_OK) status = lt_set_rng_state(cpu, of_default);
    lt_tensor_release(of_default);
    lt_tensor_release(state);
    return status;
}
static void generator_state_null(void)
{
    lt_tensor *state = NULL;
    assert_no_null(lt_generator_get_state(NULL, &state), "'generator'");
    assert_no_null(lt_generator_get_state(generator, NULL), "'out'");
    assert_no_null(lt_generator_set_state(NULL, x), "'generator'");
    assert_no_null(lt_generator_set_state(generator, NULL), "'state'");
    assert_no_null(lt_get_rng_state(cpu, NULL), "'out'");
    assert_no_null(lt_set_rng_state(cpu, NULL), "'state'");
}

static lt_status profile(void)
{
    lt_profile *made = NULL;
    LT_TRY(lt_profiler_start(false));
    const int32_t span = lt_profiler_begin("step"); /* drops the span without memory */
    lt_profiler_end(span);
    lt_status status = lt_profiler_stop(&made);
    assert_int_equal(status == LT_OK, made != NULL);
    if (status == LT_OK) status = lt_profile_export(made, file_name);
    assert_true(lt_profile_count(made) >= 0);
    lt_profile_release(made);
    return status;
}
static void profile_null(void)
{
    lt_profile *made = NULL;
    assert_int_equal(lt_profiler_begin(NULL), -1);
    assert_int_equal(lt_profile_count(NULL), 0);
    assert_null(lt_profile_at(NULL, 0));
    assert_no_null(lt_profile_export(NULL, file_name), "'profile'");
    assert_ok(lt_profiler_start(false));
    assert_ok(lt_profiler_stop(&made));
    assert_no_null(lt_profile_export(made, NULL), "'path'");
    lt_profile_release(made);
    lt_profile_release(NULL);
    assert_ok(lt_profiler_start(false));
    assert_ok(lt_profiler_stop(NULL));
}

static const row of_hosts[] = {
    {"lt_context_process_configure", configure, configure_null},
    {"lt_tensor_to_string", to_string, to_string_null},
    {"lt_string_release", to_string, to_string_null},
    {"lt_generator_get_state", generator_state, generator_state_null},
    {"lt_generator_set_state", generator_state, generator_state_null},
    {"lt_get_rng_state", generator_state, generator_state_null},
    {"lt_set_rng_state", generator_state, generator_state_null},
    {"lt_profiler_start", profile, NULL},
    {"lt_profiler_stop", profile, profile_null},
    {"lt_profiler_begin", profile, profile_null},
    {"lt_profiler_end", profile, NULL},
    {"lt_profile_count", profile, profile_null},
    {"lt_profile_at", profile, profile_null},
    {"lt_profile_export", profile, profile_null},
    {"lt_profile_release", profile, profile_null},
};

/* ---- ltensor_messages.h ---------------------------------------------------------------------- */

/* The message for dimension 2 of a matrix, which counts from 0. */
static const char *message_of_dim(void)
{
    lt_tensor *out = NULL;
    assert_int_equal(lt_sum_dim(x, LT_DIMS(2), false, LT_DTYPE_NONE, &out), LT_ERR_INDEX);
    return lt_error_message();
}

static lt_status first_index(void)
{
    assert_ok(lt_set_first_index(1));
    assert_non_null(strstr(message_of_dim(), "[1, 2] or [-2, -1], but got 3"));
    assert_ok(lt_set_first_index(0));
    assert_non_null(strstr(message_of_dim(), "[-2, 1], but got 2"));
    return LT_OK;
}
static void first_index_wrong(void)
{
    assert_int_equal(lt_set_first_index(2), LT_ERR_RUNTIME);
    assert_non_null(strstr(lt_error_message(), "0 or 1, not 2"));
}

static const row of_messages[] = {{"lt_set_first_index", first_index, first_index_wrong}};

/* ---- ltensor_threads.h ----------------------------------------------------------------------- */

static lt_status configure_threads(void)
{
    const lt_thread_config config = lt_thread_defaults();
    const lt_status status = lt_threads_configure(&config);
    assert_true(lt_threads_count() >= 0);
    assert_true(lt_threads_processors() >= 1);
    return status;
}
static void configure_threads_null(void) { assert_ok(lt_threads_configure(NULL)); }

static const row of_threads[] = {
    {"lt_threads_configure", configure_threads, configure_threads_null},
    {"lt_threads_count", configure_threads, NULL},
    {"lt_threads_processors", configure_threads, NULL},
};

/* ---- all of them ----------------------------------------------------------------------------- */

static const struct {
    const char *header;
    const row *rows;
    int n;
} headers[] = {
    {"ltensor_binding.h", of_bindings, COUNT(of_bindings)},
    {"ltensor_device.h", of_devices, COUNT(of_devices)},
    {"ltensor_files.h", of_files, COUNT(of_files)},
    {"ltensor_host.h", of_hosts, COUNT(of_hosts)},
    {"ltensor_messages.h", of_messages, COUNT(of_messages)},
    {"ltensor_threads.h", of_threads, COUNT(of_threads)},
};

static void test_no_function_is_left_out(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(headers); i++)
        assert_int_equal(
            every_function_has_a_row(__FILE__, headers[i].header, headers[i].rows, headers[i].n),
            headers[i].n);
}

static void test_every_failing_allocation_is_reported(void **state)
{
    (void)state;
    int failures = 0;
    for (int i = 0; i < COUNT(headers); i++)
        for (int k = 0; k < headers[i].n; k++)
            failures += fail_without_a_leak(
                (sweep){fail_each, headers[i].rows[k].name, headers[i].rows[k].call});
    assert_int_equal(complaints, 0);
    assert_true(failures > 20);
}

static void test_null_is_an_error(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(headers); i++)
        for (int k = 0; k < headers[i].n; k++)
            if (headers[i].rows[k].null != NULL) headers[i].rows[k].null();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_function_is_left_out),
        cmocka_unit_test(test_every_failing_allocation_is_reported),
        cmocka_unit_test(test_null_is_an_error),
    };
    find_backend();
    setenv("LTENSOR_SIM_GPUS", "1", 1);
    if (count_memory() != LT_OK) return 1;
    return cmocka_run_group_tests_name("functions for hosts", tests, setup, teardown);
}
