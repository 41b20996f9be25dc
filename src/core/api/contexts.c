/* contexts.c - the functions of ltensor.h for contexts: creation and end, limits, deadlines,
 * interrupts. */
#include "context/context.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "assertion.h"
#include "context/watch.h"
#include "devices/backend.h"
#include "devices/device.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "ltensor_device.h"
#include "ltensor_host.h"
#include "memory/alloc.h"
#include "memory/block.h"
#include "memory/idle.h"
#include "random/random.h"

#define PROGRESS_SECONDS 0.1

/* ---- making and ending ----------------------------------------------------------------------- */

static lt_status check_config(const char *function, const lt_context_config *c)
{
    if (c->default_dtype != 0 && ((unsigned)c->default_dtype >= LT_DTYPE_COUNT ||
                                  !lt_dtype_is_float((lt_dtype)c->default_dtype)))
        return lt_error(LT_ERR_TYPE, "%s(): default_dtype must be a floating dtype or 0, not %d",
                        function, (int)c->default_dtype);
    if (c->memory_limit < 0)
        return lt_error(LT_ERR_RUNTIME, "%s(): memory_limit is %lld", function,
                        (long long)c->memory_limit);
    if (!(c->deadline >= 0))
        return lt_error(LT_ERR_RUNTIME, "%s(): deadline is %g", function, c->deadline);
    if (c->threads < 0 || c->threads > 1024)
        return lt_error(LT_ERR_RUNTIME, "%s(): threads must be 0 to 1024, not %d", function,
                        (int)c->threads);
    if (!(c->progress_seconds >= 0))
        return lt_error(LT_ERR_RUNTIME, "%s(): progress_seconds is %g", function,
                        c->progress_seconds);
    return LT_OK;
}

/* Copies the fields that the caller's version of the struct has; the others keep their defaults. */
static lt_status read_config(const char *function, const lt_context_config *given,
                             lt_context_config *config)
{
    *config = lt_context_defaults();
    if (given == NULL) return LT_OK;
    const size_t least = offsetof(lt_context_config, progress) + sizeof given->progress;
    if (given->size < least)
        return lt_error(LT_ERR_TYPE, "%s(): config.size is %zu; lt_context_defaults() sets it",
                        function, given->size);
    memcpy(config, given, given->size < sizeof *config ? given->size : sizeof *config);
    return check_config(function, config);
}

static void end(lt_context *c)
{
    LT_ASSERT(c != &lt_process_context);
    lt_unwatch(c);
    for (lt_context_ending *e = atomic_load(&c->endings), *next; e != NULL; e = next) {
        next = e->next;
        e->run(e);
    }
    for (int i = 0; i < 1 + LT_MAX_DEVICES; i++)
        if (c->ready[i] != LT_GENERATOR_ABSENT) lt_generator_end(&c->generators[i]);
    lt_mem_free(c->copies);
    lt_fork_mutex_destroy(&c->fork);
    lt_mem_free(c);
}

static void end_and_release(lt_context *c)
{
    LT_ASSERT(c->refs == 0, "refs %d", c->refs);
    LT_ASSERT(c->use[LT_USE_HOST].live >= 0, "%lld bytes", (long long)c->use[LT_USE_HOST].live);
    void (*release)(void *user) = c->release;
    void *user = c->user;
    end(c);
    if (release != NULL) release(user);
}

/* Applies a checked configuration; release stays unset. */
static lt_status apply_config(lt_context *c, const lt_context_config *config)
{
    c->user = config->user;
    c->authorize = config->authorize;
    c->log = config->log;
    c->progress = config->progress;
    c->progress_seconds =
        config->progress_seconds > 0 ? config->progress_seconds : PROGRESS_SECONDS;
    atomic_store(&c->default_dtype,
                 config->default_dtype != 0 ? config->default_dtype : LT_FLOAT32);
    atomic_store(&c->threads, config->threads);
    LT_TRY(lt_context_set_memory_limit(
        c, lt_host, config->memory_limit > 0 ? config->memory_limit : INT64_MAX));
    if (c->progress != NULL) lt_watch_progress(c);
    if (config->deadline > 0) lt_watch_deadline(c, config->deadline);
    return LT_OK;
}

lt_status lt_context_new(const lt_context_config *given, lt_context **out)
{
    lt_context_config config;
    LT_REQUIRE(out);
    LT_TRY(read_config(__func__, given, &config));
    lt_context *c =
        lt_mem_zarray(1, sizeof *c); /* mostly generators, many of which are never used */
    if (c == NULL) return LT_ERR_MEMORY;
    lt_context_init(c);
    c->free = end_and_release;
    const lt_status status = apply_config(c, &config);
    if (status != LT_OK) {
        end(c);
        return status;
    }
    c->release = config.release;
    *out = c;
    return LT_OK;
}

lt_status lt_context_process_configure(const lt_context_config *given)
{
    lt_context *c = &lt_process_context;
    lt_context_config config;
    LT_TRY(read_config(__func__, given, &config));
    void (*release)(void *user) = c->release;
    void *user = c->user;
    lt_unwatch(c);
    c->deadline = c->next_progress = INFINITY;
    atomic_fetch_and(&c->flags, ~(uint32_t)(LT_CONTEXT_LATE | LT_CONTEXT_PROGRESS));
    const lt_status status = apply_config(c, &config);
    c->release = status == LT_OK ? config.release : NULL;
    if (status != LT_OK) {
        const lt_context_config none = lt_context_defaults();
        (void)apply_config(c, &none); /* starts no thread */
    }
    if (release != NULL) release(user);
    return status;
}

lt_context *lt_context_retain(lt_context *context)
{
    if (context != NULL) lt_context_hold(context);
    return context;
}

void lt_context_release(lt_context *context)
{
    if (context != NULL) lt_context_drop(context);
}

/* ---- the current context --------------------------------------------------------------------- */

lt_context *lt_context_process(void) { return &lt_process_context; }
lt_context *lt_context_current(void) { return lt_tls.context; }

lt_context *lt_context_enter(lt_context *context)
{
    if (context == NULL) context = &lt_process_context;
    const lt_context_outer outer = lt_context_visit(context);
    if (outer.context != context && outer.context != &lt_process_context) {
        atomic_store_explicit(&outer.context->grad_mode, outer.grad_mode, memory_order_relaxed);
        atomic_store_explicit(&outer.context->inference, outer.inference, memory_order_relaxed);
    }
    return outer.context;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* The index in lt_context.use of a device. The device need not exist: a limit may be set before the
 * first use of the device. */
static lt_status use_of(const char *function, lt_device device, int *use)
{
    if (device.type == LT_CPU) {
        *use = LT_USE_HOST;
        return LT_OK;
    }
    if ((unsigned)device.type >= LT_DEVICE_TYPES)
        return lt_error(LT_ERR_TYPE, "%s(): %d is not a type of device", function, device.type);
    if (device.index < 0 || device.index >= LT_MAX_DEVICES)
        return lt_error(LT_ERR_DEVICE, "%s(): invalid GPU %d, expected 0 to %d", function,
                        device.index, LT_MAX_DEVICES - 1);
    *use = LT_USE_DEVICE(device.index);
    return LT_OK;
}

lt_status lt_context_set_memory_limit(lt_context *context, lt_device device, int64_t bytes)
{
    int use;
    LT_REQUIRE(context);
    LT_TRY(use_of("lt_context_set_memory_limit", device, &use));
    if (bytes < 0)
        return lt_error(LT_ERR_RUNTIME, "lt_context_set_memory_limit(): bytes is %lld",
                        (long long)bytes);
    atomic_store(&context->use[use].limit, bytes);
    if (use == LT_USE_HOST && bytes != INT64_MAX)
        atomic_fetch_or(&context->flags, LT_CONTEXT_LIMITED);
    if (use == LT_USE_HOST && bytes == INT64_MAX)
        atomic_fetch_and(&context->flags, ~(uint32_t)LT_CONTEXT_LIMITED);
    return LT_OK;
}

lt_status lt_context_memory(const lt_context *context, lt_device device, int64_t *used,
                            int64_t *limit)
{
    int use;
    LT_REQUIRE(context);
    LT_TRY(use_of("lt_context_memory", device, &use));
    if (used != NULL) *used = atomic_load(&context->use[use].live);
    if (limit != NULL) *limit = atomic_load(&context->use[use].limit);
    return LT_OK;
}

/* Bytes in the cache of a device's allocator. */
static int64_t cached_bytes(lt_device device)
{
    if (device.type == LT_CPU) return (int64_t)lt_block_cached();
    lt_memory_stats stats;
    const lt_backend *backend = lt_backends[device.type];
    if (backend == NULL || device.index >= backend->device_count()) return 0;
    backend->memory_stats(device.index, &stats);
    return stats.counts[LT_MEMORY_RESERVED_BYTES][LT_POOL_ALL].current -
           stats.counts[LT_MEMORY_ALLOCATED_BYTES][LT_POOL_ALL].current;
}

lt_status lt_context_memory_usage(const lt_context *context, lt_device device, lt_memory_usage *out)
{
    int use;
    LT_REQUIRE(context);
    LT_REQUIRE(out);
    LT_TRY(use_of(__func__, device, &use));
    const size_t size = out->size, least = sizeof *out;
    if (size < least)
        return lt_error(LT_ERR_TYPE,
                        "%s(): out->size is %zu, expected sizeof(lt_memory_usage), %zu", __func__,
                        size, least);
    const lt_use *u = &context->use[use];
    *out = (lt_memory_usage){.size = size,
                             .used = atomic_load(&u->live),
                             .peak = atomic_load(&u->peak),
                             .limit = atomic_load(&u->limit),
                             .cached = cached_bytes(device)};
    return LT_OK;
}

lt_status lt_context_reset_memory_peak(lt_context *context, lt_device device)
{
    int use;
    LT_REQUIRE(context);
    LT_TRY(use_of(__func__, device, &use));
    atomic_store(&context->use[use].peak, atomic_load(&context->use[use].live));
    return LT_OK;
}

lt_status lt_device_memory_trim(lt_device device, int64_t *bytes)
{
    LT_TRY(lt_device_resolve(&device));
    lt_idle_release_all(0);
    const int64_t before = cached_bytes(device);
    if (device.type == LT_CPU)
        lt_memory_trim();
    else
        lt_backends[device.type]->empty_cache();
    if (bytes != NULL) *bytes = before - cached_bytes(device);
    return LT_OK;
}

/* ---- time and interrupts --------------------------------------------------------------------- */

lt_status lt_context_set_deadline(lt_context *context, double seconds)
{
    LT_REQUIRE(context);
    if (isnan(seconds))
        return lt_error(LT_ERR_RUNTIME, "lt_context_set_deadline(): seconds is nan");
    lt_watch_deadline(context, seconds);
    return LT_OK;
}

void lt_context_interrupt(lt_context *context)
{
    if (context != NULL) atomic_fetch_or(&context->flags, LT_CONTEXT_INTERRUPTED);
}

void lt_context_interrupt_clear(lt_context *context)
{
    if (context != NULL) atomic_fetch_and(&context->flags, ~(uint32_t)LT_CONTEXT_INTERRUPTED);
}
