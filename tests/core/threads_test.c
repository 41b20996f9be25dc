/* threads_test.c - which thread does which jobs (cpu/common/threads.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <unistd.h>

#include "system/clock.h"
#include "cpu/common/threads.h"
#include "ltensor.h"

#define JOBS 10
#define LONG 20 /* seconds within which two threads meet, on any machine */

typedef struct {
    atomic_int begun[JOBS]; /* by the thread of this number and 1 */
    atomic_int ended, late; /* late: what was waited for in vain */
} record;

static void wait_for(record *r, const atomic_int *what, int least)
{
    const double end = lt_clock() + LONG;
    while (atomic_load(what) < least && lt_clock() < end) usleep(100);
    if (atomic_load(what) < least) atomic_fetch_add(&r->late, 1);
}

/* The first job and the middle one have begun before either ends. */
static void meet(const void *context, int64_t job)
{
    record *r = *(record *const *)context;
    atomic_store(&r->begun[job], lt_pool_index() + 1);
    if (job == 0) wait_for(r, &r->begun[JOBS / 2], 1);
    if (job == JOBS / 2) wait_for(r, &r->begun[0], 1);
    atomic_fetch_add(&r->ended, 1);
}

/* Of a loop that comes again each thread finds its part where it left it: in its own cache, in the
 * memory that is near. */
static void each_thread_begins_with_its_own_part(void **state)
{
    (void)state;
    for (int turn = 0; turn < 20; turn++) {
        record r = {.late = 0}, *at = &r;
        assert_int_equal(lt_parallel_for(JOBS, 2, meet, &at), LT_OK);
        assert_int_equal(r.late, 0);
        assert_int_equal(r.ended, JOBS);
        assert_int_not_equal(r.begun[0], r.begun[JOBS / 2]);
        assert_int_equal(r.begun[0], 1);
    }
}

/* The first job ends when all others have. */
static void be_late(const void *context, int64_t job)
{
    record *r = *(record *const *)context;
    if (job == 0) wait_for(r, &r->ended, JOBS - 1);
    atomic_fetch_add(&r->ended, 1);
}

static void a_thread_that_has_done_its_part_takes_from_others(void **state)
{
    (void)state;
    record r = {.late = 0}, *at = &r;
    assert_int_equal(lt_parallel_for(JOBS, 2, be_late, &at), LT_OK);
    assert_int_equal(r.late, 0);
    assert_int_equal(r.ended, JOBS);
}

static void once(const void *context, int64_t job)
{
    record *r = *(record *const *)context;
    atomic_fetch_add(&r->begun[job], 1);
}

static void each_job_runs_once(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 200; threads += threads < 4 ? 1 : 49)
        for (int64_t jobs = 0; jobs <= JOBS; jobs++) {
            record r = {.late = 0}, *at = &r;
            assert_int_equal(lt_parallel_for(jobs, threads, once, &at), LT_OK);
            for (int job = 0; job < JOBS; job++) assert_int_equal(r.begun[job], job < jobs);
        }
}

/* ---- threads of the host --------------------------------------------------------------------- */

typedef struct {
    int calls, tasks, most;
} lent;

/* Runs the tasks one after the other, the last one first. */
static void run_backwards(void *user, int n, void (*task)(void *argument, int index),
                          void *argument)
{
    lent *l = user;
    l->calls++;
    l->tasks += n;
    if (n > l->most) l->most = n;
    for (int i = n; i-- > 0;) task(argument, i);
}

static void a_pool_of_the_host_runs_all_tasks(void **state)
{
    (void)state;
    lent l = {0};
    const lt_thread_pool pool = {&l, 3, run_backwards};
    record r = {.late = 0}, *at = &r;
    const int workers = lt_pool_workers();
    assert_int_equal(lt_set_thread_pool(&pool), LT_OK);
    assert_int_equal(lt_parallel_for(JOBS, 8, once, &at), LT_OK);
    assert_int_equal(lt_parallel_for(JOBS, 2, once, &at), LT_OK);
    assert_int_equal(lt_set_thread_pool(NULL), LT_OK);
    for (int job = 0; job < JOBS; job++) assert_int_equal(r.begun[job], 2);
    assert_int_equal(l.calls, 2);
    assert_int_equal(l.tasks, 3 + 2);
    assert_int_equal(l.most, 3);
    assert_int_equal(lt_pool_workers(), workers);
}

/* ---- several callers ------------------------------------------------------------------------- */

static void count_nested(const void *context, int64_t job)
{
    record *r = *(record *const *)context;
    (void)job;
    assert_true(lt_pool_busy());
    assert_int_equal(lt_parallel_for(JOBS, 4, once, context), LT_OK);
    atomic_fetch_add(&r->ended, 1);
}

static void a_loop_inside_a_loop_runs_on_its_thread(void **state)
{
    (void)state;
    record r = {.late = 0}, *at = &r;
    assert_int_equal(lt_parallel_for(JOBS, 4, count_nested, &at), LT_OK);
    assert_int_equal(r.ended, JOBS);
    for (int job = 0; job < JOBS; job++) assert_int_equal(r.begun[job], JOBS);
    assert_false(lt_pool_busy());
}

static void *call_often(void *complaint)
{
    for (int turn = 0; turn < 2000; turn++) {
        record r = {.late = 0}, *at = &r;
        if (lt_parallel_for(JOBS, 4, once, &at) != LT_OK) return complaint;
        for (int job = 0; job < JOBS; job++)
            if (r.begun[job] != 1) return complaint;
    }
    return NULL;
}

static void callers_share_the_workers(void **state)
{
    (void)state;
    pthread_t callers[8];
    for (int i = 0; i < 8; i++)
        assert_int_equal(
            pthread_create(&callers[i], NULL, call_often, (void *)"a job ran twice or not at all"),
            0);
    for (int i = 0; i < 8; i++) {
        void *failed = NULL;
        pthread_join(callers[i], &failed);
        assert_null(failed);
    }
    /* as many as the largest loop of this program needs, not 8 times as many */
    assert_true(lt_pool_workers() < 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_thread_begins_with_its_own_part),
        cmocka_unit_test(a_thread_that_has_done_its_part_takes_from_others),
        cmocka_unit_test(each_job_runs_once),
        cmocka_unit_test(a_pool_of_the_host_runs_all_tasks),
        cmocka_unit_test(a_loop_inside_a_loop_runs_on_its_thread),
        cmocka_unit_test(callers_share_the_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
