/* index_text.c - keys as text: x['2:5, :'], x['..., -1'], x['None, ::2'] = 0.
 *
 *   key        subscript {',' subscript} [',']
 *   subscript  position | [from] ':' [to] [':' [step]] | '...' | 'None' | 'newaxis'
 *
 * Positions count from 1 and both ends are included, as in tables. A text is parsed once: the
 * result is cached in a table of the registry, which is emptied when it holds MAX_KEPT texts. */
#include <ctype.h>
#include <string.h>

#include "index_key.h"

#define MAX_KEPT 256

static const char kept_key = 0, count_key = 0;

/* A text in the cache. */
typedef struct parsed {
    int n;
    lt_subscript at[];
} parsed;

void lt_lua_check_slice(lua_State *L, const lt_subscript *s)
{
    if (s->step < 1) lt_lua_error(L, "slice step must be positive");
    if ((s->has_from && s->from == 0) || (s->has_to && s->to == 0 && s->from > 1))
        lt_lua_error(L, "index 0: positions count from 1");
}

static const char *const axis_names[] = {"None", "newaxis"};

static size_t axis_name(const char *text)
{
    for (size_t i = 0; i < sizeof axis_names / sizeof *axis_names; i++) {
        size_t length = strlen(axis_names[i]);
        if (strncmp(text, axis_names[i], length) == 0 && !isalnum((unsigned char)text[length]) &&
            text[length] != '_')
            return length;
    }
    return 0;
}

bool lt_lua_is_index_text(const char *text)
{
    bool any = false;
    while (*text != 0) {
        size_t name = axis_name(text);
        if (name == 0 && strchr("0123456789:,.- ", *text) == NULL) return false;
        any = any || *text != ' ';
        text += name > 0 ? name : 1;
    }
    return any;
}

static int bad_text(lua_State *L, const char *text, const char *at)
{
    return lt_lua_error(L,
                        "invalid index '%s' at character %d: expected positions, slices "
                        "from:to:step (both ends included), '...' and None, separated by commas",
                        text, (int)(at - text) + 1);
}

static const char *skip(const char *p)
{
    while (*p == ' ') p++;
    return p;
}

/* An integer at *p, if there is one. */
static bool read_integer(lua_State *L, const char *text, const char **p, int64_t *out)
{
    const char *start = skip(*p), *end = start;
    lua_Integer value = 0;
    if (*end == '-') end++;
    const char *digits = end;
    while (isdigit((unsigned char)*end)) {
        if (value > (LUA_MAXINTEGER - 9) / 10)
            lt_lua_error(L, "the index '%s' holds a number that is too large", text);
        value = value * 10 + (*end++ - '0');
    }
    if (end == digits) {
        if (end != start) bad_text(L, text, start);
        return false;
    }
    *out = *start == '-' ? -value : value;
    *p = skip(end);
    return true;
}

static const char *read_subscript(lua_State *L, const char *text, const char *p, lt_subscript *s)
{
    memset(s, 0, sizeof *s);
    p = skip(p);
    size_t name = axis_name(p);
    if (name > 0) {
        s->kind = LT_NEWAXIS;
        return skip(p + name);
    }
    if (strncmp(p, "...", 3) == 0) {
        s->kind = LT_ELLIPSIS;
        return skip(p + 3);
    }
    *s = (lt_subscript){.kind = LT_SLICE, .from = 1, .to = -1, .step = 1};
    s->has_from = read_integer(L, text, &p, &s->from);
    if (*p != ':') {
        if (!s->has_from) bad_text(L, text, p);
        if (s->from == 0) lt_lua_error(L, "index 0: positions count from 1");
        s->kind = LT_AT;
        return p;
    }
    p++;
    s->has_to = read_integer(L, text, &p, &s->to);
    p = skip(p);
    if (*p == ':') {
        p++;
        read_integer(L, text, &p, &s->step);
        p = skip(p);
    }
    lt_lua_check_slice(L, s);
    return p;
}

/* Pushes the parsed form. */
static void parse(lua_State *L, const char *text)
{
    lt_subscript at[LT_MAX_SUBSCRIPTS];
    int n = 0, ellipses = 0;
    const char *p = text;
    do {
        if (n == LT_MAX_SUBSCRIPTS) lt_lua_error(L, "too many indices in '%s'", text);
        p = read_subscript(L, text, p, &at[n]);
        ellipses += at[n++].kind == LT_ELLIPSIS;
        if (*p != ',' && *p != 0) bad_text(L, text, p);
        if (*p == ',') p = skip(p + 1);
    } while (*p != 0);
    if (ellipses > 1) lt_lua_error(L, "an index can only have a single '...'");
    parsed *key = lua_newuserdatauv(L, sizeof *key + (size_t)n * sizeof *at, 0);
    key->n = n;
    memcpy(key->at, at, (size_t)n * sizeof *at);
}

/* Caches the parsed form on top of the stack under the string at index. */
static void keep_key(lua_State *L, int index)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &count_key);
    lua_Integer count = lua_tointeger(L, -1);
    lua_pop(L, 1);
    if (count % MAX_KEPT == 0) {
        lua_createtable(L, 0, MAX_KEPT);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &kept_key);
    }
    lua_pushinteger(L, count + 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &count_key);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &kept_key);
    lua_pushvalue(L, index);
    lua_pushvalue(L, -3);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

lt_key lt_lua_index_text(lua_State *L, int index)
{
    bool found = false;
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &kept_key) == LUA_TTABLE) {
        lua_pushvalue(L, index);
        found = lua_rawget(L, -2) == LUA_TUSERDATA;
        if (!found) lua_pop(L, 1);
    }
    if (!found) {
        lua_pop(L, 1);
        parse(L, lua_tostring(L, index));
        keep_key(L, index);
    }
    const parsed *key = lua_touserdata(L, -1);
    return (lt_key){.n = key->n, .tensors = false, .at = key->at};
}
