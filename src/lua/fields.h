/* fields.h - fields of tensors: x.shape, x.grad, x.T ... */
#ifndef LT_LUA_FIELDS_H
#define LT_LUA_FIELDS_H

#include "binding.h"

typedef lt_status (*lt_unary_fn)(const lt_tensor *self, lt_tensor **out);

/* Pushes f(tensor of the box at 1), linked to it. */
int lt_lua_push_unary(lua_State *L, lt_tensor *self, lt_unary_fn f);

/* Sets __index and __newindex of tensors; the methods are in the table at 3. */
void lt_lua_open_fields(lua_State *L);

#endif
