/* budget.h - a limit for the loader of an untrusted file: a small file can request very much.
 *
 * A budget limits the host memory that the thread holds beyond what it held when the budget was
 * opened. Budgets nest: an allocation counts against every open budget of the thread. */
#ifndef LT_MEMORY_BUDGET_H
#define LT_MEMORY_BUDGET_H

#include <stdint.h>

#include "ltensor.h"

typedef struct lt_budget {
    int64_t live, limit; /* bytes */
    struct lt_budget *outer;
} lt_budget;

/* The limit for a file of `file_bytes`: the user's `requested` bytes, or, when that is 0, 64 times
 * the file and at least 256 MB. Numbers compress to a tenth at best, but deflate packs zeros to
 * 1/1032. */
int64_t lt_budget_for(int64_t file_bytes, int64_t requested);
#define LT_BUDGET_TIMES 64

/* Opens a budget. Close it in the same thread, the last one first. */
void lt_budget_open(lt_budget *budget, int64_t limit);
void lt_budget_close(lt_budget *budget);

/* Counts bytes that are about to be allocated elsewhere (by Lua, by a library), until the budgets
 * are closed. LT_ERR_MEMORY: they exceed a budget; nothing was counted. */
lt_status lt_budget_spend(int64_t bytes);

/* For limit.c. Counts bytes in every open budget. Returns the budget that they exceed, in which
 * case nothing was counted, or NULL. Negative bytes never exceed one; they make no more room than
 * there was at the start, since the memory may be older than the budget. */
const lt_budget *lt_budget_count(int64_t bytes);

/* The open budget that bytes exceed, and its error; LT_OK: none. */
lt_status lt_budget_error(int64_t bytes);

#endif
