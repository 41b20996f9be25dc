/* assertion.h - LT_ASSERT checks invariants that hold for every input.
 *
 * - A failure is a defect of ltensor: file, line, expression and values are printed, then abort()
 *   is called. Wrong input is an error instead (error.h).
 * - Builds with ASSERT=no, such as packages, do not evaluate the expression.
 * - Expressions have no side effects and cost a few instructions; a check that walks a list is a
 *   function of its own, named `is_...` or `are_...`.
 * - Sources include this file, headers do not: changing ASSERT then rebuilds only these sources. It
 *   includes nothing of ltensor; backends and engines may include it too. */
#ifndef LT_ASSERTION_H
#define LT_ASSERTION_H

#include "assert_config.h"
#include "assertion.h"

#if LT_ASSERTIONS

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((cold, noinline, noreturn, unused, format(printf, 4, 5))) static void
lt_assertion_failed(const char *file, int line, const char *expression, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fprintf(stderr, "%s:%d: assertion failed: %s", file, line, expression);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
    abort();
}

/* LT_ASSERT(refs > 0, "refs %d", refs): format and values are optional. */
#define LT_ASSERT(expression, ...)                                                                 \
    (__builtin_expect(!!(expression), 1)                                                           \
         ? (void)0                                                                                 \
         : lt_assertion_failed(__FILE__, __LINE__, #expression, "; " __VA_ARGS__))

/* Whether any thread holds the mutex; the assertion presumes that it is this one. */
#define LT_IS_LOCKED(mutex) (pthread_mutex_trylock(mutex) != 0)

/* Marks a freed object, so that assertions detect its use. */
#define LT_POISON(lvalue, value) ((void)((lvalue) = (value)))

#else

#define LT_ASSERT(expression, ...) ((void)(0 && (expression)))
#define LT_IS_LOCKED(mutex)        true
#define LT_POISON(lvalue, value)   ((void)0)

#endif

#endif
