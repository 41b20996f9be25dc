/* server.c - eight threads, each with a context of its own: what one asks for, and what it is
 * refused, is nothing to the others. Every request draws random numbers from its own seed, may take
 * 64 MB and two seconds, and touches no file.
 *
 *   cc server.c $(pkg-config --cflags --libs ltensor) -lpthread -o server && ./server
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ltensor.h"

#define THREADS 8

static void check(lt_status status, const char *what)
{
    if (status == LT_OK) return;
    fprintf(stderr, "%s: %s\n", what, lt_error_message());
    exit(1);
}
#define CHECK(call) check(call, #call)

/* An authorizer: no files, no processes, no GPUs; libraries, such as OpenBLAS, are welcome. */
static bool stay_inside(void *user, int access, const char *name)
{
    (void)user, (void)name;
    return access == LT_ACCESS_LIBRARY;
}

typedef struct request {
    const char *what; /* "mean", "much", "file", "long" */
    uint64_t seed;
    char answer[300];
} request;

/* The mean of 100,000 random numbers. */
static lt_status mean_of_noise(double *mean)
{
    const lt_dims sizes = {1, {100000}};
    lt_tensor *noise = NULL, *result = NULL;
    lt_scalar number;
    lt_status status = lt_randn(&sizes, NULL, LT_FLOAT64, NULL, &noise);
    if (status == LT_OK) status = lt_mean(noise, LT_DTYPE_NONE, &result);
    if (status == LT_OK) status = lt_tensor_item(result, &number);
    if (status == LT_OK) *mean = number.v.d;
    lt_tensor_release(noise);
    lt_tensor_release(result);
    return status;
}

/* 2^40 additions of one number, which is there once. */
static lt_status add_for_ever(void)
{
    const lt_dims one = {1, {1}}, sizes = {2, {1 << 20, 1 << 20}}, strides = {2, {0, 0}};
    lt_tensor *number = NULL, *many = NULL, *sum = NULL;
    lt_status status = lt_ones(&one, LT_FLOAT32, NULL, &number);
    if (status == LT_OK) status = lt_as_strided(number, &sizes, &strides, NULL, &many);
    if (status == LT_OK) status = lt_sum(many, LT_DTYPE_NONE, &sum);
    lt_tensor_release(number);
    lt_tensor_release(many);
    lt_tensor_release(sum);
    return status;
}

static lt_status take_much(void)
{
    const lt_dims sizes = {1, {100000000}};
    lt_tensor *t = NULL;
    lt_status status = lt_ones(&sizes, LT_FLOAT32, NULL, &t);
    lt_tensor_release(t);
    return status;
}

static lt_status read_file(void)
{
    lt_archive *archive = NULL;
    lt_status status = lt_load("/etc/passwd", &archive);
    lt_archive_release(archive);
    return status;
}

static void *serve(void *argument)
{
    request *r = (request *)argument;
    lt_context_config config = lt_context_defaults();
    lt_context *context = NULL, *before;
    double mean = 0;
    lt_status status;
    config.memory_limit = 64 << 20;
    config.deadline = 2;
    config.threads = 1;
    config.authorize = stay_inside;
    CHECK(lt_context_new(&config, &context));
    before = lt_context_enter(context);
    lt_manual_seed(r->seed);
    status = strcmp(r->what, "much") == 0   ? take_much()
             : strcmp(r->what, "file") == 0 ? read_file()
             : strcmp(r->what, "long") == 0 ? add_for_ever()
                                            : mean_of_noise(&mean);
    if (status == LT_OK)
        snprintf(r->answer, sizeof r->answer, "%.12f", mean);
    else
        snprintf(r->answer, sizeof r->answer, "error: %s", lt_error_message());
    lt_context_enter(before);
    lt_context_release(context);
    return NULL;
}

int main(void)
{
    request requests[THREADS] = {{"mean", 1, ""}, {"mean", 2, ""}, {"much", 3, ""},
                                 {"mean", 1, ""}, {"long", 4, ""}, {"mean", 2, ""},
                                 {"file", 5, ""}, {"mean", 1, ""}};
    pthread_t threads[THREADS];
    int i;
    for (i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, serve, &requests[i]) != 0) return 1;
    }
    for (i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        printf("%s %d: %s\n", requests[i].what, (int)requests[i].seed, requests[i].answer);
    }
    return strcmp(requests[0].answer, requests[3].answer) != 0 ||
           strcmp(requests[1].answer, requests[5].answer) != 0;
}
