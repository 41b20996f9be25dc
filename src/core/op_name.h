/* op_name.h - the name of the op that the user called, for errors that a kernel finds later. The
 * outermost op wins: an error in a gather inside cross_entropy names cross_entropy. Per thread. Set
 * only by ops with position arguments (scripts/gen/autograd.lua), since only they can fail this
 * way. */
#ifndef LT_OP_NAME_H
#define LT_OP_NAME_H

#include <stddef.h>

extern _Thread_local const char *lt_op_name;

static inline const char *lt_op_enter(const char *name)
{
    const char *outer = lt_op_name;
    if (outer == NULL) lt_op_name = name;
    return outer;
}

static inline void lt_op_leave(const char *const *outer) { lt_op_name = *outer; }

/* Sets the name until the end of the block. name must be a static string. */
#define LT_OP_NAME(name)                                                                           \
    __attribute__((cleanup(lt_op_leave))) const char *const outer_op_name = lt_op_enter(name);     \
    (void)outer_op_name

#endif
