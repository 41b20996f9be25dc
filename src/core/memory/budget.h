/* budget.h - a limit for the loader of an untrusted file: a small file can request a lot of memory.
 *
 * A budget limits the increase of the thread's host memory since the budget was opened. Budgets
 * nest: an allocation counts against every open budget of the thread. */
#ifndef LT_MEMORY_BUDGET_H
#define LT_MEMORY_BUDGET_H

#include <stdint.h>

#include "ltensor.h"

typedef struct lt_budget {
    int64_t live, limit; /* bytes */
    struct lt_budget *outer;
} lt_budget;

/* The limit for a file of `file_bytes`: `requested` bytes from the user, or, if that is 0, 64 times
 * the file and at least 256 MB. Numbers compress to a tenth at best, but deflate packs zeros to
 * 1/1032. */
int64_t lt_budget_for(int64_t file_bytes, int64_t requested);
#define LT_BUDGET_TIMES 64

/* Opens a budget. Close it in the same thread, the last one first. */
void lt_budget_open(lt_budget *budget, int64_t limit);
void lt_budget_close(lt_budget *budget);

/* Counts bytes that are about to be allocated elsewhere (by Lua, by a library), until the budgets
 * are closed. LT_ERR_MEMORY: they exceed a budget, and nothing was counted. */
lt_status lt_budget_spend(int64_t bytes);

/* For limit.c. Counts bytes in every open budget. Returns the budget that they exceed, in which
 * case nothing was counted, or NULL. Negative bytes never exceed one. Freeing memory that is older
 * than the budget does not raise its limit. */
const lt_budget *lt_budget_count(int64_t bytes);

/* Sets the error if bytes exceed an open budget; else returns LT_OK. */
lt_status lt_budget_error(int64_t bytes);

#endif
