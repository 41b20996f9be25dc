/* budget.c - see budget.h. */
#include "budget.h"

#include "saturating.h"
#include "context/context.h"
#include "error.h"

int64_t lt_budget_for(int64_t file_bytes, int64_t requested)
{
    const int64_t minimum = (int64_t)256 << 20, usual = lt_mul_sat(file_bytes, LT_BUDGET_TIMES);
    return requested > 0 ? requested : usual > minimum ? usual : minimum;
}

void lt_budget_open(lt_budget *budget, int64_t limit)
{
    *budget = (lt_budget){.limit = limit, .outer = lt_tls.budget};
    lt_tls.budget = budget;
}

void lt_budget_close(lt_budget *budget) { lt_tls.budget = budget->outer; }

static lt_budget *exceeded_budget(int64_t bytes)
{
    lt_budget *b = lt_tls.budget;
    while (b != NULL && bytes <= b->limit - b->live) b = b->outer;
    return b;
}

const lt_budget *lt_budget_count(int64_t bytes)
{
    const lt_budget *exceeded = bytes > 0 ? exceeded_budget(bytes) : NULL;
    if (exceeded != NULL) return exceeded;
    for (lt_budget *b = lt_tls.budget; b != NULL; b = b->outer)
        b->live = b->live + bytes > 0 ? b->live + bytes : 0;
    return NULL;
}

lt_status lt_budget_error(int64_t bytes)
{
    const lt_budget *b = exceeded_budget(bytes);
    if (b == NULL) return LT_OK;
    return lt_error(LT_ERR_MEMORY,
                    "loading the file needs %lld more bytes of memory, but %lld of the %lld bytes "
                    "that it may use are in use; raise the loader's option max_memory",
                    (long long)bytes, (long long)b->live, (long long)b->limit);
}

lt_status lt_budget_spend(int64_t bytes)
{
    return lt_budget_count(bytes) == NULL ? LT_OK : lt_budget_error(bytes);
}
