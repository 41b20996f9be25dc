/* saved_copies.h - tensors that may be written although they were saved for backward: while a scope
 * is open on this thread, what is saved in it is copied just before its memory is written for the
 * first time (torch.autograd.graph.allow_mutation_on_saved_tensors). */
#ifndef LT_SAVED_COPIES_H
#define LT_SAVED_COPIES_H

#include "context/context.h"
#include "ltensor.h"

/* Opens a scope and makes its hooks those that see what is saved. LT_ERR_RUNTIME where one is open
 * on this thread. */
lt_status lt_saved_copies_open(void);
/* Closes it, where one is open; its hooks see nothing more. What was saved in it stays as it was
 * saved, as long as nobody writes it. */
void lt_saved_copies_close(void);

/* Who is about to write t's memory asks where lt_tls.saved_copies is set: what was saved of it in
 * the scope is copied. */
lt_status lt_copy_saved(const lt_tensor *written);

#endif
