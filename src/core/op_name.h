/* op_name.h - which op a user called, while it runs: kernels that find a fault only later report it
 * by this name. The outermost op wins: what cross_entropy gathers is said to be cross_entropy's.
 * Per thread. Only ops that take positions set it (scripts/gen/autograd.lua), as only they can fail
 * that way. */
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

/* From here to the end of the block. name lives as long as the program. */
#define LT_OP_NAME(name)                                                                           \
    __attribute__((cleanup(lt_op_leave))) const char *const outer_op_name = lt_op_enter(name);     \
    (void)outer_op_name

#endif
