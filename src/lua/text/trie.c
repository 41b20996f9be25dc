/* trie.c - the prefix tree of a vocabulary. See trie.h. */
#include "trie.h"

#include <string.h>
#include <time.h>

#include "binding.h"
#include "text.h"

enum { MAX_NODES = 1 << 29, FIRST_ROOM = 1 << 10, ARRAYS_EDGES = 1, ARRAYS_IDS = 2 };
#define FREE UINT64_MAX

static lt_trie_edge *find_edge(const lt_trie *t, uint64_t key)
{
    for (uint64_t i = lt_text_mix(t->seed ^ key);; i++) {
        lt_trie_edge *e = &t->edges[i & t->mask];
        if (e->key == key || e->key == FREE) return e;
    }
}

int32_t lt_trie_step(const lt_trie *t, int32_t node, unsigned char byte)
{
    const uint64_t key = (uint64_t)node << 8 | byte;
    const lt_trie_edge *e = find_edge(t, key);
    return e->key == key ? e->child : LT_TRIE_NONE;
}

int32_t lt_trie_walk(const lt_trie *t, const char *bytes, size_t n)
{
    int32_t node = LT_TRIE_ROOT;
    for (size_t i = 0; i < n && node != LT_TRIE_NONE; i++)
        node = lt_trie_step(t, node, (unsigned char)bytes[i]);
    return node;
}

/* Makes room for so many nodes; the edges stay at most half full. */
static void set_room(lua_State *L, lt_trie *t, int32_t room, int arrays)
{
    const lt_trie_edge *old = t->edges;
    const uint64_t old_size = old == NULL ? 0 : t->mask + 1;
    int32_t *ids = lua_newuserdatauv(L, (size_t)room * sizeof *ids, 0);
    if (t->nodes > 0) memcpy(ids, t->ids, (size_t)t->nodes * sizeof *ids);
    lua_rawseti(L, arrays, ARRAYS_IDS);
    t->ids = ids;
    t->mask = 2 * (uint64_t)room - 1;
    t->edges = lua_newuserdatauv(L, (t->mask + 1) * sizeof *t->edges, 0);
    for (uint64_t i = 0; i <= t->mask; i++) t->edges[i].key = FREE;
    for (uint64_t i = 0; i < old_size; i++)
        if (old[i].key != FREE) *find_edge(t, old[i].key) = old[i];
    lua_rawseti(L, arrays, ARRAYS_EDGES); /* frees the old ones */
    t->room = room;
}

static int32_t add_node(lua_State *L, lt_trie *t, uint64_t key, int arrays)
{
    if (t->nodes >= MAX_NODES) lt_lua_error(L, "tokenizer: the vocabulary is too large");
    if (t->nodes == t->room) set_room(L, t, 2 * t->room, arrays);
    *find_edge(t, key) = (lt_trie_edge){key, t->nodes};
    t->ids[t->nodes] = LT_TRIE_NONE;
    return t->nodes++;
}

void lt_trie_fill(lua_State *L, lt_trie *t, int tokens, int64_t n, int arrays)
{
    *t = (lt_trie){.seed = lt_text_mix((uint64_t)(uintptr_t)t ^ (uint64_t)time(NULL) << 32)};
    set_room(L, t, FIRST_ROOM, arrays);
    t->ids[t->nodes++] = LT_TRIE_NONE;
    for (int64_t i = 0; i < n; i++) {
        size_t length = 0;
        int32_t node = LT_TRIE_ROOT;
        if ((i & 0xff) == 0) lt_lua_look(L);
        if (lua_rawgeti(L, tokens, i + 1) == LUA_TSTRING) {
            const char *token = lua_tolstring(L, -1, &length);
            for (size_t k = 0; k < length; k++) {
                const uint64_t key = (uint64_t)node << 8 | (unsigned char)token[k];
                const int32_t next = lt_trie_step(t, node, (unsigned char)token[k]);
                node = next != LT_TRIE_NONE ? next : add_node(L, t, key, arrays);
            }
        }
        if (length > 0 && t->ids[node] == LT_TRIE_NONE) t->ids[node] = (int32_t)i;
        lua_pop(L, 1);
    }
}
