/* long_calls.c - functions of Lua's libraries that process much data without running a hook, in
 * versions that can be interrupted.
 *
 * Each has the arguments, results and messages of Lua's function. Where Lua's function does the
 * work, it is the closure's upvalue and is called piece by piece, with arguments checked
 * beforehand: its own messages would not have the function's name. Strings below LONG bytes are
 * passed to it whole. stoppable.h states where they replace Lua's. */
#include "stoppable.h"

#include <ctype.h>
#include <lauxlib.h>
#include <limits.h>
#include <lualib.h>
#include <stdbool.h>
#include <string.h>

#include "binding.h"

enum { LONG = 4 << 20, PIECE = 1 << 20, FEW = 1 << 6, OFTEN = 1 << 17 };

static void check_deadline(lua_State *L) { lt_lua_look_at(L, lt_lua_context(L)); }

/* Calls Lua's function with the nargs values on top of the stack. */
static void call_original(lua_State *L, int nargs, int nresults)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, -nargs - 1);
    lua_call(L, nargs, nresults);
}

/* Passes all arguments to Lua's function; returns all of its results. */
static int pass_on(lua_State *L)
{
    call_original(L, lua_gettop(L), LUA_MULTRET);
    return lua_gettop(L);
}

/* memcpy that checks for an interrupt. */
static void copy_in_pieces(lua_State *L, char *to, const char *from, size_t n)
{
    for (size_t at = 0; at < n; at += PIECE) {
        check_deadline(L);
        memcpy(to + at, from + at, n - at < PIECE ? n - at : PIECE);
    }
}

/* ---- string ---------------------------------------------------------------------------------- */

/* string.rep(s, n, separator) */
static int rep(lua_State *L)
{
    size_t size, between;
    const char *s = luaL_checklstring(L, 1, &size);
    lua_Integer n = luaL_checkinteger(L, 2);
    const char *separator = luaL_optlstring(L, 3, "", &between);
    size_t unit = size + between;
    luaL_Buffer out;
    if (n <= 0 || unit == 0) return lua_pushliteral(L, ""), 1;
    if (unit < size || unit > INT_MAX / (size_t)n)
        return luaL_error(L, "resulting string too large");
    size_t total = unit * (size_t)n - between, done = unit < total ? unit : total;
    char *p = luaL_buffinitsize(L, &out, total);
    copy_in_pieces(L, p, s, size);
    if (n > 1) copy_in_pieces(L, p + size, separator, between);
    /* copies bytes from a multiple of the unit before */
    for (size_t period = unit; done < total;) {
        if (done % unit == 0 && done <= PIECE) period = done;
        size_t piece = period < total - done ? period : total - done;
        copy_in_pieces(L, p + done, p + done - period, piece);
        done += piece;
    }
    luaL_pushresultsize(&out, total);
    return 1;
}

static void reverse_bytes(char *to, const char *from, size_t n, size_t size, size_t at)
{
    for (size_t i = at; i < at + n; i++) to[i] = from[size - 1 - i];
}

static void upper_bytes(char *to, const char *from, size_t n, size_t size, size_t at)
{
    (void)size;
    for (size_t i = at; i < at + n; i++) to[i] = (char)toupper((unsigned char)from[i]);
}

static void lower_bytes(char *to, const char *from, size_t n, size_t size, size_t at)
{
    (void)size;
    for (size_t i = at; i < at + n; i++) to[i] = (char)tolower((unsigned char)from[i]);
}

/* Pushes the first argument with its bytes transformed by `change`, which writes n bytes of the
 * result from `at` on. */
static int changed(lua_State *L,
                   void (*change)(char *, const char *, size_t n, size_t size, size_t at))
{
    size_t size;
    const char *s = luaL_checklstring(L, 1, &size);
    luaL_Buffer out;
    char *p = luaL_buffinitsize(L, &out, size);
    for (size_t at = 0; at < size; at += PIECE) {
        check_deadline(L);
        change(p, s, size - at < PIECE ? size - at : PIECE, size, at);
    }
    luaL_pushresultsize(&out, size);
    return 1;
}

static int reverse(lua_State *L) { return changed(L, reverse_bytes); }
static int upper(lua_State *L) { return changed(L, upper_bytes); }
static int lower(lua_State *L) { return changed(L, lower_bytes); }

/* Adds the string at index in %q form. A piece never ends behind a control character: its escape
 * depends on the next character. */
static void add_quoted(lua_State *L, luaL_Buffer *out, int index)
{
    size_t size, quoted;
    const char *s = lua_tolstring(L, index, &size), *end = s + size;
    luaL_addchar(out, '"');
    while (s < end) {
        const char *stop = end - s > PIECE ? s + PIECE : end;
        while (stop < end && iscntrl((unsigned char)stop[-1])) stop++;
        check_deadline(L);
        lua_pushliteral(L, "%q");
        lua_pushlstring(L, s, (size_t)(stop - s));
        call_original(L, 2, 1);
        const char *text = lua_tolstring(L, -1, &quoted);
        lua_pushlstring(L, text + 1, quoted - 2);
        lua_remove(L, -2);
        luaL_addvalue(out);
        s = stop;
    }
    luaL_addchar(out, '"');
}

/* The end of the conversion that begins with the % at p. */
static const char *conversion_end(const char *p, const char *end)
{
    p++;
    p += strspn(p, "-+ #0123456789.");
    return p < end ? p + 1 : end;
}

/* Rejects an argument that does not fit the conversion from p to end. Returns the size of its
 * string, or 0. */
static size_t check_conversion(lua_State *L, const char *p, const char *end, int arg, int top)
{
    size_t size = 0;
    if (arg > top) return (size_t)luaL_argerror(L, arg, "no value");
    switch (end[-1]) {
    case 'c':
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X': luaL_checkinteger(L, arg); break;
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G': luaL_checknumber(L, arg); break;
    case 'q':
        if (lua_type(L, arg) > LUA_TSTRING || lua_type(L, arg) == LUA_TLIGHTUSERDATA)
            luaL_argerror(L, arg, "value has no literal form");
        if (lua_type(L, arg) == LUA_TSTRING) lua_tolstring(L, arg, &size);
        break;
    case 's':
        if (lua_type(L, arg) != LUA_TSTRING) {
            luaL_tolstring(L, arg, NULL); /* call a metamethod only once */
            lua_replace(L, arg);
        }
        const char *s = lua_tolstring(L, arg, &size);
        luaL_argcheck(L, end - p == 2 || size == strlen(s), arg, "string contains zeros");
        break;
    }
    return size;
}

/* string.format(text, ...) */
static int format(lua_State *L)
{
    size_t size, strings = 0;
    const char *text = luaL_checklstring(L, 1, &size), *end = text + size;
    int top = lua_gettop(L), arg = 1;
    for (const char *p = text; (p = memchr(p, '%', (size_t)(end - p))) != NULL;) {
        const char *next = conversion_end(p, end);
        if (next[-1] != '%' || next - p != 2) strings += check_conversion(L, p, next, ++arg, top);
        p = next;
    }
    if (size + strings < LONG) return pass_on(L);
    luaL_Buffer out;
    luaL_buffinit(L, &out);
    arg = 1;
    for (const char *p = text; p < end;) {
        const char *sign = memchr(p, '%', (size_t)(end - p)),
                   *next = sign ? conversion_end(sign, end) : end;
        check_deadline(L);
        luaL_addlstring(&out, p, (size_t)((sign ? sign : end) - p));
        if (sign != NULL && sign[1] == '%') {
            luaL_addchar(&out, '%');
        } else if (sign != NULL && next - sign == 2 && sign[1] == 'q' &&
                   lua_type(L, arg + 1) == LUA_TSTRING) {
            add_quoted(L, &out, ++arg);
        } else if (sign != NULL) {
            lua_pushlstring(L, sign, (size_t)(next - sign));
            lua_pushvalue(L, ++arg);
            call_original(L, 2, 1);
            luaL_addvalue(&out);
        }
        p = next;
    }
    luaL_pushresult(&out);
    return 1;
}

/* ---- table ----------------------------------------------------------------------------------- */

/* Raises an error unless argument `arg` is a table or has the required metamethods. */
static void check_table(lua_State *L, int arg, const char *const *metamethods)
{
    if (lua_type(L, arg) == LUA_TTABLE) return;
    for (; *metamethods != NULL; metamethods++) {
        if (luaL_getmetafield(L, arg, *metamethods) == LUA_TNIL) luaL_checktype(L, arg, LUA_TTABLE);
        lua_pop(L, 1);
    }
}

static const char *const read_by[] = {"__index", NULL}, *const written_by[] = {"__newindex", NULL},
                         *const listed_by[] = {"__index", "__len", NULL},
                         *const sorted_by[] = {"__index", "__newindex", "__len", NULL};

/* table.concat(list, separator, i, j) */
static int concat(lua_State *L)
{
    size_t between;
    check_table(L, 1, listed_by);
    lua_Integer last = luaL_len(L, 1);
    const char *separator = luaL_optlstring(L, 2, "", &between);
    lua_Integer i = luaL_optinteger(L, 3, 1);
    last = luaL_optinteger(L, 4, last);
    luaL_Buffer out;
    luaL_buffinit(L, &out);
    for (bool first = true; first ? i <= last : i++ < last;
         first = false) { /* last may be the largest integer */
        if (i % FEW == 0) check_deadline(L);
        if (!first) luaL_addlstring(&out, separator, between);
        lua_geti(L, 1, i);
        if (!lua_isstring(L, -1))
            return luaL_error(L, "invalid value (%s) at index %I in table for 'concat'",
                              luaL_typename(L, -1), (LUAI_UACINT)i);
        luaL_addvalue(&out);
    }
    luaL_pushresult(&out);
    return 1;
}

/* table.insert(list, position, value). __len may return any number, so the loop may be endless. */
static int insert(lua_State *L)
{
    check_table(L, 1, sorted_by);
    const lua_Integer end = (lua_Integer)((lua_Unsigned)luaL_len(L, 1) + 1);
    lua_Integer position = end;
    switch (lua_gettop(L)) {
    case 2: break;
    case 3:
        position = luaL_checkinteger(L, 2);
        luaL_argcheck(L, (lua_Unsigned)position - 1u < (lua_Unsigned)end, 2,
                      "position out of bounds");
        for (lua_Integer i = end; i > position; i--) {
            if (i % FEW == 0) check_deadline(L);
            lua_geti(L, 1, i - 1);
            lua_seti(L, 1, i);
        }
        break;
    default: return luaL_error(L, "wrong number of arguments to 'insert'");
    }
    lua_seti(L, 1, position);
    return 0;
}

/* table.remove(list, position) */
static int remove_entry(lua_State *L)
{
    check_table(L, 1, sorted_by);
    const lua_Integer size = luaL_len(L, 1);
    lua_Integer position = luaL_optinteger(L, 2, size);
    if (lua_gettop(L) > 1)
        luaL_argcheck(L, (lua_Unsigned)position - 1u <= (lua_Unsigned)size, 2,
                      "position out of bounds");
    lua_geti(L, 1, position);
    for (; position < size; position++) {
        if (position % FEW == 0) check_deadline(L);
        lua_geti(L, 1, position + 1);
        lua_seti(L, 1, position);
    }
    lua_pushnil(L);
    lua_seti(L, 1, position);
    return 1;
}

/* table.move(from_table, first, last, to, to_table) */
static int table_move(lua_State *L)
{
    lua_Integer first = luaL_checkinteger(L, 2), last = luaL_checkinteger(L, 3),
                to = luaL_checkinteger(L, 4);
    int target = lua_isnoneornil(L, 5) ? 1 : 5;
    check_table(L, 1, read_by);
    check_table(L, target, written_by);
    if (last >= first) {
        luaL_argcheck(L, first > 0 || last < LUA_MAXINTEGER + first, 3,
                      "too many elements to move");
        lua_Integer n = last - first + 1;
        luaL_argcheck(L, to <= LUA_MAXINTEGER - n + 1, 4, "destination wrap around");
        bool forward =
            to > last || to <= first || (target != 1 && !lua_compare(L, 1, target, LUA_OPEQ));
        for (lua_Integer i = 0; i < n; i++) {
            lua_Integer at = forward ? i : n - 1 - i;
            if (i % FEW == 0) check_deadline(L);
            lua_geti(L, 1, first + at);
            lua_seti(L, target, to + at);
        }
    }
    lua_pushvalue(L, target);
    return 1;
}

static int less(lua_State *L)
{
    check_deadline(L);
    lua_pushboolean(L, lua_compare(L, 1, 2, LUA_OPLT));
    return 1;
}

/* A comparison with the C function in the upvalue. */
static int compare_in_c(lua_State *L)
{
    check_deadline(L);
    return pass_on(L);
}

/* table.sort(list, comparison): for a long list, a comparison by Lua's own < or by a C function is
 * wrapped in one that checks for an interrupt. */
static int sort(lua_State *L)
{
    check_table(L, 1, sorted_by);
    lua_Integer n = luaL_len(L, 1);
    luaL_argcheck(L, n < INT_MAX, 1, "array too big");
    if (n > 1 && !lua_isnoneornil(L, 2)) luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    if (n > OFTEN && lua_isnil(L, 2)) {
        lua_pushcfunction(L, less);
        lua_replace(L, 2);
    } else if (n > OFTEN && lua_iscfunction(L, 2)) {
        lua_pushcclosure(L, compare_in_c, 1);
    }
    return pass_on(L);
}

/* ---- utf8 and load --------------------------------------------------------------------------- */

/* Converts a position from the end to one from the start; before the start: 0. */
static lua_Integer from_start(lua_Integer position, size_t size)
{
    if (position >= 0) return position;
    return 0u - (size_t)position > size ? 0 : (lua_Integer)size + position + 1;
}

/* The length in bytes of the character with this first byte. */
static lua_Integer utf8_length(unsigned char first)
{
    static const unsigned char most[] = {0x80, 0xE0, 0xF0, 0xF8, 0xFC};
    lua_Integer n = 1;
    while (n <= 5 && first >= most[n - 1]) n++;
    return n;
}

#if LUA_VERSION_NUM == 503
#define RANGE "string"
#else
#define RANGE "bounds"
#endif

/* utf8.len(s, i, j, lax) */
static int utf8_len(lua_State *L)
{
    size_t size;
    const char *s = luaL_checklstring(L, 1, &size);
    lua_Integer i = from_start(luaL_optinteger(L, 2, 1), size), count = 0;
    lua_Integer j = from_start(luaL_optinteger(L, 3, -1), size);
    bool lax = lua_toboolean(L, 4);
    luaL_argcheck(L, i >= 1 && i <= (lua_Integer)size + 1, 2, "initial position out of " RANGE);
    luaL_argcheck(L, j <= (lua_Integer)size, 3, "final position out of " RANGE);
    while (i <= j) {
        lua_Integer stop = j - i < PIECE ? j : i + PIECE;
        while (stop < j && stop > i && ((unsigned char)s[stop - 1] & 0xC0) == 0x80) stop--;
        check_deadline(L);
        lua_pushvalue(L, 1);
        lua_pushinteger(L, i);
        lua_pushinteger(L, stop);
        lua_pushboolean(L, lax);
        call_original(L, 4, 2);
        if (!lua_toboolean(L, -2)) return 2;
        count += lua_tointeger(L, -2);
        lua_pop(L, 2);
        i = stop < j ? stop + utf8_length((unsigned char)s[stop - 1]) : j + 1;
    }
    lua_pushinteger(L, count);
    return 1;
}

/* The next piece of the text in upvalue 1, from the offset in upvalue 2; "" at its end. */
static int next_piece(lua_State *L)
{
    size_t size;
    const char *text = lua_tolstring(L, lua_upvalueindex(1), &size);
    size_t at = (size_t)lua_tointeger(L, lua_upvalueindex(2)),
           n = size - at < PIECE ? size - at : PIECE;
    check_deadline(L);
    lua_pushinteger(L, (lua_Integer)(at + n));
    lua_replace(L, lua_upvalueindex(2));
    lua_pushlstring(L, text + at, n);
    return 1;
}

/* load(chunk, name, mode, environment): a long text is loaded in pieces. */
static int load_chunk(lua_State *L)
{
    size_t size = 0;
    if (!lua_isstring(L, 1)) luaL_checktype(L, 1, LUA_TFUNCTION);
    luaL_optstring(L, 2, NULL);
    luaL_optstring(L, 3, NULL);
    if (lua_isstring(L, 1)) lua_tolstring(L, 1, &size);
    if (size >= LONG) {
        if (lua_isnoneornil(L, 2)) {
            if (lua_gettop(L) < 2) lua_settop(L, 2);
            lua_pushvalue(L, 1); /* a text is its own chunk name */
            lua_replace(L, 2);
        }
        lua_pushvalue(L, 1);
        lua_pushinteger(L, 0);
        lua_pushcclosure(L, next_piece, 2);
        lua_replace(L, 1);
    }
    /* Lua's function catches the error that ends the reader, but an outer message handler would be
     * called first and take it for the final one: this inner protected call has no handler. */
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    if (lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0) != LUA_OK) return lua_error(L);
    return lua_gettop(L);
}

/* ---- coroutines ------------------------------------------------------------------------------ */

/* Each coroutine counts its own instructions, so many short ones would never reach the hook. */
static int look_and_pass_on(lua_State *L)
{
    check_deadline(L);
    return pass_on(L);
}

/* ---- all of them ----------------------------------------------------------------------------- */

typedef struct {
    const char *library;
    luaL_Reg functions[8];
} replacements;

static const replacements all[] = {
    {LUA_STRLIBNAME,
     {{"rep", rep}, {"reverse", reverse}, {"upper", upper}, {"lower", lower}, {"format", format}}},
    {LUA_TABLIBNAME,
     {{"concat", concat},
      {"insert", insert},
      {"move", table_move},
      {"remove", remove_entry},
      {"sort", sort}}},
    {LUA_COLIBNAME,
     {{"create", look_and_pass_on}, {"resume", look_and_pass_on}, {"wrap", look_and_pass_on}}},
    {LUA_UTF8LIBNAME, {{"len", utf8_len}}},
    {LUA_GNAME, {{"load", load_chunk}}},
};

/* The upvalue of each function is the library's current function. */
void lt_lua_push_stoppable(lua_State *L)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_newtable(L);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        lua_newtable(L);
        lua_getfield(L, -3, all[i].library);
        for (const luaL_Reg *f = all[i].functions; lua_istable(L, -1) && f->name != NULL; f++) {
            lua_getfield(L, -1, f->name);
            lua_pushcclosure(L, f->func, 1);
            lua_setfield(L, -3, f->name);
        }
        lua_pop(L, 1);
        if (strcmp(all[i].library, LUA_STRLIBNAME) == 0) luaL_setfuncs(L, lt_lua_patterns, 0);
        lua_setfield(L, -2, all[i].library);
    }
    lua_remove(L, -2);
}

/* stoppable() -> the functions, by library */
static int stoppable(lua_State *L)
{
    lt_lua_push_stoppable(L);
    return 1;
}

void lt_lua_open_stoppable(lua_State *L)
{
    lua_pushcfunction(L, stoppable);
    lua_setfield(L, 2, "stoppable");
}
