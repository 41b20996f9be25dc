/* unigram.c - torch._C.unigram: the encoding of a text by the tokens with the largest sum of scores;
 * rules, order of additions and ties are those of Hugging Face's tokenizers (models/unigram).
 * Includes the Lua API. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "binding.h"
#include "text.h"
#include "trie.h"

enum { SHORT_TEXT = 128 }; /* bytes that need no memory */

/* Hugging Face's models/unigram/model.rs: K_UNK_PENALTY. */
static const double UNKNOWN_PENALTY = 10;

/* User value 1: a table with the arrays. */
typedef struct unigram {
    lt_trie trie;
    double *scores; /* by id */
    double unknown_score;
    int32_t unknown;       /* LT_TRIE_NONE: text without tokens is an error */
    int32_t byte_ids[256]; /* tokens of bytes, or LT_TRIE_NONE */
} unigram;

static const char unigram_meta[] = "ltensor.Unigram";

/* unigram(tokens, scores, n, unknown, byte_fallback) -> a model. tokens: n of them by id, from id 0
 * on; false for an id without token; scores: numbers by id. unknown: an id or nil. */
static int unigram_new(lua_State *L)
{
    lt_lua_check_type(L, 1, LUA_TTABLE);
    lt_lua_check_type(L, 2, LUA_TTABLE);
    const int64_t n = lt_lua_check_integer(L, 3);
    if (n < 0 || n > LT_TEXT_MAX_TOKENS || (int64_t)lua_rawlen(L, 1) < n)
        return lt_lua_error(L, "unigram: %I tokens, expected a list of at most %d", (LUAI_UACINT)n,
                            LT_TEXT_MAX_TOKENS);
    lua_settop(L, 5);
    unigram *u = lua_newuserdatauv(L, sizeof *u, 1); /* 6 */
    u->unknown = LT_TRIE_NONE;
    lua_newtable(L); /* 7 */
    lua_pushvalue(L, 7);
    lua_setiuservalue(L, 6, 1);
    lt_trie_fill(L, &u->trie, 1, n, 7);
    u->scores = lua_newuserdatauv(L, (size_t)n * sizeof *u->scores + 1, 0);
    lua_rawseti(L, 7, 3);
    double lowest = HUGE_VAL;
    for (int64_t i = 0; i < n; i++) {
        lua_rawgeti(L, 2, i);
        u->scores[i] = lua_tonumber(L, -1);
        lowest = fmin(lowest, u->scores[i]);
        lua_pop(L, 1);
    }
    u->unknown_score = lowest - UNKNOWN_PENALTY;
    if (lua_isinteger(L, 4) && lua_tointeger(L, 4) >= 0 && lua_tointeger(L, 4) < n)
        u->unknown = (int32_t)lua_tointeger(L, 4);
    for (int i = 0; i < 256; i++) {
        char name[8];
        const int length = snprintf(name, sizeof name, "<0x%02X>", i);
        u->byte_ids[i] =
            lua_toboolean(L, 5) ? lt_trie_find(&u->trie, name, (size_t)length) : LT_TRIE_NONE;
    }
    lua_settop(L, 6);
    luaL_setmetatable(L, unigram_meta);
    return 1;
}

/* The last token of the best path to a position of a text. */
typedef struct reached {
    double score;
    int64_t from; /* NOT_REACHED: no path ends here */
    int32_t id;   /* LT_TRIE_NONE: a character without token */
} reached;

enum { NOT_REACHED = -1 };

static void offer(reached *r, double score, int64_t from, int32_t id)
{
    if (r->from == NOT_REACHED || score > r->score) *r = (reached){score, from, id};
}

static int64_t character_end(const char *text, int64_t at, int64_t n)
{
    for (at++; at < n && ((unsigned char)text[at] & 0xc0) == 0x80; at++)
        ;
    return at;
}

/* Fills path, n + 1 entries. */
static void find_path(lua_State *L, const unigram *u, const char *text, int64_t n, reached *path)
{
    uint64_t steps = 0;
    for (int64_t i = 0; i <= n; i++) path[i].from = NOT_REACHED;
    path[0] = (reached){0, 0, LT_TRIE_NONE};
    for (int64_t at = 0; at < n;) {
        const int64_t next = character_end(text, at, n);
        const double score = path[at].score;
        int32_t node = LT_TRIE_ROOT;
        bool single = false;
        for (int64_t i = at; i < n; steps++) {
            if ((steps & 0xffff) == 0xffff) lt_lua_look(L);
            node = lt_trie_step(&u->trie, node, (unsigned char)text[i++]);
            if (node == LT_TRIE_NONE) break;
            const int32_t id = u->trie.ids[node];
            if (id == LT_TRIE_NONE || (i < n && ((unsigned char)text[i] & 0xc0) == 0x80)) continue;
            offer(&path[i], score + u->scores[id], at, id);
            single = single || i == next;
        }
        if (!single) offer(&path[next], score + u->unknown_score, at, LT_TRIE_NONE);
        at = next;
    }
}

/* Appends to the list of *count ids on top of the stack. */
static void add_id(lua_State *L, lua_Integer *count, int32_t id)
{
    lua_pushinteger(L, id);
    lua_rawseti(L, -2, ++*count);
}

/* Adds n bytes that have no token, unless they are one together. False: nothing stands for them. */
static bool add_gap(lua_State *L, const unigram *u, const char *text, size_t n, lua_Integer *count)
{
    const int32_t id = lt_trie_find(&u->trie, text, n);
    bool by_bytes = true;
    if (id != LT_TRIE_NONE) {
        add_id(L, count, id);
        return true;
    }
    for (size_t i = 0; i < n; i++)
        by_bytes = by_bytes && u->byte_ids[(unsigned char)text[i]] != LT_TRIE_NONE;
    if (!by_bytes && u->unknown == LT_TRIE_NONE) return false;
    if (!by_bytes) add_id(L, count, u->unknown);
    for (size_t i = 0; by_bytes && i < n; i++)
        add_id(L, count, u->byte_ids[(unsigned char)text[i]]);
    return true;
}

/* model:encode(text) -> the list of its ids; or nil and a part that no token stands for. Characters
 * without token that follow each other are one unknown part. */
static int unigram_encode(lua_State *L)
{
    size_t length;
    reached few[SHORT_TEXT + 1], *path = few;
    lua_Integer count = 0;
    const unigram *u = lt_lua_check_udata(L, 1, unigram_meta);
    const char *text = lt_lua_check_lstring(L, 2, &length);
    const int64_t n = (int64_t)length;
    if (n > LT_TEXT_MAX_WORD)
        return lt_lua_error(L, "unigram: a text of %I bytes, expected at most %d", (LUAI_UACINT)n,
                            LT_TEXT_MAX_WORD);
    if (n > SHORT_TEXT) path = lua_newuserdatauv(L, (length + 1) * sizeof *path, 0);
    find_path(L, u, text, n, path);
    int64_t following = n;
    for (int64_t at = n; at > 0;) { /* reverse the links: path[at].from becomes the next position */
        const int64_t from = path[at].from;
        path[at].from = following;
        following = at;
        at = from;
    }
    lua_newtable(L);
    int64_t gap = NOT_REACHED; /* its first byte */
    for (int64_t before = 0, at = following; before < n; before = at, at = path[at].from) {
        const int32_t id = path[at].id;
        const bool known = id != LT_TRIE_NONE && id != u->unknown;
        if (!known && gap == NOT_REACHED) gap = before;
        const int64_t end = known ? before : at;
        if (gap != NOT_REACHED && (known || at == n)) {
            if (!add_gap(L, u, text + gap, (size_t)(end - gap), &count)) {
                lua_pushnil(L);
                lua_pushlstring(L, text + gap, (size_t)(end - gap));
                return 2;
            }
            gap = NOT_REACHED;
        }
        if (known) add_id(L, &count, id);
    }
    return 1;
}

void lt_lua_open_unigram(lua_State *L)
{
    luaL_newmetatable(L, unigram_meta);
    lua_createtable(L, 0, 1);
    lt_lua_pushfunction(L, unigram_encode);
    lua_setfield(L, -2, "encode");
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
    lt_lua_pushfunction(L, unigram_new);
    lua_setfield(L, 2, "unigram");
}
