/* fuzz.c - types at random into a program's prompt on a pseudo-terminal, to see it crash or hang.
 *
 *   fuzz [-m MINUTES] [-s SEED] [-n SESSIONS] PROGRAM [ARGUMENT...]
 *
 * A session is a run of the program, in emacs or vi mode, that gets keys, control characters,
 * escape sequences, pastes, pieces of Lua, bytes that are no UTF-8 and changes of the terminal's
 * size. After every burst Ctrl-C and an expression must bring the prompt back. The program runs in
 * an empty folder of its own with /bin/true as its shell and its editor, so that nothing typed can
 * do harm. The seed is printed; session n of a seed types the same again (with -s SEED+n-1 as the
 * first one). Exit status: 0, or 1 with what was typed and seen last.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KEPT = 4096, HANG_SECONDS = 60 };

static const char *const pieces[] = {
    "for i = 1, 3 do",
    "end",
    "while true do end",
    "repeat until false",
    "function f(x)",
    "if x then",
    "else",
    "local x = ",
    "local t = {1, 2, a = {}}",
    "t.",
    "x:",
    "return ",
    "print(",
    ")",
    "{",
    "}",
    "[[",
    "]]",
    "--[[",
    "-- ",
    "'",
    "\"",
    "torch.",
    "torch.ones(3, 3)",
    "torch.randn(400, 400):matmul(torch.randn(400, 400))",
    "x = torch.arange(12):view(3, 4)",
    "x:sum{",
    "dim = ",
    "device = '",
    "nn.Linear(2, 3)",
    "error('e')",
    "error({})",
    "error()",
    "coroutine.wrap(function() while true do coroutine.yield() end end)",
    "setmetatable({}, {__tostring = function() return {} end})",
    "setmetatable({}, {__index = error})",
    "string.rep('ab', 1000)",
    "{{{{{}}}}}",
    "math.huge",
    "1 + 1",
    "_",
    "Out[1]",
    "In",
    "?",
    "??",
    "?torch.sum",
    "%time ",
    "%timeit -n 2 -r 2 ",
    "%who",
    "%reset",
    "%reset out",
    "%history",
    "%memory",
    "%gpus",
    "%copies",
    "%debug",
    "%debug 1 ",
    "%config ",
    "%config editing vi",
    "%config editing emacs",
    "%config traceback full",
    "%export x.md",
    "%export x.ipynb",
    "%save s.lua",
    "%load s.lua",
    "%run s.lua",
    "%edit",
    "%nonsense",
    "!ls",
    "!{x}",
    "goto a",
    "::a::",
    "<const>",
    "\\",
    "0x",
    "1e",
    "= = ",
    ";",
    "\n",
    "pcall(error)",
    "io.read()",
    "table.sort({3, 1, 2}, function() return true end)",
    "local function r() return r() end r()",
    "local function d() return 1 + d() end d()",
    "In [3]: x = 4\n   ...: y\nOut[3]: 5\n",
    "x = 4\r\nx\r\n",
    "e\xCC\x81\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA9",
    "dwd$cwP.u~rxfxtx;,bBeEwW0^$",
    "%time while true do end",
    "a\tb\t\tc",
    "中文 = 1",
    "'日本語'",
    "é",
    "🙂",
};
static const char *const sequences[] = {
    "\033[A",    "\033[A\033[A", "\033[B",   "\033[C",   "\033[D",        "\033[H", "\033[F",
    "\033[3~",   "\033[5~",      "\033[6~",  "\033OA",   "\033OB",        "\033b",  "\033f",
    "\033d",     "\033\177",     "\033.",    "\033\r",   "\033<",         "\033>",  "\033[1;5C",
    "\033[200~", "\033[201~",    "\033[",    "\033",     "\033[999;999H", "\033u",  "\033c",
    "\033t",     "\0332",        "\033-",    "\033?",    "\033*",         "\033#",  "\033&",
    "\033~",     "\033\t",       "\030\030", "\030\022", "\030(",         "\030)",  "\030e",
    "\030\025",
};

static uint64_t state;

static uint32_t random_below(uint32_t n) /* xorshift64* (S. Vigna) */
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)((state * 0x2545F4914F6CDD1DULL) >> 33) % n;
}

static int terminal;
static pid_t child;
static char typed[KEPT], seen[KEPT]; /* rings */
static size_t typed_count, seen_count;
static int ctrl_c_count; /* since the prompt was last known to answer */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void keep(char *ring, size_t *count, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) ring[(*count)++ % KEPT] = text[i];
}

static void print_ring(const char *title, const char *ring, size_t count)
{
    printf("--- %s\n", title);
    for (size_t i = count > KEPT ? count - KEPT : 0; i < count; i++) {
        unsigned char c = (unsigned char)ring[i % KEPT];
        if (c == '\n' || (c >= 32 && c != 127 && c < 128 && c != '\\'))
            putchar(c);
        else
            printf("\\x%02X", c);
    }
    printf("\n");
}

static bool ended; /* the program has closed its terminal */

/* Reads what there is for up to `seconds`; returns the bytes read now. */
static size_t read_some(double seconds)
{
    char block[8192];
    struct pollfd wait = {terminal, POLLIN, 0};
    if (ended || poll(&wait, 1, (int)(seconds * 1000)) <= 0) return 0;
    ssize_t n = read(terminal, block, sizeof block);
    if (n <= 0) {
        ended = n < 0 && errno == EIO; /* nothing read is no end of a terminal */
        return 0;
    }
    keep(seen, &seen_count, block, (size_t)n);
    return (size_t)n;
}

/* Types, reading meanwhile: the program may not read before its output has been taken. */
static void type(const char *text, size_t size)
{
    double deadline = now() + HANG_SECONDS;
    keep(typed, &typed_count, text, size);
    for (size_t done = 0; done < size && !ended && now() < deadline;) {
        ssize_t n = write(terminal, text + done, size - done);
        if (n > 0) {
            done += (size_t)n;
        } else if (errno != EINTR && errno != EAGAIN) {
            return;
        }
        read_some(n > 0 ? 0 : 0.01);
    }
}

static void type_text(const char *text) { type(text, strlen(text)); }

#define ONE_OF(list) (list)[random_below(sizeof(list) / sizeof *(list))]

static void paste(void)
{
    type_text("\033[200~");
    for (uint32_t n = 1 + random_below(8); n > 0; n--) {
        type_text(ONE_OF(pieces));
        type_text(random_below(2) ? "\n" : " ");
    }
    type_text("\033[201~");
}

static void resize(void)
{
    struct winsize size = {.ws_row = (unsigned short)(1 + random_below(50)),
                           .ws_col =
                               (unsigned short)(1 + random_below(random_below(4) ? 120 : 12))};
    ioctl(terminal, TIOCSWINSZ, &size);
}

static void act(void)
{
    char key[16];
    size_t n = 0;
    switch (random_below(16)) {
    case 0:
    case 1:
    case 2: type_text(ONE_OF(pieces)); break;
    case 3:
    case 4: type_text("\r"); break;
    case 5:
        for (n = 0; n < 1 + random_below(12); n++) key[n] = (char)(32 + random_below(95));
        type(key, n);
        break;
    case 6:
    case 7: type_text(ONE_OF(sequences)); break;
    case 8:
        key[0] = (char)random_below(32);
        /* Ctrl-\ asks for a core file; Ctrl-D ends sessions too often */
        if (key[0] == 28 || (key[0] == 4 && random_below(8))) key[0] = '\t';
        ctrl_c_count += key[0] == 3;
        type(key, 1);
        break;
    case 9:
        type_text("\t");
        if (random_below(2)) type_text("\t");
        break;
    case 10: paste(); break;
    case 11: resize(); break;
    case 12:
        for (n = 0; n < 1 + random_below(6); n++) key[n] = (char)(128 + random_below(128));
        type(key, n);
        break;
    case 13:
        type_text("\022"); /* Ctrl-R */
        type_text(ONE_OF(pieces));
        break;
    case 14:
        for (n = random_below(10); n > 0; n--) type_text("\177");
        break;
    default: read_some(random_below(20) * 1e-3);
    }
}

static bool was_seen(const char *text, size_t from)
{
    size_t length = strlen(text);
    for (size_t at = from; at + length <= seen_count; at++) {
        size_t i = 0;
        while (i < length && seen[(at + i) % KEPT] == text[i]) i++;
        if (i == length) return true;
    }
    return false;
}

/* Whether Ctrl-C and an expression bring an answer, or the program has ended. */
static bool answers(unsigned number)
{
    char expression[64], answer[64];
    double deadline = now() + HANG_SECONDS;
    struct winsize size = {.ws_row = 24, .ws_col = 100};
    ioctl(terminal, TIOCSWINSZ, &size);
    snprintf(expression, sizeof expression, "'sy' .. 'nc' .. %u\r", number);
    snprintf(answer, sizeof answer, "'sync%u'", number);
    for (int turn = 0; now() < deadline && !ended; turn++) {
        if (turn < 2 ||
            turn % 4 ==
                0) { /* a running cell is stopped by the first, the line dropped by the next */
            type_text("\021\003");
            ctrl_c_count++;
            for (double quiet = now() + 0.1; now() < quiet && !ended;) read_some(0.02);
        }
        size_t from = seen_count;
        type_text(expression);
        for (double end = now() + 1; now() < end && !ended;) {
            read_some(0.05);
            if (seen_count > from + KEPT / 2) from = seen_count - KEPT / 2;
            if (was_seen(answer, from)) return true;
        }
    }
    return ended;
}

static void fail(unsigned long seed, const char *why)
{
    printf("\nseed %lu: %s\n", seed, why);
    print_ring("typed last", typed, typed_count);
    print_ring("seen last", seen, seen_count);
    kill(child, SIGKILL);
    exit(1);
}

static void start(char **argv)
{
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    ended = false;
    typed_count = seen_count = 0;
    ctrl_c_count = 0;
    child = forkpty(&terminal, NULL, NULL, &size);
    if (child < 0) {
        perror("forkpty");
        exit(2);
    }
    if (child == 0) {
        execvp(argv[0], argv);
        _exit(127);
    }
    fcntl(terminal, F_SETFL, fcntl(terminal, F_GETFL) | O_NONBLOCK);
}

/* Waits for the end of the program and judges it. */
static void finish(unsigned long seed)
{
    char why[64];
    int status;
    double begin = now(), told = begin - 1;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (now() > begin + HANG_SECONDS) fail(seed, "does not end");
        if (!ended && now() > told + 1) { /* one that comes before the prompt is lost */
            type_text("\004");
            told = now();
        }
        read_some(0.01);
        usleep(1000);
    }
    close(terminal);
    if (WIFEXITED(status) && WEXITSTATUS(status) <= 1) return;
    /* a third Ctrl-C during a cell ends the program, as documented */
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT && ctrl_c_count >= 3) return;
    snprintf(why, sizeof why, WIFSIGNALED(status) ? "ended by signal %d" : "ended with status %d",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    fail(seed, why);
}

static void session(unsigned long seed, char **argv)
{
    state = (uint64_t)seed * 0x9E3779B97F4A7C15ULL + 1;
    setenv("INPUTRC", random_below(2) ? "vi.inputrc" : "/dev/null", 1);
    start(argv);
    for (double limit = now() + HANG_SECONDS;
         !was_seen("In [1]", 0);) { /* until then Ctrl-C ends it */
        read_some(0.1);
        if (ended || now() > limit) fail(seed, "no prompt");
    }
    for (unsigned burst = 1, bursts = 1 + random_below(12); burst <= bursts && !ended; burst++) {
        for (uint32_t n = 1 + random_below(60); n > 0 && !ended; n--) {
            act();
            read_some(0);
        }
        if (!answers(burst)) fail(seed, "does not answer");
        ctrl_c_count = ended ? ctrl_c_count : 0;
    }
    finish(seed);
}

/* An empty folder to run in, which also takes the history. */
static void isolate(void)
{
    char folder[] = "/tmp/fuzz-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0) {
        perror(folder);
        exit(2);
    }
    setenv("HOME", folder, 1);
    setenv("XDG_STATE_HOME", folder, 1);
    setenv("XDG_CONFIG_HOME", folder, 1);
    setenv("SHELL", "/bin/true", 1);
    setenv("EDITOR", "/bin/true", 1);
    setenv("PAGER", "cat", 1);
    FILE *settings = fopen("vi.inputrc", "w");
    if (settings) {
        fputs("set editing-mode vi\n", settings);
        fclose(settings);
    }
    setenv("TERM", "xterm-256color", 1);
    unsetenv("VISUAL");
    unsetenv("LTENSOR_INIT");
}

int main(int argc, char **argv)
{
    double minutes = 10;
    unsigned long seed = (unsigned long)time(NULL), sessions = 0;
    int option;
    while ((option = getopt(argc, argv, "+m:s:n:")) != -1) {
        if (option == 'm')
            minutes = atof(optarg);
        else if (option == 's')
            seed = strtoul(optarg, NULL, 10);
        else if (option == 'n')
            sessions = strtoul(optarg, NULL, 10);
        else
            return 2;
    }
    if (optind >= argc) {
        fprintf(stderr, "usage: fuzz [-m MINUTES] [-s SEED] [-n SESSIONS] PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    char *program = realpath(argv[optind], NULL);
    if (!program) {
        perror(argv[optind]);
        return 2;
    }
    argv[optind] = program;
    signal(SIGPIPE, SIG_IGN);
    isolate();
    printf("seed %lu\n", seed);
    fflush(stdout);
    double begin = now(), told = begin;
    unsigned long done = 0;
    while (sessions ? done < sessions : now() - begin < minutes * 60) {
        session(seed + done++, argv + optind);
        if (now() - told >= 60) {
            told = now();
            printf("%lu sessions\n", done);
            fflush(stdout);
        }
    }
    printf("%lu sessions, none crashed or hung\n", done);
    free(program);
    return 0;
}
