/* call.h - helpers of generated functions: the operands of a fast call, and returning results to
 * Lua.
 *
 * A generated function makes the boxes of its results, enters core, calls, leaves, and ends with
 * one of the lt_call_ functions, which raises a failure. Only generated code and ops.c include this
 * file. */
#ifndef LT_LUA_CALL_H
#define LT_LUA_CALL_H

#include "args.h"
#include "autograd/autograd.h"
#include "devices/copies.h"
#include "settings/autocast.h"
#include "op/add.h"
#include "ops/outs.h"

/* Stack indices of the arguments of a fast call: 1, 2, 3 ... */
extern const int lt_call_positions[LT_MAX_ARGS];

/* Reads the first k values as tensors. Bit i of `numbers`: value i may be a number (x[i] is NULL
 * then), at most one of them. False: use the general path. */
static inline bool lt_call_operands(lua_State *L, int k, unsigned numbers, lt_tensor **x)
{
    int tensors = 0;
    for (int i = 0; i < k; i++) {
        x[i] = lt_lua_get(L, i + 1);
        if (x[i] != NULL)
            tensors++;
        else if (!(numbers >> i & 1) || lua_type(L, i + 1) != LUA_TNUMBER)
            return false;
    }
    return tensors > 0 && tensors >= k - 1;
}

/* Replaces the NULL of lt_call_operands by a tensor; the caller releases *made. */
static inline lt_status lt_call_wrap(lua_State *L, int k, lt_tensor **x, lt_tensor **made)
{
    for (int i = 0; i < k; i++) {
        if (x[i] != NULL) continue;
        LT_TRY(lt_tensor_from_scalar(lua_isinteger(L, i + 1)
                                         ? lt_scalar_from_int(lua_tointeger(L, i + 1))
                                         : lt_scalar_from_float(lua_tonumber(L, i + 1)),
                                     made));
        x[i] = *made;
    }
    return LT_OK;
}

/* Whether the result needs a token: it, or the base of which it is a view, requires grad. */
static inline bool lt_call_has_history(const lt_tensor *t)
{
    return (t->flags & LT_FLAG_REQUIRES_GRAD) ||
           (t->view_base != NULL && (t->view_base->flags & LT_FLAG_REQUIRES_GRAD));
}

#define LT_CALL_SMALL_NUMEL 1024 /* elements; below, an op's overhead exceeds its work */

/* Adds 1 to 0-based indices, in their memory; part of the write that stored them. */
static inline lt_status lt_call_positions_in(lt_tensor *t)
{
    lt_tensor *one = NULL;
    if (!t->storage->deferred && t->device.type == LT_CPU && t->dtype == LT_INT64 &&
        t->numel <= LT_CALL_SMALL_NUMEL && lt_is_contiguous(t)) {
        int64_t *indices = (int64_t *)lt_data(t);
        for (int64_t i = 0; i < t->numel; i++) indices[i]++;
        return LT_OK;
    }
    LT_TRY(lt_tensor_from_scalar(lt_scalar_from_int(1), &one));
    const lt_status status = lt_add_impl(t, one, lt_scalar_from_int(1), &t);
    lt_tensor_release(one);
    return status;
}

/* Converts results from 0-based indices to 1-based positions; in new memory if a node has saved the
 * indices. */
static inline lt_status lt_call_positions_from(lt_tensor **slot)
{
    lt_tensor *one = NULL, *positions = NULL;
    bool saved = atomic_load_explicit(&(*slot)->refs, memory_order_relaxed) > 1 ||
                 atomic_load_explicit(&(*slot)->storage->refs, memory_order_relaxed) > 1;
    if (!saved) return lt_call_positions_in(*slot);
    LT_TRY(lt_tensor_from_scalar(lt_scalar_from_int(1), &one));
    const lt_status status = lt_add(*slot, one, lt_scalar_from_int(1), &positions);
    lt_tensor_release(one);
    if (positions != NULL) {
        lt_tensor_release(*slot);
        *slot = positions;
    }
    return status;
}

/* Returns the box of *slot, on top of the stack. at: stack indices of the n arguments from which it
 * may depend (n = 0: none). */
static inline int lt_call_tensor(lua_State *L, lt_status status, lt_tensor **slot, const int *at,
                                 int n)
{
    lt_lua_check(L, status);
    if (n > 0 && lt_call_has_history(*slot)) lt_lua_link(L, lua_gettop(L), at, n);
    return 1;
}

/* The same if core may return `self` (the tensor at at[0]): then its own userdata is the result. */
static inline int lt_call_same(lua_State *L, lt_status status, lt_tensor **slot,
                               const lt_tensor *self, const int *at, int n)
{
    lt_lua_check(L, status);
    if (*slot != self) return lt_call_tensor(L, status, slot, at, n);
    lt_tensor_release(*slot);
    *slot = NULL;
    lua_pushvalue(L, at[0]);
    return 1;
}

/* Several results: their boxes are on top of the stack, in order. */
int lt_call_tensors(lua_State *L, lt_status status, int results, const int *at, int n);

/* In place: self's own userdata (at[0]) is the result. */
static inline int lt_call_inplace(lua_State *L, lt_status status, const lt_tensor *self,
                                  const int *at, int n)
{
    lt_lua_check(L, status);
    if (lt_call_has_history(self)) lt_lua_link(L, at[0], at, n);
    lua_pushvalue(L, at[0]);
    return 1;
}

/* Results of a call with out=: the value at this stack index, a tensor or each tensor of a table.
 */
int lt_call_outs(lua_State *L, lt_status status, int at);

/* Pushes a holder that owns a list of results. */
lt_tensor_list *lt_call_new_list(lua_State *L);
/* Converts the holder, on top of the stack, to a table of tensors. */
int lt_call_list(lua_State *L, lt_status status, lt_tensor_list *list, const int *at, int n);

/* The last step of factories: pins the memory and sets requires_grad. */
lt_status lt_call_finish_factory(lt_tensor **slot, bool requires_grad, bool pin_memory);

#endif
