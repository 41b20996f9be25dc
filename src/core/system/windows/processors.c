/* processors.c - see system/processors.h. Sets cover the first group of 64 processors. */
#include "system/processors.h"

#include <windows.h>

bool lt_process_cpus(lt_cpu_set *set)
{
    DWORD_PTR process, all;
    if (!GetProcessAffinityMask(GetCurrentProcess(), &process, &all) || process == 0) return false;
    *set = (lt_cpu_set){.bits = {process}};
    return true;
}

void lt_thread_bind(const lt_cpu_set *set)
{
    SetThreadAffinityMask(GetCurrentThread(), (DWORD_PTR)set->bits[0]);
}

/* Priorities of threads are relative to the one of the process. */
void lt_thread_add_nice(int n)
{
    SetThreadPriority(GetCurrentThread(),
                      n < 10 ? THREAD_PRIORITY_BELOW_NORMAL : THREAD_PRIORITY_LOWEST);
}

long lt_processors_online(void) { return (long)GetActiveProcessorCount(ALL_PROCESSOR_GROUPS); }

int64_t lt_cache_bytes(int level)
{
    SYSTEM_LOGICAL_PROCESSOR_INFORMATION info[1024];
    DWORD bytes = sizeof info;
    if (!GetLogicalProcessorInformation(info, &bytes)) return 0;
    for (DWORD i = 0; i < bytes / sizeof *info; i++)
        if (info[i].Relationship == RelationCache && info[i].Cache.Level == level &&
            info[i].Cache.Type != CacheInstruction)
            return info[i].Cache.Size;
    return 0;
}

bool lt_arm_has_dot(void) { return false; }

/* The amalgamation has no kernels with tiles. */
bool lt_tiles_request(void) { return false; }
