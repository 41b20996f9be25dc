/* copies.h - the ledger of copies between devices and of waits for them.
 *
 * Every transfer is entered here with its cause. The binding sets the cause for what it does on the
 * user's behalf (print, item, tolist, index) and provides the source line; core's own ops set
 * theirs (to, copy_, nonzero). Implicit causes are noted on stderr the first time a source line
 * does it, and summed at exit. Each context has a ledger. Thread-safe. */
#ifndef LT_COPIES_H
#define LT_COPIES_H

#include "ltensor.h"

typedef struct lt_copy_entry {
    lt_device from, to;
    int64_t count, bytes;
    double waited;    /* seconds */
    char cause[64];   /* "print", "item", "to", ... */
    char origin[192]; /* "train.lua:31", "(cell 7)", "" when unknown */
    bool implicit, noted;
} lt_copy_entry; /* entries are merged by (from, to, cause, origin) */

/* Sets this thread's cause until it is set back; returns the previous one. `implicit` causes are
 * shown. cause NULL means "to" (explicit). */
typedef struct lt_copy_cause {
    const char *name;
    bool implicit;
} lt_copy_cause;
lt_copy_cause lt_copies_set_cause(lt_copy_cause cause);
/* The name of the cause that is set; "to" when none is. */
const char *lt_copies_cause(void);

/* Writes where the user's code is now ("file:line", by lt_tls's guest); "" when unknown. */
void lt_copies_origin(char *buffer, size_t n);

/* Enters one transfer (bytes 0: a wait alone). */
void lt_copies_record(lt_device from, lt_device to, int64_t bytes, double waited);

void lt_copies_show(bool on); /* default: on unless LTENSOR_COPIES=0 */
bool lt_copies_reported(void);
void lt_copies_reset(void);
/* Copies the entries whose cause matches (NULL: all) into a fresh array; *out by lt_mem_free. */
lt_status lt_copies_list(const char *cause, lt_copy_entry **out, int64_t *n);
/* The summary at exit on stderr: implicit entries with count > 1. */
void lt_copies_summary(void);

/* torch.cuda.set_sync_debug_mode: 0 off, 1 warn, 2 error. */
void lt_copies_set_sync_mode(int mode);
int lt_copies_sync_mode(void);
/* LT_ERR_RUNTIME in mode 2, a warning in mode 1; called before an implicit wait. */
lt_status lt_copies_check_sync(const char *what);

#endif
