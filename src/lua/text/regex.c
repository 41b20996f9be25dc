/* regex.c - torch._C.regex: regular expressions with Unicode properties, by PCRE2.
 *
 * PCRE2 is opened on first use; its functions and constants are declared here (pcre2api(3)), so
 * that building needs no header. A subject is checked to be UTF-8 before the first match, and the
 * expression keeps the subject that it has checked: a text is searched piece by piece without being
 * checked again. The steps of one match are limited, and the loop over matches polls interrupts.
 * Includes the Lua API. */
#include <dlfcn.h>
#include <stdbool.h>

#include "binding.h"
#include "libraries/library.h"
#include "text.h"

/* pcre2.h */
enum {
    PCRE2_MULTILINE = 0x400,
    PCRE2_NO_JIT = 0x2000,
    PCRE2_UCP = 0x20000,
    PCRE2_UTF = 0x80000,
    PCRE2_NEVER_BACKSLASH_C = 0x100000,
    PCRE2_NO_UTF_CHECK = 0x40000000,
    PCRE2_JIT_COMPLETE = 1,
    PCRE2_NOMATCH = -1,
    PCRE2_JIT_STACKLIMIT = -46
};

enum { MAX_STEPS = 4000000 }; /* of one match */

static struct {
    void *(*compile)(const unsigned char *pattern, size_t n, uint32_t options, int *error,
                     size_t *offset, void *context);
    void (*code_free)(void *code);
    int (*jit_compile)(void *code, uint32_t options);
    void *(*data_create)(uint32_t pairs, void *context);
    void (*data_free)(void *data);
    void *(*context_create)(void *context);
    void (*context_free)(void *context);
    int (*set_match_limit)(void *context, uint32_t limit);
    int (*match)(const void *code, const unsigned char *subject, size_t n, size_t start,
                 uint32_t options, void *data, void *context);
    size_t *(*ranges)(void *data);
    int (*message)(int error, unsigned char *buffer, size_t n);
    bool ready;
} pcre2;

static void load_pcre2(const lt_library *self)
{
    void *library = dlopen(self->name, RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL) return;
    const struct {
        void *function;
        const char *name;
    } functions[] = {{&pcre2.compile, "pcre2_compile_8"},
                     {&pcre2.code_free, "pcre2_code_free_8"},
                     {&pcre2.jit_compile, "pcre2_jit_compile_8"},
                     {&pcre2.data_create, "pcre2_match_data_create_8"},
                     {&pcre2.data_free, "pcre2_match_data_free_8"},
                     {&pcre2.context_create, "pcre2_match_context_create_8"},
                     {&pcre2.context_free, "pcre2_match_context_free_8"},
                     {&pcre2.set_match_limit, "pcre2_set_match_limit_8"},
                     {&pcre2.match, "pcre2_match_8"},
                     {&pcre2.ranges, "pcre2_get_ovector_pointer_8"},
                     {&pcre2.message, "pcre2_get_error_message_8"}};
    pcre2.ready = true;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        *(void **)functions[i].function = dlsym(library, functions[i].name);
        if (*(void **)functions[i].function == NULL) pcre2.ready = false;
    }
}

static lt_library pcre2_library = LT_LIBRARY("libpcre2-8.so.0", load_pcre2);

static const char regex_meta[] = "ltensor.Regex";

/* User value 1: the subject that was checked last. */
typedef struct regex {
    void *code, *data, *context;
    const char *checked; /* bytes of that subject; NULL: none */
} regex;

static int regex_free(lua_State *L)
{
    regex *r = luaL_checkudata(L, 1, regex_meta);
    if (r->context != NULL) pcre2.context_free(r->context);
    if (r->data != NULL) pcre2.data_free(r->data);
    if (r->code != NULL) pcre2.code_free(r->code);
    *r = (regex){0};
    return 0;
}

/* regex(pattern) -> an expression; or nil, the problem, its position in bytes. The pattern has
 * PCRE2's syntax, with PCRE2_UTF, PCRE2_UCP and PCRE2_MULTILINE. */
static int regex_new(lua_State *L)
{
    size_t n, offset;
    int error;
    unsigned char message[256];
    const unsigned char *pattern = (const unsigned char *)lt_lua_check_lstring(L, 1, &n);
    regex *r = lua_newuserdatauv(L, sizeof *r, 1);
    *r = (regex){0};
    luaL_setmetatable(L, regex_meta);
    lt_lua_do(L, lt_library_need(&pcre2_library));
    if (!pcre2.ready)
        return lt_lua_error(L, "regular expressions need PCRE2 (libpcre2-8.so.0), which was not "
                               "found; install Debian's package libpcre2-8-0");
    if (lt_utf8_valid(pattern, n) < n) {
        lua_pushnil(L);
        lua_pushliteral(L, "the pattern is not UTF-8");
        lua_pushinteger(L, (lua_Integer)lt_utf8_valid(pattern, n) + 1);
        return 3;
    }
    r->code =
        pcre2.compile(pattern, n, PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C,
                      &error, &offset, NULL);
    if (r->code == NULL) {
        message[0] = '\0';
        pcre2.message(error, message, sizeof message);
        lua_pushnil(L);
        lua_pushstring(L, (const char *)message);
        lua_pushinteger(L, (lua_Integer)offset + 1);
        return 3;
    }
    pcre2.jit_compile(r->code, PCRE2_JIT_COMPLETE); /* without it, matches are interpreted */
    r->data = pcre2.data_create(1, NULL);
    r->context = pcre2.context_create(NULL);
    if (r->data == NULL || r->context == NULL) return lt_lua_error(L, "out of memory");
    pcre2.set_match_limit(r->context, MAX_STEPS);
    return 1;
}

/* Finds the first match from `at` on. */
static bool find_match(lua_State *L, const regex *r, const char *text, size_t n, size_t at,
                       size_t *start, size_t *end)
{
    const unsigned char *subject = (const unsigned char *)text;
    unsigned char message[256] = "";
    int found = pcre2.match(r->code, subject, n, at, PCRE2_NO_UTF_CHECK, r->data, r->context);
    if (found == PCRE2_JIT_STACKLIMIT)
        found = pcre2.match(r->code, subject, n, at, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, r->data,
                            r->context);
    if (found == PCRE2_NOMATCH) return false;
    if (found < 0) {
        pcre2.message(found, message, sizeof message);
        lt_lua_error(L, "regular expression: %s, at byte %d of the text", (const char *)message,
                     (int)(at < INT32_MAX ? at + 1 : INT32_MAX));
    }
    const size_t *range = pcre2.ranges(r->data);
    if (range[0] < at || range[1] < range[0] || range[1] > n)
        lt_lua_error(L, "regular expression: \\K before the beginning of a match is not supported");
    *start = range[0];
    *end = range[1];
    return true;
}

enum { MATCHES = 1, GAPS = 2 }; /* the pieces that are stored */

typedef struct pieces {
    lua_State *L;
    const char *text;
    int words, flags; /* stack indices; flags 0: none */
    lua_Integer kinds, n;
} pieces;

static void add_piece(pieces *p, size_t from, size_t to, bool match)
{
    if (from == to || (p->kinds & (match ? MATCHES : GAPS)) == 0) return;
    lua_pushlstring(p->L, p->text + from, to - from);
    lua_rawseti(p->L, p->words, ++p->n);
    if (p->flags == 0) return;
    lua_pushboolean(p->L, match);
    lua_rawseti(p->L, p->flags, p->n);
}

/* regex:split(words, text, at, limit, kinds, flags) -> n, the position at which to go on. Stores
 * the pieces of the text from position `at` on, matches (kinds 1), the text between them (2) or
 * both (3), as words[1] to words[n], about `limit` of them, and whether each is a match in flags, a
 * table or nil. The second result is nil at the end of the text. Empty pieces are left out. */
static int regex_split(lua_State *L)
{
    size_t n, start, end;
    regex *r = lt_lua_check_udata(L, 1, regex_meta);
    lt_lua_check_type(L, 2, LUA_TTABLE);
    const char *text = lt_lua_check_lstring(L, 3, &n);
    const lua_Integer position = lt_lua_check_integer(L, 4), limit = lt_lua_check_integer(L, 5);
    pieces p = {L, text, 2, lua_istable(L, 7) ? 7 : 0, lt_lua_check_integer(L, 6), 0};
    if (r->code == NULL) return lt_lua_error(L, "the regular expression was freed");
    if (r->checked != text) {
        if (lt_utf8_valid((const unsigned char *)text, n) < n)
            return lt_lua_error(L, "regular expression: the text is not UTF-8");
        lua_pushvalue(L, 3);
        lua_setiuservalue(L, 1, 1);
        r->checked = text;
    }
    if (position < 1 || (size_t)position > n + 1 ||
        ((unsigned char)text[position - 1] & 0xc0) == 0x80)
        lt_lua_refuse(L, 4, "the position of a character");
    size_t at = (size_t)position - 1, next = at;
    while (p.n < limit && next <= n && find_match(L, r, text, n, next, &start, &end)) {
        lt_lua_look(L);
        if (end == start) { /* go on behind the next character */
            for (next = end + 1; next < n && ((unsigned char)text[next] & 0xc0) == 0x80;) next++;
            continue;
        }
        add_piece(&p, at, start, false);
        add_piece(&p, start, end, true);
        at = next = end;
    }
    if (p.n < limit) {
        add_piece(&p, at, n, false);
        at = n;
    }
    lua_pushinteger(L, p.n);
    if (at >= n)
        lua_pushnil(L);
    else
        lua_pushinteger(L, (lua_Integer)at + 1);
    return 2;
}

void lt_lua_open_regex(lua_State *L)
{
    luaL_newmetatable(L, regex_meta);
    lua_pushcfunction(L, regex_free);
    lua_setfield(L, -2, "__gc");
    lua_createtable(L, 0, 1);
    lt_lua_pushfunction(L, regex_split);
    lua_setfield(L, -2, "split");
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
    lt_lua_pushfunction(L, regex_new);
    lua_setfield(L, 2, "regex");
}
