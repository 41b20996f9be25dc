/* devices.c - the functions of ltensor.h for devices and for generators created by a host, over the
 * table of backend.h. */
#include <stdio.h>
#include <string.h>

#include "compile/trace.h"
#include "context/context.h"
#include "devices/backend.h"
#include "devices/device.h"
#include "error.h"
#include "memory/alloc.h"
#include "random/random.h"

int lt_device_count(lt_device_type type)
{
    if (type == LT_CPU) return 1;
    const lt_backend *backend = lt_backend_get(type);
    return backend != NULL ? backend->device_count() : 0;
}

lt_status lt_device_name(lt_device device, char *buffer, size_t n)
{
    LT_REQUIRE(buffer);
    LT_TRY(lt_device_resolve(&device));
    lt_device_properties properties = {.name = "cpu"};
    if (device.type != LT_CPU)
        LT_TRY(lt_backends[device.type]->properties(device.index, &properties));
    if (n > 0) snprintf(buffer, n, "%s", properties.name);
    return LT_OK;
}

/* The bytes in a line of /proc/meminfo ("MemFree:   123 kB") if it has that name, else 0. */
static size_t memory_line(const char *line, const char *name)
{
    unsigned long long kilobytes = 0;
    size_t length = strlen(name);
    if (strncmp(line, name, length) == 0) sscanf(line + length, ": %llu", &kilobytes);
    return (size_t)kilobytes * 1024;
}

static lt_status host_memory(size_t *free_bytes, size_t *total_bytes)
{
    char line[128];
    LT_TRY(lt_authorize(LT_ACCESS_FILE_READ, "/proc/meminfo"));
    FILE *file = fopen("/proc/meminfo", "r");
    if (file == NULL)
        return lt_error(LT_ERR_IO, "lt_device_memory(): /proc/meminfo cannot be read");
    while (fgets(line, sizeof line, file) != NULL) {
        *total_bytes += memory_line(line, "MemTotal");
        *free_bytes += memory_line(line, "MemAvailable");
    }
    fclose(file);
    return LT_OK;
}

lt_status lt_device_memory(lt_device device, size_t *free_bytes, size_t *total_bytes)
{
    size_t available = 0, all = 0;
    LT_TRY(lt_device_resolve(&device));
    LT_TRY(device.type == LT_CPU
               ? host_memory(&available, &all)
               : lt_backends[device.type]->memory_info(device.index, &available, &all));
    if (free_bytes != NULL) *free_bytes = available;
    if (total_bytes != NULL) *total_bytes = all;
    return LT_OK;
}

lt_status lt_device_synchronize(lt_device device)
{
    LT_TRY(lt_device_resolve(&device));
    LT_TRY(lt_trace_flush());
    return device.type == LT_CPU ? LT_OK : lt_backends[device.type]->synchronize(device.index);
}

lt_status lt_generator_new(lt_device device, lt_generator **out)
{
    LT_REQUIRE(out);
    LT_TRY(lt_device_resolve(&device));
    lt_generator *generator = lt_mem_alloc(sizeof *generator);
    if (generator == NULL) return LT_ERR_MEMORY;
    lt_generator_init(generator, device);
    *out = generator;
    return LT_OK;
}

void lt_generator_release(lt_generator *generator)
{
    if (generator == NULL) return;
    lt_generator_end(generator);
    lt_mem_free(generator);
}
