/* trie.h - the prefix tree of a vocabulary, for unigram.c and word_piece.c. Ids count from 0.
 * Includes the Lua API. */
#ifndef LT_LUA_TRIE_H
#define LT_LUA_TRIE_H

#include <stdint.h>

#include <lua.h>

enum { LT_TRIE_NONE = -1, LT_TRIE_ROOT = 0 };

typedef struct lt_trie_edge {
    uint64_t key; /* node << 8 | byte; UINT64_MAX: free */
    int32_t child;
} lt_trie_edge;

/* Nodes have numbers from 0, the root, on. Edges are in a hash table, so that a vocabulary needs
 * memory for its prefixes alone; hashes are seeded, since vocabularies are untrusted. */
typedef struct lt_trie {
    lt_trie_edge *edges;
    int32_t *ids; /* by node: the token that ends there, or LT_TRIE_NONE */
    uint64_t mask, seed;
    int32_t nodes, room;
} lt_trie;

/* Fills a trie with n tokens: the list at index `tokens` by id + 1; false for an id without token.
 * Of equal tokens it has the first. The table at index `arrays` keeps its memory at 1 and 2. */
void lt_trie_fill(lua_State *L, lt_trie *t, int tokens, int64_t n, int arrays);

/* The node after `node` and a byte; LT_TRIE_NONE: no token goes on like this. */
int32_t lt_trie_step(const lt_trie *t, int32_t node, unsigned char byte);

/* The node of n bytes, from the root. */
int32_t lt_trie_walk(const lt_trie *t, const char *bytes, size_t n);

/* The token of n bytes, or LT_TRIE_NONE. */
static inline int32_t lt_trie_find(const lt_trie *t, const char *bytes, size_t n)
{
    const int32_t node = lt_trie_walk(t, bytes, n);
    return node == LT_TRIE_NONE ? LT_TRIE_NONE : t->ids[node];
}

#endif
