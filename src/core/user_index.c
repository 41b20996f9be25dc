/* user_index.c - see user_index.h. */
#include "user_index.h"

#include "context/context.h"
#include "devices/backend.h"
#include "error.h"
#include "ltensor_messages.h"

lt_status lt_set_first_index(int number)
{
    static const lt_host_binding_class from_one = {.first = 1}; /* callbacks are optional */
    if (number != 0 && number != 1)
        return lt_error(LT_ERR_RUNTIME, "lt_set_first_index(): the first index is 0 or 1, not %d",
                        number);
    lt_tls.binding = (lt_host_binding){number == 1 ? &from_one : NULL, NULL};
    return LT_OK;
}

static int first(void) { return lt_tls.binding.class != NULL ? lt_tls.binding.class->first : 0; }

/* The index 0 in an interpreter that counts from 1. If the caller counts from 0,
 * LT_INDEX_NO_POSITION is an ordinary number. */
static bool is_no_position(int64_t index) { return index == LT_INDEX_NO_POSITION && first() != 0; }

long long lt_user_index(int64_t index)
{
    if (is_no_position(index)) return 0;
    if (index >= 0) return index + first();
    return index == INT64_MIN ? index : index | LT_INDEX_FROM_END;
}

const char *lt_user_index_reason(int64_t index)
{
    return is_no_position(index) ? ": positions count from 1" : "";
}

lt_status lt_index_error(const char *before, int64_t index, int dim, int64_t size,
                         const char *after)
{
    return lt_error(LT_ERR_INDEX,
                    "%sindex %lld is out of bounds for dimension %lld with size %lld%s%s", before,
                    lt_user_index(index), lt_user_index(dim), (long long)size,
                    lt_user_index_reason(index), after);
}
