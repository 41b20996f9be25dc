/* error.c - the thread's error message. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char message[1024] = "no error";

lt_status lt_error_set(lt_status status, const char *format, ...)
{
    /* The old message may be an argument of the new one. */
    char text[sizeof message];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(message, sizeof message, "%s", text);
    return status;
}

lt_status lt_null_argument(const char *function, const char *argument)
{
    return lt_error(LT_ERR_TYPE, "%s(): argument '%s' must not be NULL", function, argument);
}

const char *lt_error_message(void) { return message; }
