/* contexts.c - the functions of ltensor.h for contexts: creation and end, limits, deadlines,
 * interrupts. */
#include "context/context.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "assertion.h"
#include "context/watch.h"
#include "devices/device.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "memory/alloc.h"
#include "random/random.h"

#define PROGRESS_SECONDS 0.1

/* ---- making and ending ----------------------------------------------------------------------- */

static lt_status check_config(const lt_context_config *c)
{
    if (c->default_dtype != 0 && ((unsigned)c->default_dtype >= LT_DTYPE_COUNT ||
                                  !lt_dtype_is_float((lt_dtype)c->default_dtype)))
        return lt_error(LT_ERR_TYPE,
                        "lt_context_new(): default_dtype must be a floating dtype or 0, not %d",
                        (int)c->default_dtype);
    if (c->memory_limit < 0)
        return lt_error(LT_ERR_RUNTIME, "lt_context_new(): memory_limit is %lld",
                        (long long)c->memory_limit);
    if (!(c->deadline >= 0))
        return lt_error(LT_ERR_RUNTIME, "lt_context_new(): deadline is %g", c->deadline);
    if (c->threads < 0 || c->threads > 1024)
        return lt_error(LT_ERR_RUNTIME, "lt_context_new(): threads must be 0 to 1024, not %d",
                        (int)c->threads);
    if (!(c->progress_seconds >= 0))
        return lt_error(LT_ERR_RUNTIME, "lt_context_new(): progress_seconds is %g",
                        c->progress_seconds);
    return LT_OK;
}

/* Copies the fields that the caller's version of the struct has; the others keep their defaults. */
static lt_status read_config(const lt_context_config *given, lt_context_config *config)
{
    *config = lt_context_defaults();
    if (given == NULL) return LT_OK;
    const size_t least = offsetof(lt_context_config, progress) + sizeof given->progress;
    if (given->size < least)
        return lt_error(LT_ERR_TYPE,
                        "lt_context_new(): config.size is %zu; lt_context_defaults() sets it",
                        given->size);
    memcpy(config, given, given->size < sizeof *config ? given->size : sizeof *config);
    return check_config(config);
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

lt_status lt_context_new(const lt_context_config *given, lt_context **out)
{
    lt_context_config config;
    LT_REQUIRE(out);
    LT_TRY(read_config(given, &config));
    lt_context *c =
        lt_mem_zarray(1, sizeof *c); /* mostly generators, many of which are never used */
    if (c == NULL) return LT_ERR_MEMORY;
    lt_context_init(c);
    c->free = end_and_release;
    c->user = config.user;
    c->authorize = config.authorize;
    c->log = config.log;
    c->progress = config.progress;
    c->progress_seconds = config.progress_seconds > 0 ? config.progress_seconds : PROGRESS_SECONDS;
    if (config.default_dtype != 0) atomic_init(&c->default_dtype, config.default_dtype);
    atomic_init(&c->threads, config.threads);
    lt_status status = LT_OK;
    if (config.memory_limit > 0)
        status = lt_context_set_memory_limit(c, lt_host, config.memory_limit);
    if (status == LT_OK && c->progress != NULL) status = lt_watch_progress(c);
    if (status == LT_OK && config.deadline > 0) status = lt_watch_deadline(c, config.deadline);
    if (status != LT_OK) {
        end(c);
        return status;
    }
    c->release = config.release;
    *out = c;
    return LT_OK;
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

/* ---- time and interrupts --------------------------------------------------------------------- */

lt_status lt_context_set_deadline(lt_context *context, double seconds)
{
    LT_REQUIRE(context);
    if (isnan(seconds))
        return lt_error(LT_ERR_RUNTIME, "lt_context_set_deadline(): seconds is nan");
    return lt_watch_deadline(context, seconds);
}

void lt_context_interrupt(lt_context *context)
{
    if (context != NULL) atomic_fetch_or(&context->flags, LT_CONTEXT_INTERRUPTED);
}

void lt_context_interrupt_clear(lt_context *context)
{
    if (context != NULL) atomic_fetch_and(&context->flags, ~(uint32_t)LT_CONTEXT_INTERRUPTED);
}
