/* ltensor_lua.h - the Lua binding, for a host that has a Lua 5.4 interpreter: the module `torch`,
 * and tensors that the host and its scripts share. What a tensor is stands in ltensor.h; the prompt
 * for hosts is ltensor_prompt.h.
 *
 * In Lua dimensions and indices count from 1, here from 0. A lua_State belongs to one thread at a
 * time; several states in one process are independent of each other, each with a context
 * (ltensor.h) of its own. Errors of Lua are raised: call these from a protected call, or before
 * there is anything to lose. Without a state (NULL) functions with a status are LT_ERR_TYPE, and
 * others do nothing.
 */
#ifndef LTENSOR_LUA_H
#define LTENSOR_LUA_H

#include "ltensor.h"

#ifdef __cplusplus
extern "C" {
#endif

struct lua_State;

/* Opens the module: leaves its table on the stack, for luaL_requiref and package.preload. */
LT_API int luaopen_torch(struct lua_State *L);

/* The context that scripts of the state work in: the module makes one when it is opened, unless one
 * was given by then. Functions of the module are in it while they run, on whatever thread; the
 * host's calls of ltensor.h stay in the host's. The state takes a reference of its own; coroutines
 * share it. May be given again later, between calls of scripts. LT_ERR_TYPE for NULL; raises Lua's
 * memory error before the module is opened. */
LT_API lt_status lt_lua_set_context(struct lua_State *L, lt_context *context);
/* Borrowed; NULL: none was given, and the module is not open. */
LT_API lt_context *lt_lua_context(struct lua_State *L);

/* A lua_Alloc by which all memory of a state counts against the host's limit of a context, which is
 * its first argument: lua_newstate(lt_lua_alloc, context). It must outlive the state. NULL is the
 * process's. */
LT_API void *lt_lua_alloc(void *context, void *old, size_t old_bytes, size_t bytes);

/* Pushes a tensor, which the script shares from then on (it takes a reference of its own). NULL
 * pushes nil. Raises Lua's memory error. */
LT_API void lt_lua_push(struct lua_State *L, lt_tensor *t);

/* The tensor at a stack index, borrowed as long as the value is on the stack; NULL when no tensor
 * is there. */
LT_API lt_tensor *lt_lua_tensor(struct lua_State *L, int index);

/* Pushes a capsule that owns a managed tensor of DLPack, for torch.from_dlpack. One that nobody
 * takes has its deleter called by the collector. May raise a Lua memory error: then it is still the
 * caller's. */
LT_API void lt_lua_push_dlpack(struct lua_State *L, void *managed, bool versioned);

/* Takes the managed tensor out of the capsule at a stack index (of torch.to_dlpack or
 * x:__dlpack__): it is the caller's. LT_ERR_TYPE when the value is no capsule, or was used
 * before. */
LT_API lt_status lt_lua_take_dlpack(struct lua_State *L, int index, void **managed,
                                    bool *versioned);

/* Pushes a capsule that owns a column of Arrow, for torch.from_arrow: schema and array are moved
 * into it. One that nobody takes is released by the collector. May raise a Lua memory error: then
 * both are still the caller's. */
LT_API void lt_lua_push_arrow(struct lua_State *L, struct ArrowSchema *schema,
                              struct ArrowArray *array);

/* Moves the column out of the capsule at a stack index (of torch.to_arrow or x:__arrow_c_array__):
 * it is the caller's. LT_ERR_TYPE when the value is no such capsule, or was used before. */
LT_API lt_status lt_lua_take_arrow(struct lua_State *L, int index, struct ArrowSchema *schema,
                                   struct ArrowArray *array);

#ifdef __cplusplus
}
#endif

#endif
