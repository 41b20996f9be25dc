/* error.h - sets the thread's error message; core functions report failures only this way. */
#ifndef LT_ERROR_H
#define LT_ERROR_H

#include "ltensor.h"

/* Formats the message and returns status. */
lt_status lt_error_set(lt_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

/* Copies a text of n bytes for a terminal or a log. Control characters, which a name in an
 * untrusted file may contain, become "\x1b"; line ends and tabs stay. Truncates to `room` bytes
 * including the final zero. Returns the length; with room 0, the length without truncation. Applied
 * to messages of lt_error_set and to lines of the log. */
size_t lt_printable(const char *text, size_t n, char *to, size_t room);

/* Use: `return lt_error(LT_ERR_..., "...", ...);` A macro, so that the compiler sees that the
 * result is not LT_OK. */
#define lt_error(status, ...) (lt_error_set((status), __VA_ARGS__), (status))

/* Returns the status of a failed call to the caller. Use it only where nothing has to be freed. */
#define LT_TRY(call)                                                                               \
    do {                                                                                           \
        lt_status try_status_ = (call);                                                            \
        if (__builtin_expect(try_status_ != LT_OK, 0)) return try_status_;                         \
    } while (0)

/* Sets the error "add(): argument 'self' must not be NULL"; returns LT_ERR_TYPE. */
lt_status lt_null_argument(const char *function, const char *argument) __attribute__((cold));
/* Returns an error if the argument is NULL. Call it first in functions of ltensor.h. */
#define LT_REQUIRE(argument)                                                                       \
    do {                                                                                           \
        if (__builtin_expect((argument) == NULL, 0)) return lt_null_argument(__func__, #argument); \
    } while (0)

/* LT_TRY for functions with one exit path: sets `status` and jumps to `done`. */
#define LT_CHECK(call)                                                                             \
    do {                                                                                           \
        status = (call);                                                                           \
        if (__builtin_expect(status != LT_OK, 0)) goto done;                                       \
    } while (0)

#endif
