/* word_piece.c - torch._C.word_piece: the encoding of words by the longest tokens of a vocabulary,
 * from left to right; rules of Hugging Face's tokenizers (models/wordpiece). Includes the Lua API. */
#include <stdbool.h>

#include "binding.h"
#include "text.h"
#include "trie.h"

/* User value 1: a table with the arrays. */
typedef struct word_piece {
    lt_trie trie;
    int32_t
        within; /* the node of the prefix of tokens within a word; LT_TRIE_NONE: no token has it */
    int32_t unknown;
    lua_Integer max_length; /* characters of a word that has a token */
} word_piece;

static const char word_piece_meta[] = "ltensor.WordPiece";

/* word_piece(tokens, n, unknown, prefix, max_length) -> a model. tokens: n of them by id, from id 0
 * on; false for an id without token. unknown: the id for words without tokens. */
static int word_piece_new(lua_State *L)
{
    size_t length;
    lt_lua_check_type(L, 1, LUA_TTABLE);
    const int64_t n = lt_lua_check_integer(L, 2);
    const int64_t unknown = lt_lua_check_integer(L, 3);
    const char *prefix = lt_lua_check_lstring(L, 4, &length);
    const lua_Integer max_length = lt_lua_check_integer(L, 5);
    if (n < 0 || n > LT_TEXT_MAX_TOKENS || unknown < 0 || unknown >= n)
        return lt_lua_error(L, "word_piece: %I tokens with the unknown one at %I", (LUAI_UACINT)n,
                            (LUAI_UACINT)unknown);
    lua_settop(L, 5);
    word_piece *w = lua_newuserdatauv(L, sizeof *w, 1); /* 6 */
    *w = (word_piece){.unknown = (int32_t)unknown, .max_length = max_length};
    lua_newtable(L); /* 7 */
    lua_pushvalue(L, 7);
    lua_setiuservalue(L, 6, 1);
    lt_trie_fill(L, &w->trie, 1, n, 7);
    w->within = lt_trie_walk(&w->trie, prefix, length);
    lua_settop(L, 6);
    luaL_setmetatable(L, word_piece_meta);
    return 1;
}

/* The end of the longest token from `at` on, whose id is *id; `at`: there is none. */
static size_t longest_token(const word_piece *w, const char *word, size_t n, size_t at, int32_t *id)
{
    size_t stop = at;
    int32_t node = at == 0 ? LT_TRIE_ROOT : w->within;
    for (size_t i = at; i < n && node != LT_TRIE_NONE;) {
        node = lt_trie_step(&w->trie, node, (unsigned char)word[i++]);
        if (node == LT_TRIE_NONE || w->trie.ids[node] == LT_TRIE_NONE) continue;
        if (i < n && ((unsigned char)word[i] & 0xc0) == 0x80) continue; /* inside of a character */
        stop = i;
        *id = w->trie.ids[node];
    }
    return stop;
}

static bool is_longer(const char *word, size_t n, lua_Integer most)
{
    lua_Integer count = 0;
    for (size_t i = 0; i < n && count <= most; i++)
        count += ((unsigned char)word[i] & 0xc0) != 0x80;
    return count > most;
}

/* model:encode(word) -> its id, or the list of its ids. */
static int word_piece_encode(lua_State *L)
{
    size_t n;
    int32_t id = LT_TRIE_NONE;
    lua_Integer count = 0;
    const word_piece *w = lt_lua_check_udata(L, 1, word_piece_meta);
    const char *word = lt_lua_check_lstring(L, 2, &n);
    lua_settop(L, 2);
    if (is_longer(word, n, w->max_length)) {
        lua_pushinteger(L, w->unknown);
        return 1;
    }
    for (size_t at = 0, stop; at < n; at = stop) {
        lt_lua_look(L);
        stop = longest_token(w, word, n, at, &id);
        if (stop == at) {
            lua_pushinteger(L, w->unknown);
            return 1;
        }
        if (at == 0 && stop < n) lua_newtable(L);
        lua_pushinteger(L, id);
        if (at > 0 || stop < n) lua_rawseti(L, 3, ++count);
    }
    if (n == 0) lua_newtable(L);
    return 1;
}

void lt_lua_open_word_piece(lua_State *L)
{
    luaL_newmetatable(L, word_piece_meta);
    lua_createtable(L, 0, 1);
    lt_lua_pushfunction(L, word_piece_encode);
    lua_setfield(L, -2, "encode");
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
    lt_lua_pushfunction(L, word_piece_new);
    lua_setfield(L, 2, "word_piece");
}
