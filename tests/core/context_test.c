/* context_test.c - lt_context as a host uses it: what belongs to one, limits of memory, who is
 * asked and told. context_stop_test.c has the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#undef LT_OPS_BY_NAME /* as a host sees it: with every op */
#include "contexts.h"
#include "expect.h"
#include "find_backend.h"
#include "ltensor.h"
#include "memory/system.h"

static const lt_device cpu = {LT_CPU, 0}, gpu = {LT_CUDA, 0};

static double random_number(void)
{
    const lt_dims sizes = {0, {0}};
    lt_tensor *t = NULL;
    assert_ok(lt_randn(&sizes, NULL, LT_FLOAT64, NULL, &t));
    const double number = item(t);
    lt_tensor_release(t);
    return number;
}

static void count_call(void *user) { ++*(int *)user; }

/* ---- what belongs to a context --------------------------------------------------------------- */

static void a_thread_begins_in_the_process_context(void **state)
{
    (void)state;
    assert_ptr_equal(lt_context_current(), lt_context_process());
    lt_context *mine = make(NULL);
    assert_ptr_equal(lt_context_enter(mine), lt_context_process());
    assert_ptr_equal(lt_context_current(), mine);
    assert_ptr_equal(lt_context_enter(NULL), mine);
    assert_ptr_equal(lt_context_current(), lt_context_process());
    lt_context_release(mine);
}

static void two_contexts_with_the_same_seed_give_the_same_numbers(void **state)
{
    (void)state;
    lt_context *contexts[2] = {make(NULL), make(NULL)};
    double numbers[2][4];
    lt_manual_seed(1);
    const double first = random_number();
    for (int c = 0; c < 2; c++) {
        lt_context_enter(contexts[c]);
        lt_manual_seed(17);
    }
    for (int i = 0; i < 4; i++) { /* by turns: each goes on in a stream of its own */
        for (int c = 0; c < 2; c++) {
            lt_context_enter(contexts[c]);
            numbers[c][i] = random_number();
        }
    }
    lt_context_enter(NULL);
    assert_memory_equal(numbers[0], numbers[1], sizeof numbers[0]);
    const double second = random_number();
    lt_manual_seed(1);
    assert_true(random_number() == first &&
                random_number() == second); /* nobody else has drawn from it */
    for (int c = 0; c < 2; c++) lt_context_release(contexts[c]);
}

static void settings_are_the_contexts(void **state)
{
    (void)state;
    lt_context_config config = lt_context_defaults();
    config.default_dtype = LT_FLOAT64;
    config.threads = 3;
    lt_context *mine = make(&config);
    const int threads = lt_get_num_threads();
    lt_context_enter(mine);
    assert_int_equal(lt_get_default_dtype(), LT_FLOAT64);
    assert_int_equal(lt_get_num_threads(), 3);
    assert_ok(lt_set_num_threads(5));
    assert_ok(lt_set_default_dtype(LT_BFLOAT16));
    assert_fails(lt_set_default_dtype(LT_INT64), LT_ERR_TYPE, "floating-point");
    assert_fails(lt_set_num_threads(0), LT_ERR_RUNTIME, "0");
    lt_context_enter(NULL);
    assert_int_equal(lt_get_default_dtype(), LT_FLOAT32);
    assert_int_equal(lt_get_num_threads(), threads);
    lt_context_enter(mine);
    assert_int_equal(lt_get_default_dtype(), LT_BFLOAT16);
    assert_int_equal(lt_get_num_threads(), 5);
    lt_context_enter(NULL);
    lt_context_release(mine);
}

static void *grad_mode_of_a_new_thread(void *unused)
{
    (void)unused;
    return lt_grad_enabled() ? (void *)1 : NULL;
}

static void grad_mode_stays_with_its_context(void **state)
{
    (void)state;
    lt_context *a = make(NULL), *b = make(NULL);
    lt_context_enter(a);
    assert_true(lt_set_grad_enabled(false));
    lt_context_enter(b);
    assert_true(lt_grad_enabled());
    lt_context_enter(a);
    assert_false(lt_grad_enabled());
    lt_context_enter(NULL);
    assert_true(lt_grad_enabled());

    /* The process's context has a mode for each thread. */
    pthread_t thread;
    void *on;
    lt_set_grad_enabled(false);
    assert_int_equal(pthread_create(&thread, NULL, grad_mode_of_a_new_thread, NULL), 0);
    pthread_join(thread, &on);
    assert_non_null(on);
    lt_context_enter(b);
    assert_true(lt_grad_enabled());
    lt_context_enter(NULL);
    assert_false(lt_set_grad_enabled(true));
    lt_context_release(a);
    lt_context_release(b);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void memory_counts_against_the_context_it_was_made_in(void **state)
{
    (void)state;
    lt_context *mine = make(NULL);
    const int64_t before = used(lt_context_process(), cpu);
    lt_tensor *t = NULL;
    lt_context_enter(mine);
    assert_ok(floats(100000, &t));
    lt_context_enter(NULL);
    assert_in_range(used(mine, cpu), 400000, 500000);
    assert_int_equal(used(lt_context_process(), cpu), before);
    lt_tensor_release(t); /* in another context than its own */
    assert_int_equal(used(mine, cpu), 0);
    assert_int_equal(used(lt_context_process(), cpu), before);
    lt_context_release(mine);
}

static void *release_tensor(void *t)
{
    lt_tensor_release(t);
    return NULL;
}

static void tensors_outlive_their_context(void **state)
{
    (void)state;
    int gone = 0;
    lt_context_config config = lt_context_defaults();
    config.release = count_call, config.user = &gone;
    lt_context *mine = make(&config);
    lt_tensor *t = NULL, *view = NULL;
    lt_context_enter(mine);
    assert_ok(floats(100000, &t));
    lt_context_enter(NULL);
    assert_ok(lt_narrow(t, 0, 5, 5, &view));
    lt_context_release(mine);
    lt_tensor_release(t);
    assert_int_equal(gone, 0); /* its numbers still have a place */
    assert_true(((float *)lt_tensor_data(view))[4] == 1);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, release_tensor, view), 0);
    pthread_join(thread, NULL);
    assert_int_equal(gone, 1);
}

static void a_limit_refuses_and_all_goes_on(void **state)
{
    (void)state;
    lt_context_config config = lt_context_defaults();
    config.memory_limit = 10 << 20;
    lt_context *mine = make(&config);
    lt_context_enter(mine);
    lt_tensor *t = NULL, *sum = NULL, *large = NULL;
    assert_fails(floats(10 << 20, &large), LT_ERR_MEMORY,
                 "the limit is 10485760 bytes of host memory, of which ");
    assert_null(large);
    assert_int_equal(used(mine, cpu), 0);
    assert_ok(floats(1 << 20, &t)); /* 4 MB of 10 */
    assert_ok(lt_add(t, t, lt_scalar_from_int(1), &sum));
    assert_fails(lt_mul(t, sum, &large), LT_ERR_MEMORY, "of which 83");
    /* with what the tensors themselves take */
    assert_in_range(used(mine, cpu), 8388608, 8388608 + 4096);
    assert_null(large);
    assert_true(((float *)lt_tensor_data(sum))[77] == 2);
    lt_tensor_release(t);
    assert_ok(lt_mul(sum, sum, &t));
    assert_ok(lt_context_set_memory_limit(mine, cpu, INT64_MAX));
    assert_ok(floats(10 << 20, &large));
    lt_tensor_release(large);
    lt_tensor_release(t);
    lt_tensor_release(sum);
    assert_int_equal(used(mine, cpu), 0);
    lt_context_enter(NULL);
    lt_context_release(mine);
}

static void small_tensors_count_as_well(void **state)
{
    (void)state;
    enum { MOST = 4096 };
    static lt_tensor *many[MOST];
    lt_context_config config = lt_context_defaults();
    config.memory_limit = 1 << 20;
    lt_context *mine = make(&config);
    lt_context_enter(mine);
    int n = 0;
    lt_status status = LT_OK;
    while (n < MOST && (status = floats(1, &many[n])) == LT_OK) n++;
    assert_int_equal(status, LT_ERR_MEMORY);
    assert_in_range(n, 500, MOST);
    for (int i = 0; i < n; i++) lt_tensor_release(many[i]);
    assert_int_equal(used(mine, cpu), 0);
    lt_context_enter(NULL);
    lt_context_release(mine);
}

static void an_endless_graph_meets_the_limit(void **state)
{
    (void)state;
    lt_context_config config = lt_context_defaults();
    config.memory_limit = 4 << 20;
    lt_context *mine = make(&config);
    lt_context_enter(mine);
    lt_tensor *x = NULL, *next = NULL;
    lt_status status = LT_OK;
    int64_t n = 0;
    assert_ok(floats(1, &x));
    assert_ok(lt_tensor_set_requires_grad(x, true));
    for (; status == LT_OK && n < 1000000; n++) { /* each keeps nothing but its node */
        next = NULL;
        status = lt_neg(x, &next);
        if (status == LT_OK) lt_tensor_release(x), x = next;
    }
    assert_fails(status, LT_ERR_MEMORY, "the limit is 4194304 bytes");
    assert_in_range(n, 1000, 100000);
    lt_tensor_release(x);
    assert_int_equal(used(mine, cpu), 0);
    lt_context_enter(NULL);
    lt_context_release(mine);
}

static void a_gpu_has_a_limit_of_its_own(void **state)
{
    (void)state;
    const lt_dims sizes = {1, {1 << 20}};
    lt_context *mine = make(NULL);
    int64_t limit = 0;
    assert_ok(lt_context_set_memory_limit(mine, gpu, 6 << 20));
    assert_ok(lt_context_memory(mine, gpu, NULL, &limit));
    assert_int_equal(limit, 6 << 20);
    lt_tensor *a = NULL, *b = NULL, *host = NULL;
    lt_context_enter(mine);
    assert_ok(lt_ones(&sizes, LT_FLOAT32, &gpu, &a));
    assert_int_equal(used(mine, gpu), 4 << 20);
    assert_fails(lt_ones(&sizes, LT_FLOAT32, &gpu, &b), LT_ERR_MEMORY,
                 "the limit is 6291456 bytes of memory of GPU 0, of which 4194304 are in use");
    assert_ok(floats(10 << 20, &host));
    lt_context_enter(NULL);
    lt_tensor_release(a);
    lt_tensor_release(host);
    assert_int_equal(used(mine, gpu), 0);
    assert_fails(lt_context_set_memory_limit(mine, (lt_device){LT_CUDA, -1}, 5), LT_ERR_DEVICE,
                 "-1");
    lt_context_release(mine);
}

/* ---- who is asked and told ------------------------------------------------------------------- */

typedef struct asked {
    int refuse; /* this kind */
    char name[200];
    int times;
} asked;

static bool ask(void *user, int access, const char *name)
{
    asked *a = user;
    if (access != a->refuse) return true;
    a->times++;
    snprintf(a->name, sizeof a->name, "%s", name);
    return false;
}

static const char *file_name(void)
{
    static char name[64];
    snprintf(name, sizeof name, "/tmp/ltensor-context-test-%d", (int)getpid());
    return name;
}

/* First of all tests: what has been loaded already asks nobody. */
static void libraries_and_devices_are_asked_for(void **state)
{
    (void)state;
    asked answers = {.refuse = LT_ACCESS_LIBRARY};
    lt_context_config config = lt_context_defaults();
    config.user = &answers, config.authorize = ask;
    lt_context *mine = make(&config);
    const int64_t sizes[] = {2, 2};
    lt_tensor *t = NULL, *eye = NULL, *out = NULL;
    assert_ok(lt_eye(2, NULL, LT_DTYPE_NONE, NULL, &eye));
    lt_context_enter(mine);
    assert_fails(lt_tensor_new(LT_FLOAT32, gpu, 2, sizes, &t), LT_ERR_PERMISSION,
                 "not permitted: loading the library 'libltensor_cuda.so'");
    assert_int_equal(lt_device_count(LT_CUDA), 0);
    assert_non_null(strstr(lt_error_message(), "not permitted"));
    assert_fails(lt_inverse(eye, &out), LT_ERR_PERMISSION,
                 "not permitted: loading the library 'libopenblas.so.0'");
    assert_false(lt_has("lapack"));
    answers = (asked){.refuse = LT_ACCESS_DEVICE};
    assert_fails(lt_tensor_new(LT_FLOAT32, gpu, 2, sizes, &t), LT_ERR_PERMISSION,
                 "not permitted: using the device 'cuda:0'");
    assert_fails(lt_tensor_to(eye, LT_DTYPE_NONE, &gpu, &t), LT_ERR_PERMISSION, "cuda:0");
    assert_int_equal(answers.times, 2);
    assert_null(t);
    assert_ok(lt_inverse(eye, &out)); /* the host needs no permission */
    lt_context_enter(NULL);
    assert_ok(lt_tensor_new(LT_FLOAT32, gpu, 2, sizes, &t)); /* and another context has its own */
    lt_tensor_release(t);
    lt_tensor_release(out);
    lt_tensor_release(eye);
    lt_context_release(mine);
}

static void files_are_asked_for(void **state)
{
    (void)state;
    asked answers = {.refuse = LT_ACCESS_FILE_WRITE};
    lt_context_config config = lt_context_defaults();
    config.user = &answers, config.authorize = ask;
    lt_context *mine = make(&config);
    lt_tensor *t = NULL, *mapped = NULL;
    lt_archive *archive = NULL;
    size_t available;
    assert_ok(floats(3, &t));
    lt_context_enter(mine);
    assert_fails(lt_save(file_name(), (const char *[]){"t"}, &t, 1), LT_ERR_PERMISSION,
                 "not permitted: writing the file '/tmp/");
    assert_int_equal(access(file_name(), F_OK), -1);
    assert_fails(lt_tensor_from_file(file_name(), true, 3, LT_FLOAT32, &mapped), LT_ERR_PERMISSION,
                 "writing");
    assert_int_equal(access(file_name(), F_OK), -1);
    assert_string_equal(answers.name, file_name());
    answers.refuse = LT_ACCESS_FILE_READ;
    assert_ok(lt_save(file_name(), (const char *[]){"t"}, &t, 1));
    assert_fails(lt_load(file_name(), &archive), LT_ERR_PERMISSION,
                 "not permitted: reading the file '/tmp/");
    assert_fails(lt_tensor_from_file(file_name(), false, 3, LT_UINT8, &mapped), LT_ERR_PERMISSION,
                 "reading");
    assert_fails(lt_device_memory(cpu, &available, NULL), LT_ERR_PERMISSION, "/proc/meminfo");
    assert_true(mapped == NULL && archive == NULL);
    lt_context_enter(NULL);
    assert_ok(lt_load(file_name(), &archive));
    lt_archive_release(archive);
    lt_tensor_release(t);
    lt_context_release(mine);
    unlink(file_name());
}

static void keep_line(void *user, int level, const char *text)
{
    snprintf(user, 200, "%d %s", level, text);
}

static void notes_go_to_the_log(void **state)
{
    (void)state;
    char line[200] = "";
    const lt_dims sizes = {1, {3}};
    lt_context_config config = lt_context_defaults();
    config.user = line, config.log = keep_line;
    lt_context *mine = make(&config);
    lt_tensor *there = NULL;
    assert_ok(lt_ones(&sizes, LT_FLOAT32, &gpu, &there));
    lt_context_enter(mine);
    lt_value args[2] = {lt_value_tensor(there), lt_value_tensor(there)}, result = lt_value_none();
    int n = 1;
    assert_ok(lt_call("equal", args, 2, NULL, 0, &result, &n));
    assert_non_null(strstr(line, "0 [copy] cuda:0 -> cpu"));
    lt_context_enter(NULL);
    lt_tensor_release(there);
    lt_context_release(mine);
}

/* ---- wrong handles, no memory ---------------------------------------------------------------- */

static void null_and_nonsense_are_refused(void **state)
{
    (void)state;
    lt_context *mine = NULL;
    lt_context_config config = lt_context_defaults();
    assert_fails(lt_context_new(NULL, NULL), LT_ERR_TYPE,
                 "lt_context_new(): argument 'out' must not be NULL");
    assert_fails(lt_context_set_memory_limit(NULL, cpu, 1), LT_ERR_TYPE, "'context'");
    assert_fails(lt_context_memory(NULL, cpu, NULL, NULL), LT_ERR_TYPE, "'context'");
    assert_fails(lt_context_set_deadline(NULL, 1), LT_ERR_TYPE, "'context'");
    lt_context_interrupt(NULL);
    lt_context_interrupt_clear(NULL);
    lt_context_release(NULL);
    assert_null(lt_context_retain(NULL));
    config.size = 3;
    assert_fails(lt_context_new(&config, &mine), LT_ERR_TYPE, "config.size is 3");
    config = lt_context_defaults();
    config.memory_limit = -1;
    assert_fails(lt_context_new(&config, &mine), LT_ERR_RUNTIME, "memory_limit is -1");
    config = lt_context_defaults();
    config.deadline = NAN;
    assert_fails(lt_context_new(&config, &mine), LT_ERR_RUNTIME, "deadline is");
    config = lt_context_defaults();
    config.progress_seconds = -2;
    assert_fails(lt_context_new(&config, &mine), LT_ERR_RUNTIME, "progress_seconds is -2");
    config = lt_context_defaults();
    config.default_dtype = LT_INT32;
    assert_fails(lt_context_new(&config, &mine), LT_ERR_TYPE, "default_dtype");
    config.default_dtype = 0, config.threads = 5000;
    assert_fails(lt_context_new(&config, &mine), LT_ERR_RUNTIME, "threads");
    assert_null(mine);
    assert_ok(lt_context_new(NULL, &mine));
    assert_fails(lt_context_set_deadline(mine, NAN), LT_ERR_RUNTIME, "nan");
    assert_fails(lt_context_set_memory_limit(mine, cpu, -1), LT_ERR_RUNTIME, "-1");
    assert_fails(lt_context_memory(mine, (lt_device){7, 0}, NULL, NULL), LT_ERR_TYPE, "7");
    assert_fails(lt_context_memory(mine, (lt_device){LT_CUDA, 100}, NULL, NULL), LT_ERR_DEVICE,
                 "100");
    lt_context_release(mine);
    assert_fails(lt_set_allocator(NULL), LT_ERR_TYPE, "'allocator'");
}

static void a_larger_config_of_a_later_version_is_taken(void **state)
{
    (void)state;
    struct {
        lt_context_config config;
        void *more[4];
    } later = {.config = lt_context_defaults()};
    later.config.size = sizeof later;
    later.config.threads = 7;
    lt_context *mine = make(&later.config);
    lt_context_enter(mine);
    assert_int_equal(lt_get_num_threads(), 7);
    lt_context_enter(NULL);
    lt_context_release(mine);
}

static bool go_on(void *user) { return user != NULL; }

static void failing_allocations_leave_nothing_behind(void **state)
{
    (void)state;
    int gone = 0, n = 0;
    lt_context_config config = lt_context_defaults();
    config.user = &gone, config.release = count_call, config.progress = go_on;
    config.deadline = 100, config.memory_limit = 1 << 20;
    lt_status status;
    lt_context *mine = NULL;
    do {
        lt_mem_fail_after(++n);
        status = lt_context_new(&config, &mine);
        if (status == LT_OK) status = lt_context_set_deadline(mine, 50);
        lt_mem_fail_after(0);
        if (status != LT_OK) {
            assert_int_equal(status, LT_ERR_MEMORY);
            assert_null(mine);
            assert_int_equal(gone, 0); /* what failed is the caller's still */
        }
    } while (status != LT_OK && n < 100);
    assert_ok(status);
    assert_true(n > 1);
    lt_context_release(mine);
    assert_int_equal(gone, 1);
}

/* A test that fails does not take the others with it. */
static int leave(void **state)
{
    (void)state;
    lt_context_enter(NULL);
    lt_interrupt_clear();
    return 0;
}

#define TEST(function) cmocka_unit_test_teardown(function, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(libraries_and_devices_are_asked_for),
        TEST(a_thread_begins_in_the_process_context),
        TEST(two_contexts_with_the_same_seed_give_the_same_numbers),
        TEST(settings_are_the_contexts),
        TEST(grad_mode_stays_with_its_context),
        TEST(memory_counts_against_the_context_it_was_made_in),
        TEST(tensors_outlive_their_context),
        TEST(a_limit_refuses_and_all_goes_on),
        TEST(small_tensors_count_as_well),
        TEST(an_endless_graph_meets_the_limit),
        TEST(a_gpu_has_a_limit_of_its_own),
        TEST(files_are_asked_for),
        TEST(notes_go_to_the_log),
        TEST(null_and_nonsense_are_refused),
        TEST(a_larger_config_of_a_later_version_is_taken),
        TEST(failing_allocations_leave_nothing_behind),
    };
    find_backend();
    setenv("LTENSOR_SIM_GPUS", "1", 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
