/* random_threads_test.c - generators of random numbers that threads share: the context's, and one
 * of a host's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>

#undef LT_OPS_BY_NAME /* as a host sees it: with every op */
#include "expect.h"
#include "ltensor.h"

enum { THREADS = 4, DRAWS = 400, NUMBERS = 48, ALL = THREADS * DRAWS * NUMBERS };

typedef struct share {
    lt_generator *generator;
    float *numbers; /* DRAWS * NUMBERS of them */
    bool failed;
} share;

/* A new thread is in the process's context. */
static void *draw_numbers(void *argument)
{
    share *s = argument;
    for (int i = 0; i < DRAWS; i++) {
        lt_tensor *t = NULL;
        if (lt_rand(&(lt_dims){1, {NUMBERS}}, s->generator, LT_FLOAT32, NULL, &t) != LT_OK) {
            s->failed = true;
            return NULL;
        }
        memcpy(s->numbers + i * NUMBERS, lt_tensor_data(t), NUMBERS * sizeof(float));
        lt_tensor_release(t);
    }
    return NULL;
}

static int by_size(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The numbers of all threads together are the next ones of the generator, each once. */
static void check_shared(lt_generator *generator)
{
    static float shared[ALL], alone[ALL];
    share shares[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        shares[i] = (share){generator, shared + i * DRAWS * NUMBERS, false};
        assert_int_equal(pthread_create(&threads[i], NULL, draw_numbers, &shares[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) assert_false(shares[i].failed);
    if (generator != NULL)
        assert_ok(lt_generator_seed(generator, 7));
    else
        lt_manual_seed(7);
    share whole = {generator, alone, false};
    for (int i = 0; i < THREADS; i++, whole.numbers += DRAWS * NUMBERS) draw_numbers(&whole);
    qsort(shared, ALL, sizeof *shared, by_size);
    qsort(alone, ALL, sizeof *alone, by_size);
    assert_memory_equal(shared, alone, sizeof shared);
}

static void threads_share_the_generator_of_a_context(void **state)
{
    (void)state;
    lt_manual_seed(7);
    check_shared(NULL);
}

static void threads_share_a_generator_of_the_host(void **state)
{
    (void)state;
    lt_generator *generator = NULL;
    assert_ok(lt_generator_new((lt_device){LT_CPU, 0}, &generator));
    assert_ok(lt_generator_seed(generator, 7));
    check_shared(generator);
    lt_generator_release(generator);
}

/* ---- every distribution, while other threads seed -------------------------------------------- */

static lt_status draw_one_of_each(int64_t n)
{
    lt_tensor *x = NULL, *drawn[5] = {NULL};
    const lt_dims size = {1, {n}};
    lt_status status = lt_rand(&size, NULL, LT_FLOAT64, NULL, &x);
    if (status == LT_OK) status = lt_randn(&size, NULL, LT_FLOAT32, NULL, &drawn[0]);
    if (status == LT_OK) status = lt_randperm(n, NULL, LT_INT64, NULL, &drawn[1]);
    if (status == LT_OK) status = lt_bernoulli(x, NULL, &drawn[2]);
    if (status == LT_OK) status = lt_multinomial(x, 3, true, NULL, &drawn[3]);
    if (status == LT_OK) status = lt_poisson(x, NULL, &drawn[4]);
    if (status == LT_OK) status = lt_log_normal_(x, 0, 1, NULL);
    for (int i = 0; i < 5; i++) lt_tensor_release(drawn[i]);
    lt_tensor_release(x);
    return status;
}

static void *draw_and_seed(void *argument)
{
    bool *failed = argument;
    for (int i = 0; i < DRAWS && !*failed; i++) {
        if (i % 50 == 0) lt_manual_seed((uint64_t)i);
        *failed = draw_one_of_each(16 + i % 700) != LT_OK;
    }
    return NULL;
}

static void threads_draw_from_every_distribution_while_others_seed(void **state)
{
    (void)state;
    bool failed[THREADS] = {false};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, draw_and_seed, &failed[i]), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) assert_false(failed[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_share_the_generator_of_a_context),
        cmocka_unit_test(threads_share_a_generator_of_the_host),
        cmocka_unit_test(threads_draw_from_every_distribution_while_others_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
