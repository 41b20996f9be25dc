/* saved_copies.h - torch.autograd.graph.allow_mutation_on_saved_tensors: while a scope is open on
 * this thread, a tensor saved for backward is copied before its memory is first written in place
 * (copy-on-write), so writing it is no error. */
#ifndef LT_SAVED_COPIES_H
#define LT_SAVED_COPIES_H

#include "context/context.h"
#include "ltensor.h"

/* Opens a scope and installs its saved-tensor hooks. LT_ERR_RUNTIME if this thread has one. */
lt_status lt_saved_copies_open(void);
/* Closes the scope, if one is open, and removes its hooks. Tensors saved in it remain valid until
 * they are written. */
void lt_saved_copies_close(void);

/* The caller is about to write t's memory, and lt_tls.saved_copies is set: copies the tensors
 * saved in the scope that use this memory. */
lt_status lt_copy_saved(const lt_tensor *written);

#endif
