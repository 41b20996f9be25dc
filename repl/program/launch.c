/* launch.c - `ltensor --nproc 4 train.lua`: becomes an mpirun that starts the program on this
 * machine.
 *
 * Ranks are not bound to processors, because each has a communication thread; OMP_NUM_THREADS
 * divides the processors unless it is set. If there are more ranks than processors, waiting ranks
 * yield. On a terminal, each line is prefixed by its rank. LTENSOR_MPI=openmpi|mpich selects one of
 * two installed MPIs. With --max-restarts, the process stays beside mpirun and starts it again
 * after a failure. Includes the C library only. */
#include "launch.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct mpi {
    const char *name, *command;
    const char *version; /* the output of mpirun --version */
} mpi;

static const mpi mpis[] = {{"openmpi", "mpirun.openmpi", "Open MPI"},
                           {"mpich", "mpirun.mpich", "HYDRA"}};
enum { MPIS = sizeof mpis / sizeof *mpis };

static bool is_on_path(const char *command)
{
    const char *path = getenv("PATH");
    char file[4096];
    while (path != NULL && *path != '\0') {
        const size_t n = strcspn(path, ":");
        snprintf(file, sizeof file, "%.*s/%s", (int)n, path, command);
        if (n > 0 && access(file, X_OK) == 0) return true;
        path += n + (path[n] == ':');
    }
    return false;
}

/* The MPI to which the command `mpirun` belongs; NULL if it is unknown. */
static const mpi *plain_mpirun(void)
{
    char text[4096];
    const mpi *found = NULL;
    FILE *pipe = popen("mpirun --version 2>/dev/null", "r");
    if (pipe == NULL) return NULL;
    const size_t n = fread(text, 1, sizeof text - 1, pipe);
    text[n] = '\0';
    pclose(pipe);
    for (int i = 0; i < MPIS; i++)
        if (strstr(text, mpis[i].version) != NULL) found = &mpis[i];
    return found;
}

/* Returns the MPI, and its mpirun in *command. */
static const mpi *choose_mpi(const char **command)
{
    const char *wanted = getenv("LTENSOR_MPI");
    for (int i = 0; i < MPIS; i++) {
        if (wanted != NULL && strcmp(wanted, mpis[i].name) != 0) continue;
        *command = mpis[i].command;
        if (is_on_path(*command)) return &mpis[i];
    }
    const mpi *plain = is_on_path("mpirun") ? plain_mpirun() : NULL;
    *command = "mpirun";
    return plain == NULL || (wanted != NULL && strcmp(wanted, plain->name) != 0) ? NULL : plain;
}

static void share_processors(int ranks)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    char threads[24];
    snprintf(threads, sizeof threads, "%ld", processors > ranks ? processors / ranks : 1);
    setenv("OMP_NUM_THREADS", threads, 0);
    if (processors < 2L * ranks) setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
}

static volatile sig_atomic_t stopped, child;

static void stop_child(int signal)
{
    stopped = 1;
    if (child > 0) kill((pid_t)child, signal);
}

/* Runs the command and returns its exit status; -1: it could not be started. */
static int run_once(const char *command, const char **words)
{
    int status;
    const pid_t pid = fork();
    if (pid < 0) return -1;
    if (pid == 0) {
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        execvp(command, (char **)words);
        _exit(127);
    }
    child = pid;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return -1;
    child = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Restarts a failing command, at most `restarts` times, unless this process is terminated. */
static int run_again(const char *command, const char **words, int restarts)
{
    const struct sigaction action = {.sa_handler = stop_child};
    char count[24];
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    for (int n = 0;; n++) {
        snprintf(count, sizeof count, "%d", n);
        setenv("TORCHELASTIC_RESTART_COUNT", count, 1);
        const int status = run_once(command, words);
        if (status < 0 || status == 127)
            fprintf(stderr, "ltensor: %s: %s\n", command,
                    status < 0 ? strerror(errno) : "cannot be run");
        if (status <= 0 || status == 127 || stopped || n == restarts)
            return status < 0 ? EXIT_FAILURE : status;
        fprintf(
            stderr,
            "ltensor: the ranks have ended with exit status %d and are started again (%d of %d)\n",
            status, n + 1, restarts);
    }
}

int launch_ranks(int ranks, int restarts, bool prompt, int argc, char **argv)
{
    const char *command = NULL;
    const mpi *chosen = choose_mpi(&command);
    char program[4096], count[24];
    if (chosen == NULL) {
        const char *wanted = getenv("LTENSOR_MPI");
        fprintf(stderr,
                "ltensor: --nproc needs an mpirun%s%s, and none was found; on Debian and Ubuntu: "
                "apt-get install openmpi-bin (or mpich)\n",
                wanted ? " of LTENSOR_MPI=" : "", wanted ? wanted : "");
        return EXIT_FAILURE;
    }
    const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    const char **words = calloc((size_t)argc + 16, sizeof *words);
    if (n < 0 || words == NULL) {
        fprintf(stderr, "ltensor: --nproc: %s\n", strerror(errno));
        free(words);
        return EXIT_FAILURE;
    }
    program[n] = '\0';
    snprintf(count, sizeof count, "%d", ranks);
    share_processors(ranks);
    int used = 0;
    words[used++] = command;
    if (chosen == &mpis[0]) {
        if (geteuid() == 0) words[used++] = "--allow-run-as-root";
        words[used++] = "--oversubscribe";
        words[used++] = "--bind-to";
        words[used++] = "none";
        if (isatty(STDOUT_FILENO)) words[used++] = "--tag-output";
    } else if (isatty(STDOUT_FILENO)) {
        words[used++] = "-prepend-rank";
    }
    words[used++] = "-n";
    words[used++] = count;
    words[used++] = program;
    /* mpirun connects rank 0's stdin to a pipe, not to the terminal */
    if (prompt) words[used++] = "-i";
    for (int i = 1; i < argc; i++) words[used++] = argv[i];
    if (restarts > 0) {
        const int status = run_again(command, words, restarts);
        free(words);
        return status;
    }
    execvp(command, (char **)words);
    fprintf(stderr, "ltensor: %s: %s\n", command, strerror(errno));
    free(words);
    return EXIT_FAILURE;
}
