/* process_models_test.c - the process models of nginx and of PostgreSQL: a parent loads the library
 * and forks workers that compute with threads, among signals, reloads and ends of processes.
 *
 * The daemons of the tests are orphans. The test is their subreaper, so that it receives their exit
 * status and would see processes that they leave behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "ltensor.h"
#include "ltensor_threads.h"

#include "tasks.h"
#include "workload.h"

#define LIMIT   60 /* seconds after which a process that hangs is ended by a signal */
#define WORKERS 2
#define THREADS 4

/* ---- processes ------------------------------------------------------------------------------- */

static int reports[2]; /* a pipe from the processes to the test */

typedef struct report {
    pid_t process;
    int generation; /* of nginx's workers; the number of a backend; -1: the daemon itself */
    int tasks, default_threads;
    int elsewhere; /* signals that another thread than the first one handled */
    int unblocked; /* threads of the library that do not block the host's signals */
    int zombies;
} report;

static void send_report(const report *r)
{
    if (write(reports[1], r, sizeof *r) != sizeof *r) abort();
}

static report next_report(void)
{
    report r = {0};
    struct pollfd ready = {reports[0], POLLIN, 0};
    assert_int_equal(poll(&ready, 1, LIMIT * 1000), 1);
    assert_int_equal(read(reports[0], &r, sizeof r), sizeof r);
    return r;
}

static volatile sig_atomic_t elsewhere;

static void note_thread(void)
{
    if (gettid() != getpid()) elsewhere++;
}

static void handle(int signal, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (sigaction(signal, &action, NULL) != 0) abort();
}

static bool is_zombie(pid_t id)
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)id);
    FILE *file = fopen(path, "r");
    if (file == NULL) return false;
    const int n = fscanf(file, "%*d (%*[^)]) %c", &state);
    fclose(file);
    return n == 1 && state == 'Z';
}

static void describe_threads(report *r)
{
    static const int signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGUSR1, SIGUSR2,
                                  SIGALRM, SIGTERM, SIGCHLD, SIGIO,   SIGWINCH};
    pid_t ids[64];
    r->process = getpid();
    r->tasks = list_tasks(ids, 64);
    r->elsewhere = elsewhere;
    for (int i = 0; i < r->tasks && i < 64; i++) {
        const unsigned long long blocked = blocked_signals(ids[i]);
        if (ids[i] == getpid() || blocked == 0) continue;
        r->zombies += is_zombie(ids[i]);
        for (size_t s = 0; s < sizeof signals / sizeof *signals; s++)
            if (!(blocked >> (signals[s] - 1) & 1)) r->unblocked++;
    }
}

/* Forks twice, so that the daemon is no leader of a session and not the test's child. */
static void start_daemon(void (*run)(void))
{
    const pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork() != 0) _exit(0);
        alarm(LIMIT);
        umask(0);
        const int null = open("/dev/null", O_RDWR);
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
        run();
        _exit(9);
    }
    int status = 0;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void assert_exits(pid_t process, int expected)
{
    int status = 0;
    assert_int_equal(waitpid(process, &status, 0), process);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), expected);
}

static void assert_no_process_is_left(void)
{
    assert_int_equal(waitpid(-1, NULL, 0), -1);
    assert_int_equal(errno, ECHILD);
}

static int setup(void **state)
{
    (void)state;
    return pipe2(reports, O_CLOEXEC);
}

static int teardown(void **state)
{
    (void)state;
    close(reports[0]);
    close(reports[1]);
    return 0;
}

/* ---- nginx ----------------------------------------------------------------------------------- */

static volatile sig_atomic_t reload, terminate, quit, reap, request;

static void handle_nginx_signal(int signal)
{
    const int saved = errno;
    note_thread();
    switch (signal) {
    case SIGHUP: reload = 1; break;
    case SIGTERM:
    case SIGINT: terminate = 1; break;
    case SIGQUIT: quit = 1; break;
    case SIGCHLD: reap = 1; break;
    case SIGUSR1: request = 1; break;
    default: break;
    }
    errno = saved;
}

/* Bound to one processor of the process's (worker_cpu_affinity). */
static void bind_worker(int number)
{
    cpu_set_t all, one;
    if (sched_getaffinity(0, sizeof all, &all) != 0) abort();
    int wanted = number % CPU_COUNT(&all);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET((size_t)cpu, &all) && wanted-- == 0) {
            CPU_ZERO(&one);
            CPU_SET((size_t)cpu, &one);
        }
    if (sched_setaffinity(0, sizeof one, &one) != 0) abort();
}

/* ngx_worker_process_cycle: computes for each request, SIGUSR1 here. */
static void run_nginx_worker(int generation, int number)
{
    sigset_t none;
    report r = {.generation = generation};
    lt_context *context = NULL;
    bind_worker(number);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    need(lt_context_new(NULL, &context));
    lt_context_enter(context);
    r.default_threads = lt_get_num_threads();
    need(lt_set_num_threads(THREADS));
    for (;;) {
        compute(1100);
        kill(getpid(), SIGUSR1);
        compute(600);
        if (r.process == 0) {
            describe_threads(&r);
            send_report(&r);
        }
        if (terminate || quit) exit(0); /* ngx_worker_process_exit */
        while (!request && !terminate && !quit) poll(NULL, 0, 10);
    }
}

static void start_nginx_workers(int generation, pid_t *workers)
{
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = fork();
        if (workers[i] == 0) {
            alarm(LIMIT);
            reload = terminate = quit = 0;
            run_nginx_worker(generation, i);
        }
    }
}

/* ngx_master_process_cycle: signals are blocked except in sigsuspend(). */
static void run_nginx_master(void)
{
    static const int signals[] = {SIGCHLD, SIGALRM, SIGIO,    SIGINT,  SIGHUP,
                                  SIGUSR1, SIGUSR2, SIGWINCH, SIGTERM, SIGQUIT};
    pid_t workers[WORKERS], old[WORKERS];
    sigset_t set;
    int generation = 0, alive = WORKERS, failed = 0;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        if (signals[i] != SIGALRM) handle(signals[i], handle_nginx_signal);
        if (signals[i] != SIGALRM) sigaddset(&set, signals[i]);
    }
    compute(1100); /* as a script of init_by_lua does: the master has threads */
    sigprocmask(SIG_BLOCK, &set, NULL);
    sigemptyset(&set);
    start_nginx_workers(generation, workers);
    report r = {.generation = -1};
    describe_threads(&r);
    send_report(&r);
    for (bool ending = false; alive > 0;) {
        sigsuspend(&set);
        if (reap) {
            int status;
            reap = 0;
            while (waitpid(-1, &status, WNOHANG) > 0) {
                alive--;
                if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) failed = 1;
            }
        }
        if (terminate && !ending) {
            ending = true;
            for (int i = 0; i < WORKERS; i++) kill(workers[i], SIGTERM);
        }
        if (reload) {
            reload = 0;
            memcpy(old, workers, sizeof old);
            start_nginx_workers(++generation, workers);
            alive += WORKERS;
            for (int i = 0; i < WORKERS; i++) kill(old[i], SIGQUIT);
        }
    }
    exit(failed);
}

static void assert_nginx_workers(int generation)
{
    for (int i = 0; i < WORKERS; i++) {
        const report r = next_report();
        assert_int_equal(r.generation, generation);
        assert_int_equal(r.default_threads, 1); /* bound to one processor */
        assert_in_range(r.tasks, 2, 1 + THREADS + THREADS + 2);
        assert_int_equal(r.elsewhere, 0);
        assert_int_equal(r.unblocked, 0);
        assert_int_equal(r.zombies, 0);
    }
}

static void nginx_reloads_and_ends_with_workers_that_compute(void **state)
{
    (void)state;
    start_daemon(run_nginx_master);
    const report master = next_report();
    assert_int_equal(master.generation, -1);
    assert_nginx_workers(0);
    for (int generation = 1; generation <= 3; generation++) {
        kill(master.process, SIGHUP);
        assert_nginx_workers(generation);
    }
    kill(master.process, SIGTERM);
    assert_exits(master.process, 0);
    assert_no_process_is_left();
}

/* ---- PostgreSQL ------------------------------------------------------------------------------ */

static lt_context *session;
static volatile sig_atomic_t alarms, notices, times_out;
static bool one_thread; /* the postmaster has set the limit */

static void handle_alarm(int signal)
{
    (void)signal;
    note_thread();
    alarms++;
    if (times_out) lt_context_interrupt(session);
}

static void handle_notice(int signal)
{
    (void)signal;
    note_thread();
    notices++;
}

static void die(int signal)
{
    (void)signal;
    note_thread();
    terminate = 1;
    lt_context_interrupt(session);
}

static void die_at_once(int signal)
{
    (void)signal;
    note_thread();
    _exit(2);
}

static void start_timer(int microseconds, bool repeats)
{
    struct itimerval timer = {.it_value.tv_usec = microseconds};
    if (repeats) timer.it_interval = timer.it_value;
    if (setitimer(ITIMER_REAL, &timer, NULL) != 0) abort();
}

static void check(bool holds, int status)
{
    if (!holds) exit(status);
}

/* BackendMain: a process with one thread that handles signals, while the library computes. */
static void run_backend(int number)
{
    sigset_t none;
    report r = {.generation = number};
    setsid();
    handle(SIGALRM, handle_alarm);
    handle(SIGUSR1, handle_notice);
    handle(SIGTERM, die);
    handle(SIGQUIT, die_at_once);
    signal(SIGCHLD, SIG_DFL);
    check(count_tasks() == 1, 11);
    need(lt_context_new(NULL, &session));
    lt_context_enter(session);
    need(lt_set_num_threads(THREADS));
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    start_timer(1000, true);
    for (int query = 0; query < 5; query++) {
        for (int i = 0; i < 20; i++) kill(getpid(), SIGUSR1);
        compute(query % 2 == 0 ? 600 : 1100);
    }
    start_timer(0, false);
    check(alarms >= 5 && notices >= 20, 12);
    check(lt_get_num_threads() == (one_thread ? 1 : THREADS), 13);
    check(!one_thread || count_tasks() == 1, 14);
    times_out = 1; /* statement_timeout */
    start_timer(100000, false);
    check(compute_for_long() == LT_ERR_INTERRUPTED, 15);
    lt_context_interrupt_clear(session);
    times_out = 0;
    compute(600); /* the session continues */
    describe_threads(&r);
    send_report(&r);
    while (!terminate)
        if (compute_for_long() != LT_ERR_INTERRUPTED) exit(16);
    exit(elsewhere == 0 ? 0 : 17); /* proc_exit */
}

/* ServerLoop, from the start of the server to its end: loads the library
 * (shared_preload_libraries), computes nothing and has one thread. */
static void run_postmaster(void)
{
    report r = {.generation = -1};
    pid_t backends[WORKERS];
    sigset_t all;
    int failed = 0;
    sigfillset(&all);
    sigdelset(&all, SIGALRM);
    sigprocmask(SIG_SETMASK, &all, NULL);
    if (one_thread) {
        lt_thread_config config = lt_thread_defaults();
        config.limit = 1;
        need(lt_threads_configure(&config));
    }
    for (int i = 0; i < WORKERS; i++) {
        backends[i] = fork();
        if (backends[i] == 0) {
            alarm(0);
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            run_backend(i);
        }
    }
    describe_threads(&r);
    send_report(&r);
    for (int i = 0; i < WORKERS; i++) {
        int status;
        if (waitpid(backends[i], &status, 0) != backends[i]) abort();
        if (!WIFEXITED(status)) failed = 100 + WTERMSIG(status);
        if (WIFEXITED(status) && WEXITSTATUS(status) != (i == 0 ? 0 : 2))
            failed = WEXITSTATUS(status) > 0 ? WEXITSTATUS(status) : 99;
    }
    exit(failed);
}

/* The first backend ends by SIGTERM with exit(0), the second one by SIGQUIT with _exit(2), each
 * while it computes. */
static void check_postgres(void)
{
    pid_t backends[WORKERS] = {0};
    int n = 0;
    start_daemon(run_postmaster);
    report postmaster = {0};
    for (int i = 0; i < 1 + WORKERS; i++) {
        const report r = next_report();
        assert_int_equal(r.elsewhere, 0);
        assert_int_equal(r.unblocked, 0);
        assert_int_equal(r.zombies, 0);
        if (r.generation == -1) {
            postmaster = r;
            assert_int_equal(r.tasks, 1);
        } else {
            assert_in_range(r.generation, 0, WORKERS - 1);
            backends[r.generation] = r.process;
            n++;
            if (one_thread)
                assert_int_equal(r.tasks, 1);
            else
                assert_in_range(r.tasks, 2, 1 + THREADS + THREADS + 2);
        }
    }
    assert_int_equal(n, WORKERS);
    usleep(50000);
    kill(backends[0], SIGTERM);
    kill(backends[1], SIGQUIT);
    assert_exits(postmaster.process, 0);
    assert_no_process_is_left();
}

static void backends_of_postgres_compute_with_threads_and_handle_signals(void **state)
{
    (void)state;
    one_thread = false;
    check_postgres();
}

static void a_limit_of_the_postmaster_keeps_its_backends_single_threaded(void **state)
{
    (void)state;
    one_thread = true;
    check_postgres();
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nginx_reloads_and_ends_with_workers_that_compute),
        TEST(backends_of_postgres_compute_with_threads_and_handle_signals),
        TEST(a_limit_of_the_postmaster_keeps_its_backends_single_threaded),
    };
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
