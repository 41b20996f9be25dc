/* limit.h - counts the memory that a context holds, and enforces its limits.
 *
 * `use` is LT_USE_HOST or LT_USE_DEVICE(i) (context.h). Memory is uncharged in the context in which
 * it was charged. All functions may be called from any thread. */
#ifndef LT_MEMORY_LIMIT_H
#define LT_MEMORY_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "context/context.h"
#include "ltensor.h"

/* Counts bytes in the thread's context; negative bytes were freed. False: they exceed the limit or
 * a budget (budget.h), and nothing was counted. */
bool lt_mem_charge(int use, int64_t bytes);

/* Charges bytes of host memory. When they exceed the limit, collects garbage and tries again.
 * False, with the error set: they still exceed it, and nothing was counted. */
bool lt_mem_reserve(size_t n);

/* Uncharges bytes of a context and drops the reference that was held for them. */
void lt_mem_uncharge(lt_context *c, int use, int64_t bytes);

/* Sets the error for bytes that exceed the limit of the thread's context. */
lt_status lt_mem_limit_error(int use, int64_t bytes);

/* Counts bytes against the host limit of c alone, without a budget. False: they exceed it, and
 * nothing was counted. */
bool lt_mem_count_host(lt_context *c, int64_t bytes);

/* realloc for memory that counts against the host limit of c; the caller stores its size (an
 * allocator of Lua). bytes 0 frees. NULL without a message: out of memory. Shrinking never fails.
 */
void *lt_mem_realloc_charged(lt_context *c, void *old, size_t old_bytes, size_t bytes);

/* Bytes that the thread's context holds on all devices. */
int64_t lt_mem_live(void);

/* Returns the maximum of the context's live host bytes since the last call, and resets it. */
int64_t lt_mem_reset_peak(void);

/* Runs a garbage collection of the calling interpreter. False: there is none, or it is already
 * collecting. */
bool lt_mem_reclaim(void);

#endif
