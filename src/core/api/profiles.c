/* profiles.c - the functions of ltensor_host.h for profiles, over context/profile.h, and the export
 * in Chrome's format of traces. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "context/profile.h"
#include "devices/backend.h"
#include "devices/device_type.h"
#include "error.h"
#include "ltensor_host.h"
#include "memory/alloc.h"
#include "system/atomic_file.h"
#include "system/plain_locale.h"

struct lt_profile {
    lt_profile_event *events; /* with the names of entries */
    lt_profile_entry *entries;
    int64_t n;
};

lt_status lt_profiler_start(bool gpu)
{
    const lt_backend *gpus = gpu ? lt_backend_get(lt_accelerator()) : NULL;
    if (gpu && gpus == NULL) return LT_ERR_DEVICE;
    LT_TRY(lt_profile_start(gpus));
    lt_tls.profiles_calls = true;
    return LT_OK;
}

static lt_profile_entry entry_of(const lt_profile_event *e)
{
    static const char *const kinds[] = {
        [LT_PROFILE_OP] = "op", [LT_PROFILE_BACKWARD] = "backward", [LT_PROFILE_USER] = "user"};
    return (lt_profile_entry){.size = sizeof(lt_profile_entry),
                              .name = e->name,
                              .kind = kinds[e->kind],
                              .parent = e->parent,
                              .start = e->start,
                              .time = e->end - e->start,
                              .self_time = e->end - e->start - e->inner,
                              .memory = e->memory,
                              .copied = e->copied,
                              .device = e->device,
                              .device_start = e->device_start,
                              .device_time = e->device_time};
}

lt_status lt_profiler_stop(lt_profile **out)
{
    lt_profile_event *events = NULL;
    int64_t n = 0;
    LT_TRY(lt_profile_stop(&events, &n));
    lt_profile *profile = out != NULL ? lt_mem_zalloc(sizeof *profile) : NULL;
    lt_profile_entry *entries = profile != NULL ? lt_mem_array(n, sizeof *entries) : NULL;
    if (entries == NULL) {
        lt_mem_free(profile);
        lt_mem_free(events);
        return out != NULL ? LT_ERR_MEMORY : LT_OK;
    }
    for (int64_t i = 0; i < n; i++) entries[i] = entry_of(&events[i]);
    *profile = (lt_profile){.events = events, .entries = entries, .n = n};
    *out = profile;
    return LT_OK;
}

int32_t lt_profiler_begin(const char *name)
{
    return lt_profiling && name != NULL ? lt_profile_begin(name, LT_PROFILE_USER) : -1;
}

void lt_profiler_end(int32_t span) { lt_profile_end(span); }

int64_t lt_profile_count(const lt_profile *profile) { return profile != NULL ? profile->n : 0; }

const lt_profile_entry *lt_profile_at(const lt_profile *profile, int64_t i)
{
    return profile != NULL && i >= 0 && i < profile->n ? &profile->entries[i] : NULL;
}

void lt_profile_release(lt_profile *profile)
{
    if (profile == NULL) return;
    lt_mem_free(profile->entries);
    lt_mem_free(profile->events);
    lt_mem_free(profile);
}

/* ---- export ---------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static lt_status write_text(lt_atomic_file *f,
                                                                  const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return lt_atomic_file_write(f, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

/* The name as the contents of a string of JSON; control characters become blanks. */
static const char *quoted(const char *name, char *buffer, size_t n)
{
    size_t length = 0;
    for (; *name != '\0' && length + 2 < n; name++) {
        if (*name == '"' || *name == '\\') buffer[length++] = '\\';
        buffer[length++] = (unsigned char)*name < ' ' ? ' ' : *name;
    }
    buffer[length] = '\0';
    return buffer;
}

static lt_status write_entry(lt_atomic_file *f, const lt_profile_entry *e, const char *row,
                             double start, double time)
{
    char name[160];
    static const char format[] =
        "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":\"%s\",\"tid\":\"%s\",\"ts\":%.3f,"
        "\"dur\":%.3f,\"args\":{\"memory\":%lld,\"copied\":%lld}}";
    return write_text(f, format, e->kind, quoted(e->name, name, sizeof name), row, row, start * 1e6,
                      time * 1e6, (long long)e->memory, (long long)e->copied);
}

static lt_status write_trace(lt_atomic_file *f, const lt_profile *profile)
{
    LT_TRY(write_text(f, "{\"schemaVersion\":1,\"displayTimeUnit\":\"ms\",\"traceEvents\":["));
    for (int64_t i = 0; i < profile->n; i++) {
        const lt_profile_entry *e = &profile->entries[i];
        char row[16];
        LT_TRY(write_text(f, i > 0 ? ",\n" : "\n"));
        LT_TRY(write_entry(f, e, "cpu", e->start, e->time));
        if (e->device < 0 || e->device_time <= 0) continue;
        snprintf(row, sizeof row, "cuda:%d", e->device);
        LT_TRY(write_text(f, ",\n"));
        LT_TRY(write_entry(f, e, row, e->device_start, e->device_time));
    }
    return write_text(f, "\n]}\n");
}

lt_status lt_profile_export(const lt_profile *profile, const char *path)
{
    lt_atomic_file file;
    LT_REQUIRE(profile);
    LT_REQUIRE(path);
    LT_TRY(lt_atomic_file_open(&file, path));
    const lt_locale before = lt_plain_locale_begin();
    const lt_status status = write_trace(&file, profile);
    lt_plain_locale_end(before);
    if (status == LT_OK) return lt_atomic_file_commit(&file);
    lt_atomic_file_abort(&file);
    return status;
}
