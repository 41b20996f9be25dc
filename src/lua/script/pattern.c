/* pattern.c - string.find, match, gmatch and gsub that can be interrupted.
 *
 * Lua's own matcher runs no hook while it tries a pattern, and a pattern such as ('a*'):rep(30)
 * takes practically forever. The pattern language, limits and messages follow the manual of Lua 5.4
 * (6.4.1), and every step checks whether the interpreter's context was requested to stop.
 * stoppable.h states where they replace Lua's. */
#include "stoppable.h"

#include <ctype.h>
#include <lauxlib.h>
#include <lualib.h>
#include <stdbool.h>
#include <string.h>

#include "system/lua_versions.h"

enum { MOST_CAPTURES = 32, DEEPEST = 200, OPEN = -1, POSITION = -2 };

static const char SPECIAL[] = "^$*+?.([%-";

typedef unsigned char byte;

typedef struct {
    lua_State *L;
    lt_context *context;
    const char *start, *end; /* of the subject */
    const char *pattern_end;
    int depth; /* remaining recursion depth */
    int captures;
    struct {
        const char *start;
        ptrdiff_t length; /* or OPEN, POSITION */
    } capture[MOST_CAPTURES];
} matcher;

static const char *match(matcher *m, const char *s, const char *p);

/* ---- one character --------------------------------------------------------------------------- */

/* The end of the single-character class that begins at p. */
static const char *class_end(const matcher *m, const char *p)
{
    char first = *p++;
    if (first == '%') {
        if (p == m->pattern_end) luaL_error(m->L, "malformed pattern (ends with '%%')");
        return p + 1;
    }
    if (first != '[') return p;
    if (*p == '^') p++;
    do { /* a ] in first position belongs to the set */
        lt_lua_look_at(m->L, m->context);
        if (p == m->pattern_end) luaL_error(m->L, "malformed pattern (missing ']')");
        if (*p++ == '%' && p < m->pattern_end) p++;
    } while (*p != ']' || p >= m->pattern_end);
    return p + 1;
}

/* Whether the character is of the class %letter. */
static bool is_of(byte c, char letter)
{
    bool is;
    switch (tolower((byte)letter)) {
    case 'a': is = isalpha(c); break;
    case 'c': is = iscntrl(c); break;
    case 'd': is = isdigit(c); break;
    case 'g': is = isgraph(c); break;
    case 'l': is = islower(c); break;
    case 'p': is = ispunct(c); break;
    case 's': is = isspace(c); break;
    case 'u': is = isupper(c); break;
    case 'w': is = isalnum(c); break;
    case 'x': is = isxdigit(c); break;
    case 'z': is = c == '\0'; break;
    default: return (byte)letter == c;
    }
    return isupper((byte)letter) ? !is : is;
}

/* Whether the character is in the set from its [ at p to its ] at last. */
static bool is_in_set(const matcher *m, byte c, const char *p, const char *last)
{
    bool found = true;
    if (*++p == '^') {
        found = false;
        p++;
    }
    for (; p < last; p++) {
        lt_lua_look_at(m->L, m->context);
        if (*p == '%') {
            p++;
            if (is_of(c, *p)) return found;
        } else if (p[1] == '-' && p + 2 < last) {
            if ((byte)p[0] <= c && c <= (byte)p[2]) return found;
            p += 2;
        } else if ((byte)*p == c) {
            return found;
        }
    }
    return !found;
}

/* Whether the character at s is of the class from p to end. */
static bool is_single(const matcher *m, const char *s, const char *p, const char *end)
{
    if (s >= m->end) return false;
    switch (*p) {
    case '.': return true;
    case '%': return is_of((byte)*s, p[1]);
    case '[': return is_in_set(m, (byte)*s, p, end - 1);
    default: return *p == *s;
    }
}

/* ---- captures -------------------------------------------------------------------------------- */

static const char *begin_capture(matcher *m, const char *s, const char *p, ptrdiff_t kind)
{
    if (m->captures >= MOST_CAPTURES) luaL_error(m->L, "too many captures");
    m->capture[m->captures].start = s;
    m->capture[m->captures].length = kind;
    m->captures++;
    const char *end = match(m, s, p);
    if (!end) m->captures--;
    return end;
}

static const char *end_capture(matcher *m, const char *s, const char *p)
{
    int i = m->captures - 1;
    while (i >= 0 && m->capture[i].length != OPEN) i--;
    if (i < 0) luaL_error(m->L, "invalid pattern capture");
    m->capture[i].length = s - m->capture[i].start;
    const char *end = match(m, s, p);
    if (!end) m->capture[i].length = OPEN;
    return end;
}

/* The end of the text at s that equals capture %digit, or NULL if the subject differs. */
static const char *same_as_capture(matcher *m, const char *s, char digit)
{
    int i = digit - '1';
    if (i < 0 || i >= m->captures || m->capture[i].length == OPEN) {
        luaL_error(m->L, "invalid capture index %%%d", i + 1);
        return NULL;
    }
    size_t length = (size_t)m->capture[i].length; /* POSITION becomes larger than any remainder */
    if ((size_t)(m->end - s) < length || memcmp(m->capture[i].start, s, length) != 0) return NULL;
    return s + length;
}

/* Pushes capture i of the match from s to e; without captures the match is the first. */
static void push_capture(matcher *m, int i, const char *s, const char *e)
{
    if (i >= m->captures) {
        if (i != 0) luaL_error(m->L, "invalid capture index %%%d", i + 1);
        lua_pushlstring(m->L, s, (size_t)(e - s));
    } else if (m->capture[i].length == POSITION) {
        lua_pushinteger(m->L, m->capture[i].start - m->start + 1);
    } else if (m->capture[i].length == OPEN) {
        luaL_error(m->L, "unfinished capture");
    } else {
        lua_pushlstring(m->L, m->capture[i].start, (size_t)m->capture[i].length);
    }
}

/* Pushes all captures; if there are none and s is given, the match. Returns their number. */
static int push_captures(matcher *m, const char *s, const char *e)
{
    int count = m->captures == 0 && s ? 1 : m->captures;
    luaL_checkstack(m->L, count, "too many captures");
    for (int i = 0; i < count; i++) push_capture(m, i, s, e);
    return count;
}

/* ---- matching -------------------------------------------------------------------------------- */

static const char *balanced(const matcher *m, const char *s, const char *p)
{
    if (p + 1 >= m->pattern_end) luaL_error(m->L, "malformed pattern (missing arguments to '%%b')");
    if (s >= m->end || *s != p[0]) return NULL;
    int depth = 1;
    while (++s < m->end) {
        lt_lua_look_at(m->L, m->context);
        if (*s == p[1]) {
            if (--depth == 0) return s + 1;
        } else if (*s == p[0]) {
            depth++;
        }
    }
    return NULL;
}

/* Whether %f[set] holds at s. */
static bool is_frontier(const matcher *m, const char *s, const char *set, const char *end)
{
    byte before = s == m->start ? 0 : (byte)s[-1], here = s < m->end ? (byte)*s : 0;
    return !is_in_set(m, before, set, end - 1) && is_in_set(m, here, set, end - 1);
}

/* Matches as many characters of the class as possible, then fewer, until the rest of the pattern
 * matches. */
static const char *most(matcher *m, const char *s, const char *p, const char *end)
{
    ptrdiff_t count = 0;
    for (; is_single(m, s + count, p, end); count++) lt_lua_look_at(m->L, m->context);
    for (; count >= 0; count--) {
        const char *found = match(m, s + count, end + 1);
        if (found) return found;
    }
    return NULL;
}

/* Matches as few as possible. */
static const char *fewest(matcher *m, const char *s, const char *p, const char *end)
{
    for (;;) {
        const char *found = match(m, s, end + 1);
        if (found) return found;
        if (!is_single(m, s, p, end)) return NULL;
        s++;
    }
}

/* Matches the pattern from p at s: the end of the match, or NULL. Recurses only to backtrack. */
static const char *match_here(matcher *m, const char *s, const char *p)
{
    while (p != m->pattern_end) {
        lt_lua_look_at(m->L, m->context);
        if (*p == '(')
            return p[1] == ')' ? begin_capture(m, s, p + 2, POSITION)
                               : begin_capture(m, s, p + 1, OPEN);
        if (*p == ')') return end_capture(m, s, p + 1);
        if (*p == '$' && p + 1 == m->pattern_end) return s == m->end ? s : NULL;
        if (*p == '%' && p + 1 < m->pattern_end && p[1] == 'b') {
            s = balanced(m, s, p + 2);
            if (!s) return NULL;
            p += 4;
            continue;
        }
        if (*p == '%' && p + 1 < m->pattern_end && p[1] == 'f') {
            const char *set = p + 2;
            if (*set != '[') luaL_error(m->L, "missing '[' after '%%f' in pattern");
            const char *end = class_end(m, set);
            if (!is_frontier(m, s, set, end)) return NULL;
            p = end;
            continue;
        }
        if (*p == '%' && p + 1 < m->pattern_end && isdigit((byte)p[1])) {
            s = same_as_capture(m, s, p[1]);
            if (!s) return NULL;
            p += 2;
            continue;
        }
        const char *end = class_end(m, p);
        char times = end < m->pattern_end ? *end : '\0';
        if (times == '*') return most(m, s, p, end);
        if (times == '-') return fewest(m, s, p, end);
        bool here = is_single(m, s, p, end);
        if (times == '+') return here ? most(m, s + 1, p, end) : NULL;
        if (times == '?') {
            const char *found = here ? match(m, s + 1, end + 1) : NULL;
            if (found) return found;
            p = end + 1;
            continue;
        }
        if (!here) return NULL;
        s++;
        p = end;
    }
    return s;
}

static const char *match(matcher *m, const char *s, const char *p)
{
    if (m->depth-- == 0) luaL_error(m->L, "pattern too complex");
    const char *end = match_here(m, s, p);
    m->depth++;
    return end;
}

static void matcher_init(matcher *m, lua_State *L, const char *s, size_t size, const char *p,
                         size_t pattern_size)
{
    m->L = L;
    m->context = lt_lua_context(L);
    m->start = s;
    m->end = s + size;
    m->pattern_end = p + pattern_size;
    m->depth = DEEPEST;
}

static const char *match_from(matcher *m, const char *s, const char *p)
{
    m->captures = 0;
    return match(m, s, p);
}

/* ---- find and match -------------------------------------------------------------------------- */

/* The offset of the position in argument `arg` (default 1); negative positions count from the end.
 */
static size_t offset_of(lua_State *L, int arg, size_t size)
{
    lua_Integer position = luaL_optinteger(L, arg, 1);
    if (position > 0) return (size_t)position - 1;
    if (position == 0 || position < -(lua_Integer)size) return 0;
    return size - (size_t)-position;
}

static bool is_plain(lua_State *L, const char *p, size_t size)
{
    lt_context *context = lt_lua_context(L);
    for (size_t i = 0; i < size; i++) {
        lt_lua_look_at(L, context);
        if (p[i] && strchr(SPECIAL, p[i])) return false;
    }
    return true;
}

static int pattern_search(lua_State *L, bool find)
{
    size_t size, pattern_size;
    const char *s = luaL_checklstring(L, 1, &size), *p = luaL_checklstring(L, 2, &pattern_size);
    size_t offset = offset_of(L, 3, size);
    matcher m;
    if (offset > size) return luaL_pushfail(L), 1;
    if (find && (lua_toboolean(L, 4) || is_plain(L, p, pattern_size))) {
        const char *found =
            pattern_size == 0 ? s + offset : memmem(s + offset, size - offset, p, pattern_size);
        if (!found) return luaL_pushfail(L), 1;
        lua_pushinteger(L, found - s + 1);
        lua_pushinteger(L, found - s + (ptrdiff_t)pattern_size);
        return 2;
    }
    matcher_init(&m, L, s, size, p, pattern_size);
    bool anchored = pattern_size > 0 && *p == '^';
    p += anchored;
    for (const char *from = s + offset; from <= m.end; from++) {
        const char *end = match_from(&m, from, p);
        if (end && !find) return push_captures(&m, from, end);
        if (end) {
            lua_pushinteger(L, from - s + 1);
            lua_pushinteger(L, end - s);
            return push_captures(&m, NULL, NULL) + 2;
        }
        if (anchored) break;
    }
    return luaL_pushfail(L), 1;
}

static int pattern_find(lua_State *L) { return pattern_search(L, true); }

static int match_string(lua_State *L) { return pattern_search(L, false); }

/* ---- gmatch ---------------------------------------------------------------------------------- */

/* Upvalues: subject, pattern, offset of the next search, end of the last match (-1: none yet). */
static int next_match(lua_State *L)
{
    size_t size, pattern_size;
    const char *s = lua_tolstring(L, lua_upvalueindex(1), &size);
    const char *p = lua_tolstring(L, lua_upvalueindex(2), &pattern_size);
    size_t offset = (size_t)lua_tointeger(L, lua_upvalueindex(3));
    lua_Integer last = lua_tointeger(L, lua_upvalueindex(4));
    matcher m;
    if (offset > size) return 0;
    matcher_init(&m, L, s, size, p, pattern_size);
    for (const char *from = s + offset; from <= m.end; from++) {
        const char *end = match_from(&m, from, p);
        if (!end || end - s == last) continue;
        lua_pushinteger(L, end - s);
        lua_copy(L, -1, lua_upvalueindex(3));
        lua_replace(L, lua_upvalueindex(4));
        return push_captures(&m, from, end);
    }
    return 0;
}

static int gmatch(lua_State *L)
{
    size_t size;
    luaL_checklstring(L, 1, &size);
    luaL_checkstring(L, 2);
    size_t offset = offset_of(L, 3, size);
    lua_settop(L, 2);
    lua_pushinteger(L, (lua_Integer)(offset > size ? size + 1 : offset));
    lua_pushinteger(L, -1);
    lua_pushcclosure(L, next_match, 4);
    return 1;
}

/* ---- gsub ------------------------------------------------------------------------------------ */

/* Adds argument 3, a string, with %0 to %9 replaced by captures. */
static void add_string(matcher *m, luaL_Buffer *out, const char *s, const char *e)
{
    lua_State *L = m->L;
    size_t size;
    const char *text = lua_tolstring(L, 3, &size);
    for (const char *end = text + size; text < end; text++) {
        lt_lua_look_at(L, m->context);
        const char *sign = memchr(text, '%', (size_t)(end - text));
        luaL_addlstring(out, text, (size_t)((sign ? sign : end) - text));
        if (!sign) return;
        text = sign + 1;
        if (text < end && *text == '%') {
            luaL_addchar(out, '%');
        } else if (text < end && *text == '0') {
            luaL_addlstring(out, s, (size_t)(e - s));
        } else if (text < end && isdigit((byte)*text)) {
            push_capture(m, *text - '1', s, e);
            luaL_tolstring(L, -1, NULL);
            lua_remove(L, -2);
            luaL_addvalue(out);
        } else {
            luaL_error(L, "invalid use of '%c' in replacement string", '%');
        }
    }
}

/* Adds the replacement for the match from s to e; false if the match stays. */
static bool add_replacement(matcher *m, luaL_Buffer *out, const char *s, const char *e, int type)
{
    lua_State *L = m->L;
    if (type == LUA_TFUNCTION) {
        lua_pushvalue(L, 3);
        lua_call(L, push_captures(m, s, e), 1);
    } else if (type == LUA_TTABLE) {
        push_capture(m, 0, s, e);
        lua_gettable(L, 3);
    } else {
        add_string(m, out, s, e);
        return true;
    }
    if (!lua_toboolean(L, -1)) {
        lua_pop(L, 1);
        luaL_addlstring(out, s, (size_t)(e - s));
        return false;
    }
    if (!lua_isstring(L, -1))
        luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
    luaL_addvalue(out);
    return true;
}

static int gsub(lua_State *L)
{
    size_t size, pattern_size;
    const char *s = luaL_checklstring(L, 1, &size), *p = luaL_checklstring(L, 2, &pattern_size);
    int type = lua_type(L, 3);
    luaL_argexpected(L,
                     type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TFUNCTION ||
                         type == LUA_TTABLE,
                     3, "string/function/table");
    lua_Integer limit = luaL_optinteger(L, 4, (lua_Integer)size + 1), count = 0;
    bool anchored = pattern_size > 0 && *p == '^', changed = false;
    const char *from = s, *last = NULL;
    matcher m;
    luaL_Buffer out;
    matcher_init(&m, L, s, size, p, pattern_size);
    p += anchored;
    luaL_buffinit(L, &out);
    while (count < limit) {
        const char *end = match_from(&m, from, p);
        if (end && end != last) {
            count++;
            changed |= add_replacement(&m, &out, from, end, type);
            from = last = end;
        } else if (from < m.end) {
            luaL_addchar(&out, *from++);
        } else {
            break;
        }
        if (anchored) break;
    }
    if (changed) {
        luaL_addlstring(&out, from, (size_t)(m.end - from));
        luaL_pushresult(&out);
    } else {
        lua_pushvalue(L, 1);
    }
    lua_pushinteger(L, count);
    return 2;
}

/* ---- all of them ----------------------------------------------------------------------------- */

const luaL_Reg lt_lua_patterns[] = {{"find", pattern_find},
                                    {"match", match_string},
                                    {"gmatch", gmatch},
                                    {"gsub", gsub},
                                    {NULL, NULL}};
