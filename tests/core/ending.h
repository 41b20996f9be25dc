/* ending.h - for tests of headers with Lua: a call whose memory ends at any of its requests. Lua
 * collects and asks again when it gets no memory: here there is none then, either. */
#ifndef LT_TEST_ENDING_H
#define LT_TEST_ENDING_H

#include "failing.h"

/* Memory ends at the first request of a call, at a later one, ..., at most `points` of them; how
 * often the call then failed. clean: called after each failure; NULL: nothing is left. */
static inline int end_at_requests(const char *name, lt_status (*call)(void), void (*clean)(void),
                                  int64_t points)
{
    int failures = 0;
    int64_t before = requests;
    if (call() != LT_OK) complain("%s: %s\n", name, lt_error_message());
    const int64_t most = requests - before, step = most / points + 1;
    for (int64_t n = 1; n <= most; n += step) {
        lt_error_set(LT_OK, "%s", "");
        none_from = requests + n;
        const lt_status status = call();
        none_from = 0;
        if (clean != NULL) clean();
        const bool told = status != LT_ERR_MEMORY || strstr(lt_error_message(), "memory") != NULL;
        if ((status != LT_OK && status != LT_ERR_MEMORY) || !told)
            complain("%s: no memory from request %lld of %lld on: status %d, %s\n", name,
                     (long long)n, (long long)most, (int)status, lt_error_message());
        failures += status != LT_OK;
    }
    if (call() != LT_OK) complain("%s: not usable afterwards: %s\n", name, lt_error_message());
    return failures;
}

#endif
