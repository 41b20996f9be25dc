/* measure.c - how long programs take from start to end, and how much memory: measure ROUNDS
 * PROGRAM...
 *
 * A round runs each program once, so that a machine that is busy for a while is busy for all. A
 * line for each: the shortest and the median wall time, the median time of the processor (ms), the
 * largest resident set (MB). */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_ROUNDS   1001
#define MAX_PROGRAMS 8

typedef struct figures {
    double wall[MAX_ROUNDS], cpu[MAX_ROUNDS];
    long resident; /* kB */
} figures;
static figures all[MAX_PROGRAMS];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double ms(struct timeval t) { return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3; }

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void run(const char *program, figures *f, int round)
{
    struct rusage used;
    int status = 1;
    const double start = now();
    const pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stdout) != NULL) execl(program, program, (char *)NULL);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0) {
        fprintf(stderr, "measure: %s failed\n", program);
        exit(1);
    }
    f->wall[round] = now() - start;
    f->cpu[round] = ms(used.ru_utime) + ms(used.ru_stime);
    if (used.ru_maxrss > f->resident) f->resident = used.ru_maxrss;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 0, n = argc - 2;
    if (rounds < 1 || rounds > MAX_ROUNDS || n < 1 || n > MAX_PROGRAMS) {
        fprintf(stderr, "usage: measure ROUNDS PROGRAM...\n");
        return 2;
    }
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < n; i++) run(argv[2 + i], &all[i], round);
    for (int i = 0; i < n; i++) {
        qsort(all[i].wall, (size_t)rounds, sizeof(double), ascending);
        qsort(all[i].cpu, (size_t)rounds, sizeof(double), ascending);
        printf("%.2f %.2f %.2f %.1f\n", all[i].wall[0], all[i].wall[rounds / 2],
               all[i].cpu[rounds / 2], (double)all[i].resident / 1e3);
    }
}
