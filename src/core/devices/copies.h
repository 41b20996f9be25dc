/* copies.h - the ledger of copies between devices and of synchronizations.
 *
 * Each transfer is recorded with its cause. The binding sets the cause of implicit transfers
 * (print, item, tolist, index) and provides the source line; core's ops set their own (to, copy_,
 * nonzero). An implicit transfer is logged when a source line first causes it, and totals are
 * logged at exit. Each context has a ledger. Thread-safe. */
#ifndef LT_COPIES_H
#define LT_COPIES_H

#include "ltensor.h"

typedef struct lt_copy_entry {
    lt_device from, to;
    int64_t count, bytes;
    double waited;    /* seconds */
    char cause[64];   /* "print", "item", "to", ... */
    char origin[192]; /* "train.lua:31", "(cell 7)"; "" if unknown */
    bool implicit, noted;
} lt_copy_entry; /* entries are merged by (from, to, cause, origin) */

/* Sets this thread's cause and returns the previous one, which the caller restores. Implicit causes
 * are logged. name NULL means "to" (explicit). */
typedef struct lt_copy_cause {
    const char *name;
    bool implicit;
} lt_copy_cause;
lt_copy_cause lt_copies_set_cause(lt_copy_cause cause);
/* Sets an implicit cause and returns the previous one, which the caller restores. An implicit cause
 * that is set already is kept: an outer operation is the cause of the copies of its parts. */
lt_copy_cause lt_copies_imply(const char *name);
/* The name of the current cause, by default "to". */
const char *lt_copies_cause(void);

/* Writes the interpreter's current source line (lt_tls.binding), "file:line"; "" if unknown. */
void lt_copies_origin(char *buffer, size_t n);

/* Records one transfer. bytes 0: a wait without a copy. waited: seconds. */
void lt_copies_record(lt_device from, lt_device to, int64_t bytes, double waited);

void lt_copies_show(bool on); /* default: on unless LTENSOR_COPIES=0 */
bool lt_copies_reported(void);
void lt_copies_reset(void);
/* Copies the entries with this cause (NULL: all) to a new array; free *out by lt_mem_free. */
lt_status lt_copies_list(const char *cause, lt_copy_entry **out, int64_t *n);
/* Logs the implicit entries with count > 1, at exit. */
void lt_copies_summary(void);

/* torch.cuda.set_sync_debug_mode: 0 off, 1 warn, 2 error. */
void lt_copies_set_sync_mode(int mode);
int lt_copies_sync_mode(void);
/* Call before an implicit synchronization: LT_ERR_RUNTIME in mode 2, a warning in mode 1. */
lt_status lt_copies_check_sync(const char *what);

#endif
