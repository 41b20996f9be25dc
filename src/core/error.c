/* error.c - the thread's error message. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char message[1024] = "no error";

lt_status lt_error_set(lt_status status, const char *format, ...)
{
    /* The old message may be an argument of the new one. */
    char text[sizeof message];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    lt_printable(text, strlen(text), message, sizeof message);
    return status;
}

/* The length of the control character at p that could affect a terminal; 0: there is none. */
static int control_bytes(const unsigned char *p, size_t left)
{
    if (*p == '\n' || *p == '\t') return 0;
    if (*p < 0x20 || *p == 0x7f) return 1;
    return *p == 0xc2 && left > 1 && p[1] >= 0x80 && p[1] < 0xa0 ? 2 : 0; /* U+0080 to U+009F */
}

size_t lt_printable(const char *text, size_t n, char *to, size_t room)
{
    static const char digits[] = "0123456789abcdef";
    size_t length = 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned char *p = (const unsigned char *)text + i;
        const int bytes = control_bytes(p, n - i);
        char escaped[4] = {*(const char *)p};
        size_t size = 1;
        if (bytes > 0) {
            const unsigned char code = p[bytes - 1];
            memcpy(escaped, (char[]){'\\', 'x', digits[code >> 4], digits[code & 15]}, size = 4);
            i += (size_t)bytes - 1;
        }
        if (room > 0 && length + size >= room) break;
        if (room > 0) memcpy(to + length, escaped, size);
        length += size;
    }
    if (room > 0) to[length] = '\0';
    return length;
}

lt_status lt_null_argument(const char *function, const char *argument)
{
    return lt_error(LT_ERR_TYPE, "%s(): argument '%s' must not be NULL", function, argument);
}

const char *lt_error_message(void) { return message; }
