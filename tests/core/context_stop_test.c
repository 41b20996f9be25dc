/* context_stop_test.c - contexts that stop: deadlines, interrupts, progress; and many of them at
 * once, one of which is stopped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#undef LT_OPS_BY_NAME /* as a host sees it: with every op */
#include "system/clock.h"
#include "contexts.h"
#include "emulated.h"
#include "expect.h"
#include "ltensor.h"

static const lt_device cpu = {LT_CPU, 0};

#define SOON 0.1 /* seconds within which everything stops, on a machine with nothing else to do */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LOADED 400 /* every access of a kernel is looked at */
#endif
#endif
#ifndef LOADED
#define LOADED 20 /* times that, at most, on one that has */
#endif

/* ---- time and interrupts --------------------------------------------------------------------- */

typedef lt_status (*operation)(lt_tensor *x, lt_tensor **out);

/* What one element that is seen 2^40 times takes to look at is bounded by no memory. */
static lt_status endless_sum(lt_tensor *x, lt_tensor **out)
{
    const lt_dims sizes = {2, {1 << 20, 1 << 20}}, strides = {2, {0, 0}};
    lt_tensor *wide = NULL;
    lt_status status = lt_as_strided(x, &sizes, &strides, NULL, &wide);
    if (status == LT_OK) status = lt_sum(wide, LT_DTYPE_NONE, out);
    lt_tensor_release(wide);
    return status;
}

static lt_status square(lt_tensor *x, int64_t n, lt_tensor **out)
{
    const lt_dims sizes = {2, {n, n}};
    lt_tensor *part = NULL;
    lt_status status = lt_narrow(x, 0, 0, n * n, &part);
    if (status == LT_OK) status = lt_view(part, &sizes, out);
    lt_tensor_release(part);
    return status;
}

static lt_status product(lt_tensor *x, lt_tensor **out)
{
    lt_tensor *a = NULL;
    lt_status status = square(x, 4000, &a);
    if (status == LT_OK) status = lt_mm(a, a, out);
    lt_tensor_release(a);
    return status;
}

static lt_status singular(lt_tensor *x, lt_tensor **out)
{
    lt_tensor *a = NULL;
    lt_status status = square(x, 1500, &a);
    if (status == LT_OK) status = lt_linalg_svdvals(a, out);
    lt_tensor_release(a);
    return status;
}

static lt_status sorted(lt_tensor *x, lt_tensor **out)
{
    return lt_argsort(x, -1, false, false, out);
}

static void a_deadline_stops_what_runs(void **state)
{
    (void)state;
    skip_if_emulated(); /* expects milliseconds */
    const operation operations[] = {endless_sum, product, sorted, singular};
    const lt_dims sizes = {1, {20000000}};
    lt_context *mine = make(NULL);
    lt_tensor *x = NULL;
    lt_context_enter(mine);
    assert_ok(lt_rand(&sizes, NULL, LT_FLOAT32, NULL, &x));
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        lt_tensor *out = NULL;
        const double begin = lt_clock();
        assert_ok(lt_context_set_deadline(mine, 0.05));
        const lt_status status = operations[i](x, &out);
        const double late = lt_clock() - begin - 0.05;
        if (status != LT_ERR_DEADLINE) print_error("operation %zu: status %d\n", i, (int)status);
        assert_fails(status, LT_ERR_DEADLINE, "the deadline of 0.05 seconds has passed");
        assert_null(out);
        assert_true(late < LOADED * SOON);
        print_message("operation %zu stopped %.1f ms after its deadline\n", i, late * 1e3);
        assert_fails(floats(10, &out), LT_ERR_DEADLINE, "deadline"); /* small ones, too */
    }
    assert_ok(lt_context_set_deadline(mine, INFINITY));
    lt_tensor *out = NULL;
    assert_ok(floats(10, &out));
    lt_tensor_release(out);
    lt_tensor_release(x);
    lt_context_enter(NULL);
    lt_context_release(mine);
}

static void a_deadline_can_be_given_from_the_start(void **state)
{
    (void)state;
    lt_context_config config = lt_context_defaults();
    config.deadline = 0.02;
    lt_context *mine = make(&config);
    lt_tensor *x = NULL, *out = NULL;
    assert_ok(floats(1, &x));
    lt_context_enter(mine);
    assert_fails(endless_sum(x, &out), LT_ERR_DEADLINE, "0.02");
    lt_context_enter(NULL);
    lt_tensor_release(x);
    lt_context_release(mine); /* with a deadline still set, or passed: nothing is left of it */
}

static bool stop_at_third(void *user) { return ++*(int *)user < 3; }

static void progress_is_told_and_may_stop(void **state)
{
    (void)state;
    int calls = 0;
    lt_context_config config = lt_context_defaults();
    config.user = &calls, config.progress = stop_at_third, config.progress_seconds = 0.01;
    config.threads = 2;
    lt_context *mine = make(&config);
    lt_tensor *x = NULL, *out = NULL;
    assert_ok(floats(1, &x));
    lt_context_enter(mine);
    assert_fails(endless_sum(x, &out), LT_ERR_INTERRUPTED, "interrupted");
    assert_int_equal(calls, 3);
    lt_context_interrupt_clear(mine);
    lt_context_enter(NULL);
    lt_tensor_release(x);
    lt_context_release(mine);
}

/* ---- many at once ---------------------------------------------------------------------------- */

enum { THREADS = 64, STEPS = 12, RESULTS = STEPS + 1 };

typedef struct run {
    uint64_t seed;
    lt_context *context;
    double results[RESULTS];
    lt_status status;
    char message[200];
} run;

#define CHECK(call)                                                                                \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != LT_OK) goto done;                                                            \
    } while (0)

/* parameter -= 0.1 * its gradient, which is cleared. */
static lt_status descend(lt_tensor *parameter)
{
    lt_tensor *rate = NULL, *change = NULL;
    lt_status status;
    CHECK(lt_tensor_from_scalar(lt_scalar_from_float(-0.1), &rate));
    CHECK(lt_mul(lt_tensor_grad(parameter), rate, &change));
    lt_set_grad_enabled(false);
    CHECK(lt_add_(parameter, change, lt_scalar_from_int(1)));
    CHECK(lt_tensor_set_grad(parameter, NULL));
done:
    lt_set_grad_enabled(true);
    lt_tensor_release(rate);
    lt_tensor_release(change);
    return status;
}

/* Two layers with dropout between them, trained on noise: the losses, and a last random number. */
static lt_status train(double *results)
{
    const lt_dims of_x = {2, {64, 20}}, of_y = {2, {64, 4}}, of_first = {2, {32, 20}},
                  of_second = {2, {4, 32}};
    lt_tensor *x = NULL, *y = NULL, *first = NULL, *second = NULL, *a = NULL, *b = NULL, *c = NULL,
              *d = NULL, *loss = NULL;
    lt_scalar number;
    lt_status status;
    CHECK(lt_randn(&of_x, NULL, LT_FLOAT32, NULL, &x));
    CHECK(lt_randn(&of_y, NULL, LT_FLOAT32, NULL, &y));
    CHECK(lt_randn(&of_first, NULL, LT_FLOAT32, NULL, &first));
    CHECK(lt_randn(&of_second, NULL, LT_FLOAT32, NULL, &second));
    CHECK(lt_tensor_set_requires_grad(first, true));
    CHECK(lt_tensor_set_requires_grad(second, true));
    for (int step = 0; step < STEPS; step++) {
        CHECK(lt_linear(x, first, NULL, &a));
        CHECK(lt_relu(a, &b));
        CHECK(lt_dropout(b, 0.5, true, &c));
        CHECK(lt_linear(c, second, NULL, &d));
        CHECK(lt_mse_loss(d, y, "mean", NULL, &loss));
        CHECK(lt_backward(loss, NULL, false, false));
        CHECK(descend(first));
        CHECK(descend(second));
        CHECK(lt_tensor_item(loss, &number));
        results[step] = number.v.d;
        lt_tensor **const temporary[] = {&a, &b, &c, &d, &loss};
        for (int i = 0; i < 5; i++) lt_tensor_release(*temporary[i]), *temporary[i] = NULL;
    }
    lt_dims none = {0, {0}};
    CHECK(lt_randn(&none, NULL, LT_FLOAT64, NULL, &a));
    CHECK(lt_tensor_item(a, &number));
    results[STEPS] = number.v.d;
done:
    for (int i = 0; i < 9; i++)
        lt_tensor_release((lt_tensor *[]){x, y, first, second, a, b, c, d, loss}[i]);
    return status;
}

static void *train_in_context(void *argument)
{
    run *r = argument;
    lt_context_enter(r->context);
    lt_manual_seed(r->seed);
    r->status = train(r->results);
    snprintf(r->message, sizeof r->message, "%s", r->status == LT_OK ? "" : lt_error_message());
    lt_context_enter(NULL);
    return NULL;
}

/* Works until it is stopped. */
static void *sum_in_context(void *argument)
{
    run *r = argument;
    lt_tensor *x = NULL, *out = NULL;
    lt_context_enter(r->context);
    r->status = floats(1, &x);
    if (r->status == LT_OK) r->status = endless_sum(x, &out);
    lt_tensor_release(x);
    lt_tensor_release(out);
    lt_context_enter(NULL);
    return NULL;
}

static void sixty_four_threads_do_not_notice_each_other(void **state)
{
    (void)state;
    static run alone[THREADS], together[THREADS];
    pthread_t threads[THREADS];
    lt_context_config config = lt_context_defaults();
    config.threads = 2; /* each has a helper now and then */
    for (int i = 0; i < THREADS; i++) {
        alone[i] = (run){.seed = (uint64_t)i, .context = make(&config)};
        together[i] = (run){.seed = (uint64_t)i, .context = make(&config)};
        train_in_context(&alone[i]);
        assert_string_equal(alone[i].message, "");
    }
    /* The last one works without an end, until it is interrupted while the others are at it. */
    for (int i = THREADS - 1; i >= 0; i--)
        assert_int_equal(pthread_create(&threads[i], NULL,
                                        i == THREADS - 1 ? sum_in_context : train_in_context,
                                        &together[i]),
                         0);
    lt_context_interrupt(together[THREADS - 1].context);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    assert_int_equal(together[THREADS - 1].status, LT_ERR_INTERRUPTED);
    for (int i = 0; i < THREADS - 1; i++) {
        assert_string_equal(together[i].message, "");
        assert_memory_equal(together[i].results, alone[i].results, sizeof alone[i].results);
    }
    assert_true(alone[0].results[0] != alone[1].results[0]);
    assert_true(lt_context_current() == lt_context_process());
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(used(together[i].context, cpu), 0);
        lt_context_release(alone[i].context);
        lt_context_release(together[i].context);
    }
}

static void an_interrupt_stops_helpers_too(void **state)
{
    (void)state;
    lt_context_config config = lt_context_defaults();
    config.threads = 4;
    run r = {.context = make(&config)};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, sum_in_context, &r), 0);
    usleep(30000);
    const double from = lt_clock();
    lt_context_interrupt(r.context);
    pthread_join(thread, NULL);
    assert_true(lt_clock() - from < LOADED * SOON);
    assert_int_equal(r.status, LT_ERR_INTERRUPTED);
    lt_context_release(r.context);
}

static void lt_interrupt_stops_every_context(void **state)
{
    (void)state;
    run r[2] = {{.context = make(NULL)}, {.context = make(NULL)}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, sum_in_context, &r[i]), 0);
    usleep(30000);
    lt_interrupt();
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    lt_interrupt_clear();
    for (int i = 0; i < 2; i++) {
        assert_int_equal(r[i].status, LT_ERR_INTERRUPTED);
        lt_context_release(r[i].context);
    }
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
        TEST(a_deadline_stops_what_runs),     TEST(a_deadline_can_be_given_from_the_start),
        TEST(progress_is_told_and_may_stop),  TEST(sixty_four_threads_do_not_notice_each_other),
        TEST(an_interrupt_stops_helpers_too), TEST(lt_interrupt_stops_every_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
