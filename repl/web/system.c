/* system.c - functions of Linux for WebAssembly, which has one thread, no processes and no shared libraries.
 *
 * A function that cannot work fails with ENOSYS. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static int absent(void)
{
    errno = ENOSYS;
    return -1;
}

/* fixed: WebAssembly addresses 4 GB, and the memory of a simulated GPU is allocated as a whole. */
__attribute__((constructor)) static void set_device_memory(void)
{
    setenv("LTENSOR_SIM_MEMORY", "128M", 0);
}

/* ---- shared libraries ------------------------------------------------------------------------ */

void *dlopen(const char *path, int mode)
{
    (void)path, (void)mode;
    return NULL;
}

void *dlsym(void *library, const char *name)
{
    (void)library, (void)name;
    return NULL;
}

int dlclose(void *library)
{
    (void)library;
    return 0;
}

int dladdr(const void *address, Dl_info *info)
{
    (void)address, (void)info;
    return 0;
}

int dl_iterate_phdr(int (*visit)(struct dl_phdr_info *, size_t, void *), void *data)
{
    (void)visit, (void)data;
    return 0;
}

void *__tls_get_addr(size_t *variable)
{
    (void)variable;
    return NULL;
}

void *emscripten_return_address(int level)
{
    (void)level;
    return NULL;
}

/* ---- processes, processors, timers ----------------------------------------------------------- */

int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const argv[], char *const environment[])
{
    (void)pid, (void)file, (void)actions, (void)attributes, (void)argv, (void)environment;
    return ENOSYS;
}

int prctl(int option, ...)
{
    (void)option;
    return absent();
}

int sched_getaffinity(pid_t pid, size_t n, cpu_set_t *set)
{
    (void)pid, (void)n, (void)set;
    return absent();
}

int sched_setaffinity(pid_t pid, size_t n, const cpu_set_t *set)
{
    (void)pid, (void)n, (void)set;
    return absent();
}

int __sched_cpucount(size_t n, const cpu_set_t *set)
{
    (void)n, (void)set;
    return 1;
}

int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer)
{
    (void)clock, (void)event, (void)timer;
    return absent();
}

int timer_settime(timer_t timer, int flags, const struct itimerspec *set, struct itimerspec *old)
{
    (void)timer, (void)flags, (void)set, (void)old;
    return absent();
}

int timer_delete(timer_t timer)
{
    (void)timer;
    return absent();
}

/* ---- files ----------------------------------------------------------------------------------- */

int memfd_create(const char *name, unsigned flags)
{
    (void)name, (void)flags;
    return absent();
}

ssize_t getrandom(void *bytes, size_t n, unsigned flags)
{
    (void)flags;
    return getentropy(bytes, n) == 0 ? (ssize_t)n : -1;
}

/* Instead of Emscripten's, whose file loses the writes to a duplicate of its descriptor. The files are in memory, and stay
 * until the program ends. */
FILE *tmpfile(void)
{
    static unsigned count;
    char path[32];
    snprintf(path, sizeof path, "/tmp/unnamed_%u", count++);
    return fopen(path, "w+");
}
