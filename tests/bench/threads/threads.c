/* threads.c - whether threads of small ops get in each other's way: threads SECONDS
 *
 * Each thread has a context of its own and multiplies two tensors of 2x3 over and over. A row for
 * each kind of work: what all threads did in a microsecond, and that as a multiple of what one
 * thread did, the median of rounds that alternate. The first kind calls nothing: what the machine
 * gives. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ltensor.h"
#include "ltensor_script.h"

#define MAX_THREADS 64
#define ROUNDS      5

static void check(lt_status status, const char *what)
{
    if (status == LT_OK) return;
    fprintf(stderr, "%s: %s\n", what, lt_error_message());
    exit(1);
}
#define CHECK(call) check(call, #call)

typedef enum kind { BARE, PLAIN, RECORDED, BACKWARD, SCRIPT, KINDS } kind;
static const char *const kinds[] = {"a loop without calls", "mul", "mul that records a gradient",
                                    "mul, sum and backward", "ten muls in a script"};

typedef struct worker {
    pthread_t thread;
    kind kind;
    long long made;
    double start, end; /* seconds */
} worker;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static pthread_barrier_t ready;
static volatile bool stop;

static void turn(kind kind, lt_tensor *a, lt_tensor *b)
{
    lt_tensor *c = NULL, *sum = NULL;
    CHECK(lt_mul(a, b, &c));
    if (kind == BACKWARD) {
        CHECK(lt_sum(c, LT_DTYPE_NONE, &sum));
        CHECK(lt_backward(sum, NULL, false, false));
        CHECK(lt_tensor_set_grad(a, NULL));
        lt_tensor_release(sum);
    }
    lt_tensor_release(c);
}

static void add_up(void)
{
    volatile unsigned x = 1;
    for (int i = 0; i < 200; i++) x = x * 1664525u + 1013904223u;
}

static void *work_in_script(void *argument)
{
    static const char text[] = "local a, b = torch.ones(2, 3), torch.ones(2, 3)\n"
                               "function turn() for i = 1, 10 do local c = a * b end end";
    worker *w = (worker *)argument;
    lt_script_config config = lt_script_defaults();
    lt_script *script = NULL;
    long long made = 0;
    CHECK(lt_script_new(&config, &script));
    CHECK(lt_script_load(script, text, strlen(text), "turn.lua", NULL, NULL));
    pthread_barrier_wait(&ready);
    w->start = now();
    for (; !stop; made++) CHECK(lt_script_call(script, "turn", NULL, 0, NULL, NULL));
    w->end = now();
    w->made = made;
    lt_script_release(script);
    return NULL;
}

static void *work(void *argument)
{
    worker *w = (worker *)argument;
    const lt_dims sizes = {2, {2, 3}};
    lt_context_config config = lt_context_defaults();
    lt_context *context = NULL, *before;
    lt_tensor *a = NULL, *b = NULL;
    long long made = 0;
    config.threads = 1;
    CHECK(lt_context_new(&config, &context));
    before = lt_context_enter(context);
    CHECK(lt_ones(&sizes, LT_FLOAT32, NULL, &a));
    CHECK(lt_ones(&sizes, LT_FLOAT32, NULL, &b));
    if (w->kind >= RECORDED) CHECK(lt_tensor_set_requires_grad(a, true));
    pthread_barrier_wait(&ready);
    w->start = now();
    for (; !stop; made++) {
        if (w->kind == BARE)
            add_up();
        else
            turn(w->kind, a, b);
    }
    w->end = now();
    w->made = made;
    lt_tensor_release(a);
    lt_tensor_release(b);
    lt_context_enter(before);
    lt_context_release(context);
    return NULL;
}

/* Turns a microsecond of n threads. */
static double rate(int n, kind kind, double seconds)
{
    static worker workers[MAX_THREADS];
    double made = 0;
    pthread_barrier_init(&ready, NULL, (unsigned)n + 1);
    stop = false;
    for (int i = 0; i < n; i++) {
        workers[i].kind = kind;
        if (pthread_create(&workers[i].thread, NULL, kind == SCRIPT ? work_in_script : work,
                           &workers[i]) != 0)
            exit(1);
    }
    pthread_barrier_wait(&ready);
    usleep((useconds_t)(seconds * 1e6));
    stop = true;
    double start = INFINITY, end = 0;
    for (int i = 0; i < n; i++) {
        pthread_join(workers[i].thread, NULL);
        made += (double)workers[i].made;
        start = fmin(start, workers[i].start), end = fmax(end, workers[i].end);
    }
    pthread_barrier_destroy(&ready);
    return made / (end - start) / 1e6;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *of)
{
    qsort(of, ROUNDS, sizeof *of, ascending);
    return of[ROUNDS / 2];
}

int main(int argc, char **argv)
{
    static const int counts[] = {1, 2, 4, 8, MAX_THREADS};
    enum { COUNTS = sizeof counts / sizeof *counts };
    const double seconds = argc == 2 ? atof(argv[1]) : 0;
    if (seconds <= 0) {
        fprintf(stderr, "usage: threads SECONDS\n");
        return 2;
    }
    printf("| each thread's work | 1 thread, a microsecond |");
    for (int k = 1; k < COUNTS; k++) printf(" %d threads |", counts[k]);
    printf("\n|---|---:|");
    for (int k = 1; k < COUNTS; k++) printf("---:|");
    for (int kind = 0; kind < KINDS; kind++) {
        double one[ROUNDS], times[COUNTS][ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            one[round] = rate(1, kind, seconds);
            for (int k = 1; k < COUNTS; k++)
                times[k][round] = rate(counts[k], kind, seconds) / one[round];
        }
        printf("\n| %s | %.2f |", kinds[kind], median(one));
        for (int k = 1; k < COUNTS; k++) printf(" %.2f |", median(times[k]));
    }
    printf("\n");
    return 0;
}
