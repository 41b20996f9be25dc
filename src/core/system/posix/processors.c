/* processors.c - see system/processors.h: Linux. */
#include "system/processors.h"

#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/auxv.h>
#include <sys/syscall.h>
#endif

_Static_assert(sizeof(lt_cpu_set) == sizeof(cpu_set_t), "the same bits");

/* On Linux, affinity and niceness belong to a thread, and the id of the process is that of its
 * first thread. */
bool lt_process_cpus(lt_cpu_set *set)
{
    cpu_set_t cpus;
    if (sched_getaffinity(getpid(), sizeof cpus, &cpus) != 0) return false;
    memcpy(set, &cpus, sizeof *set);
    return true;
}

void lt_thread_bind(const lt_cpu_set *set)
{
    cpu_set_t cpus;
    memcpy(&cpus, set, sizeof cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);
}

void lt_thread_add_nice(int n)
{
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, (id_t)getpid()) + n);
}

long lt_processors_online(void) { return sysconf(_SC_NPROCESSORS_ONLN); }

int64_t lt_cache_bytes(int level)
{
#ifdef _SC_LEVEL1_DCACHE_SIZE /* glibc */
    static const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                                _SC_LEVEL3_CACHE_SIZE};
    return sysconf(names[level - 1]);
#else
    (void)level;
    return 0;
#endif
}

bool lt_arm_has_dot(void)
{
#if defined(__aarch64__)
    return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
#else
    return false;
#endif
}

bool lt_tiles_request(void)
{
#ifdef SYS_arch_prctl
    /* fixed: ARCH_REQ_XCOMP_PERM and XFEATURE_XTILEDATA of Linux */
    enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
    return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
#else
    return false;
#endif
}
