/* unicode.c - torch._C.repair_utf8 and unicode_map: valid UTF-8, normalization forms, and the
 * changes of text by categories of characters that tokenizers make.
 *
 * Text of ASCII only needs no tables. For other text utf8proc is opened on first use; its functions
 * and constants are declared here (utf8proc.h). A text is processed in pieces that begin with a
 * character that never joins the one before it, so the result is that of the whole text, and the
 * loop polls interrupts. Includes the Lua API. */
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "binding.h"
#include "libraries/library.h"
#include "text.h"

/* utf8proc.h */
enum { STABLE = 2, COMPAT = 4, COMPOSE = 8, DECOMPOSE = 16 };
enum { CATEGORY_LU = 1, CATEGORY_LL = 2, CATEGORY_LO = 5, CATEGORY_MN = 6, CATEGORY_ME = 8 };
enum { CATEGORY_ZS = 23, CATEGORY_ZP = 25, CATEGORY_CC = 26, CATEGORY_CF = 27, CATEGORY_CO = 29 };

static struct {
    ptrdiff_t (*decompose)(const uint8_t *text, ptrdiff_t n, int32_t *buffer, ptrdiff_t room,
                           int options);
    ptrdiff_t (*reencode)(int32_t *buffer, ptrdiff_t n, int options);
    int32_t (*lower)(int32_t c);
    int (*category)(int32_t c);
    bool ready;
} utf8proc;

static void load_utf8proc(const lt_library *self)
{
    void *library = dlopen("libutf8proc.so.3", RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL) library = dlopen(self->name, RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL) return;
    *(void **)&utf8proc.decompose = dlsym(library, "utf8proc_decompose");
    *(void **)&utf8proc.reencode = dlsym(library, "utf8proc_reencode");
    *(void **)&utf8proc.lower = dlsym(library, "utf8proc_tolower");
    *(void **)&utf8proc.category = dlsym(library, "utf8proc_category");
    utf8proc.ready = utf8proc.decompose != NULL && utf8proc.reencode != NULL &&
                     utf8proc.lower != NULL && utf8proc.category != NULL;
}

static lt_library utf8proc_library = LT_LIBRARY("libutf8proc.so.2", load_utf8proc);

/* ---- UTF-8 ----------------------------------------------------------------------------------- */

/* The length of the character at p, of at most n bytes; 0: invalid, and *bad is the number of bytes
 * that one U+FFFD replaces (the Unicode standard, table 3-7 and section 3.9). */
static int character_length(const unsigned char *p, size_t n, int *bad)
{
    const unsigned char c = p[0];
    *bad = 1;
    if (c < 0x80) return 1;
    if (c < 0xc2 || c > 0xf4) return 0;
    const int length = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    const unsigned char low = c == 0xe0   ? 0xa0
                              : c == 0xf0 ? 0x90
                                          : 0x80,
                        high = c == 0xed   ? 0x9f
                               : c == 0xf4 ? 0x8f
                                           : 0xbf;
    for (int i = 1; i < length; i++) {
        if ((size_t)i >= n || p[i] < (i == 1 ? low : 0x80) || p[i] > (i == 1 ? high : 0xbf))
            return 0;
        *bad = i + 1;
    }
    return length;
}

size_t lt_utf8_valid(const unsigned char *text, size_t n)
{
    size_t i = 0;
    int bad;
    while (i < n) {
        uint64_t word;
        for (; i + sizeof word <= n; i += sizeof word) {
            memcpy(&word, text + i, sizeof word);
            if ((word & UINT64_C(0x8080808080808080)) != 0) break;
        }
        for (; i < n && text[i] < 0x80; i++)
            ;
        for (; i < n && text[i] >= 0x80;) {
            const int length = character_length(text + i, n - i, &bad);
            if (length == 0) return i;
            i += (size_t)length;
        }
    }
    return n;
}

/* repair_utf8(text) -> the text with U+FFFD for each invalid sequence. */
static int repair_utf8(lua_State *L)
{
    size_t n;
    int bad;
    const char *text = lt_lua_check_lstring(L, 1, &n);
    size_t valid = lt_utf8_valid((const unsigned char *)text, n);
    luaL_Buffer b;
    if (valid == n) {
        lua_settop(L, 1);
        return 1;
    }
    luaL_buffinit(L, &b);
    for (size_t at = 0;;) {
        luaL_addlstring(&b, text + at, valid);
        at += valid;
        if (at >= n) break;
        character_length((const unsigned char *)text + at, n - at, &bad);
        luaL_addlstring(&b, "\xef\xbf\xbd", 3);
        at += (size_t)bad;
        valid = lt_utf8_valid((const unsigned char *)text + at, n - at);
    }
    luaL_pushresult(&b);
    return 1;
}

/* ---- maps ------------------------------------------------------------------------------------ */

static void add_character(luaL_Buffer *b, int32_t c)
{
    char *to = luaL_prepbuffsize(b, 4);
    if (c < 0x80) {
        to[0] = (char)c;
        luaL_addsize(b, 1);
    } else if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3f));
        luaL_addsize(b, 2);
    } else if (c < 0x10000) {
        to[0] = (char)(0xe0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 0x3f));
        to[2] = (char)(0x80 | (c & 0x3f));
        luaL_addsize(b, 3);
    } else {
        to[0] = (char)(0xf0 | c >> 18);
        to[1] = (char)(0x80 | (c >> 12 & 0x3f));
        to[2] = (char)(0x80 | (c >> 6 & 0x3f));
        to[3] = (char)(0x80 | (c & 0x3f));
        luaL_addsize(b, 4);
    }
}

/* The ranges that BERT surrounds with spaces: tokenization.py of google-research/bert. */
static bool is_chinese(int32_t c)
{
    return (c >= 0x4e00 && c <= 0x9fff) || (c >= 0x3400 && c <= 0x4dbf) ||
           (c >= 0x20000 && c <= 0x2a6df) || (c >= 0x2a700 && c <= 0x2b73f) ||
           (c >= 0x2b740 && c <= 0x2b81f) || (c >= 0x2b920 && c <= 0x2ceaf) ||
           (c >= 0xf900 && c <= 0xfaff) || (c >= 0x2f800 && c <= 0x2fa1f);
}

static void map_lower(luaL_Buffer *b, int32_t c)
{
    if (c < 0x80) {
        add_character(b, c >= 'A' && c <= 'Z' ? c + 32 : c);
    } else if (c == 0x130) { /* the only character with two in lower case */
        add_character(b, 'i');
        add_character(b, 0x307);
    } else {
        add_character(b, utf8proc.lower(c));
    }
}

static void map_without_marks(luaL_Buffer *b, int32_t c)
{
    const int category = c < 0x80 ? 0 : utf8proc.category(c);
    if (category < CATEGORY_MN || category > CATEGORY_ME) add_character(b, c);
}

static void map_without_nonspacing(luaL_Buffer *b, int32_t c)
{
    if (c < 0x80 || utf8proc.category(c) != CATEGORY_MN) add_character(b, c);
}

static bool is_blank(int32_t c)
{
    if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
    const int category = utf8proc.category(c);
    return c == 0x85 || (category >= CATEGORY_ZS && category <= CATEGORY_ZP);
}

/* BERT: without control characters, with a space for each blank one. */
static void map_clean(luaL_Buffer *b, int32_t c)
{
    if (c == '\t' || c == '\n' || c == '\r') {
        add_character(b, ' ');
        return;
    }
    if (c == 0 || c == 0xfffd || c < ' ' || c == 0x7f) return;
    if (c >= 0x80) {
        const int category = utf8proc.category(c);
        if (category == CATEGORY_CC || category == CATEGORY_CF || category == CATEGORY_CO) return;
    }
    add_character(b, is_blank(c) ? ' ' : c);
}

static void map_chinese(luaL_Buffer *b, int32_t c)
{
    const bool alone = is_chinese(c);
    if (alone) add_character(b, ' ');
    add_character(b, c);
    if (alone) add_character(b, ' ');
}

typedef struct text_map {
    const char *name;
    void (*map)(luaL_Buffer *b, int32_t c); /* NULL: a normalization form */
    int options;
    bool changes_ascii;
} text_map;

static const text_map maps[] = {
    {"NFC", NULL, STABLE | COMPOSE, false},
    {"NFD", NULL, STABLE | DECOMPOSE, false},
    {"NFKC", NULL, STABLE | COMPAT | COMPOSE, false},
    {"NFKD", NULL, STABLE | COMPAT | DECOMPOSE, false},
    {"lower", map_lower, 0, true},
    {"without_marks", map_without_marks, 0, false},
    {"without_nonspacing", map_without_nonspacing, 0, false},
    {"clean", map_clean, 0, true},
    {"chinese", map_chinese, 0, false},
};

enum { PIECE = 16384 }; /* bytes; a normalization form has at most 18 code points per byte */

/* Whether no normalization form joins the character with the one before it. Marks and the later
 * jamo of Hangul join, and compatibility characters that contain them. */
static bool begins_piece(int32_t c)
{
    if (c < 0x80) return true;
    if (c >= 0x1100 && !(c >= 0x3041 && c <= 0x3096) && !(c >= 0x30a1 && c <= 0x30fa) &&
        !(c >= 0x3400 && c <= 0xd7a3))
        return false;
    const int category = utf8proc.category(c);
    return category == CATEGORY_LU || category == CATEGORY_LL || category == CATEGORY_LO;
}

/* The end of the piece that begins at `at`. */
static size_t piece_end(const unsigned char *text, size_t at, size_t n)
{
    int length;
    if (n - at <= PIECE) return n;
    size_t end = at + PIECE;
    while ((text[end] & 0xc0) == 0x80) end--;
    for (size_t p = end; p > at; p--)
        if ((text[p] & 0xc0) != 0x80 && begins_piece(lt_utf8_decode(text + p, &length))) return p;
    return end;
}

static void add_form(lua_State *L, luaL_Buffer *b, const unsigned char *text, size_t n, int options,
                     int32_t *points, ptrdiff_t room)
{
    ptrdiff_t count = utf8proc.decompose(text, (ptrdiff_t)n, points, room, options);
    if (count >= 0 && count <= room) count = utf8proc.reencode(points, count, options);
    if (count < 0 || count > room) lt_lua_error(L, "unicode_map: the text cannot be normalized");
    luaL_addlstring(b, (const char *)points, (size_t)count);
}

/* unicode_map(text, name) -> the text, mapped. text: UTF-8. */
static int unicode_map(lua_State *L)
{
    size_t n, ascii = 0;
    const text_map *m = NULL;
    luaL_Buffer b;
    const unsigned char *text = (const unsigned char *)lt_lua_check_lstring(L, 1, &n);
    const char *name = lt_lua_check_string(L, 2);
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        if (strcmp(maps[i].name, name) == 0) m = &maps[i];
    if (m == NULL) lt_lua_refuse(L, 2, "a known map");
    if (lt_utf8_valid(text, n) < n) return lt_lua_error(L, "unicode_map: the text is not UTF-8");
    while (ascii < n && text[ascii] < 0x80) ascii++;
    lua_settop(L, 2);
    if (ascii == n && !m->changes_ascii) {
        lua_settop(L, 1);
        return 1;
    }
    if (ascii < n) {
        lt_lua_do(L, lt_library_need(&utf8proc_library));
        if (!utf8proc.ready)
            return lt_lua_error(L, "text outside of ASCII needs utf8proc (libutf8proc.so.2 or .3), "
                                   "which was not found; install Debian's package libutf8proc2 or "
                                   "libutf8proc3");
    }
    const ptrdiff_t room = 18 * (n < PIECE ? (ptrdiff_t)n : PIECE);
    int32_t *points =
        m->map == NULL ? lua_newuserdatauv(L, ((size_t)room + 1) * sizeof *points, 0) : NULL;
    luaL_buffinit(L, &b);
    for (size_t at = 0; at < n;) {
        const size_t end = piece_end(text, at, n);
        lt_lua_look(L);
        if (m->map == NULL) add_form(L, &b, text + at, end - at, m->options, points, room);
        for (int length; m->map != NULL && at < end; at += (size_t)length)
            m->map(&b, lt_utf8_decode(text + at, &length));
        at = end;
    }
    luaL_pushresult(&b);
    return 1;
}

void lt_lua_open_unicode(lua_State *L)
{
    lt_lua_pushfunction(L, repair_utf8);
    lua_setfield(L, 2, "repair_utf8");
    lt_lua_pushfunction(L, unicode_map);
    lua_setfield(L, 2, "unicode_map");
}
