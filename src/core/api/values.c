/* values.c - checks tagged values of callers, copies results to them, and copies their strings. */
#include "values.h"

#include <string.h>

#include "error.h"
#include "memory/alloc.h"

/* The size of a value in the first version: programs compiled against it stay compatible. */
#define FIRST_SIZE 24
_Static_assert(sizeof(lt_value) >= FIRST_SIZE, "values only grow");
#define LARGEST 4096

lt_status lt_host_value_check(const char *function, const char *what, int i, const lt_value *value,
                              uint32_t size)
{
    if (value->size < FIRST_SIZE || value->size > LARGEST || value->size % 8 != 0 ||
        value->size != size)
        return lt_error(LT_ERR_TYPE,
                        "%s(): %s %d is not a value: its size is %u; create values with "
                        "lt_value_int() or another lt_value_ function",
                        function, what, i, (unsigned)value->size);
    if (value->kind < LT_KIND_NONE || value->kind > LT_KIND_TABLE)
        return lt_error(
            LT_ERR_TYPE,
            "%s(): %s %d is of kind %d, which this version of the library does not support",
            function, what, i, (int)value->kind);
    return LT_OK;
}

void lt_value_hand_over(const lt_value *made, int n, lt_value *results)
{
    const uint32_t size = results->size;
    for (int i = 0; i < n; i++) {
        lt_value *to = (lt_value *)lt_value_at(results, i);
        memcpy(to, &made[i], size < sizeof *to ? size : sizeof *to);
        to->size = size;
    }
}

lt_status lt_value_own_text(const char *s, size_t n, lt_value *out)
{
    char *copy = lt_mem_alloc(n + 1);
    if (copy == NULL) return LT_ERR_MEMORY;
    memcpy(copy, s, n);
    copy[n] = '\0';
    *out = lt_value_of(LT_KIND_STRING);
    out->v.text.s = copy, out->v.text.n = (int64_t)n;
    return LT_OK;
}

size_t lt_value_text_size(const lt_value *value)
{
    return value->v.text.n > 0 ? (size_t)value->v.text.n : strlen(value->v.text.s);
}
