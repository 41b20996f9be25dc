/* no_threads_test.c - the library as `make THREADS=no` builds it: linked with a thread.c that starts
 * no thread, which is the only file that differs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ltensor.h"
#include "ltensor_threads.h"
#include "op/exp.h"

#include "emulated.h"
#include "expect.h"
#include "tasks.h"
#include "workload.h"

static void no_object_of_the_library_calls_pthread_create(void **state)
{
    (void)state;
    skip_if_emulated(); /* /proc/ID/exe is the emulator */
    char command[64], line[256];
    int symbols = 0, found = 0;
    snprintf(command, sizeof command, "nm -D /proc/%ld/exe", (long)getpid());
    FILE *names = popen(command, "r");
    assert_non_null(names);
    while (fgets(line, sizeof line, names) != NULL) {
        symbols++;
        if (strstr(line, "pthread_create") != NULL || strstr(line, "thrd_create") != NULL) found++;
    }
    assert_int_equal(pclose(names), 0);
    assert_true(symbols > 50);
    assert_int_equal(found, 0);
}

static void operations_run_on_the_calling_thread(void **state)
{
    (void)state;
    assert_ok(lt_set_num_threads(8));
    assert_int_equal(lt_get_num_threads(), 1);
    compute(1100);
    assert_int_equal(lt_threads_count(), 0);
    if (emulator() != NULL) return; /* which has a thread of its own */
    assert_int_equal(count_tasks(), 1);
}

static void a_deadline_stops_an_operation(void **state)
{
    (void)state;
    lt_context *context = NULL;
    assert_ok(lt_context_new(NULL, &context));
    lt_context *before = lt_context_enter(context);
    assert_ok(lt_context_set_deadline(context, 0.2));
    assert_int_equal(compute_for_long(), LT_ERR_DEADLINE);
    lt_context_enter(before);
    lt_context_release(context);
}

static void run_in_order(void *calls, int n, void (*task)(void *argument, int index),
                         void *argument)
{
    for (int i = 0; i < n; i++) task(argument, i);
    *(int *)calls += n;
}

static void threads_of_the_host_run_loops(void **state)
{
    (void)state;
    int calls = 0;
    const lt_thread_pool pool = {&calls, 3, run_in_order};
    lt_tensor *x = random_of(1, (int64_t[]){1000000}), *y = NULL;
    assert_ok(lt_set_thread_pool(&pool));
    assert_ok(lt_set_num_threads(3));
    assert_int_equal(lt_get_num_threads(), 3);
    assert_ok(lt_exp(x, &y));
    assert_ok(lt_set_thread_pool(NULL));
    assert_int_equal(calls, 3);
    assert_int_equal(lt_get_num_threads(), 1);
    lt_tensor_release(x);
    lt_tensor_release(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_object_of_the_library_calls_pthread_create),
        cmocka_unit_test(operations_run_on_the_calling_thread),
        cmocka_unit_test(a_deadline_stops_an_operation),
        cmocka_unit_test(threads_of_the_host_run_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
