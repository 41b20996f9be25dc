/* hosting_test.c - a host's needs besides tensors: operations by handle and helpers as symbols for
 * bindings, memory and its cache, streams of a GPU, text, states of generators, callbacks of the
 * process, profiles. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#undef LT_OPS_BY_NAME
#include "ltensor.h"
#include "ltensor_ops.h"

#include "expect.h"
#include "find_backend.h"

#define MB ((int64_t)1 << 20)

static const lt_device cpu = {LT_CPU, 0}, gpu = {LT_CUDA, 0};

static lt_tensor *floats(lt_device device, int64_t n)
{
    lt_tensor *t = NULL;
    assert_ok(lt_full(&(lt_dims){1, {n}}, lt_scalar_from_float(1.5), LT_FLOAT32, &device, &t));
    return t;
}

/* ---- bindings -------------------------------------------------------------------------------- */

static void an_operation_is_found_once_and_called_often(void **state)
{
    (void)state;
    lt_tensor *x = floats(cpu, 4);
    const lt_op *op = lt_op_find("absolute"); /* an alias */
    assert_non_null(op);
    assert_ptr_equal(lt_op_overload(op, 0), lt_op_overload(lt_op_find("abs"), 0));
    for (int i = 0; i < 3; i++) {
        const lt_value arg = lt_value_tensor(x);
        lt_value result = lt_value_none();
        int n = 1;
        assert_ok(lt_op_call(op, &arg, 1, NULL, 0, &result, &n));
        assert_int_equal(n, 1);
        lt_value_release(&result);
    }
    const lt_value wrong = lt_value_string("x");
    assert_fails(lt_op_call(op, &wrong, 1, NULL, 0, NULL, NULL), LT_ERR_TYPE, "Tensor");
    assert_null(lt_op_find("no_such_operation"));
    assert_non_null(strstr(lt_error_message(), "lt_op_find(): unknown operation"));
    lt_tensor_release(x);
}

static void each_enumerated_operation_is_an_overload_of_its_name(void **state)
{
    (void)state;
    for (int i = 0; i < lt_op_count(); i++) {
        const lt_op_info *info = lt_op_at(i);
        const lt_op *op = lt_op_find(info->name);
        bool found = false;
        assert_non_null(op);
        for (int k = 0; k < lt_op_overloads(op); k++) found |= lt_op_overload(op, k) == info;
        assert_true(found);
    }
}

static void a_const_tensor_is_an_operand(void **state)
{
    (void)state;
    lt_tensor *x = floats(cpu, 4), *sum = NULL;
    const lt_tensor *operand = x;
    assert_ok(lt_sum(operand, LT_DTYPE_NONE, &sum));
    assert_true(item(sum) == 6);
    /* Running statistics change: they are not const. */
    lt_status (*batch_norm)(const lt_tensor *, lt_tensor *, lt_tensor *, const lt_tensor *,
                            const lt_tensor *, bool, double, double, lt_tensor **) = lt_batch_norm;
    lt_status (*add_in_place)(lt_tensor *, const lt_tensor *, lt_scalar) = lt_add_;
    assert_true(batch_norm != NULL && add_in_place != NULL);
    lt_tensor_release(sum);
    lt_tensor_release(x);
}

static void statuses_have_names(void **state)
{
    (void)state;
    assert_string_equal(lt_status_name(LT_OK), "LT_OK");
    assert_string_equal(lt_status_name(LT_ERR_DEADLINE), "LT_ERR_DEADLINE");
    for (int i = LT_OK; i <= LT_ERR_PERMISSION; i++)
        assert_int_equal(strncmp(lt_status_name((lt_status)i), "LT_", 3), 0);
    assert_null(lt_status_name((lt_status)100));
    assert_null(lt_status_name((lt_status)-1));
}

static void inline_helpers_are_symbols_of_the_library(void **state)
{
    (void)state;
    void *self = dlopen(NULL, RTLD_NOW);
    lt_scalar (*from_int)(int64_t);
    lt_context_config (*defaults)(void);
    lt_value (*of_double)(double);
    *(void **)&from_int = dlsym(self, "lt_scalar_from_int");
    *(void **)&defaults = dlsym(self, "lt_context_defaults");
    *(void **)&of_double = dlsym(self, "lt_value_double");
    assert_true(from_int != NULL && defaults != NULL && of_double != NULL);
    assert_int_equal(from_int(7).v.i, 7);
    assert_int_equal(defaults().size, sizeof(lt_context_config));
    assert_true(of_double(2.5).v.d == 2.5 && of_double(1).kind == LT_KIND_DOUBLE);
    dlclose(self);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static lt_memory_usage usage_of(lt_context *context, lt_device device)
{
    lt_memory_usage usage = {.size = sizeof usage};
    assert_ok(lt_context_memory_usage(context, device, &usage));
    return usage;
}

static void check_peak(lt_device device)
{
    lt_context *mine = NULL;
    assert_ok(lt_context_new(NULL, &mine));
    lt_context *before = lt_context_enter(mine);
    lt_tensor *large = floats(device, 2 * MB), *small = floats(device, MB / 4);
    assert_true(usage_of(mine, device).used >= 9 * MB);
    lt_tensor_release(large);
    lt_memory_usage usage = usage_of(mine, device);
    assert_true(usage.peak >= 9 * MB && usage.used < 4 * MB && usage.used >= MB);
    assert_int_equal(usage.limit, INT64_MAX);
    assert_true(usage.cached >= 8 * MB);
    assert_ok(lt_context_reset_memory_peak(mine, device));
    usage = usage_of(mine, device);
    assert_int_equal(usage.peak, usage.used);
    lt_tensor_release(small);
    int64_t bytes = 0;
    assert_ok(lt_device_memory_trim(device, &bytes));
    assert_true(bytes >= 8 * MB);
    assert_true(usage_of(mine, device).cached < MB);
    lt_context_enter(before);
    lt_context_release(mine);
}

static void a_context_reports_used_and_peak_bytes_of_the_host(void **state)
{
    (void)state;
    check_peak(cpu);
    lt_memory_usage old = {.size = 8};
    assert_fails(lt_context_memory_usage(lt_context_process(), cpu, &old), LT_ERR_TYPE, "8");
}

static void a_context_reports_used_and_peak_bytes_of_a_gpu(void **state)
{
    (void)state;
    check_peak(gpu);
}

static void the_cache_of_the_process_has_a_limit(void **state)
{
    (void)state;
    const int64_t initially = lt_memory_cache_limit();
    lt_tensor *list[10];
    assert_int_equal(initially, 256 * MB);
    assert_fails(lt_memory_set_cache_limit(-1), LT_ERR_RUNTIME, "-1");
    assert_ok(lt_memory_set_cache_limit(9 * MB));
    for (int i = 0; i < 10; i++) list[i] = floats(cpu, MB); /* 4 MB each */
    for (int i = 0; i < 10; i++) lt_tensor_release(list[i]);
    int64_t cached = usage_of(lt_context_process(), cpu).cached;
    assert_true(cached >= 8 * MB && cached <= 9 * MB);
    assert_ok(lt_memory_set_cache_limit(0));
    assert_int_equal(usage_of(lt_context_process(), cpu).cached, 0);
    lt_tensor_release(floats(cpu, MB));
    assert_int_equal(usage_of(lt_context_process(), cpu).cached, 0);
    assert_ok(lt_memory_set_cache_limit(initially));
}

/* ---- streams --------------------------------------------------------------------------------- */

static void work_of_two_streams_is_ordered_by_wait(void **state)
{
    (void)state;
    lt_stream *stream = NULL, *before = NULL, *now = NULL;
    lt_tensor *x = floats(gpu, 1000), *sum = NULL;
    bool done = false;
    assert_ok(lt_stream_new(gpu, 0, &stream));
    assert_ok(lt_stream_current(gpu, &before));
    assert_int_equal(lt_stream_handle(before), 0);
    assert_ok(lt_stream_wait(stream, before)); /* x is written */
    assert_ok(lt_stream_use(stream));
    assert_ok(lt_stream_current(gpu, &now));
    assert_int_equal(lt_stream_handle(now), lt_stream_handle(stream));
    assert_true(lt_stream_handle(stream) != 0 && lt_stream_device(stream).type == LT_CUDA);
    assert_ok(lt_sum(x, LT_DTYPE_NONE, &sum));
    assert_ok(lt_tensor_record_stream(x, stream));
    assert_ok(lt_stream_synchronize(stream));
    assert_ok(lt_stream_query(stream, &done));
    assert_true(done);
    assert_ok(lt_stream_use(before));
    assert_true(item(sum) == 1500);
    lt_tensor_release(sum);
    lt_tensor_release(x);
    lt_stream_release(now);
    lt_stream_release(before);
    lt_stream_release(stream);
}

static void the_last_reference_to_a_current_stream_restores_the_default_one(void **state)
{
    (void)state;
    lt_stream *stream = NULL, *now = NULL;
    assert_ok(lt_stream_new(gpu, -1, &stream));
    assert_ok(lt_stream_use(stream));
    lt_stream_release(stream);
    assert_ok(lt_stream_current(gpu, &now));
    assert_int_equal(lt_stream_handle(now), 0);
    lt_stream_release(now);
}

static void each_thread_has_a_current_gpu(void **state)
{
    (void)state;
    lt_device device;
    assert_ok(lt_device_set_current((lt_device){LT_CUDA, 1}));
    assert_ok(lt_device_current(&device));
    assert_int_equal(device.index, 1);
    lt_tensor *x = floats((lt_device){LT_CUDA, -1}, 3);
    assert_int_equal(lt_tensor_device(x).index, 1);
    lt_tensor_release(x);
    assert_ok(lt_device_set_current(gpu));
    assert_fails(lt_device_set_current(cpu), LT_ERR_DEVICE, "expected a GPU");
    assert_int_equal(lt_device_set_current((lt_device){LT_CUDA, 9}), LT_ERR_DEVICE);
    lt_stream *stream = NULL;
    assert_fails(lt_stream_new(cpu, 0, &stream), LT_ERR_DEVICE, "expected a GPU");
}

static void a_stream_of_another_gpu_does_not_record_a_tensor(void **state)
{
    (void)state;
    lt_stream *stream = NULL;
    lt_tensor *x = floats(gpu, 3);
    assert_ok(lt_stream_wrap((lt_device){LT_CUDA, 1}, 0, &stream));
    assert_fails(lt_tensor_record_stream(x, stream), LT_ERR_RUNTIME, "cuda:1");
    lt_stream_release(stream);
    lt_tensor_release(x);
}

/* ---- text and generators --------------------------------------------------------------------- */

static void a_tensor_is_text_as_pytorch_prints_it(void **state)
{
    (void)state;
    lt_tensor *x = floats(cpu, 2), *there = floats(gpu, 1);
    char *text = NULL;
    assert_ok(lt_tensor_to_string(x, &text));
    assert_string_equal(text, "tensor([1.5000, 1.5000])");
    lt_string_release(text);
    assert_ok(lt_tensor_to_string(there, &text));
    assert_string_equal(text, "tensor([1.5000], device='cuda:0')");
    lt_string_release(text);
    lt_tensor_release(there);
    lt_tensor_release(x);
}

static double random_number(lt_generator *generator, lt_device device)
{
    lt_tensor *t = NULL;
    assert_ok(lt_rand(&(lt_dims){1, {1}}, generator, LT_DTYPE_NONE, &device, &t));
    const double value = item(t);
    lt_tensor_release(t);
    return value;
}

static void a_generator_continues_from_its_state(void **state)
{
    (void)state;
    const lt_device devices[] = {cpu, gpu};
    for (int i = 0; i < 2; i++) {
        lt_generator *generator = NULL;
        lt_tensor *kept = NULL, *of_default = NULL;
        assert_ok(lt_generator_new(devices[i], &generator));
        assert_ok(lt_generator_seed(generator, 42));
        (void)random_number(generator, devices[i]);
        assert_ok(lt_generator_get_state(generator, &kept));
        const double next = random_number(generator, devices[i]);
        assert_true(random_number(generator, devices[i]) != next);
        assert_ok(lt_generator_set_state(generator, kept));
        assert_true(random_number(generator, devices[i]) == next);
        assert_ok(lt_get_rng_state(devices[i], &of_default));
        const double third = random_number(NULL, devices[i]);
        assert_ok(lt_set_rng_state(devices[i], of_default));
        assert_true(random_number(NULL, devices[i]) == third);
        assert_fails(lt_generator_set_state(generator, NULL), LT_ERR_TYPE, "'state'");
        lt_tensor_release(of_default);
        lt_tensor_release(kept);
        lt_generator_release(generator);
    }
    lt_tensor *wrong = floats(cpu, 3);
    assert_fails(lt_set_rng_state(cpu, wrong), LT_ERR_TYPE, "ByteTensor");
    lt_tensor_release(wrong);
}

/* ---- the process's context ------------------------------------------------------------------- */

typedef struct seen {
    int asked, lines, released;
} seen;
static bool deny(void *user, int access, const char *name)
{
    ((seen *)user)->asked++;
    return access == LT_ACCESS_LIBRARY && name == NULL;
}
static void count_line(void *user, int level, const char *text)
{
    ((seen *)user)->lines += level == LT_LOG_WARNING && text != NULL;
}
static void count_release(void *user) { ((seen *)user)->released++; }

static void the_context_of_the_process_has_callbacks(void **state)
{
    (void)state;
    seen calls = {0};
    lt_archive *archive = NULL;
    lt_context_config config = lt_context_defaults();
    config.user = &calls, config.authorize = deny, config.log = count_line;
    config.release = count_release;
    config.memory_limit = 64 * MB;
    assert_ok(lt_context_process_configure(&config));
    assert_fails(lt_load("/etc/hostname", &archive), LT_ERR_PERMISSION, "/etc/hostname");
    assert_int_equal(calls.asked, 1);
    lt_tensor *x = NULL;
    assert_int_equal(lt_tensor_new(LT_FLOAT32, cpu, 1, &(int64_t){32 * MB}, &x), LT_ERR_MEMORY);
    assert_int_equal(calls.released, 0);
    assert_ok(lt_context_process_configure(NULL));
    assert_int_equal(calls.released, 1);
    assert_int_equal(lt_load("/etc/hostname", &archive), LT_ERR_IO);
    assert_ok(lt_tensor_new(LT_FLOAT32, cpu, 1, &(int64_t){32 * MB}, &x));
    lt_tensor_release(x);
    config.threads = -1;
    assert_fails(lt_context_process_configure(&config), LT_ERR_RUNTIME,
                 "lt_context_process_configure(): threads");
    assert_int_equal(calls.released, 1);
}

/* ---- profiles -------------------------------------------------------------------------------- */

static void a_profile_has_operations_in_spans_and_is_written_as_a_trace(void **state)
{
    (void)state;
    char path[64], text[4096] = "";
    lt_profile *profile = NULL;
    lt_tensor *x = floats(cpu, 10);
    snprintf(path, sizeof path, "/tmp/ltensor-profile-%ld.json", (long)getpid());
    assert_fails(lt_profiler_stop(&profile), LT_ERR_RUNTIME, "no recording");
    assert_int_equal(lt_profiler_begin("before"), -1);
    assert_ok(lt_profiler_start(false));
    assert_fails(lt_profiler_start(false), LT_ERR_RUNTIME, "already");
    const int32_t span = lt_profiler_begin("the \"step\"");
    const lt_value arg = lt_value_tensor(x);
    assert_ok(lt_call("exp", &arg, 1, NULL, 0, NULL, NULL));
    lt_profiler_end(span);
    assert_ok(lt_profiler_stop(&profile));
    assert_int_equal(lt_profile_count(profile), 2);
    const lt_profile_entry *outer = lt_profile_at(profile, 0), *inner = lt_profile_at(profile, 1);
    assert_string_equal(inner->name, "exp");
    assert_string_equal(inner->kind, "op");
    assert_string_equal(outer->kind, "user");
    assert_int_equal(inner->parent, 0);
    assert_int_equal(outer->parent, -1);
    assert_true(outer->time >= inner->time && inner->time > 0 && inner->start >= outer->start);
    assert_null(lt_profile_at(profile, 2));
    assert_ok(lt_profile_export(profile, path));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_non_null(strstr(text, "\"traceEvents\":[\n{\"ph\":\"X\",\"cat\":\"user\""));
    assert_non_null(strstr(text, "the \\\"step\\\""));
    assert_non_null(strstr(text, "\"name\":\"exp\""));
    unlink(path);
    assert_fails(lt_profile_export(profile, "/no/such/folder/x"), LT_ERR_IO, "/no/such/folder");
    lt_profile_release(profile);
    lt_tensor_release(x);
}

/* Each call of a C function is an event, without the operations that it consists of. */
static void a_profile_has_direct_calls_of_operations(void **state)
{
    (void)state;
    static const char *const names[] = {"linear", "add_", "exp", "softmax"};
    const lt_dims square = {2, {4, 4}};
    lt_profile *profile = NULL;
    lt_tensor *x = NULL, *y = NULL, *z = NULL;
    assert_ok(lt_ones(&square, LT_FLOAT32, NULL, &x));
    assert_ok(lt_profiler_start(false));
    const int32_t span = lt_profiler_begin("span");
    assert_ok(lt_linear(x, x, NULL, &y));
    assert_ok(lt_add_(y, x, lt_scalar_from_int(1)));
    lt_profiler_end(span);
    assert_ok(lt_exp(y, &z));
    assert_fails(lt_exp(NULL, &z), LT_ERR_TYPE, "self"); /* ends its event, too */
    assert_ok(lt_softmax_out(y, 0, LT_DTYPE_NONE, z));
    assert_ok(lt_profiler_stop(&profile));
    int n = 0;
    for (int64_t i = 1; i < lt_profile_count(profile); i++) {
        const lt_profile_entry *entry = lt_profile_at(profile, i);
        if (i == 4) { /* the failed call */
            assert_string_equal(entry->name, "exp");
            continue;
        }
        assert_string_equal(entry->name, names[n]);
        assert_int_equal(entry->parent, n < 2 ? 0 : -1);
        n++;
    }
    assert_int_equal(n, 4);
    lt_profile_release(profile);
    assert_ok(lt_add_(y, x, lt_scalar_from_int(1))); /* no recording runs */
    lt_tensor_release(x);
    lt_tensor_release(y);
    lt_tensor_release(z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_operation_is_found_once_and_called_often),
        cmocka_unit_test(each_enumerated_operation_is_an_overload_of_its_name),
        cmocka_unit_test(a_const_tensor_is_an_operand),
        cmocka_unit_test(statuses_have_names),
        cmocka_unit_test(inline_helpers_are_symbols_of_the_library),
        cmocka_unit_test(a_context_reports_used_and_peak_bytes_of_the_host),
        cmocka_unit_test(a_context_reports_used_and_peak_bytes_of_a_gpu),
        cmocka_unit_test(the_cache_of_the_process_has_a_limit),
        cmocka_unit_test(work_of_two_streams_is_ordered_by_wait),
        cmocka_unit_test(the_last_reference_to_a_current_stream_restores_the_default_one),
        cmocka_unit_test(each_thread_has_a_current_gpu),
        cmocka_unit_test(a_stream_of_another_gpu_does_not_record_a_tensor),
        cmocka_unit_test(a_tensor_is_text_as_pytorch_prints_it),
        cmocka_unit_test(a_generator_continues_from_its_state),
        cmocka_unit_test(the_context_of_the_process_has_callbacks),
        cmocka_unit_test(a_profile_has_operations_in_spans_and_is_written_as_a_trace),
        cmocka_unit_test(a_profile_has_direct_calls_of_operations),
    };
    find_backend();
    setenv("LTENSOR_SIM_GPUS", "2", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
