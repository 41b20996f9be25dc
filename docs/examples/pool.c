/* pool.c - the threads of a host run the library's loops: a queue of regions, served by three
 * threads and by the thread that calls an operation.
 *
 *   cc pool.c $(pkg-config --cflags --libs ltensor) -lpthread -o pool && ./pool
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "ltensor.h"
#include "ltensor_threads.h"

#define HELPERS 3

/* n calls of task(argument, i) for one operation. */
typedef struct region {
    void (*task)(void *argument, int index);
    void *argument;
    int n, begun, ended;
    struct region *next;
} region;

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t posted, ended;
    region *first; /* regions with calls that have not begun */
    int tasks;
} queue = {.mutex = PTHREAD_MUTEX_INITIALIZER,
           .posted = PTHREAD_COND_INITIALIZER,
           .ended = PTHREAD_COND_INITIALIZER};

static void remove_region(const region *r)
{
    region **at = &queue.first;
    while (*at != r) at = &(*at)->next;
    *at = r->next;
}

/* Runs the next call of a region. The mutex is held, except during the call. */
static void run_next(region *r)
{
    const int index = r->begun++;
    if (r->begun == r->n) remove_region(r);
    queue.tasks++;
    pthread_mutex_unlock(&queue.mutex);
    r->task(r->argument, index);
    pthread_mutex_lock(&queue.mutex);
    if (++r->ended == r->n) pthread_cond_broadcast(&queue.ended);
}

static void *serve(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&queue.mutex);
    for (;;) {
        while (queue.first == NULL) pthread_cond_wait(&queue.posted, &queue.mutex);
        run_next(queue.first);
    }
    return NULL;
}

/* lt_thread_pool.run */
static void run(void *user, int n, void (*task)(void *argument, int index), void *argument)
{
    region r = {task, argument, n, 0, 0, NULL};
    (void)user;
    pthread_mutex_lock(&queue.mutex);
    r.next = queue.first;
    queue.first = &r;
    pthread_cond_broadcast(&queue.posted);
    while (r.begun < n) run_next(&r);
    while (r.ended < n) pthread_cond_wait(&queue.ended, &queue.mutex);
    pthread_mutex_unlock(&queue.mutex);
}

static void check(lt_status status)
{
    if (status == LT_OK) return;
    fprintf(stderr, "%s\n", lt_error_message());
    exit(1);
}

int main(void)
{
    const lt_thread_pool pool = {NULL, 1 + HELPERS, run};
    lt_tensor *x = NULL, *y = NULL;
    for (int i = 0; i < HELPERS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, serve, NULL) != 0) return 1;
        pthread_detach(thread);
    }
    check(lt_set_thread_pool(&pool));
    check(lt_set_num_threads(1 + HELPERS));
    check(lt_ones(LT_DIMS(1000, 1000), LT_FLOAT32, NULL, &x));
    check(lt_mm(x, x, &y));
    printf("product %g, threads of the library %d, calls by the pool: %s\n",
           ((const float *)lt_tensor_data(y))[0], lt_threads_count(),
           queue.tasks >= 1 + HELPERS ? "yes" : "no");
    lt_tensor_release(x);
    lt_tensor_release(y);
    return 0;
}
