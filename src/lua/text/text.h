/* text.h - functions of torch._C for tokenizers (lib/lm/tokenizer*.lua): regular expressions,
 * Unicode, and the models that encode words. Includes the Lua API. */
#ifndef LT_LUA_TEXT_H
#define LT_LUA_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include <lua.h>

void lt_lua_open_regex(lua_State *L);   /* torch._C.regex */
void lt_lua_open_unicode(lua_State *L); /* torch._C.repair_utf8, unicode_map */
void lt_lua_open_bpe(lua_State *L);     /* torch._C.bpe, byte_level_text */
void lt_lua_open_word_piece(lua_State *L);
void lt_lua_open_unigram(lua_State *L);

static inline void lt_lua_open_text(lua_State *L)
{
    lt_lua_open_regex(L);
    lt_lua_open_unicode(L);
    lt_lua_open_bpe(L);
    lt_lua_open_word_piece(L);
    lt_lua_open_unigram(L);
}

enum {
    LT_TEXT_MAX_TOKENS = 1 << 26,
    LT_TEXT_MAX_WORD = 1 << 29 /* bytes */
};

/* A hash of a number. */
static inline uint64_t lt_text_mix(uint64_t h)
{
    h ^= h >> 32;
    h *= UINT64_C(0xd6e8feb86659fd93);
    h ^= h >> 32;
    h *= UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 32;
}

/* The length of the valid UTF-8 at the beginning of n bytes: n if all are. Surrogates and overlong
 * forms are invalid. */
size_t lt_utf8_valid(const unsigned char *text, size_t n);

/* The code point at text, which is valid UTF-8, and its length in bytes. */
static inline int32_t lt_utf8_decode(const unsigned char *text, int *length)
{
    const int32_t c = text[0];
    if (c < 0x80) {
        *length = 1;
        return c;
    }
    if (c < 0xe0) {
        *length = 2;
        return (c & 0x1f) << 6 | (text[1] & 0x3f);
    }
    if (c < 0xf0) {
        *length = 3;
        return (c & 0x0f) << 12 | (text[1] & 0x3f) << 6 | (text[2] & 0x3f);
    }
    *length = 4;
    return (c & 0x07) << 18 | (text[1] & 0x3f) << 12 | (text[2] & 0x3f) << 6 | (text[3] & 0x3f);
}

#endif
