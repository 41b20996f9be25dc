/* watch.c - runs a program with limits and says how it ended.
 *
 *   watch [-m MEGABYTES] [-q SECONDS] [-s SECONDS] [-t SECONDS] LOG OUTPUT FOLDER PROGRAM
 *   [ARGUMENT...]
 *
 * The program runs in FOLDER, in a process group of its own, with a bound on its address space (-m;
 * 0 for none, as sanitizers need), on the size of the files that it writes and on their number,
 * without a terminal, and as nobody when the caller is root, so that no path it is given can do
 * harm. What it prints goes to OUTPUT. It writes a line to LOG before each thing that it does: when
 * LOG has not grown for -q seconds (default 2) the program gets SIGINT, as Ctrl-C sends it, and
 * must go on before its main thread has used -s seconds of the processor (default 4), else it
 * hangs: kernels that simulated GPUs have begun go on without it, as on real ones. A program that
 * ends by itself within -t seconds (default 600) is well. Printed is one line: "exit N", "signal
 * N", "hang" or "late", and before it "left N" for N processes that were left behind, each of which
 * is killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOBODY = 65534, MOST_WALL_SECONDS = 120, START_SECONDS = 120 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static off_t size_of(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? status.st_size : 0;
}

/* Seconds of the processor that the process's main thread has used. */
static double used_by(pid_t pid)
{
    char path[64], text[1024];
    unsigned long user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, (int)pid);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    const char *after_name = strrchr(text, ')');
    if (after_name)
        sscanf(after_name + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
               &system);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static void limit(int which, rlim_t most)
{
    struct rlimit bound = {most, most};
    setrlimit(which, &bound);
}

static void become(const char *output, const char *folder, unsigned long megabytes, char **argv)
{
    setpgid(0, 0);
    int in = open("/dev/null", O_RDONLY),
        out = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);
    if (in < 0 || out < 0 || chdir(folder) != 0) _exit(126);
    dup2(in, 0);
    dup2(out, 1);
    dup2(out, 2);
    for (int fd = 3; fd < 64; fd++) close(fd);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, (rlim_t)64 << 20);
    limit(RLIMIT_NOFILE, 256);
    if (megabytes > 0) limit(RLIMIT_AS, (rlim_t)megabytes << 20);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGINT, SIG_DFL);
    if (getuid() == 0 && (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
        _exit(126);
    execv(argv[0], argv);
    _exit(127);
}

/* Waits for the end of the group's first process; the word that says how it ended. */
static const char *wait_for(pid_t pid, const char *log, double quiet, double grace, double most,
                            int *number)
{
    double begin = now(), grown = begin, asked = 0, used = 0;
    off_t size = 0;
    for (;;) {
        int status;
        if (waitpid(pid, &status, WNOHANG) == pid) {
            *number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
            return WIFSIGNALED(status) ? "signal" : "exit";
        }
        off_t size_now = size_of(log);
        if (size_now != size) {
            size = size_now;
            grown = now();
            asked = 0;
        } else if (asked > 0) {
            if (used_by(pid) > used + grace || now() > asked + MOST_WALL_SECONDS) return "hang";
        } else if (now() > grown + (size > 0 ? quiet : START_SECONDS)) {
            asked = now();
            used = used_by(pid);
            kill(pid, SIGINT);
        }
        if (now() > begin + most) return "late";
        poll(NULL, 0, 5);
    }
}

/* Kills what is left of the group and of what the program started; how many processes that were. */
static int reap(pid_t group)
{
    int count = 0;
    usleep(200 * 1000); /* those that end when their parent does */
    while (waitpid(-1, NULL, WNOHANG) > 0) continue;
    kill(-group, SIGKILL);
    for (;;) {
        pid_t pid = waitpid(-1, NULL, 0);
        if (pid < 0) return count;
        count++;
    }
}

int main(int argc, char **argv)
{
    double quiet = 2, grace = 4, most = 600;
    unsigned long megabytes = 4096;
    int option, number = 0;
    while ((option = getopt(argc, argv, "+m:q:s:t:")) != -1) {
        switch (option) {
        case 'm': megabytes = strtoul(optarg, NULL, 10); break;
        case 'q': quiet = atof(optarg); break;
        case 's': grace = atof(optarg); break;
        case 't': most = atof(optarg); break;
        default: return 2;
        }
    }
    if (argc - optind < 4) {
        fprintf(stderr, "usage: watch [-m MEGABYTES] [-q SECONDS] [-s SECONDS] [-t SECONDS] "
                        "LOG OUTPUT FOLDER PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    const char *log = argv[optind], *output = argv[optind + 1], *folder = argv[optind + 2];
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t pid = fork();
    if (pid < 0) {
        perror("watch");
        return 2;
    }
    if (pid == 0) become(output, folder, megabytes, argv + optind + 3);
    setpgid(pid, pid);
    const char *end = wait_for(pid, log, quiet, grace, most, &number);
    bool by_itself = strcmp(end, "exit") == 0 || strcmp(end, "signal") == 0;
    if (!by_itself) {
        kill(-pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    int left = reap(pid);
    if (left > 0 && by_itself) printf("left %d\n", left);
    if (by_itself)
        printf("%s %d\n", end, number);
    else
        printf("%s\n", end);
    return 0;
}
