/* index_key.h - the parsed form of x[key]: a list of subscripts, made of Lua's values (index.c) or
 * of the text of a key such as '2:5, :' (index_text.c). A key owns nothing: its tensors belong to
 * the script. */
#ifndef LT_LUA_INDEX_KEY_H
#define LT_LUA_INDEX_KEY_H

#include "binding.h"

#define LT_MAX_SUBSCRIPTS (2 * LT_MAX_DIMS)

typedef struct lt_subscript {
    enum { LT_AT, LT_SLICE, LT_NEWAXIS, LT_ELLIPSIS, LT_INDICES } kind;
    int64_t from, to, step; /* LT_AT: from; 1-based positions */
    bool has_from, has_to;
    lt_tensor *tensor; /* borrowed from the key */
} lt_subscript;

typedef struct lt_key {
    int n;
    bool tensors;
    const lt_subscript *at;
} lt_key;

/* Raises an error if the numbers of a slice are invalid. */
void lt_lua_check_slice(lua_State *L, const lt_subscript *s);

/* Pushes torch.tensor(value at index, an absolute index); convert.c. */
void lt_lua_push_tensor_of(lua_State *L, int index);

/* Whether a string has only characters of keys, so that it cannot be meant as a name. */
bool lt_lua_is_index_text(const char *text);
/* Parses the string at index as a key; raises an error if it is none. The key lives as long as the
 * value that this leaves on the stack. */
lt_key lt_lua_index_text(lua_State *L, int index);

#endif
