/* world.c - a world in this process: opening it, its progress thread, and the end of the process.
 *
 * After progress, the thread spins briefly, because more progress is likely; then it yields, then
 * sleeps, so that ranks that share a core can run. At the end of the process, with any exit status,
 * the rank notifies the others. MPI is finalized only if all ranks end successfully, because
 * MPI_Finalize waits for all. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "assertion.h"
#include "system/clock.h"
#include "system/process.h"
#include "system/shared_library.h"
#include "system/threads.h"
#include "context/interrupt.h"
#include "context/thread.h"
#include "internal.h"
#include "lock.h"
#include "memory/alloc.h"

/* ---- active works ---------------------------------------------------------------------------- */

static void end_work(lt_world *world, lt_work *w, lt_status status, const char *reason)
{
    LT_ASSERT(w->state == LT_WORK_QUEUED || w->state == LT_WORK_ACTIVE, "state %d", w->state);
    LT_ASSERT(status != LT_OK || w->request == NULL, "%s is under way", w->call.name);
    char *text = NULL;
    if (w->request == NULL) lt_work_settle(w); /* before the release: a script may keep the work */
    if (status != LT_OK && (text = lt_mem_alloc(strlen(reason) + 1)) != NULL) strcpy(text, reason);
    const lt_work_state state = status == LT_OK ? LT_WORK_DONE : LT_WORK_FAILED;
    pthread_mutex_lock(&world->lock);
    w->ended = lt_clock();
    w->status = status;
    w->text = text;
    lt_record_end(world, w, state);
    atomic_store_explicit(&w->state, (int)state, memory_order_release);
    pthread_cond_broadcast(&world->changed);
    lt_unlock(&world->lock);
    if (w->request == NULL) {
        lt_work_release(w);
    } else { /* the engine still uses its buffers */
        w->next = world->stranded;
        world->stranded = w;
    }
}

static void fail_work(lt_world *world, lt_work *w)
{
    char what[200], text[LT_COMM_TEXT];
    lt_work_describe(w, what, sizeof what);
    snprintf(text, sizeof text, "%s on rank %d: %.3600s", what, world->rank, world->reason);
    end_work(world, w, world->failed, w == world->culprit ? world->reason : text);
}

static void fail_list(lt_world *world, lt_work **list)
{
    LT_ASSERT(world->failed != LT_OK);
    while (*list != NULL) {
        lt_work *w = *list;
        *list = w->next;
        fail_work(world, w);
    }
}

static lt_ranks *after(lt_world *world, lt_ranks *g)
{
    return g == &world->all ? world->others : g->next;
}

/* Fails all active and all later works; `tell` reports the failure to the other ranks. */
static void fail(lt_world *world, lt_status status, const char *reason, bool tell)
{
    if (world->failed != LT_OK) return;
    pthread_mutex_lock(&world->lock);
    snprintf(world->reason, sizeof world->reason, "%s", reason);
    world->failed = status;
    lt_unlock(&world->lock);
    if (tell) lt_control_broadcast(world, 'F', reason);
    for (lt_ranks *g = &world->all; g != NULL; g = after(world, g)) {
        fail_list(world, &g->first);
        fail_list(world, &g->aside);
        g->last = NULL;
    }
}

/* The failure of a work, or its timeout, fails the world. */
static void fail_with(lt_world *world, lt_work *w, lt_status status, const char *reason)
{
    char what[200], text[LT_COMM_TEXT];
    lt_work_describe(w, what, sizeof what);
    snprintf(text, sizeof text, "%s on rank %d: %.3600s", what, world->rank, reason);
    world->culprit = w;
    fail(world, status, text, true);
}

static void look_at_time(lt_world *world, lt_work *w)
{
    const double now = lt_clock();
    char text[LT_COMM_TEXT], answers[LT_COMM_TEXT - 200];
    const int left = lt_control_first_exited(world, w, now);
    if (left >= 0) {
        snprintf(text, sizeof text, "rank %d has left, with exit status %d, before it took part",
                 left, world->peers[left].status);
        fail_with(world, w, LT_ERR_RUNTIME, text);
    } else if (now > w->deadline && lt_control_query_ranks(world, w, now)) {
        lt_control_format_replies(world, w, answers, sizeof answers);
        snprintf(text, sizeof text, "timed out after %.1f s%s", now - w->begun, answers);
        fail_with(world, w, LT_ERR_RUNTIME, text);
    }
}

/* Steps a work; true: it is done and must be removed from its list. */
static bool step(lt_world *world, lt_work *w, bool *moved)
{
    bool done = false;
    LT_ASSERT(w->refs > 0 && w->state <= LT_WORK_ACTIVE, "refs %d, state %d", w->refs, w->state);
    atomic_store_explicit(&w->state, LT_WORK_ACTIVE, memory_order_relaxed);
    const lt_status status = lt_work_step(w, moved, &done);
    if (status == LT_OK && done) return true;
    if (status != LT_OK)
        fail_with(world, w, status, lt_error_message());
    else
        look_at_time(world, w);
    return false;
}

static void take_in(lt_world *world, bool *moved)
{
    pthread_mutex_lock(&world->lock);
    lt_work *w = world->incoming;
    world->incoming = world->incoming_last = NULL;
    lt_unlock(&world->lock);
    while (w != NULL) {
        lt_work *next = w->next;
        lt_ranks *g = w->group;
        LT_ASSERT(g->world == world && w->state == LT_WORK_QUEUED, "state %d", w->state);
        const bool message = w->call.kind == LT_SEND || w->call.kind == LT_RECV;
        *moved = true;
        w->next = NULL;
        if (world->failed != LT_OK) {
            fail_work(world, w);
        } else if (message) {
            /* append: messages between two ranks keep their order */
            lt_work **end = &g->aside;
            while (*end != NULL) end = &(*end)->next;
            *end = w;
        } else {
            LT_ASSERT((g->first == NULL) == (g->last == NULL) &&
                      (g->last == NULL || g->last->next == NULL));
            if (g->last != NULL)
                g->last->next = w;
            else
                g->first = w;
            g->last = w;
        }
        w = next;
    }
}

static void poll_control(lt_world *world, bool *moved)
{
    char reason[LT_COMM_TEXT];
    while (lt_control_poll(world, moved, reason)) fail(world, LT_ERR_RUNTIME, reason, false);
}

bool lt_world_pass(lt_world *world)
{
    bool moved = false;
    take_in(world, &moved);
    poll_control(world, &moved);
    for (lt_ranks *g = &world->all; g != NULL; g = after(world, g)) {
        while (g->first != NULL && step(world, g->first, &moved)) {
            lt_work *w = g->first;
            g->first = w->next;
            if (g->first == NULL) g->last = NULL;
            end_work(world, w, LT_OK, NULL);
        }
        for (lt_work **place = &g->aside; *place != NULL;) {
            lt_work *w = *place;
            if (step(world, w, &moved)) {
                *place = w->next;
                end_work(world, w, LT_OK, NULL);
            } else {
                if (world->failed != LT_OK) return true; /* the lists are empty after a failure */
                place = &w->next;
            }
        }
    }
    return moved;
}

/* ---- the thread ------------------------------------------------------------------------------ */

static bool under_way(lt_world *world)
{
    for (lt_ranks *g = &world->all; g != NULL; g = after(world, g))
        if (g->first != NULL || g->aside != NULL) return true;
    return false;
}

static void nap(double seconds)
{
    struct timespec t = {0, (long)(seconds * 1e9)};
    nanosleep(&t, NULL);
}

/* Waits for new work; wakes up regularly to poll the engine and control messages. */
static void world_sleep(lt_world *world, double since)
{
    const double idle = lt_clock() - since;
    const bool busy = under_way(world);
    const bool awaited = atomic_load_explicit(&world->waiting, memory_order_relaxed) > 0;
    if (idle < (busy && awaited ? 2e-3 : 50e-6)) {
        sched_yield();
        return;
    }
    /* If no thread is blocked in wait(), back off early so that compute threads get the CPU. */
    const double until = lt_clock() + (!busy ? 20e-3 : idle < 0.1 ? 50e-6 : 500e-6);
    pthread_mutex_lock(&world->lock);
    if (world->incoming == NULL && (busy || !world->ending))
        lt_condition_wait_until(&world->given, &world->lock, until);
    lt_unlock(&world->lock);
}

/* 1: all other ranks have ended successfully; 0: some have not ended; -1: one has failed. */
static int others_end(const lt_world *world)
{
    int answer = 1;
    for (int r = 0; r < world->size; r++) {
        if (r == world->rank) continue;
        if (world->peers[r].left != 0 && world->peers[r].status != 0) return -1;
        if (world->peers[r].left == 0) answer = 0;
    }
    return answer;
}

static void end_of_process(lt_world *world)
{
    double since = lt_clock();
    while (world->exit_status == 0 && world->failed == LT_OK &&
           under_way(world)) /* works without a waiter */
        if (!lt_world_pass(world)) world_sleep(world, since);
    since = lt_clock();
    const bool well = world->exit_status == 0 && world->failed == LT_OK && !under_way(world);
    char status[16];
    bool moved;
    snprintf(status, sizeof status, "%d", world->exit_status != 0 ? world->exit_status : !well);
    lt_control_broadcast(world, 'B', status);
    while (others_end(world) == 0 && (well || lt_clock() - since < 2)) {
        poll_control(world, &moved);
        nap(1e-3);
    }
    if (well && others_end(world) == 1) world->engine->leave(world->inner);
    /* Give pending control messages time to go out while the others still receive. */
    for (int i = 0; i < 20 && others_end(world) < 0; i++) {
        poll_control(world, &moved);
        nap(5e-3);
    }
}

/* Creates the group of all ranks, after joining. */
static lt_status know_all(lt_world *world)
{
    return world->engine->group(world->inner, world->all.ranks, world->size, &world->all.group);
}

static lt_status join_engine(lt_world *world)
{
    int rank = 0, size = 0;
    LT_TRY(world->engine->join(NULL, &world->inner, &rank, &size));
    if (rank != world->rank || size != world->size)
        return lt_error(LT_ERR_DEVICE,
                        "%s reports rank %d of %d, but the launcher set rank %d of %d: use the "
                        "launcher of the same MPI",
                        world->engine->name, rank, size, world->rank, world->size);
    return know_all(world);
}

static void *progress(void *given)
{
    lt_world *world = given;
    lt_tls.helper = true;
    const lt_status status = join_engine(world);
    pthread_mutex_lock(&world->lock);
    world->joined = true;
    world->failed = status;
    if (status != LT_OK) snprintf(world->reason, sizeof world->reason, "%s", lt_error_message());
    pthread_cond_broadcast(&world->changed);
    lt_unlock(&world->lock);
    double since = lt_clock();
    while (status == LT_OK && !world->ending) {
        if (lt_world_pass(world))
            since = lt_clock();
        else
            world_sleep(world, since);
    }
    if (status == LT_OK) end_of_process(world);
    pthread_mutex_lock(&world->lock);
    world->gone = true;
    pthread_cond_broadcast(&world->changed);
    lt_unlock(&world->lock);
    return NULL;
}

/* ---- opening and closing --------------------------------------------------------------------- */

static lt_world *of_process; /* result of lt_world_open */

static void at_exit(void)
{
    lt_world *world = of_process;
    int status;
    (void)lt_exit_status(&status);
    if (world == NULL || world->process != getpid() || lt_world_inline(world)) return;
    fflush(NULL);
    pthread_mutex_lock(&world->lock);
    world->ending = true;
    world->exit_status = status;
    pthread_cond_signal(&world->given);
    while (world->joined && !world->gone) pthread_cond_wait(&world->changed, &world->lock);
    lt_unlock(&world->lock);
    /* Launchers report the exit status of the rank that ends first, so a rank that ends early must
     * not report success. */
    if (status == 0 && world->joined && others_end(world) < 0) _exit(1);
}

static lt_status world_init(lt_world *world, const lt_engine *engine, int rank, int size,
                            double timeout)
{
    world->engine = engine;
    world->rank = rank;
    world->size = size;
    world->process = getpid();
    const char *debug = getenv("TORCH_DISTRIBUTED_DEBUG");
    world->detail = debug != NULL && strcmp(debug, "DETAIL") == 0;
    lt_fork_mutex_init(&world->fork, &world->lock, false);
    lt_condition_init(&world->given);
    lt_condition_init(&world->changed);
    world->peers = lt_mem_zarray(size, sizeof *world->peers);
    if (world->peers == NULL) return LT_ERR_MEMORY;
    world->all.timeout = timeout;
    return lt_ranks_fill(&world->all, world, NULL, NULL, size);
}

static lt_status wait_for_others(lt_world *world, double timeout)
{
    /* minimum seconds for all processes to start, even if operations have a shorter timeout */
    static const double START = 30;
    if (timeout < START) timeout = START;
    const double until = lt_clock() + timeout;
    pthread_mutex_lock(&world->lock);
    while (!world->joined && lt_clock() < until && !lt_interrupted())
        lt_condition_wait_until(&world->changed, &world->lock, lt_clock() + 20e-3);
    const bool joined = world->joined;
    lt_unlock(&world->lock);
    if (joined)
        return world->failed == LT_OK ? LT_OK : lt_error(world->failed, "%.900s", world->reason);
    if (lt_interrupted()) return lt_stopped();
    return lt_error(LT_ERR_RUNTIME,
                    "init_process_group(): rank %d of %d has waited %.1f s for the other ranks",
                    world->rank, world->size, timeout);
}

static lt_status open_threaded(lt_world *world, double timeout)
{
    if (!lt_thread_start(&world->thread, progress, world))
        return lt_error(lt_thread_limit() == 1 ? LT_ERR_RUNTIME : LT_ERR_MEMORY,
                        "init_process_group() needs a thread, which could not be started: %s",
                        lt_thread_limit() == 1 ? "the limit of threads is 1, expected at least 2"
                                               : strerror(errno));
    pthread_detach(world->thread);
    return wait_for_others(world, timeout);
}

static lt_status open_inline(lt_world *world, lt_fake_hub *hub)
{
    lt_fake_rank place = {hub, world->rank};
    int rank, size;
    LT_TRY(world->engine->join(&place, &world->inner, &rank, &size));
    world->joined = true;
    return know_all(world);
}

lt_status lt_world_open(const char *backend, double timeout, lt_world **out)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    int rank = 0, size = 1;
    const lt_engine *engine = &lt_fake_engine;
    lt_status status = LT_OK;
    if (strcmp(backend, "mpi") != 0)
        return lt_error(LT_ERR_TYPE, "init_process_group(): unknown backend '%s', expected mpi",
                        backend);
    pthread_mutex_lock(&lock);
    lt_world *world = of_process;
    if (world != NULL) { /* already joined */
        if (world->failed != LT_OK) status = lt_error(world->failed, "%.900s", world->reason);
        world->all.timeout = timeout;
        goto done;
    }
    LT_CHECK(lt_launcher_rank(&rank, &size) ? lt_engine_of_launcher(&engine) : lt_launcher_alone());
    world = lt_mem_zalloc(sizeof *world);
    status = world != NULL ? world_init(world, engine, rank, size, timeout) : LT_ERR_MEMORY;
    if (status != LT_OK) goto done; /* not freed: the process cannot continue without a world */
    of_process = world;
    /* The progress thread and the exit handler run code of this library. */
    lt_shared_keep_own();
    atexit(at_exit);
    lt_exit_status_record(); /* exit() calls the last registered handler first */
    status = engine->threaded ? open_threaded(world, timeout)
                              : open_inline(world, lt_fake_hub_new(size));
done:
    lt_unlock(&lock);
    if (status == LT_OK) *out = world;
    return status;
}

lt_status lt_worlds_fake(int size, double timeout, lt_world **out)
{
    lt_fake_hub *hub = lt_fake_hub_new(size);
    if (hub == NULL) return LT_ERR_MEMORY;
    for (int r = 0; r < size; r++) {
        out[r] = lt_mem_zalloc(sizeof **out);
        if (out[r] == NULL) return LT_ERR_MEMORY;
        LT_TRY(world_init(out[r], &lt_fake_engine, r, size, timeout));
        LT_TRY(open_inline(out[r], hub));
    }
    return LT_OK;
}

static void free_list(lt_work *w)
{
    while (w != NULL) {
        lt_work *next = w->next;
        lt_fake_request_free(w->request);
        w->request = NULL;
        lt_work_release(w);
        w = next;
    }
}

void lt_world_free(lt_world *world)
{
    free_list(world->incoming);
    free_list(world->stranded);
    for (lt_ranks *g = &world->all, *next; g != NULL; g = next) {
        next = after(world, g);
        free_list(g->first);
        free_list(g->aside);
        lt_mem_free(g->ranks);
        if (g != &world->all) lt_mem_free(g);
    }
    if (world->inner != NULL) lt_fake_world_free(world->inner);
    for (int r = 0; r < world->size; r++) lt_mem_free(world->peers[r].answer);
    lt_mem_free(world->peers);
    lt_fork_mutex_destroy(&world->fork);
    pthread_cond_destroy(&world->given);
    pthread_cond_destroy(&world->changed);
    lt_mem_free(world);
}

/* ---- queries --------------------------------------------------------------------------------- */

void lt_world_set_native(lt_world *world, bool native) { world->native = native; }
int lt_world_rank(const lt_world *world) { return world->rank; }
int lt_world_size(const lt_world *world) { return world->size; }
const char *lt_world_engine(const lt_world *world) { return world->engine->name; }
bool lt_world_inline(const lt_world *world) { return !world->engine->threaded; }
lt_ranks *lt_world_ranks(lt_world *world) { return &world->all; }

void lt_world_step(lt_world *world)
{
    if (lt_world_inline(world)) lt_world_pass(world);
}
