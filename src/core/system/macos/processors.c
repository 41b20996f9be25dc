/* processors.c - see system/processors.h. macOS does not bind threads to processors. */
#include "system/processors.h"

#include <stddef.h>
#include <sys/sysctl.h>
#include <sys/types.h>
#include <unistd.h>

bool lt_process_cpus(lt_cpu_set *set)
{
    (void)set;
    return false;
}

void lt_thread_bind(const lt_cpu_set *set) { (void)set; }

void lt_thread_add_nice(int n) { (void)n; }

long lt_processors_online(void) { return sysconf(_SC_NPROCESSORS_ONLN); }

int64_t lt_cache_bytes(int level)
{
    static const char *const names[] = {"hw.l1dcachesize", "hw.l2cachesize", "hw.l3cachesize"};
    int64_t bytes = 0;
    size_t size = sizeof bytes;
    return sysctlbyname(names[level - 1], &bytes, &size, NULL, 0) == 0 ? bytes : 0;
}

bool lt_arm_has_dot(void)
{
#if defined(__aarch64__)
    return true;
#else
    return false;
#endif
}

bool lt_tiles_request(void) { return false; }
