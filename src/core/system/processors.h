/* processors.h - processors: the ones of the process and of a thread, priorities, caches. */
#ifndef LT_SYSTEM_PROCESSORS_H
#define LT_SYSTEM_PROCESSORS_H

#include <stdbool.h>
#include <stdint.h>

/* fixed: processors of a set, as in glibc's cpu_set_t */
#define LT_CPU_SET_SIZE 1024

typedef struct lt_cpu_set {
    uint64_t bits[LT_CPU_SET_SIZE / 64];
} lt_cpu_set;

/* cpu: 0 to LT_CPU_SET_SIZE - 1. */
static inline bool lt_cpu_set_has(const lt_cpu_set *set, int cpu)
{
    return (set->bits[cpu / 64] >> (cpu % 64) & 1) != 0;
}

static inline void lt_cpu_set_add(lt_cpu_set *set, int cpu)
{
    set->bits[cpu / 64] |= (uint64_t)1 << (cpu % 64);
}

static inline int lt_cpu_set_count(const lt_cpu_set *set)
{
    int n = 0;
    for (int i = 0; i < LT_CPU_SET_SIZE / 64; i++) n += __builtin_popcountll(set->bits[i]);
    return n;
}

/* The processors that the system assigns to the process's first thread. False: the system has more
 * processors than a set, or does not report them. */
bool lt_process_cpus(lt_cpu_set *set);

/* Binds the calling thread to the processors of a set. Does nothing on systems that cannot. */
void lt_thread_bind(const lt_cpu_set *set);

/* Sets the niceness of the calling thread to the one of the process plus n > 0. Does nothing on
 * systems without niceness of threads. */
void lt_thread_add_nice(int n);

/* The number of processors that are online; at most 0: unknown. */
long lt_processors_online(void);

/* Bytes of a cache per core, level 1 (data) to 3; at most 0: unknown. */
int64_t lt_cache_bytes(int level);

/* Whether the system reports an arm64 processor with dot products of bytes. */
bool lt_arm_has_dot(void);

/* Systems that permit AMX tiles. On 64-bit Windows GCC's header does not assemble. */
#if defined(__linux__)
#define LT_SYSTEM_TILES
#endif

/* Requests the state of AMX tiles for the process. False: the system does not permit it. */
bool lt_tiles_request(void);

#endif
