/* error.h - setting the thread's error message; the only way a core function reports a failure. */
#ifndef LT_ERROR_H
#define LT_ERROR_H

#include "ltensor.h"

/* Formats the message and returns status. */
lt_status lt_error_set(lt_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

/* Writes a text of n bytes for a terminal or a log: control characters, which a name in a
 * stranger's file may have, become "\x1b"; line ends and tabs stay. What does not fit into `room`
 * bytes with the zero byte at the end is left out. Gives the length; room 0: all that it would be.
 * Messages of lt_error_set and lines of the log are such texts. */
size_t lt_printable(const char *text, size_t n, char *to, size_t room);

/* `return lt_error(LT_ERR_..., "...", ...);` A macro, so that the compiler sees that the result is
 * no success. */
#define lt_error(status, ...) (lt_error_set((status), __VA_ARGS__), (status))

/* Runs a call that returns lt_status and hands its failure on. Only where nothing needs freeing. */
#define LT_TRY(call)                                                                               \
    do {                                                                                           \
        lt_status try_status_ = (call);                                                            \
        if (__builtin_expect(try_status_ != LT_OK, 0)) return try_status_;                         \
    } while (0)

/* Sets the error "add(): argument 'self' must not be NULL"; returns LT_ERR_TYPE. */
lt_status lt_null_argument(const char *function, const char *argument) __attribute__((cold));
/* Refuses a call whose argument is NULL; first of all in functions of ltensor.h. */
#define LT_REQUIRE(argument)                                                                       \
    do {                                                                                           \
        if (__builtin_expect((argument) == NULL, 0)) return lt_null_argument(__func__, #argument); \
    } while (0)

/* As LT_TRY for functions with one exit path: sets `status` and goes to `done`. */
#define LT_CHECK(call)                                                                             \
    do {                                                                                           \
        status = (call);                                                                           \
        if (__builtin_expect(status != LT_OK, 0)) goto done;                                       \
    } while (0)

#endif
