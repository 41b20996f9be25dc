/* threads_config_test.c - limit, processors and priority of the library's threads
 * (ltensor_threads.h), in a process with many threads of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "context/processors.h"
#include "context/thread.h"
#include "ltensor.h"
#include "ltensor_threads.h"
#include "op/add.h"
#include "op/exp.h"
#include "op/slogdet.h"

#include "emulated.h"
#include "expect.h"
#include "tasks.h"
#include "workload.h"

#define HOSTS 16 /* threads of the host */
#define EACH  8  /* threads of an operation */

static void elementwise(void)
{
    lt_tensor *x = random_of(1, (int64_t[]){1000000}), *y = NULL;
    assert_ok(lt_exp(x, &y));
    lt_tensor_release(x);
    lt_tensor_release(y);
}

/* From 500 rows on OpenBLAS uses several threads, from 800 on the call runs on a thread of its own. */
static void factorize(int64_t n)
{
    lt_tensor *a = random_of(2, (int64_t[]){n, n}), *sign = NULL, *log = NULL;
    assert_ok(lt_slogdet(a, &sign, &log));
    lt_tensor_release(a);
    lt_tensor_release(sign);
    lt_tensor_release(log);
}

static void factorization(void) { factorize(1100); }

static void configure(int limit, const int *cpus, int n_cpus, int nice)
{
    lt_thread_config config = lt_thread_defaults();
    config.limit = limit, config.cpus = cpus, config.n_cpus = n_cpus, config.nice = nice;
    assert_ok(lt_threads_configure(&config));
}

static int restore(void **state)
{
    (void)state;
    lt_context_enter(NULL);
    return lt_threads_configure(NULL) == LT_OK && lt_set_num_threads(2) == LT_OK ? 0 : -1;
}

/* ---- the limit ------------------------------------------------------------------------------- */

static atomic_bool stop;
static _Atomic(void (*)(void)) operation;

static void *compute_in_own_context(void *unused)
{
    lt_context *context = NULL;
    lt_context_config config = lt_context_defaults();
    config.threads = EACH;
    (void)unused;
    assert_ok(lt_context_new(&config, &context));
    lt_context_enter(context);
    do atomic_load (&operation)();
    while (!atomic_load(&stop));
    lt_context_enter(NULL);
    lt_context_release(context);
    return NULL;
}

/* The maximum number of threads of the process while HOSTS threads compute. */
static int most_tasks_of(void (*compute)(void), double seconds)
{
    pthread_t hosts[HOSTS];
    int most = 0;
    atomic_store(&stop, false);
    atomic_store(&operation, compute);
    for (int i = 0; i < HOSTS; i++)
        assert_int_equal(pthread_create(&hosts[i], NULL, compute_in_own_context, NULL), 0);
    for (int turn = 0; turn < seconds * 500; turn++) {
        const int n = count_tasks();
        if (n > most) most = n;
        usleep(2000);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < HOSTS; i++) pthread_join(hosts[i], NULL);
    return most;
}

static void threads_of_the_host_share_one_set_of_workers(void **state)
{
    (void)state;
    const int before = count_tasks(), most = most_tasks_of(elementwise, 0.5);
    assert_in_range(most, before + HOSTS + 1, before + HOSTS + EACH - 1 + 1 /* deadlines */);
    assert_in_range(lt_threads_count(), 1, EACH - 1);
}

/* The callers wait while their factorizations run on threads of their own; one has a team, while
 * threads of the earlier teams end. */
static void factorizations_of_many_threads_have_one_team(void **state)
{
    (void)state;
    const int before = count_tasks(), most = most_tasks_of(factorization, 1);
    assert_in_range(most, before + HOSTS + 1, before + 2 * HOSTS + 4 * EACH);
}

static void the_limit_bounds_the_workers_of_the_process(void **state)
{
    (void)state;
    assert_ok(lt_set_num_threads(EACH));
    elementwise();
    assert_int_equal(lt_threads_count(), EACH - 1);
    configure(3, NULL, 0, 0);
    assert_int_equal(lt_threads_count(), 0);
    assert_int_equal(lt_get_num_threads(), 3);
    elementwise();
    assert_int_equal(lt_threads_count(), 2);
    most_tasks_of(elementwise, 0.1);
    assert_int_equal(lt_threads_count(), 2);
    assert_ok(lt_threads_configure(NULL));
    assert_int_equal(lt_get_num_threads(), EACH);
}

static void workers_follow_a_configuration_that_changes_while_they_work(void **state)
{
    (void)state;
    pthread_t hosts[2];
    atomic_store(&stop, false);
    atomic_store(&operation, elementwise);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&hosts[i], NULL, compute_in_own_context, NULL), 0);
    for (int turn = 0; turn < 100; turn++) configure(1 + turn % 4, NULL, 0, turn % 2);
    configure(2, NULL, 0, 0);
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++) pthread_join(hosts[i], NULL);
    elementwise();
    assert_in_range(lt_threads_count(), 0, 1);
}

/* ---- without threads ------------------------------------------------------------------------- */

static atomic_int created;

/* Replaces the C library's function, which it calls. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    atomic_fetch_add(&created, 1);
    return create(thread, attributes, start, argument);
}

static void with_a_limit_of_1_no_thread_is_left_and_none_starts(void **state)
{
    (void)state;
    skip_if_emulated(); /* an emulator has a thread of its own */
    assert_ok(lt_set_num_threads(EACH));
    elementwise();
    factorize(600);
    assert_true(count_tasks() > EACH);
    configure(1, NULL, 0, 0);
    assert_int_equal(wait_for_tasks(1), 1);
    created = 0;
    elementwise();
    factorization();
    assert_int_equal(created, 0);
    assert_int_equal(count_tasks(), 1);
    assert_int_equal(lt_threads_count(), 0);
}

static bool count_progress(void *calls)
{
    ++*(int *)calls;
    return true;
}

static lt_status compute_little_often(void)
{
    lt_tensor *one = random_of(1, (int64_t[]){1}), *sum = NULL;
    lt_status status = LT_OK;
    while (status == LT_OK) {
        lt_tensor_release(sum);
        sum = NULL;
        status = lt_add(one, one, lt_scalar_from_int(1), &sum);
    }
    lt_tensor_release(one);
    return status;
}

static void deadlines_and_progress_need_no_thread(void **state)
{
    (void)state;
    int calls = 0;
    lt_context *context = NULL;
    lt_context_config config = lt_context_defaults();
    config.user = &calls, config.progress = count_progress, config.progress_seconds = 0.01;
    configure(1, NULL, 0, 0);
    created = 0;
    assert_ok(lt_context_new(&config, &context));
    lt_context_enter(context);
    assert_ok(lt_context_set_deadline(context, 0.3));
    assert_int_equal(compute_for_long(), LT_ERR_DEADLINE);
    assert_in_range(calls, 5, 31);
    assert_ok(lt_context_set_deadline(context, 0.05));
    assert_int_equal(compute_little_often(), LT_ERR_DEADLINE);
    assert_ok(lt_context_set_deadline(context, INFINITY));
    elementwise();
    assert_int_equal(created, 0);
    /* a deadline is pending when threads are permitted again */
    assert_ok(lt_context_set_deadline(context, 0.3));
    assert_ok(lt_threads_configure(NULL));
    assert_int_equal(compute_for_long(), LT_ERR_DEADLINE);
    assert_true(created > 0);
    /* and one that starts with the thread ends without it */
    assert_ok(lt_context_set_deadline(context, 0.3));
    configure(1, NULL, 0, 0);
    assert_int_equal(compute_for_long(), LT_ERR_DEADLINE);
    lt_context_enter(NULL);
    lt_context_release(context);
}

/* ---- processors and priority ----------------------------------------------------------------- */

static bool is_fault(int signal)
{
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL ||
           signal == SIGABRT || signal == SIGTRAP || signal == SIGSYS;
}

/* Whether a thread has these processors and this niceness, and blocks all signals that can be
 * blocked but those of a fault. */
static bool is_worker(pid_t id, const cpu_set_t *cpus, int nice)
{
    cpu_set_t own;
    const unsigned long long blocked = blocked_signals(id);
    for (int s = 1; s < 32; s++)
        if (s != SIGKILL && s != SIGSTOP && (blocked >> (s - 1) & 1) == is_fault(s)) return false;
    return sched_getaffinity(id, sizeof own, &own) == 0 && CPU_EQUAL(&own, cpus) &&
           getpriority(PRIO_PROCESS, (id_t)id) == nice;
}

/* Waits until there are n such threads, as a new thread sets its properties itself; returns their
 * number. */
static int workers_with(const cpu_set_t *cpus, int nice, int n)
{
    int workers = 0;
    for (int turn = 0; turn < 2000 && workers < n; turn++) {
        pid_t ids[64];
        const int tasks = list_tasks(ids, 64);
        workers = 0;
        for (int i = 0; i < tasks; i++)
            if (ids[i] != getpid() && is_worker(ids[i], cpus, nice)) workers++;
        if (workers < n) usleep(1000);
    }
    return workers;
}

static void workers_run_on_the_processors_and_with_the_priority_of_the_configuration(void **state)
{
    (void)state;
    cpu_set_t all, one;
    int cpu = 0;
    const int nice = getpriority(PRIO_PROCESS, 0);
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    if (CPU_COUNT(&all) < 2) skip();
    while (!CPU_ISSET((size_t)cpu, &all)) cpu++;
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    assert_ok(lt_set_num_threads(4));
    configure(0, &cpu, 1, 3);
    assert_int_equal(lt_threads_processors(), 1);
    elementwise();
    assert_int_equal(lt_threads_count(), 3);
    assert_int_equal(workers_with(&one, nice + 3 < 19 ? nice + 3 : 19, 3), 3);
    configure(0, NULL, 0, 0);
    elementwise();
    assert_int_equal(lt_threads_count(), 3);
    assert_true(workers_with(&all, nice, 3) >= 3);
}

static void *compute_on_one_processor(void *cpus)
{
    assert_int_equal(sched_setaffinity(0, sizeof(cpu_set_t), cpus), 0);
    elementwise();
    return NULL;
}

/* A server binds each of its threads to one processor; workers serve all of them. */
static void a_thread_that_is_bound_to_a_processor_starts_workers_for_all(void **state)
{
    (void)state;
    pthread_t bound;
    cpu_set_t all, one;
    int cpu = 0;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    if (CPU_COUNT(&all) < 2) skip();
    while (!CPU_ISSET((size_t)cpu, &all)) cpu++;
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    assert_ok(lt_threads_configure(NULL));
    assert_ok(lt_set_num_threads(4));
    assert_int_equal(pthread_create(&bound, NULL, compute_on_one_processor, &one), 0);
    pthread_join(bound, NULL);
    assert_int_equal(lt_threads_count(), 3);
    assert_true(workers_with(&all, getpriority(PRIO_PROCESS, 0), 3) >= 3);
}

/* As a server binds its forked processes: the parent has computed before. */
static void a_child_that_is_bound_to_a_processor_has_one_thread_by_default(void **state)
{
    (void)state;
    cpu_set_t all;
    int status = 0, cpu = 0;
    lt_context *context = NULL;
    assert_ok(lt_context_new(NULL, &context));
    lt_context_enter(context);
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    while (!CPU_ISSET((size_t)cpu, &all)) cpu++;
    elementwise();
    const int before = lt_get_num_threads();
    const pid_t child = fork();
    if (child == 0) {
        CPU_ZERO(&all);
        CPU_SET((size_t)cpu, &all);
        if (sched_setaffinity(0, sizeof all, &all) != 0) _exit(2);
        _exit(lt_get_num_threads() == 1 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(lt_get_num_threads(), before);
    lt_context_enter(NULL);
    lt_context_release(context);
}

static void wrong_configurations_are_refused(void **state)
{
    (void)state;
    const int absent = 1 << 20, negative = -1;
    lt_thread_config config = lt_thread_defaults();
    config.size = 8;
    assert_fails(lt_threads_configure(&config), LT_ERR_TYPE, "config.size is 8");
    config = lt_thread_defaults(), config.limit = 1025;
    assert_fails(lt_threads_configure(&config), LT_ERR_RUNTIME, "limit is 1025");
    config = lt_thread_defaults(), config.nice = 20;
    assert_fails(lt_threads_configure(&config), LT_ERR_RUNTIME, "nice is 20");
    config = lt_thread_defaults(), config.cpus = &absent;
    assert_fails(lt_threads_configure(&config), LT_ERR_RUNTIME, "n_cpus is 0");
    config.n_cpus = 1;
    assert_fails(lt_threads_configure(&config), LT_ERR_RUNTIME, "cpu 1048576");
    config.cpus = &negative;
    assert_fails(lt_threads_configure(&config), LT_ERR_RUNTIME, "cpu -1");
}

/* ---- cgroups --------------------------------------------------------------------------------- */

static char root[64];

static void write_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *slash = strchr(path + strlen(root) + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int quota(const char *membership)
{
    char path[256];
    snprintf(path, sizeof path, "%s/membership", root);
    write_file("membership", membership);
    return lt_cgroup_quota(path, root);
}

static void the_quota_of_a_cgroup_limits_the_processors(void **state)
{
    (void)state;
    char command[128];
    snprintf(root, sizeof root, "/tmp/ltensor-cgroup-XXXXXX");
    assert_non_null(mkdtemp(root));
    write_file("cpu.max", "max 100000\n");
    assert_int_equal(quota("0::/\n"), 0);
    write_file("pod/cpu.max", "250000 100000\n");
    write_file("pod/app/cpu.max", "max 100000\n");
    assert_int_equal(quota("0::/pod/app\n"), 3); /* of the cgroup above, rounded up */
    write_file("pod/app/cpu.max", "10000 100000\n");
    assert_int_equal(quota("0::/pod/app\n"), 1);
    assert_int_equal(quota("0::/other\n"), 0);
    write_file("cpu.max", "400000 100000\n");
    assert_int_equal(quota("0::/not/mounted/here\n"), 4); /* a container without a namespace */
    write_file("cpu,cpuacct/pod/cpu.cfs_quota_us", "200000\n"); /* version 1 */
    write_file("cpu,cpuacct/pod/cpu.cfs_period_us", "100000\n");
    write_file("cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    write_file("cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    assert_int_equal(quota("5:cpuset:/pod\n4:cpu,cpuacct:/pod\n"), 2);
    assert_int_equal(quota("5:cpuset:/pod\n4:cpu,cpuacct:/pod\n0::/\n"), 2);
    assert_int_equal(quota("4:cpu,cpuacct:/\n"), 0);
    assert_int_equal(lt_cgroup_quota("/no/such/file", root), 0);
    snprintf(command, sizeof command, "rm -r '%s'", root);
    assert_int_equal(system(command), 0);
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static void *stack_size(void *out)
{
    pthread_attr_t attributes;
    assert_int_equal(pthread_getattr_np(pthread_self(), &attributes), 0);
    assert_int_equal(pthread_attr_getstacksize(&attributes, out), 0);
    assert_int_equal(pthread_attr_destroy(&attributes), 0);
    return NULL;
}

/* The default of ulimit -s 256. */
static void threads_have_a_large_stack_where_the_default_is_small(void **state)
{
    (void)state;
    pthread_attr_t before, small;
    pthread_t thread;
    size_t size = 0;
    assert_int_equal(pthread_getattr_default_np(&before), 0);
    assert_int_equal(pthread_attr_init(&small), 0);
    assert_int_equal(pthread_attr_setstacksize(&small, 256 << 10), 0);
    assert_int_equal(pthread_setattr_default_np(&small), 0);
    const bool started = lt_thread_start(&thread, stack_size, &size);
    assert_int_equal(pthread_setattr_default_np(&before), 0);
    assert_true(started);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(size, 8 << 20);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, restore, restore)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(threads_of_the_host_share_one_set_of_workers),
        TEST(factorizations_of_many_threads_have_one_team),
        TEST(the_limit_bounds_the_workers_of_the_process),
        TEST(workers_follow_a_configuration_that_changes_while_they_work),
        TEST(with_a_limit_of_1_no_thread_is_left_and_none_starts),
        TEST(deadlines_and_progress_need_no_thread),
        TEST(workers_run_on_the_processors_and_with_the_priority_of_the_configuration),
        TEST(a_thread_that_is_bound_to_a_processor_starts_workers_for_all),
        TEST(a_child_that_is_bound_to_a_processor_has_one_thread_by_default),
        TEST(threads_have_a_large_stack_where_the_default_is_small),
        TEST(wrong_configurations_are_refused),
        TEST(the_quota_of_a_cgroup_limits_the_processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
