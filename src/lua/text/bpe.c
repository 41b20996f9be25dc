/* bpe.c - torch._C.bpe: the vocabulary and the merges of byte pair encoding, and the encoding of a
 * word.
 *
 * A word is split into symbols (bytes or characters), and the pair of neighbours of the lowest rank
 * is merged until no pair has a rank: with a heap, n log n steps for n symbols. Order and details
 * are those of Hugging Face's tokenizers (models/bpe). The tables are arrays that the Lua collector
 * owns; the files they come from are untrusted, so hashes are seeded. Ids count from 0, as in the
 * files. Includes the Lua API. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "binding.h"
#include "text.h"

enum {
    MAX_AFFIX = 32,         /* bytes of a prefix or suffix of symbols */
    SHORT_WORD = 128,       /* symbols that need no memory */
    ENTRIES_PER_SYMBOL = 3, /* of the heap: a pair each, and two for each merge */
    NONE = -1
};

typedef struct merge {
    uint64_t pair; /* NO_PAIR: free */
    uint32_t rank;
    int32_t id;
} merge;

#define NO_PAIR UINT64_MAX

/* User value 1: a table with the arrays. */
typedef struct bpe {
    const char *bytes;      /* of all tokens, one after the other */
    const uint64_t *offset; /* of each token in bytes, n + 1 of them; an empty one is not found */
    int32_t *slots;         /* ids by hash of the bytes; NONE: free */
    merge *merges;          /* by hash of the pair */
    uint64_t slot_mask, merge_mask, seed;
    int64_t n;
    int32_t byte_ids[256]; /* fallback for characters that are not in the vocabulary; or NONE */
    int32_t unknown;       /* NONE: characters that are not in the vocabulary are left out */
    bool by_bytes, fuse_unknown, fallback, ignore_merges;
    char prefix[MAX_AFFIX], suffix[MAX_AFFIX]; /* of symbols that are not the first; of the last */
    size_t prefix_length, suffix_length;
} bpe;

static const char bpe_meta[] = "ltensor.Bpe";

/* ---- tables ---------------------------------------------------------------------------------- */

static uint64_t hash_bytes(const bpe *b, const char *p, size_t n)
{
    uint64_t h = b->seed ^ n, word;
    for (; n >= sizeof word; p += sizeof word, n -= sizeof word) {
        memcpy(&word, p, sizeof word);
        h = lt_text_mix(h ^ word);
    }
    word = 0;
    memcpy(&word, p, n);
    return lt_text_mix(h ^ word);
}

/* The slot of the token with these bytes, or the free slot for it. */
static int32_t *find_slot(const bpe *b, const char *p, size_t n)
{
    for (uint64_t i = hash_bytes(b, p, n);; i++) {
        int32_t *slot = &b->slots[i & b->slot_mask];
        if (*slot == NONE) return slot;
        const uint64_t at = b->offset[*slot];
        if (b->offset[*slot + 1] - at == n && memcmp(b->bytes + at, p, n) == 0) return slot;
    }
}

static int32_t id_of(const bpe *b, const char *p, size_t n)
{
    return n == 0 ? NONE : *find_slot(b, p, n);
}

static merge *find_merge(const bpe *b, int32_t left, int32_t right)
{
    const uint64_t pair = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    for (uint64_t i = lt_text_mix(b->seed ^ pair);; i++) {
        merge *m = &b->merges[i & b->merge_mask];
        if (m->pair == pair || m->pair == NO_PAIR) return m;
    }
}

static void put_merge(const bpe *b, int32_t left, int32_t right, int64_t rank, int32_t id)
{
    merge *m = find_merge(b, left, right);
    m->pair = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    m->rank = (uint32_t)rank;
    m->id = id;
}

/* An array of n entries, which the table at index `arrays` keeps. */
static void *new_array(lua_State *L, int arrays, size_t n, size_t size)
{
    void *p = lua_newuserdatauv(L, n * size + 1, 0);
    lua_rawseti(L, arrays, (lua_Integer)lua_rawlen(L, arrays) + 1);
    return p;
}

static uint64_t mask_for(uint64_t n)
{
    uint64_t size = 16;
    while (size < 2 * n) size *= 2;
    return size - 1;
}

/* ---- byte-level tokens ----------------------------------------------------------------------- */

/* GPT-2's encoder.py: printable bytes stand for themselves, the others for characters from 256 on,
 * in their order. */
static int byte_of(int32_t c)
{
    if ((c >= '!' && c <= '~') || (c >= 0xa1 && c <= 0xac) || (c >= 0xae && c <= 0xff)) return c;
    if (c < 256 || c > 256 + 67) return NONE;
    c -= 256;
    return c <= ' ' ? c : c <= ' ' + 34 ? c - 33 + 0x7f : 0xad;
}

/* Writes the bytes that a byte-level token stands for; its length, or NONE for another token. */
static int64_t decode_token(const char *token, size_t n, char *to)
{
    int64_t length = 0;
    if (lt_utf8_valid((const unsigned char *)token, n) < n) return NONE;
    for (size_t i = 0; i < n;) {
        int bytes;
        const int byte = byte_of(lt_utf8_decode((const unsigned char *)token + i, &bytes));
        if (byte == NONE) return NONE;
        to[length++] = (char)byte;
        i += (size_t)bytes;
    }
    return length;
}

/* byte_level_text(token) -> the bytes that a byte-level token stands for; nil for another token. */
static int byte_level_text(lua_State *L)
{
    size_t n;
    luaL_Buffer b;
    const char *token = lt_lua_check_lstring(L, 1, &n);
    char *to = luaL_buffinitsize(L, &b, n);
    const int64_t length = decode_token(token, n, to);
    luaL_pushresultsize(&b, length == NONE ? 0 : (size_t)length);
    if (length == NONE) lua_pushnil(L);
    return 1;
}

/* ---- construction ---------------------------------------------------------------------------- */

static bool field_true(lua_State *L, int table, const char *name)
{
    lua_getfield(L, table, name);
    const bool value = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return value;
}

static size_t copy_affix(lua_State *L, int table, const char *name, char *to)
{
    size_t n = 0;
    lua_getfield(L, table, name);
    const char *text = lua_tolstring(L, -1, &n);
    if (text == NULL) n = 0;
    if (n > MAX_AFFIX)
        lt_lua_error(L, "bpe: %s has %d bytes, at most %d are supported", name, (int)n, MAX_AFFIX);
    if (n > 0) memcpy(to, text, n);
    lua_pop(L, 1);
    return n;
}

/* Fills the vocabulary with the n tokens of the list at index 1; an entry may be false. */
static void add_tokens(lua_State *L, bpe *b, int arrays)
{
    uint64_t total = 0;
    size_t length;
    for (int64_t i = 0; i < b->n; i++) {
        if (lua_rawgeti(L, 1, i + 1) == LUA_TSTRING) total += lua_rawlen(L, -1);
        lua_pop(L, 1);
    }
    char *bytes = new_array(L, arrays, total, 1);
    uint64_t *offset = new_array(L, arrays, (size_t)b->n + 1, sizeof *offset), at = 0;
    b->slot_mask = mask_for((uint64_t)b->n);
    b->slots = new_array(L, arrays, b->slot_mask + 1, sizeof *b->slots);
    memset(b->slots, 0xff, (b->slot_mask + 1) * sizeof *b->slots);
    b->bytes = bytes;
    b->offset = offset;
    for (int64_t i = 0; i < b->n; i++) {
        offset[i] = at;
        if ((i & 0xfff) == 0) lt_lua_look(L);
        if (lua_rawgeti(L, 1, i + 1) == LUA_TSTRING) {
            const char *token = lua_tolstring(L, -1, &length);
            int64_t n = (int64_t)length;
            if (b->by_bytes)
                n = decode_token(token, length, bytes + at);
            else
                memcpy(bytes + at, token, length);
            if (n > 0) {
                int32_t *slot = find_slot(b, bytes + at, (size_t)n);
                if (*slot == NONE) {
                    *slot = (int32_t)i;
                    at += (uint64_t)n;
                }
            }
        }
        lua_pop(L, 1);
        offset[i + 1] = at;
    }
}

/* The id of the part of a merge that is n bytes at p, in the form of the file. */
static int32_t part_id(const bpe *b, const char *p, size_t n, char *scratch, int64_t *length)
{
    if (!b->by_bytes) {
        memcpy(scratch, p, n);
        *length = (int64_t)n;
    } else {
        *length = decode_token(p, n, scratch);
    }
    return *length <= 0 ? NONE : id_of(b, scratch, (size_t)*length);
}

enum { MAX_PART = 1 << 16 }; /* bytes of a merge */

/* Adds merge i, on top of the stack: "left right", or a list of both. False: a part or the result
 * is not in the vocabulary, or the entry is none of these. */
static bool add_merge(lua_State *L, const bpe *b, int64_t i, char *scratch)
{
    size_t n, m;
    int64_t first, second;
    const int top = lua_gettop(L);
    const char *left, *right;
    if (lua_istable(L, top)) {
        lua_rawgeti(L, top, 1);
        lua_rawgeti(L, top, 2);
        if (lua_type(L, -1) != LUA_TSTRING || lua_type(L, -2) != LUA_TSTRING) return false;
        left = lua_tolstring(L, -2, &n);
        right = lua_tolstring(L, -1, &m);
    } else {
        if (lua_type(L, top) != LUA_TSTRING) return false;
        left = lua_tolstring(L, top, &n);
        const char *space = memchr(left, ' ', n);
        if (space == NULL) return false;
        right = space + 1;
        m = n - (size_t)(right - left);
        n = (size_t)(space - left);
    }
    if (n > MAX_PART || m > MAX_PART) return false;
    const int32_t a = part_id(b, left, n, scratch, &first);
    if (a == NONE) return false;
    const int32_t c = part_id(b, right, m, scratch + first, &second);
    const int64_t skip = (int64_t)b->prefix_length;
    if (c == NONE || second < skip) return false;
    memmove(scratch + first, scratch + first + skip, (size_t)(second - skip));
    const int32_t id = id_of(b, scratch, (size_t)(first + second - skip));
    if (id == NONE) return false;
    put_merge(b, a, c, i, id);
    lua_settop(L, top);
    return true;
}

/* The merges of a vocabulary with ranks: each token is the merge of each pair of tokens that forms
 * it. The list at index 2 has the ranks; false: the token is not merged. */
static void add_ranked(lua_State *L, const bpe *b)
{
    for (int64_t i = 0; i < b->n; i++) {
        const char *token = b->bytes + b->offset[i];
        const size_t n = b->offset[i + 1] - b->offset[i];
        const bool ranked = lua_rawgeti(L, 2, i + 1) == LUA_TNUMBER;
        const int64_t rank = lua_tointeger(L, -1);
        lua_pop(L, 1);
        if ((i & 0xff) == 0) lt_lua_look(L);
        for (size_t k = 1; ranked && k < n; k++) {
            if (((unsigned char)token[k] & 0xc0) == 0x80) continue;
            const int32_t left = id_of(b, token, k);
            const int32_t right = left == NONE ? NONE : id_of(b, token + k, n - k);
            if (right != NONE) put_merge(b, left, right, rank, (int32_t)i);
        }
    }
}

/* The upper bound for the number of entries that add_ranked adds. */
static uint64_t count_ranked(lua_State *L, const bpe *b)
{
    uint64_t count = 0;
    for (int64_t i = 0; i < b->n; i++) {
        const char *token = b->bytes + b->offset[i];
        const size_t n = b->offset[i + 1] - b->offset[i];
        if (n > MAX_PART) lt_lua_error(L, "bpe: token %d has more than %d bytes", (int)i, MAX_PART);
        for (size_t k = 1; k < n; k++)
            if (((unsigned char)token[k] & 0xc0) != 0x80 && id_of(b, token, k) != NONE) count++;
    }
    return count;
}

static void read_options(lua_State *L, bpe *b)
{
    b->by_bytes = field_true(L, 3, "byte_level");
    b->fuse_unknown = field_true(L, 3, "fuse_unk");
    b->fallback = field_true(L, 3, "byte_fallback");
    b->ignore_merges = field_true(L, 3, "ignore_merges");
    b->prefix_length = copy_affix(L, 3, "continuing_subword_prefix", b->prefix);
    b->suffix_length = copy_affix(L, 3, "end_of_word_suffix", b->suffix);
    lua_getfield(L, 3, "unk_id");
    b->unknown = lua_isinteger(L, -1) && lua_tointeger(L, -1) >= 0 && lua_tointeger(L, -1) < b->n
                     ? (int32_t)lua_tointeger(L, -1)
                     : NONE;
    lua_pop(L, 1);
}

/* bpe(tokens, merges, options) -> a model; or nil and the position of the merge that is not one of
 * two tokens of the vocabulary. tokens: n of them by id, from id 0 on; false for an id without
 * token. options: n, byte_level, ranked (merges has the ranks of tokens), unk_id, fuse_unk,
 * byte_fallback, ignore_merges, continuing_subword_prefix, end_of_word_suffix. */
static int bpe_new(lua_State *L)
{
    lt_lua_check_type(L, 1, LUA_TTABLE);
    lt_lua_check_type(L, 2, LUA_TTABLE);
    lt_lua_check_type(L, 3, LUA_TTABLE);
    lua_settop(L, 3);
    bpe *b = lua_newuserdatauv(L, sizeof *b, 1); /* 4 */
    memset(b, 0, sizeof *b);
    luaL_setmetatable(L, bpe_meta);
    lua_newtable(L); /* 5 */
    lua_pushvalue(L, 5);
    lua_setiuservalue(L, 4, 1);
    lua_getfield(L, 3, "n");
    b->n = lua_tointeger(L, -1);
    lua_pop(L, 1);
    if (b->n < 0 || b->n > LT_TEXT_MAX_TOKENS)
        return lt_lua_error(L, "bpe: %I tokens, expected at most %d", (LUAI_UACINT)b->n,
                            LT_TEXT_MAX_TOKENS);
    b->seed = lt_text_mix((uint64_t)(uintptr_t)b ^ (uint64_t)time(NULL) << 32);
    read_options(L, b);
    add_tokens(L, b, 5);
    for (int i = 0; i < 256; i++) {
        char name[8];
        const int n = snprintf(name, sizeof name, "<0x%02X>", i);
        b->byte_ids[i] = b->by_bytes ? NONE : id_of(b, name, (size_t)n);
    }
    const bool ranked = field_true(L, 3, "ranked");
    const int64_t n_merges = (int64_t)lua_rawlen(L, 2);
    b->merge_mask = mask_for(ranked ? count_ranked(L, b) : (uint64_t)n_merges);
    b->merges = new_array(L, 5, b->merge_mask + 1, sizeof *b->merges);
    for (uint64_t i = 0; i <= b->merge_mask; i++) b->merges[i].pair = NO_PAIR;
    if (ranked) {
        add_ranked(L, b);
        lua_settop(L, 4);
        return 1;
    }
    char *scratch = lua_newuserdatauv(L, (size_t)2 * MAX_PART, 0);
    for (int64_t i = 0; i < n_merges; i++) {
        if ((i & 0xfff) == 0) lt_lua_look(L);
        lua_rawgeti(L, 2, i + 1);
        if (!add_merge(L, b, i, scratch)) {
            lua_pushnil(L);
            lua_pushinteger(L, i + 1);
            return 2;
        }
        lua_pop(L, 1);
    }
    lua_settop(L, 4);
    return 1;
}

/* ---- encoding -------------------------------------------------------------------------------- */

typedef struct symbol {
    int32_t id, previous, next; /* next NONE: the last */
    bool merged;                /* into the one before it */
} symbol;

typedef struct candidate {
    uint32_t rank;
    int32_t at, id;
} candidate;

typedef struct word_encoding {
    const bpe *b;
    symbol *symbols;
    candidate *heap;
    int64_t n, size; /* symbols, entries of the heap */
} word_encoding;

static bool comes_first(const candidate *a, const candidate *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->at < b->at;
}

/* Pushes the pair of the symbol at `at` and its neighbour if it has a rank. */
static void push_candidate(word_encoding *e, int32_t at)
{
    const symbol *s = &e->symbols[at];
    const merge *m = find_merge(e->b, s->id, e->symbols[s->next].id);
    if (m->pair == NO_PAIR) return;
    const candidate c = {m->rank, at, m->id};
    int64_t i = e->size++;
    for (; i > 0 && comes_first(&c, &e->heap[(i - 1) / 2]); i = (i - 1) / 2)
        e->heap[i] = e->heap[(i - 1) / 2];
    e->heap[i] = c;
}

static candidate pop_candidate(word_encoding *e)
{
    const candidate top = e->heap[0], last = e->heap[--e->size];
    int64_t i = 0;
    for (int64_t child; (child = 2 * i + 1) < e->size; i = child) {
        if (child + 1 < e->size && comes_first(&e->heap[child + 1], &e->heap[child])) child++;
        if (!comes_first(&e->heap[child], &last)) break;
        e->heap[i] = e->heap[child];
    }
    e->heap[i] = last;
    return top;
}

static void merge_symbols(lua_State *L, word_encoding *e)
{
    symbol *s = e->symbols;
    for (int32_t i = 0; i + 1 < e->n; i++) push_candidate(e, i);
    for (int64_t step = 1; e->size > 0; step++) {
        if ((step & 0xfff) == 0) lt_lua_look(L);
        const candidate top = pop_candidate(e);
        symbol *left = &s[top.at];
        if (left->merged || left->next == NONE) continue;
        symbol *right = &s[left->next];
        const merge *m = find_merge(e->b, left->id, right->id);
        if (m->pair == NO_PAIR || m->id != top.id) continue; /* one of them was merged since */
        left->id = top.id;
        left->next = right->next;
        right->merged = true;
        if (left->next != NONE) s[left->next].previous = top.at;
        if (left->previous != NONE) push_candidate(e, left->previous);
        if (left->next != NONE) push_candidate(e, top.at);
    }
}

static void add_symbol(word_encoding *e, int32_t id)
{
    e->symbols[e->n] = (symbol){id, (int32_t)e->n - 1, (int32_t)e->n + 1, false};
    e->n++;
}

/* Adds the bytes of a symbol by the tokens of bytes. False: one of them has none. */
static bool add_fallback(word_encoding *e, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (e->b->byte_ids[(unsigned char)p[i]] == NONE) return false;
    for (size_t i = 0; i < n; i++) add_symbol(e, e->b->byte_ids[(unsigned char)p[i]]);
    return true;
}

/* Splits the word into symbols. */
static void split_word(word_encoding *e, const char *word, size_t n)
{
    const bpe *b = e->b;
    bool pending = false; /* an unknown symbol that is not yet added */
    char symbol_text[2 * MAX_AFFIX + 8];
    for (size_t at = 0, length; at < n; at += length) {
        const char *p = word + at;
        length = 1;
        while (!b->by_bytes && length < 4 && at + length < n &&
               ((unsigned char)p[length] & 0xc0) == 0x80)
            length++;
        size_t total = length;
        if ((at > 0 && b->prefix_length > 0) || (at + length == n && b->suffix_length > 0)) {
            const size_t prefix = at > 0 ? b->prefix_length : 0;
            memcpy(symbol_text, b->prefix, prefix);
            memcpy(symbol_text + prefix, p, length);
            total = prefix + length;
            if (at + length == n) {
                memcpy(symbol_text + total, b->suffix, b->suffix_length);
                total += b->suffix_length;
            }
            p = symbol_text;
        }
        const int32_t id = id_of(b, p, total);
        if (id == NONE && b->fallback && add_fallback(e, p, total)) continue;
        if (id == NONE && b->unknown == NONE) continue;
        if (pending && (id != NONE || !b->fuse_unknown)) add_symbol(e, b->unknown);
        pending = id == NONE;
        if (id != NONE) add_symbol(e, id);
    }
    if (pending) add_symbol(e, b->unknown);
    if (e->n > 0) e->symbols[e->n - 1].next = NONE;
}

static int push_ids(lua_State *L, const word_encoding *e)
{
    lua_Integer count = 0;
    if (e->n > 0 && e->symbols[0].next == NONE) {
        lua_pushinteger(L, e->symbols[0].id);
        return 1;
    }
    lua_newtable(L);
    for (int32_t i = e->n > 0 ? 0 : NONE; i != NONE; i = e->symbols[i].next) {
        lua_pushinteger(L, e->symbols[i].id);
        lua_rawseti(L, -2, ++count);
    }
    return 1;
}

/* model:encode(word) -> its id, or the list of its ids. */
static int bpe_encode(lua_State *L)
{
    size_t n;
    symbol symbols[SHORT_WORD];
    candidate heap[ENTRIES_PER_SYMBOL * SHORT_WORD];
    const bpe *b = lt_lua_check_udata(L, 1, bpe_meta);
    const char *word = lt_lua_check_lstring(L, 2, &n);
    word_encoding e = {b, symbols, heap, 0, 0};
    if (b->merges == NULL) return lt_lua_error(L, "bpe: the model is incomplete");
    if (n > LT_TEXT_MAX_WORD)
        return lt_lua_error(L, "bpe: a word of %I bytes, expected at most %d", (LUAI_UACINT)n,
                            LT_TEXT_MAX_WORD);
    if (b->ignore_merges) {
        const int32_t id = id_of(b, word, n);
        if (id != NONE) {
            lua_pushinteger(L, id);
            return 1;
        }
    }
    /* a symbol for each byte, and those of an affix on each character */
    size_t room = n + b->suffix_length + (b->prefix_length > 0 ? n * b->prefix_length : 0);
    if (room > SHORT_WORD) {
        e.symbols = lua_newuserdatauv(L, room * sizeof *e.symbols, 0);
        e.heap = lua_newuserdatauv(L, ENTRIES_PER_SYMBOL * room * sizeof *e.heap, 0);
    }
    split_word(&e, word, n);
    merge_symbols(L, &e);
    return push_ids(L, &e);
}

/* model:id(token) -> the id of the token with these bytes, or nil. */
static int bpe_id(lua_State *L)
{
    size_t n;
    const bpe *b = lt_lua_check_udata(L, 1, bpe_meta);
    const char *token = lt_lua_check_lstring(L, 2, &n);
    const int32_t id = b->slots != NULL ? id_of(b, token, n) : NONE;
    if (id == NONE)
        lua_pushnil(L);
    else
        lua_pushinteger(L, id);
    return 1;
}

void lt_lua_open_bpe(lua_State *L)
{
    luaL_newmetatable(L, bpe_meta);
    lua_createtable(L, 0, 2);
    lt_lua_pushfunction(L, bpe_encode);
    lua_setfield(L, -2, "encode");
    lt_lua_pushfunction(L, bpe_id);
    lua_setfield(L, -2, "id");
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
    lt_lua_pushfunction(L, bpe_new);
    lua_setfield(L, 2, "bpe");
    lt_lua_pushfunction(L, byte_level_text);
    lua_setfield(L, 2, "byte_level_text");
}
