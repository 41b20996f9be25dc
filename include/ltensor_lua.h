/* ltensor_lua.h - the Lua binding for a host with a Lua 5.4 interpreter: the module `torch`, and
 * tensors that host and scripts share. For tensors, see ltensor.h; for the prompt,
 * ltensor_prompt.h.
 *
 * - In Lua, dimensions and indices count from 1; here they count from 0.
 * - A lua_State belongs to one thread at a time. Several states are independent; each has its own
 *   context (ltensor.h).
 * - These functions raise Lua errors: call them from a protected call.
 * - Without a state (NULL), functions with a status return LT_ERR_TYPE, and others do nothing. */
#ifndef LTENSOR_LUA_H
#define LTENSOR_LUA_H

#include "ltensor.h"

#ifdef __cplusplus
extern "C" {
#endif

struct lua_State;

/* Opens the module and leaves its table on the stack, for luaL_requiref and package.preload. */
LT_API int luaopen_torch(struct lua_State *L);

/* Sets the context of the state's scripts. Without it, the module creates one when it is opened.
 * Functions of the module run in it, on any thread; calls of ltensor.h by the host run in the
 * host's context. The state takes a reference; coroutines share it. You may set another context
 * between calls of scripts. LT_ERR_TYPE for NULL. Raises Lua's memory error before the module is
 * opened. */
LT_API lt_status lt_lua_set_context(struct lua_State *L, lt_context *context);
/* Borrowed; NULL if no context was set and the module is not open. */
LT_API lt_context *lt_lua_context(struct lua_State *L);

/* A lua_Alloc that counts the memory of a state against the host limit of a context, its first
 * argument: lua_newstate(lt_lua_alloc, context). The context must outlive the state. NULL is the
 * context of the process. */
LT_API void *lt_lua_alloc(void *context, void *old, size_t old_bytes, size_t bytes);

/* Pushes a tensor and takes a reference. NULL pushes nil. Raises Lua's memory error. */
LT_API void lt_lua_push(struct lua_State *L, lt_tensor *t);

/* The tensor at a stack index, borrowed as long as the value is on the stack; NULL if the value is
 * not a tensor. */
LT_API lt_tensor *lt_lua_tensor(struct lua_State *L, int index);

/* Pushes a capsule that owns a DLPack managed tensor, for torch.from_dlpack. The collector calls
 * the deleter of an unused capsule. May raise Lua's memory error; then the managed tensor still
 * belongs to the caller. */
LT_API void lt_lua_push_dlpack(struct lua_State *L, void *managed, bool versioned);

/* Takes the managed tensor out of the capsule at a stack index (from torch.to_dlpack or
 * x:__dlpack__); it then belongs to the caller. LT_ERR_TYPE if the value is not a capsule or was
 * used before. */
LT_API lt_status lt_lua_take_dlpack(struct lua_State *L, int index, void **managed,
                                    bool *versioned);

/* Pushes a capsule that owns an Arrow column, for torch.from_arrow: schema and array are moved into
 * it. The collector releases an unused capsule. May raise Lua's memory error; then both still
 * belong to the caller. */
LT_API void lt_lua_push_arrow(struct lua_State *L, struct ArrowSchema *schema,
                              struct ArrowArray *array);

/* Moves the column out of the capsule at a stack index (from torch.to_arrow or
 * x:__arrow_c_array__); it then belongs to the caller. LT_ERR_TYPE if the value is not such a
 * capsule or was used before. */
LT_API lt_status lt_lua_take_arrow(struct lua_State *L, int index, struct ArrowSchema *schema,
                                   struct ArrowArray *array);

#ifdef __cplusplus
}
#endif

#endif
