/* embedded.c - see embedded.h. Includes the Lua API and zlib.
 *
 * Compiled modules (bytecode) fit one version of the compiler: another release of Lua may number
 * its instructions differently. So each state compiles one module's text once: if the result equals
 * the bytecode in the binary, it loads the bytecode of the other modules without a check. */
#include "embedded.h"

#include <lauxlib.h>
#include <string.h>
#include <zlib.h>

void lt_embedded_push_text(lua_State *L, const struct lt_embedded *module)
{
    if (module->unpacked == 0) {
        lua_pushlstring(L, (const char *)module->data, module->size);
        return;
    }
    enum { GZIP = 16 };
    luaL_Buffer text;
    z_stream stream = {.next_out = (Bytef *)luaL_buffinitsize(L, &text, module->unpacked),
                       .avail_out = (uInt)module->unpacked,
                       .next_in = (Bytef *)module->data,
                       .avail_in = (uInt)module->size};
    int status = inflateInit2(&stream, MAX_WBITS + GZIP);
    if (status == Z_OK) {
        status = inflate(&stream, Z_FINISH);
        inflateEnd(&stream);
    }
    if (status != Z_STREAM_END || stream.avail_out > 0)
        luaL_error(L, "the text of the module %s could not be read", module->name);
    luaL_pushresultsize(&text, module->unpacked);
}

static int load_text(lua_State *L, const struct lt_embedded *module)
{
    const char *chunk = lua_pushfstring(L, "=[ltensor %s]", module->name);
    lt_embedded_push_text(L, module);
    size_t size;
    const char *text = lua_tolstring(L, -1, &size);
    int status = luaL_loadbufferx(L, text, size, chunk, "t");
    lua_replace(L, -3); /* replaces the name */
    lua_pop(L, 1);
    return status;
}

struct comparison {
    const unsigned char *at;
    size_t left;
};

static int compare(lua_State *L, const void *bytes, size_t size, void *context)
{
    (void)L;
    struct comparison *to = context;
    if (size > to->left || memcmp(bytes, to->at, size) != 0) return 1;
    to->at += size;
    to->left -= size;
    return 0;
}

/* Whether the state's compiler produces the same bytecode of a module as the binary contains. */
static int compiles_alike(lua_State *L, const struct lt_embedded *module)
{
    struct comparison to = {module->code, module->code_size};
    int status = load_text(L, module);
    if (status == LUA_OK) status = lua_dump(L, compare, &to, 0);
    lua_pop(L, 1);
    return status == 0 && to.left == 0;
}

int lt_embedded_load(lua_State *L, const struct lt_embedded *module)
{
    static const char asked = 0; /* its address is the registry key of the result */
    if (module->code == NULL) return load_text(L, module);
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &asked) == LUA_TNIL) {
        lua_pop(L, 1);
        lua_pushboolean(L, compiles_alike(L, module));
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &asked);
    }
    int alike = lua_toboolean(L, -1);
    lua_pop(L, 1);
    if (!alike) return load_text(L, module);
    const char *chunk = lua_pushfstring(L, "=[ltensor %s]", module->name);
    int status = luaL_loadbufferx(L, (const char *)module->code, module->code_size, chunk, "b");
    lua_remove(L, -2);
    return status;
}
