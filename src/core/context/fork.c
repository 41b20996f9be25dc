/* fork.c - see fork.h: the list of mutexes, and the handlers of fork(). Includes nothing of the
 * library. */
#include "fork.h"

#include <stddef.h>

#include "system/process.h"

static struct {
    pthread_mutex_t lock; /* no thread waits for another mutex while it holds this one */
    pthread_cond_t awaited_less;
    lt_fork_entry *first;
} list = {.lock = PTHREAD_MUTEX_INITIALIZER, .awaited_less = PTHREAD_COND_INITIALIZER};

static void init(pthread_mutex_t *mutex, bool recursive)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    if (recursive) pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

/* ---- entries --------------------------------------------------------------------------------- */

void lt_fork_hold(lt_fork_entry *entry, pthread_mutex_t *mutex)
{
    entry->mutex = mutex;
    entry->awaited = 0;
    pthread_mutex_lock(&list.lock);
    entry->next = list.first;
    entry->link = &list.first;
    if (list.first != NULL) list.first->link = &entry->next;
    list.first = entry;
    pthread_mutex_unlock(&list.lock);
}

void lt_fork_mutex_init(lt_fork_entry *entry, pthread_mutex_t *mutex, bool recursive)
{
    init(mutex, recursive);
    entry->recursive = recursive;
    lt_fork_hold(entry, mutex);
}

void lt_fork_mutex_destroy(lt_fork_entry *entry)
{
    pthread_mutex_lock(&list.lock);
    while (entry->awaited > 0) pthread_cond_wait(&list.awaited_less, &list.lock);
    *entry->link = entry->next;
    if (entry->next != NULL) entry->next->link = entry->link;
    pthread_mutex_unlock(&list.lock);
    pthread_mutex_destroy(entry->mutex);
}

/* ---- fork ------------------------------------------------------------------------------------ */

/* Acquires all mutexes but that of `held`, which the caller holds (NULL: none). If another thread
 * holds one, releases all, that of `held` too, and returns its entry. The list is locked. */
static lt_fork_entry *acquire_all(lt_fork_entry *held)
{
    for (lt_fork_entry *e = list.first; e != NULL; e = e->next) {
        if (e == held || pthread_mutex_trylock(e->mutex) == 0) continue;
        for (lt_fork_entry *got = list.first; got != e; got = got->next)
            if (got != held) pthread_mutex_unlock(got->mutex);
        if (held != NULL) pthread_mutex_unlock(held->mutex);
        return e;
    }
    return NULL;
}

/* Returns with the list locked, too. */
static void before_fork(void)
{
    lt_fork_entry *held = NULL;
    pthread_mutex_lock(&list.lock);
    while ((held = acquire_all(held)) != NULL) {
        held->awaited++;
        pthread_mutex_unlock(&list.lock);
        pthread_mutex_lock(held->mutex);
        pthread_mutex_lock(&list.lock);
        held->awaited--;
        pthread_cond_broadcast(&list.awaited_less);
    }
}

static void in_parent(void)
{
    for (lt_fork_entry *e = list.first; e != NULL; e = e->next) pthread_mutex_unlock(e->mutex);
    pthread_mutex_unlock(&list.lock);
}

/* The owner of a recursive mutex is a thread of the parent: the child cannot unlock it. */
static void run_child_handlers(void)
{
    for (lt_fork_entry *e = list.first; e != NULL; e = e->next) {
        e->awaited = 0;
        if (e->recursive)
            init(e->mutex, true);
        else
            pthread_mutex_unlock(e->mutex);
    }
    pthread_cond_init(&list.awaited_less, NULL);
    pthread_mutex_unlock(&list.lock);
}

/* The first of the library's handlers to be registered: its prepare handler runs last, after the
 * handlers that end threads, and its child handler first, so that the others find the mutexes
 * unlocked. */
__attribute__((constructor(201))) static void register_fork_handlers(void)
{
    lt_at_fork(before_fork, in_parent, run_child_handlers);
}
