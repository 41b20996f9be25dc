/* index_key.h - what x[key] was read into: a list of subscripts, from Lua's values (index.c) or
 * from the text of a key such as '2:5, :' (index_text.c). Nothing in a key is owned: its tensors
 * are the script's. */
#ifndef LT_LUA_INDEX_KEY_H
#define LT_LUA_INDEX_KEY_H

#include "binding.h"

#define LT_MAX_SUBSCRIPTS (2 * LT_MAX_DIMS)

typedef struct lt_subscript {
    enum { LT_AT, LT_SLICE, LT_NEWAXIS, LT_ELLIPSIS, LT_INDICES } kind;
    int64_t from, to, step; /* LT_AT: from; positions as Lua gives them */
    bool has_from, has_to;
    lt_tensor *tensor; /* borrowed from the key */
} lt_subscript;

typedef struct lt_key {
    int n;
    bool tensors;
    const lt_subscript *at;
} lt_key;

/* Raises what is wrong with the numbers of a slice. */
void lt_lua_check_slice(lua_State *L, const lt_subscript *s);

/* Pushes torch.tensor(value at index, an absolute index); convert.c. */
void lt_lua_push_tensor_of(lua_State *L, int index);

/* Whether a string is made of what keys are made of, so that it cannot be meant as a name. */
bool lt_lua_is_index_text(const char *text);
/* The key that the string at index stands for; raises when it is none. It lives as long as what
 * this leaves on the stack. */
lt_key lt_lua_index_text(lua_State *L, int index);

#endif
