/* pty.c - drives a program on a pseudo-terminal, for tests of the prompt.
 *
 *   pty COMMAND [ARGUMENT...] < SCRIPT
 *
 * The script's lines: `send TEXT` types the text (\t \r \n \e \\ \xHH are escapes); `expect TEXT`
 * waits until the program has written the text, after what earlier expects matched; `within
 * MILLISECONDS` sets the limit of the next expect (else 20 s); `sleep MILLISECONDS`; `reject TEXT`
 * fails when the text was written since the last match; `size COLUMNS ROWS` changes the terminal's
 * size (100 by 24 at first, or PTY_COLUMNS by PTY_ROWS of the environment); `print` prints what was
 * written between the last two matches, and a zero byte; `screen` prints the screen's rows, the
 * cursor's place, and a zero byte, when the program waits; `time` prints the milliseconds from the
 * start to the last match, and how long the program had a processor until now; `wait` waits for the
 * end of the program. Exit status: 0 when all went as the script says, 1 otherwise (with a
 * transcript on stderr), 2 for a faulty script. The program's own exit status is printed by `wait`.
 */
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "screen.h"

static int terminal;
static pid_t child;
static char output[1 << 20];
static size_t length, matched;      /* bytes written so far; where the next expect starts to look */
static size_t between, between_end; /* what was written between the last two matches */
static double started, last_match;  /* when */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void stop(int status, const char *why, const char *what)
{
    if (why) {
        fprintf(stderr, "pty: %s: %s\n--- output since the last match\n", why, what);
        fwrite(output + matched, 1, length - matched, stderr);
        fprintf(stderr, "\n--- all output\n");
        fwrite(output, 1, length, stderr);
        fprintf(stderr, "\n---\n");
    }
    kill(child, SIGKILL);
    exit(status);
}

/* Replaces the escapes in place; returns the length. */
static size_t unescape(char *text)
{
    char *to = text;
    for (char *from = text; *from; from++) {
        if (*from != '\\') {
            *to++ = *from;
            continue;
        }
        switch (*++from) {
        case 't': *to++ = '\t'; break;
        case 'r': *to++ = '\r'; break;
        case 'n': *to++ = '\n'; break;
        case 'e': *to++ = '\033'; break;
        case 'x': {
            char digits[3] = {from[1], from[1] ? from[2] : '\0', '\0'};
            *to++ = (char)strtol(digits, NULL, 16);
            from += strlen(digits);
            break;
        }
        default: *to++ = *from; break;
        }
    }
    *to = '\0';
    return (size_t)(to - text);
}

/* Reads what the program writes for up to `seconds`; false at its end. */
static int read_some(double seconds)
{
    struct pollfd wait = {terminal, POLLIN, 0};
    if (poll(&wait, 1, seconds > 0 ? (int)(seconds * 1000) + 1 : 0) <= 0) return 1;
    ssize_t n = read(terminal, output + length, sizeof output - length);
    if (n <= 0) return 0;
    screen_take(output + length, (size_t)n);
    length += (size_t)n;
    return 1;
}

static void expect(const char *text, size_t size, double limit)
{
    double deadline = now() + limit;
    int open = 1;
    for (;;) {
        char *found = memmem(output + matched, length - matched, text, size);
        if (found) {
            between = matched;
            between_end = (size_t)(found - output);
            matched = between_end + size;
            last_match = now();
            return;
        }
        double left = deadline - now();
        if (left <= 0 || !open)
            stop(1, open ? "not seen in time" : "the program ended before", text);
        open = read_some(left);
    }
}

/* Bytes that the program has read so far, from wherever; 0 where the system does not say. */
static long long bytes_read(void)
{
    char path[64];
    long long n = 0;
    snprintf(path, sizeof path, "/proc/%d/io", (int)child);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "rchar: %lld", &n) != 1) n = 0;
    if (file) fclose(file);
    return n;
}

static long long typed, read_before; /* since the last screen, and before that */

/* Whether the terminal makes a signal of the byte instead of handing it over. */
static int is_kept(char c)
{
    static const int of[] = {VINTR, VQUIT, VSUSP};
    struct termios settings;
    if (tcgetattr(terminal, &settings) != 0 || !(settings.c_lflag & ISIG)) return 0;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (settings.c_cc[of[i]] == (unsigned char)c) return 1;
    return 0;
}

static void type(const char *text, size_t size)
{
    if (typed == 0) read_before = bytes_read();
    for (size_t i = 0; i < size; i++) typed += !is_kept(text[i]);
    for (size_t done = 0; done < size;) {
        ssize_t n = write(terminal, text + done, size - done);
        if (n < 0 && errno != EINTR) stop(1, "cannot type", strerror(errno));
        if (n > 0) done += (size_t)n;
    }
}

static void pause_for(double seconds)
{
    for (double end = now() + seconds; now() < end;)
        if (!read_some(end - now())) return;
}

static void resize(const char *text)
{
    struct winsize size = {.ws_row = 24};
    sscanf(text, "%hu %hu", &size.ws_col, &size.ws_row);
    screen_resize(size.ws_col, size.ws_row);
    ioctl(terminal, TIOCSWINSZ, &size);
}

/* Whether the program sleeps, which it does when it has nothing left to read. */
static int is_sleeping(void)
{
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)child);
    FILE *file = fopen(path, "r");
    if (!file) return 1;
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    char *end = n > 0 ? strrchr(text, ')') : NULL;
    return !end || end[2] != 'R';
}

/* Seconds that the program's first thread has had a processor; 0 where the system does not say. */
static double processor_time(void)
{
    char path[64];
    double nanoseconds = 0;
    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)child);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%lf", &nanoseconds) != 1) nanoseconds = 0;
    if (file) fclose(file);
    return nanoseconds * 1e-9;
}

/* What the program shows once it has dealt with all that was typed: it has read as many bytes, or
 * does not within ten seconds, and has since neither written nor run for a while. */
static void print_screen(void)
{
    const double start = now(), all_read = start + 10, deadline = start + 20;
    for (int quiet = 0; quiet < 2 && now() < deadline;) {
        const size_t before = length;
        const double worked = processor_time();
        pause_for(0.005);
        const int is_read = bytes_read() - read_before >= typed || now() > all_read;
        quiet = is_read && length == before && processor_time() == worked && is_sleeping()
                    ? quiet + 1
                    : 0;
    }
    typed = 0;
    screen_print();
}

static unsigned short from_environment(const char *name, unsigned short otherwise)
{
    const char *text = getenv(name);
    return text ? (unsigned short)atoi(text) : otherwise;
}

static void wait_for_end(void)
{
    double deadline = now() + 20;
    int status;
    while (read_some(0.05) && now() < deadline) continue;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (now() > deadline) stop(1, "still running", "wait");
        usleep(10000);
    }
    if (WIFSIGNALED(status))
        printf("signal %d\n", WTERMSIG(status));
    else
        printf("exit %d\n", WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
    static char line[1 << 16];
    struct winsize size = {.ws_row = from_environment("PTY_ROWS", 24),
                           .ws_col = from_environment("PTY_COLUMNS", 100)};
    double limit = 20;
    if (argc < 2) {
        fprintf(stderr, "usage: pty COMMAND [ARGUMENT...] < SCRIPT\n");
        return 2;
    }
    setlocale(LC_CTYPE, "C.UTF-8");
    screen_resize(size.ws_col, size.ws_row);
    started = now();
    child = forkpty(&terminal, NULL, NULL, &size);
    if (child == 0) {
        execvp(argv[1], argv + 1);
        perror(argv[1]);
        _exit(127);
    }
    if (child < 0) {
        perror("forkpty");
        return 2;
    }
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        char *text = strchr(line, ' ');
        if (text)
            *text++ = '\0';
        else
            text = line + strlen(line);
        if (strcmp(line, "send") == 0) {
            type(text, unescape(text));
        } else if (strcmp(line, "expect") == 0) {
            expect(text, unescape(text), limit);
            limit = 20;
        } else if (strcmp(line, "reject") == 0) {
            size_t n = unescape(text);
            if (memmem(output + matched, length - matched, text, n)) stop(1, "was written", text);
        } else if (strcmp(line, "within") == 0) {
            limit = atof(text) / 1000;
        } else if (strcmp(line, "sleep") == 0) {
            pause_for(atof(text) / 1000);
        } else if (strcmp(line, "print") == 0) {
            fwrite(output + between, 1, between_end - between, stdout);
            putchar('\0');
        } else if (strcmp(line, "time") == 0) {
            printf("%.3f %.3f\n", (last_match - started) * 1e3, processor_time() * 1e3);
        } else if (strcmp(line, "screen") == 0) {
            print_screen();
        } else if (strcmp(line, "size") == 0) {
            resize(text);
        } else if (strcmp(line, "wait") == 0) {
            wait_for_end();
        } else if (line[0] != '\0') {
            stop(2, "no such command", line);
        }
    }
    stop(0, NULL, NULL);
}
