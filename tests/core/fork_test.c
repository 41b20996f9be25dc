/* fork_test.c - a forked process computes with all threads, as does its parent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ltensor.h"
#include "op/exp.h"
#include "op/mm.h"

#include "workload.h"

#define LIMIT 60 /* seconds after which a child that hangs is ended by a signal */
#define FORKS 20 /* with each number of threads */

/* The child's exit status; 128 and the signal's number if a signal ended it. */
static int run_in_child(void (*run)(void))
{
    const pid_t child = fork();
    int status = 0;
    if (child == 0) {
        alarm(LIMIT);
        run();
        _exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void compute_in_child(void) { compute(300); }

/* Its own children compute, too. */
static void fork_again(void)
{
    compute_in_child();
    if (run_in_child(compute_in_child) != 0) _exit(3);
}

static void parent_and_child_compute_with_all_threads(void **state)
{
    (void)state;
    const int before = lt_get_num_threads(), counts[] = {1, 2, 4};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(lt_set_num_threads(counts[i]), LT_OK);
        for (int turn = 0; turn < FORKS; turn++) {
            compute(300);
            assert_int_equal(run_in_child(turn % 5 == 0 ? fork_again : compute_in_child), 0);
            compute(300);
        }
    }
    assert_int_equal(lt_set_num_threads(before), LT_OK);
}

/* ---- forks while other threads work ---------------------------------------------------------- */

static atomic_bool stop;

static void *compute_until_stopped(void *unused)
{
    (void)unused;
    while (!atomic_load(&stop)) compute(300);
    return NULL;
}

static void locks_of_other_threads_are_free_in_the_child(void **state)
{
    (void)state;
    pthread_t others[2];
    atomic_store(&stop, false);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&others[i], NULL, compute_until_stopped, NULL), 0);
    for (int turn = 0; turn < 20; turn++) assert_int_equal(run_in_child(compute_in_child), 0);
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++) pthread_join(others[i], NULL);
}

static void *draw_until_stopped(void *context)
{
    lt_context_enter(context);
    while (!atomic_load(&stop)) lt_tensor_release(random_of(1, (int64_t[]){100000}));
    lt_context_enter(NULL);
    return NULL;
}

static void draw_in_child(void) { lt_tensor_release(random_of(1, (int64_t[]){1000})); }

/* The other thread holds the generator's lock nearly all the time. */
static void the_locks_of_every_context_are_free_in_the_child(void **state)
{
    (void)state;
    pthread_t other;
    lt_context *context = NULL;
    const lt_context_config config = lt_context_defaults();
    assert_int_equal(lt_context_new(&config, &context), LT_OK);
    lt_context *before = lt_context_enter(context);
    atomic_store(&stop, false);
    assert_int_equal(pthread_create(&other, NULL, draw_until_stopped, context), 0);
    for (int turn = 0; turn < 20; turn++) assert_int_equal(run_in_child(draw_in_child), 0);
    atomic_store(&stop, true);
    pthread_join(other, NULL);
    lt_context_enter(before);
    lt_context_release(context);
}

static void *make_contexts_until_stopped(void *unused)
{
    const lt_context_config config = lt_context_defaults();
    (void)unused;
    while (!atomic_load(&stop)) {
        lt_context *context = NULL;
        need(lt_context_new(&config, &context));
        lt_context_enter(context);
        lt_tensor_release(random_of(1, (int64_t[]){10}));
        lt_context_enter(NULL);
        lt_context_release(context);
    }
    return NULL;
}

static void contexts_begin_and_end_while_another_thread_forks(void **state)
{
    (void)state;
    pthread_t others[2];
    atomic_store(&stop, false);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&others[i], NULL, make_contexts_until_stopped, NULL), 0);
    for (int turn = 0; turn < 100; turn++) assert_int_equal(run_in_child(draw_in_child), 0);
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++) pthread_join(others[i], NULL);
}

/* ---- without threads ------------------------------------------------------------------------- */

static bool no_threads;

/* Takes the place of the C library's, which it calls unless threads are refused. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    return no_threads ? EAGAIN : create(thread, attributes, start, argument);
}

/* Without OpenBLAS, whose runtime ends the process if it cannot start a thread. */
static void compute_without_threads(void)
{
    lt_tensor *x = random_of(1, (int64_t[]){1000000}), *a = random_of(2, (int64_t[]){300, 300}),
              *y = NULL, *b = NULL;
    no_threads = true;
    need(lt_exp(x, &y));
    need(lt_mm(a, a, &b));
}

/* As in a build with THREADS=no. A new process has no workers. */
static void the_caller_computes_alone_if_no_thread_can_be_started(void **state)
{
    (void)state;
    assert_int_equal(run_in_child(compute_without_threads), 0);
}

/* ---- deadlines ------------------------------------------------------------------------------- */

static void reach_deadline(void) { _exit(compute_for_long() == LT_ERR_DEADLINE ? 0 : 4); }

static void a_deadline_holds_in_the_child(void **state)
{
    (void)state;
    lt_context *context = NULL;
    const lt_context_config config = lt_context_defaults();
    assert_int_equal(lt_context_new(&config, &context), LT_OK);
    lt_context *before = lt_context_enter(context);
    assert_int_equal(lt_context_set_deadline(context, 0.3), LT_OK);
    assert_int_equal(run_in_child(reach_deadline), 0);
    lt_context_enter(before);
    lt_context_release(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parent_and_child_compute_with_all_threads),
        cmocka_unit_test(locks_of_other_threads_are_free_in_the_child),
        cmocka_unit_test(the_locks_of_every_context_are_free_in_the_child),
        cmocka_unit_test(contexts_begin_and_end_while_another_thread_forks),
        cmocka_unit_test(the_caller_computes_alone_if_no_thread_can_be_started),
        cmocka_unit_test(a_deadline_holds_in_the_child),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
