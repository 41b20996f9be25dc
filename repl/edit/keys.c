/* keys.c - the bytes that readline reads from the terminal: whole characters, sanitized pastes, and
 * Ctrl-C.
 *
 * Readline receives only input that it can handle. A part of a character or a NUL in its buffer
 * makes vi motions loop forever, and a paste without its end is read beyond its memory. Therefore:
 * - a character of several bytes is passed on when it is complete; invalid and unprintable
 *   characters become U+FFFD;
 * - a paste has lines with one end character and no NUL, and its end is sent even after Ctrl-C;
 * - the buffer is checked before each wait, because commands of readline can still split a
 *   character.
 * For readline, Ctrl-C is the end of input, after which it returns from every mode. Includes
 * readline, display.h and interrupt.h; does not include Lua. */
#include "keys.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#ifdef LT_LIBEDIT
#include <editline/readline.h>
#define INTERRUPT_MARK "^C\n"
#else
#include <readline/readline.h>
#define INTERRUPT_MARK "^C" /* it ends the line itself */
#endif

#include "display.h"
#include "../system/interrupt.h"

enum { REST_OF_CHARACTER_MS = 100, CANCEL = 7 }; /* CANCEL: Ctrl-G */

static const char paste_start[] = "\033[200~", paste_end[] = "\033[201~";

static bool interrupted; /* Ctrl-C was pressed while this line was read */
static void (*handle_signal)(void);

static unsigned char queue[MB_LEN_MAX + sizeof paste_end]; /* bytes to be read by readline */
static size_t first, last;
static int put_back = EOF; /* a byte that was read but is not part of the preceding character */
static bool pasting;       /* between paste_start and paste_end */
static size_t matched;     /* length of the prefix of the next marker that was just read */
static bool after_return;
static bool end_given; /* the end of a paste was sent at the end of input */

static void enqueue(const char *bytes, size_t size)
{
    memcpy(queue, bytes, size);
    first = 0;
    last = size;
}

/* ---- bytes from the terminal ----------------------------------------------------------------- */

/* The next byte, or EOF at the end of input and after Ctrl-C; SIGINT is blocked except in ppoll
 * with `mask`. With a limit, EOF also after that time. */
static int wait_for_byte(int terminal, const sigset_t *mask, const struct timespec *limit)
{
    struct pollfd wait = {terminal, POLLIN, 0};
    unsigned char byte;
    while (!interrupted && !(interrupted = interrupt_while_editing() || interrupt_is_due())) {
        int ready = ppoll(&wait, 1, limit, mask);
        if (ready == 0) return EOF;
        if (ready < 0) {
            if (errno != EINTR) return EOF;
            handle_signal();
            continue;
        }
        ssize_t n = read(wait.fd, &byte, 1);
        if (n == 1) return byte;
        if (n < 0 && errno != EINTR) return EOF;
        if (n == 0 && (wait.revents & (POLLHUP | POLLERR))) return EOF;
    }
    return EOF;
}

/* SIGINT remains unblocked while readline works: Ctrl-C makes the terminal discard its output, and
 * a blocked write is not notified of the free space, so the signal must end it. */
static int read_byte(int terminal, const struct timespec *limit)
{
    sigset_t blocked, mask;
    if (put_back != EOF) {
        int byte = put_back;
        put_back = EOF;
        return byte;
    }
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    sigprocmask(SIG_BLOCK, &blocked, &mask);
    int byte = wait_for_byte(terminal, &mask, limit);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return byte;
}

/* ---- interpretation of bytes ----------------------------------------------------------------- */

/* The number of bytes of the character at the start of `text`; 0 if readline cannot handle it.
 * Readline treats unprintable characters (U+0085, U+2028, unassigned ones) as empty, so vi motions
 * never advance over them. */
static size_t character_size(const char *text, size_t size)
{
    wchar_t wide;
    mbstate_t state;
    memset(&state, 0, sizeof state);
    size_t used = mbrtowc(&wide, text, size, &state);
    if (used == 0 || used > size) return 0;
    return used > 1 && wcwidth(wide) < 0 ? 0 : used;
}

#ifdef LT_LIBEDIT
static bool is_searching(void) { return false; }
static bool follows_escape(void) { return false; }
static bool waits_for_byte(void) { return false; }
static void repair_line(void) {}
#else

static bool is_searching(void) { return RL_ISSTATE(RL_STATE_ISEARCH | RL_STATE_NSEARCH) != 0; }

/* True if readline reads the next byte with Meta. */
static bool follows_escape(void) { return RL_ISSTATE(RL_STATE_METANEXT) != 0; }

/* True if a command reads more bytes: a paste, or a single byte. */
static bool waits_for_byte(void) { return RL_ISSTATE(RL_STATE_MOREINPUT) != 0; }

/* Replaces invalid bytes of the line and moves the cursor to a character boundary. */
static void repair_line(void)
{
    for (int i = 0, size; i < rl_end; i += size) {
        size_t used = character_size(rl_line_buffer + i, (size_t)(rl_end - i));
        bool whole = used > 0;
        size = whole ? (int)used : 1;
        if (!whole && (MB_CUR_MAX > 1 || !rl_line_buffer[i])) rl_line_buffer[i] = '?';
        if (rl_point > i && rl_point < i + size) rl_point = i;
    }
}

#endif

/* Tracks the markers of pastes; false for a byte of a paste that must be dropped. */
static bool note_paste(int byte)
{
    const char *mark = pasting ? paste_end : paste_start;
    bool drop = pasting && (byte == '\0' || (byte == '\n' && after_return));
    after_return = byte == '\r' || (after_return && byte == '\0');
    if (drop) return false; /* readline drops it with its neighbours */
    matched = byte == mark[matched] ? matched + 1 : byte == mark[0];
    if (mark[matched] == '\0') {
        pasting = !pasting;
        matched = 0;
    }
    return true;
}

/* Queues the character that begins with `byte`. */
static void complete_character(int terminal, int byte)
{
    static const struct timespec limit = {0, REST_OF_CHARACTER_MS * 1000000L};
    char bytes[MB_LEN_MAX], replacement[MB_LEN_MAX];
    size_t size = 0, used;
    mbstate_t state;
    memset(&state, 0, sizeof state);
    for (;;) {
        bytes[size] = (char)byte;
        used = mbrlen(bytes + size++, 1, &state);
        if (used != (size_t)-2 || size == sizeof bytes) break;
        byte = read_byte(terminal, &limit);
        if (byte == EOF) break;
    }
    if (used != (size_t)-1 && used != (size_t)-2 && character_size(bytes, size) > 0) {
        enqueue(bytes, size);
        return;
    }
    if (used == (size_t)-1 && size > 1) put_back = byte;
    memset(&state, 0, sizeof state);
    used = wcrtomb(replacement, L'\uFFFD', &state);
    if (used == (size_t)-1)
        enqueue("?", 1);
    else
        enqueue(replacement, used);
}

/* The input for readline at the end of input. A paste must end, also one that a keyboard macro
 * started; another command that waits for a byte receives the first byte that ends it. */
static int key_at_end(void)
{
    if (!pasting && (end_given || !waits_for_byte())) return EOF;
    pasting = false;
    end_given = true;
    enqueue(paste_end, strlen(paste_end));
    return queue[first++];
}

/* The input for readline after Ctrl-C. A search must be left by Ctrl-G first, or the undo list of
 * the line is freed twice; if the search reads that as text, the next input is the end of input. */
static int key_after_interrupt(void)
{
    static bool turn;
    int key = key_at_end();
    if (key != EOF) return key;
    turn = !turn && is_searching();
    return turn ? CANCEL : EOF;
}

static void show_interrupt(void)
{
    display_finish();
    display_stop();
    fputs(INTERRUPT_MARK, rl_outstream);
}

/* The next input from the queue: a byte, for libedit a whole character. */
static int next_queued(void)
{
#ifdef LT_LIBEDIT
    wchar_t wide;
    mbstate_t state;
    memset(&state, 0, sizeof state);
    size_t used = mbrtowc(&wide, (const char *)queue + first, last - first, &state);
    if (used > 0 && used <= last - first) {
        first += used;
        return (int)wide;
    }
#endif
    return queue[first++];
}

/* ---- the interface --------------------------------------------------------------------------- */

void keys_begin(void (*on_signal)(void))
{
    handle_signal = on_signal;
    interrupt_while_editing(); /* drop a signal that arrived earlier */
    interrupted = pasting = after_return = end_given = false;
    first = last = matched = 0;
}

bool keys_interrupted(void) { return interrupted; }

int keys_read(FILE *stream)
{
    int byte;
    if (first < last) return next_queued();
    repair_line();
    bool before = interrupted;
    do byte = read_byte(fileno(stream), NULL);
    while (byte != EOF && !note_paste(byte));
    if (interrupted && !before) show_interrupt();
    if (byte == EOF) return interrupted ? key_after_interrupt() : key_at_end();
    if (byte < 0x80 || MB_CUR_MAX == 1 || follows_escape()) return byte;
    complete_character(fileno(stream), byte);
    return next_queued();
}

#ifdef LT_LIBEDIT
int keys_available(void) { return first < last; }
#else
int keys_available(void)
{
    struct pollfd wait = {fileno(rl_instream), POLLIN, 0};
    if (first < last || put_back != EOF) return 1;
    return poll(&wait, 1, rl_set_keyboard_input_timeout(-1) / 1000) > 0;
}
#endif
