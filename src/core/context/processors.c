/* processors.c - see processors.h. A container without a cgroup namespace shows the path of its
 * cgroup as the host sees it, while its own cgroup is the root of the mount. So folders that do not
 * exist are skipped, and the root is always read. */
#include "processors.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/process.h"
#include "system/processors.h"
#include "system/threads.h"
#include "thread.h"

static _Atomic int default_threads; /* 0: not computed yet */

/* ---- cgroups --------------------------------------------------------------------------------- */

/* Reads up to two numbers of a file; a word that is not a number, such as "max", ends them. */
static int read_numbers(const char *folder, const char *name, double *numbers)
{
    char path[2 * FILENAME_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    if (file == NULL) return 0;
    const int n = fscanf(file, "%lf %lf", &numbers[0], &numbers[1]);
    fclose(file);
    return n;
}

/* Processors; INFINITY: no quota. */
static double quota_of(const char *folder)
{
    double v2[2], quota, period;
    if (read_numbers(folder, "cpu.max", v2) == 2) {
        quota = v2[0], period = v2[1];
    } else {
        double first[2], second[2];
        if (read_numbers(folder, "cpu.cfs_quota_us", first) < 1 ||
            read_numbers(folder, "cpu.cfs_period_us", second) < 1)
            return INFINITY;
        quota = first[0], period = second[0];
    }
    return quota > 0 && period > 0 ? quota / period : INFINITY;
}

/* The smallest quota of a cgroup and of those above it. root: the mount; folder has room for the
 * path and ends without a slash. */
static double smallest_quota(const char *root, char *folder)
{
    double quota = INFINITY;
    for (;;) {
        quota = fmin(quota, quota_of(folder));
        char *slash = strrchr(folder, '/');
        if (slash == NULL || strlen(folder) <= strlen(root)) return quota;
        *slash = '\0';
    }
}

/* Whether the controllers of a line, "cpu,cpuacct", include "cpu". */
static bool has_cpu(const char *controllers)
{
    const char *found = strstr(controllers, "cpu");
    for (; found != NULL; found = strstr(found + 1, "cpu"))
        if ((found == controllers || found[-1] == ',') && (found[3] == ',' || found[3] == '\0'))
            return true;
    return false;
}

int lt_cgroup_quota(const char *membership, const char *mounts)
{
    char line[FILENAME_MAX], root[FILENAME_MAX], folder[2 * FILENAME_MAX];
    double quota = INFINITY;
    FILE *file = fopen(membership, "re");
    if (file == NULL) return 0;
    while (fgets(line, sizeof line, file) != NULL) { /* "0::/path" or "4:cpu,cpuacct:/path" */
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (path == NULL) continue;
        *path++ = '\0';
        controllers++;
        if (*controllers != '\0' && !has_cpu(controllers)) continue;
        snprintf(root, sizeof root, *controllers != '\0' ? "%.1000s/%.1000s" : "%.1000s%.1000s",
                 mounts, controllers);
        snprintf(folder, sizeof folder, "%s%s", root, strcmp(path, "/") == 0 ? "" : path);
        quota = fmin(quota, smallest_quota(root, folder));
    }
    fclose(file);
    return isfinite(quota) ? (int)fmin(fmax(ceil(quota), 1), LT_MOST_THREADS) : 0;
}

/* ---- the process ----------------------------------------------------------------------------- */

int lt_processors_count(void)
{
    const lt_thread_settings settings = lt_thread_settings_get();
    lt_cpu_set cpus = settings.cpus;
    const bool known = settings.pinned || lt_process_cpus(&cpus);
    long n = known ? lt_cpu_set_count(&cpus) : lt_processors_online();
    const int quota = lt_cgroup_quota("/proc/self/cgroup", "/sys/fs/cgroup");
    if (quota > 0 && quota < n) n = quota;
    return n < 1 ? 1 : n < LT_MOST_THREADS ? (int)n : LT_MOST_THREADS;
}

int lt_default_threads(void)
{
    int n = atomic_load_explicit(&default_threads, memory_order_relaxed);
    if (n == 0) {
        const char *text = getenv("OMP_NUM_THREADS");
        const int wanted = text != NULL ? atoi(text) : 0, available = lt_processors_count();
        n = wanted > 0 && wanted < available ? wanted : available;
        atomic_store_explicit(&default_threads, n, memory_order_relaxed);
    }
    return n;
}

void lt_processors_recount(void) { atomic_store(&default_threads, 0); }

/* A server binds each of its forked processes to processors. */
__attribute__((constructor)) static void register_fork_handlers(void)
{
    lt_at_fork(NULL, NULL, lt_processors_recount);
}
