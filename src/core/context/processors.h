/* processors.h - the processors that the process may use, and the number of threads. */
#ifndef LT_PROCESSORS_H
#define LT_PROCESSORS_H

/* The processors of the configuration (thread.h), otherwise the ones in the affinity mask of the
 * process's first thread; at most as many as the cgroup's quota of time pays for. At least 1. */
int lt_processors_count(void);

/* As in PyTorch, one thread per processor, or $OMP_NUM_THREADS if that is fewer. Computed by the
 * first call, again after fork() and after lt_processors_recount. */
int lt_default_threads(void);
void lt_processors_recount(void);

/* The quota of a cgroup in processors, rounded up; 0: no quota. membership: a file like
 * /proc/self/cgroup; mounts: the folder of the mounted hierarchies, "/sys/fs/cgroup". Reads cpu.max
 * of version 2 and cpu.cfs_quota_us of version 1, of the cgroup and of those above it. */
int lt_cgroup_quota(const char *membership, const char *mounts);

#endif
