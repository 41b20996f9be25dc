/* interrupt_test.c - what takes long stops when lt_interrupt() is called, and calls of libraries
 * that cannot be stopped end in the background. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "context/detached.h"
#include "system/clock.h"
#include "context/interrupt.h"
#include "cpu/common/threads.h"
#include "error.h"
#include "ltensor.h"
#include "op/all.h"
#include "op/argsort.h"
#include "op/as_strided.h"
#include "op/combinations.h"
#include "op/cumsum.h"
#include "op/linalg_svdvals.h"
#include "op/narrow.h"
#include "op/ones.h"
#include "op/rand.h"
#include "op/sum.h"
#include "op/triu_indices.h"
#include "op/view.h"

/* seconds after which everything has stopped, on a machine with nothing else to do */
#define SOON   0.1
#define LOADED 20 /* times that, at most, on one that has */

/* ---- calls that are made apart --------------------------------------------------------------- */

typedef struct sum_call {
    const double *in;
    double *out;
    int n, seconds;
    double total;
} sum_call;

static void add_up(void *context)
{
    sum_call *c = context;
    for (int i = 0; i < c->seconds * 100 && lt_detached_count() == 0; i++) usleep(10000);
    for (int i = 0; i < c->n; i++) c->total += c->in[i], c->out[i] = 2 * c->in[i];
}

static lt_status call_apart(sum_call *c)
{
    const lt_detached_array arrays[] = {{offsetof(sum_call, in), c->n * 8, true, false},
                                        {offsetof(sum_call, out), c->n * 8, false, true}};
    return lt_call_detached(add_up, c, sizeof *c, arrays, 2);
}

static void results_of_a_call_come_back(void **state)
{
    (void)state;
    const double in[] = {1, 2, 3};
    double out[3] = {0};
    sum_call c = {.in = in, .out = out, .n = 3};
    assert_int_equal(call_apart(&c), LT_OK);
    assert_true(c.total == 6 && out[0] == 2 && out[2] == 6);
    assert_ptr_equal(c.in, in);
    assert_ptr_equal(c.out, out);
}

static void *interrupt_later(void *unused)
{
    (void)unused;
    usleep(50000);
    lt_interrupt();
    return NULL;
}

/* When lt_interrupt() is called 50 ms from now. */
static double interrupted_at(pthread_t *thread)
{
    assert_int_equal(pthread_create(thread, NULL, interrupt_later, NULL), 0);
    return lt_clock() + 0.05;
}

static void the_caller_of_a_long_call_goes_on(void **state)
{
    (void)state;
    double in[] = {1, 2, 3}, out[3] = {0};
    sum_call c = {.in = in, .out = out, .n = 3, .seconds = 60};
    pthread_t thread;
    const double from = interrupted_at(&thread);
    assert_int_equal(call_apart(&c), LT_ERR_INTERRUPTED);
    assert_true(lt_clock() - from < LOADED * SOON);
    pthread_join(thread, NULL);
    lt_interrupt_clear();
    assert_true(c.total == 0 && out[0] == 0); /* nothing came back */
    for (int i = 0; i < 1000 && lt_detached_count() > 0; i++) usleep(10000);
    assert_int_equal(lt_detached_count(), 0); /* it has ended, and freed what it had */
    assert_true(out[0] == 0);
}

/* ---- operations ------------------------------------------------------------------------------ */

typedef lt_status (*operation)(lt_tensor *x, lt_tensor **out);

static lt_status sorted(lt_tensor *x, lt_tensor **out)
{
    return lt_argsort(x, -1, false, false, out);
}
static lt_status running_sum(lt_tensor *x, lt_tensor **out)
{
    return lt_cumsum(x, -1, LT_FLOAT64, out);
}
static lt_status positions(lt_tensor *x, lt_tensor **out)
{
    (void)x;
    return lt_triu_indices(12000, 12000, 0, LT_DTYPE_NONE, NULL, out);
}
static lt_status combined(lt_tensor *x, lt_tensor **out)
{
    lt_tensor *few = NULL;
    lt_status status = lt_narrow(x, 0, 0, 900, &few);
    if (status == LT_OK) status = lt_combinations(few, 3, false, out);
    lt_tensor_release(few);
    return status;
}
static lt_status singular(lt_tensor *x, lt_tensor **out)
{
    lt_tensor *part = NULL, *square = NULL;
    const lt_dims sizes = {.n = 2, .v = {1500, 1500}};
    lt_status status = lt_narrow(x, 0, 0, 1500 * 1500, &part);
    if (status == LT_OK) status = lt_view(part, &sizes, &square);
    if (status == LT_OK) status = lt_linalg_svdvals(square, out);
    lt_tensor_release(square);
    lt_tensor_release(part);
    return status;
}

/* What one element that is seen 2^40 times takes to look at is bounded by no memory. */
static lt_status over_all(lt_tensor *x, const lt_dims *strides,
                          lt_status (*reduce)(const lt_tensor *, lt_tensor **), lt_tensor **out)
{
    const lt_dims sizes = {.n = 2, .v = {1 << 20, 1 << 20}};
    lt_tensor *wide = NULL;
    lt_status status = lt_as_strided(x, &sizes, strides, NULL, &wide);
    if (status == LT_OK) status = reduce(wide, out);
    lt_tensor_release(wide);
    return status;
}
static lt_status sum_of_all(const lt_tensor *x, lt_tensor **out)
{
    return lt_sum(x, LT_DTYPE_NONE, out);
}
static lt_status sum_of_columns(const lt_tensor *x, lt_tensor **out)
{
    const lt_dims first = {.n = 1, .v = {0}};
    return lt_sum_dim(x, &first, false, LT_DTYPE_NONE, out);
}
static const lt_dims one_place = {.n = 2, .v = {0, 0}}, one_row = {.n = 2, .v = {0, 1}},
                     one_column = {.n = 2, .v = {1, 0}};
static lt_status all_of_one(lt_tensor *x, lt_tensor **out)
{
    return over_all(x, &one_place, lt_all, out);
}
static lt_status sum_of_rows(lt_tensor *x, lt_tensor **out)
{
    return over_all(x, &one_row, sum_of_all, out);
}
static lt_status sum_of_lines(lt_tensor *x, lt_tensor **out)
{
    return over_all(x, &one_column, sum_of_all, out);
}
static lt_status sums_of_columns(lt_tensor *x, lt_tensor **out)
{
    return over_all(x, &one_row, sum_of_columns, out);
}

/* Each takes longer than the 50 ms before the interrupt, gives no result and leaves the next one
 * alone. */
static void operations_stop(void **state)
{
    (void)state;
    const operation operations[] = {sorted,     running_sum, positions,    combined,       singular,
                                    all_of_one, sum_of_rows, sum_of_lines, sums_of_columns};
    const lt_dims sizes = {.n = 1, .v = {40000000}}, few = {.n = 1, .v = {10}};
    lt_tensor *x = NULL;
    assert_int_equal(lt_rand(&sizes, NULL, LT_FLOAT32, NULL, &x), LT_OK);
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        lt_tensor *out = NULL;
        pthread_t thread;
        const double from = interrupted_at(&thread);
        const lt_status status = operations[i](x, &out);
        const double late = lt_clock() - from;
        pthread_join(thread, NULL);
        lt_interrupt_clear();
        if (status != LT_ERR_INTERRUPTED) print_error("operation %zu: %s\n", i, lt_error_message());
        assert_int_equal(status, LT_ERR_INTERRUPTED);
        assert_null(out);
        if (late >= LOADED * SOON) print_error("operation %zu: %.1f seconds late\n", i, late);
        assert_true(late < LOADED * SOON);
        assert_int_equal(lt_ones(&few, LT_FLOAT32, NULL, &out), LT_OK);
        lt_tensor_release(out);
    }
    lt_tensor_release(x);
}

static void count(const void *context, int64_t job)
{
    (void)job;
    int *n = *(int *const *)context;
    if (++*n == 3) lt_interrupt();
}

static void jobs_are_left_out(void **state)
{
    (void)state;
    int n = 0, *at = &n;
    assert_int_equal(lt_parallel_for(10, 1, count, &at), LT_ERR_INTERRUPTED);
    assert_int_equal(n, 3);
    lt_interrupt_clear();
    assert_int_equal(lt_parallel_for(2, 1, count, &at), LT_OK);
    assert_int_equal(n, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_of_a_call_come_back),
        cmocka_unit_test(the_caller_of_a_long_call_goes_on),
        cmocka_unit_test(operations_stop),
        cmocka_unit_test(jobs_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
