/* ltensor_messages.h - messages of the library for a host that counts from 1. ltensor.h does not
 * include it.
 *
 * A binding of such a language (Lua, R, Julia, Fortran) converts dimensions and indices from 1 to 0
 * before its calls, and index tensors, in which INT64_MIN represents the invalid index 0. Messages
 * then have the numbers of its users. */
#ifndef LTENSOR_MESSAGES_H
#define LTENSOR_MESSAGES_H

#include "ltensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In messages of this thread, dimensions and indices count from `first`: 0 (the default) or 1.
 * LT_ERR_RUNTIME: another number. Functions that run Lua (ltensor_lua.h, ltensor_script.h,
 * ltensor_model.h) count from 1 while they run, and restore the number. */
LT_API lt_status lt_set_first_index(int first);

#ifdef __cplusplus
}
#endif

#endif
