/* copies.c - see copies.h. Entries are in an array of the context, guarded by its lock. A copy
 * between devices takes microseconds, so a linear search from the newest entry is cheap. */
#include "copies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assertion.h"
#include "context/context.h"
#include "context/profile.h"
#include "error.h"
#include "lock.h"
#include "memory/alloc.h"
#include "system/threads.h"
#include "tensor.h"

static _Thread_local lt_copy_cause current_cause;

lt_copy_cause lt_copies_set_cause(lt_copy_cause cause)
{
    lt_copy_cause previous = current_cause;
    current_cause = cause;
    return previous;
}

lt_copy_cause lt_copies_imply(const char *name)
{
    const lt_copy_cause previous = current_cause;
    if (!previous.implicit) current_cause = (lt_copy_cause){name, true};
    return previous;
}

const char *lt_copies_cause(void) { return current_cause.name != NULL ? current_cause.name : "to"; }

void lt_copies_origin(char *buffer, size_t n)
{
    buffer[0] = '\0';
    const lt_host_binding host = lt_tls.binding;
    if (host.class != NULL && host.class->origin != NULL) host.class->origin(host.ctx, buffer, n);
}

void lt_copies_show(bool on)
{
    atomic_store_explicit(&lt_tls.context->show_copies, on ? 1 : -1, memory_order_relaxed);
}

bool lt_copies_reported(void)
{
    const int show = atomic_load_explicit(&lt_tls.context->show_copies, memory_order_relaxed);
    const char *text = show == 0 ? getenv("LTENSOR_COPIES") : NULL;
    return show > 0 || (show == 0 && (text == NULL || strcmp(text, "0") != 0));
}

/* "24 B", "4.0 KB", "1.5 MB", "2.0 GB" (1000 to the KB). */
static const char *format_bytes(char *buffer, size_t n, int64_t bytes)
{
    static const char *const units[] = {"KB", "MB", "GB", "TB"};
    if (bytes < 1000) {
        snprintf(buffer, n, "%lld B", (long long)bytes);
        return buffer;
    }
    double value = (double)bytes / 1000;
    int unit = 0;
    while (value >= 1000 && unit < 3) value /= 1000, unit++;
    snprintf(buffer, n, "%.1f %s", value, units[unit]);
    return buffer;
}

static const char *format_seconds(char *buffer, size_t n, double seconds)
{
    if (seconds < 1e-3)
        snprintf(buffer, n, "%.0f us", seconds * 1e6);
    else if (seconds < 1)
        snprintf(buffer, n, "%.0f ms", seconds * 1e3);
    else
        snprintf(buffer, n, "%.1f s", seconds);
    return buffer;
}

/* The caller holds the lock. NULL: out of memory, which must not fail the copy itself. */
static lt_copy_entry *find_entry(lt_context *c, lt_device from, lt_device to, const char *cause,
                                 const char *origin)
{
    LT_ASSERT(LT_IS_LOCKED(&c->lock));
    LT_ASSERT(c->n_copies <= c->room_for_copies, "%lld of %lld", (long long)c->n_copies,
              (long long)c->room_for_copies);
    for (int64_t i = c->n_copies - 1; i >= 0; i--) {
        lt_copy_entry *e = &c->copies[i];
        if (lt_device_equal(e->from, from) && lt_device_equal(e->to, to) &&
            strncmp(e->cause, cause, sizeof e->cause - 1) == 0 && strcmp(e->origin, origin) == 0)
            return e;
    }
    if (c->n_copies == c->room_for_copies) {
        int64_t capacity = c->room_for_copies > 0 ? 2 * c->room_for_copies : 16;
        /* charge the process context: the list must not keep its own context alive */
        const lt_context_outer outer = lt_context_visit(&lt_process_context);
        lt_copy_entry *grown = lt_mem_rearray(c->copies, capacity, sizeof *grown);
        lt_context_return(outer);
        if (grown == NULL) return NULL;
        c->copies = grown;
        c->room_for_copies = capacity;
    }
    lt_copy_entry *e = &c->copies[c->n_copies++];
    memset(e, 0, sizeof *e);
    e->from = from;
    e->to = to;
    snprintf(e->cause, sizeof e->cause, "%s", cause);
    snprintf(e->origin, sizeof e->origin, "%s", origin);
    return e;
}

/* Logs an entry. bytes 0: a wait without a copy. */
static void note(const lt_copy_entry *e, int64_t bytes, double waited)
{
    char from[16], to[16], size[32];
    const char *gap = e->origin[0] != '\0' ? "  " : "";
    lt_format_device(from, sizeof from, e->from);
    if (bytes == 0)
        lt_log_line(LT_LOG_NOTICE, "[wait] %s  %.1f ms  %s%s%s", from, waited * 1e3, e->cause, gap,
                    e->origin);
    else
        lt_log_line(LT_LOG_NOTICE, "[copy] %s -> %s  %s  %s%s%s", from,
                    lt_format_device(to, sizeof to, e->to), format_bytes(size, sizeof size, bytes),
                    e->cause, gap, e->origin);
}

void lt_copies_record(lt_device from, lt_device to, int64_t bytes, double waited)
{
    lt_context *c = lt_tls.context;
    char origin[sizeof c->copies->origin] = "";
    const char *cause = lt_copies_cause();
    lt_copy_entry entry;
    bool shown = false;
    if (lt_profiling && bytes > 0) lt_profile_copy(bytes);
    lt_copies_origin(origin, sizeof origin);
    pthread_mutex_lock(&c->lock);
    lt_copy_entry *e = find_entry(c, from, to, cause, origin);
    if (e != NULL) {
        e->count++;
        e->bytes += bytes;
        e->waited += waited;
        e->implicit = current_cause.implicit;
        if (e->implicit && lt_copies_reported() && !e->noted) {
            e->noted = shown = true;
            entry = *e;
        }
    }
    lt_unlock(&c->lock);
    /* after unlocking: a host's log function may itself copy */
    if (shown) note(&entry, bytes, waited);
}

void lt_copies_reset(void)
{
    lt_context *c = lt_tls.context;
    pthread_mutex_lock(&c->lock);
    lt_mem_free(c->copies);
    c->copies = NULL;
    c->n_copies = c->room_for_copies = 0;
    lt_unlock(&c->lock);
}

lt_status lt_copies_list(const char *cause, lt_copy_entry **out, int64_t *n)
{
    lt_context *c = lt_tls.context;
    lt_status status = LT_OK;
    pthread_mutex_lock(&c->lock);
    lt_copy_entry *copy = lt_mem_array(c->n_copies, sizeof *copy);
    if (copy == NULL) {
        status = LT_ERR_MEMORY;
    } else {
        int64_t kept = 0;
        for (int64_t i = 0; i < c->n_copies; i++)
            if (cause == NULL || strcmp(c->copies[i].cause, cause) == 0)
                copy[kept++] = c->copies[i];
        *out = copy;
        *n = kept;
    }
    lt_unlock(&c->lock);
    return status;
}

void lt_copies_summary(void)
{
    lt_copy_entry *entries;
    int64_t n;
    if (!lt_copies_reported() || lt_copies_list(NULL, &entries, &n) != LT_OK) return;
    for (int64_t i = 0; i < n; i++) {
        const lt_copy_entry *e = &entries[i];
        char size[32], wait[32];
        if (!e->implicit || e->count < 2) continue;
        lt_log_line(LT_LOG_NOTICE, "[%s] %s%s%s  %lld times%s%s  %s waiting",
                    e->bytes > 0 ? "copy" : "wait", e->origin, e->origin[0] != '\0' ? " " : "",
                    e->cause, (long long)e->count, e->bytes > 0 ? "  " : "",
                    e->bytes > 0 ? format_bytes(size, sizeof size, e->bytes) : "",
                    format_seconds(wait, sizeof wait, e->waited));
    }
    lt_mem_free(entries);
}

void lt_copies_set_sync_mode(int mode)
{
    atomic_store_explicit(&lt_tls.context->sync_mode, mode, memory_order_relaxed);
}
int lt_copies_sync_mode(void)
{
    return atomic_load_explicit(&lt_tls.context->sync_mode, memory_order_relaxed);
}

lt_status lt_copies_check_sync(const char *what)
{
    const int mode = lt_copies_sync_mode();
    if (mode == 2)
        return lt_error(LT_ERR_RUNTIME, "called a synchronizing CUDA operation: %s", what);
    if (mode == 1)
        lt_log_line(LT_LOG_WARNING, "warning: called a synchronizing CUDA operation: %s", what);
    return LT_OK;
}
