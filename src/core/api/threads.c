/* threads.c - the functions of ltensor_threads.h, and lt_set_thread_pool. */
#include "ltensor_threads.h"

#include "context/processors.h"
#include "context/thread.h"
#include "context/thread_pool.h"
#include "context/watch.h"
#include "error.h"
#include "libraries/openmp.h"
#include "lock.h"

/* Held while the configuration changes, so that threads with earlier settings end only once. */
static pthread_mutex_t configuring = PTHREAD_MUTEX_INITIALIZER;

LT_HOLD_ACROSS_FORK(configuring)

static lt_status check_numbers(const lt_thread_config *c)
{
    static const char *const function = "lt_threads_configure";
    if (c->limit < 0 || c->limit > LT_MOST_THREADS)
        return lt_error(LT_ERR_RUNTIME, "%s(): limit is %d, expected 0 to %d", function, c->limit,
                        LT_MOST_THREADS);
    if (c->nice < 0 || c->nice > 19)
        return lt_error(LT_ERR_RUNTIME, "%s(): nice is %d, expected 0 to 19", function, c->nice);
    if (c->cpus != NULL && c->n_cpus < 1)
        return lt_error(LT_ERR_RUNTIME, "%s(): n_cpus is %d, expected at least 1", function,
                        c->n_cpus);
    return LT_OK;
}

static lt_status read_cpus(const lt_thread_config *config, lt_cpu_set *cpus)
{
    lt_cpu_set permitted;
    const bool known = lt_process_cpus(&permitted);
    *cpus = (lt_cpu_set){0};
    for (int i = 0; i < config->n_cpus; i++) {
        const int cpu = config->cpus[i];
        if (cpu < 0 || cpu >= LT_CPU_SET_SIZE || (known && !lt_cpu_set_has(&permitted, cpu)))
            return lt_error(LT_ERR_RUNTIME,
                            "lt_threads_configure(): cpu %d is not in the affinity mask of the "
                            "process, which has %d processors",
                            cpu, known ? lt_cpu_set_count(&permitted) : LT_CPU_SET_SIZE);
        lt_cpu_set_add(cpus, cpu);
    }
    return LT_OK;
}

lt_status lt_threads_configure(const lt_thread_config *given)
{
    const lt_thread_config config = given != NULL ? *given : lt_thread_defaults();
    if (config.size < sizeof config)
        return lt_error(LT_ERR_TYPE,
                        "lt_threads_configure(): config.size is %zu; lt_thread_defaults() sets it",
                        config.size);
    LT_TRY(check_numbers(&config));
    lt_thread_settings settings = {.limit = config.limit > 0 ? config.limit : LT_MOST_THREADS,
                                   .pinned = config.cpus != NULL,
                                   .nice = config.nice};
    if (settings.pinned) LT_TRY(read_cpus(&config, &settings.cpus));
    pthread_mutex_lock(&configuring);
    lt_thread_settings_set(&settings);
    lt_processors_recount();
    lt_pool_renew();
    lt_watch_renew();
    lt_openmp_end_team();
    lt_unlock(&configuring);
    return LT_OK;
}

int lt_threads_count(void) { return lt_pool_workers(); }

int lt_threads_processors(void) { return lt_processors_count(); }

lt_status lt_set_thread_pool(const lt_thread_pool *pool)
{
    if (pool != NULL && pool->run == NULL)
        return lt_error(LT_ERR_TYPE,
                        "set_thread_pool expects a pool with a function 'run', got NULL");
    if (pool != NULL && pool->threads < 1)
        return lt_error(LT_ERR_RUNTIME,
                        "set_thread_pool expects a pool of at least 1 thread, got %d",
                        pool->threads);
    lt_pool_lend(pool);
    return LT_OK;
}
