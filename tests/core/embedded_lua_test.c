/* embedded_lua_test.c - modules in a binary: packed texts, and what another compiler of Lua made of
 * one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <lauxlib.h>

#include "../../src/lua/system/embedded.h"

static const char TEXT[] = "return 'of the text'";

typedef struct bytes {
    unsigned char at[4096];
    size_t size;
} bytes;

static int append(lua_State *L, const void *more, size_t size, void *context)
{
    (void)L;
    bytes *to = context;
    if (size > sizeof to->at - to->size) return 1;
    memcpy(to->at + to->size, more, size);
    to->size += size;
    return 0;
}

/* What a state's compiler makes of a text. */
static bytes compiled(lua_State *L, const char *text)
{
    bytes result = {.size = 0};
    assert_int_equal(luaL_loadbufferx(L, text, strlen(text), "=[ltensor a.module]", "t"), LUA_OK);
    assert_int_equal(lua_dump(L, append, &result, 0), 0);
    lua_pop(L, 1);
    return result;
}

static struct lt_embedded module_of(const bytes *code)
{
    return (struct lt_embedded){"a.module", (const unsigned char *)TEXT, strlen(TEXT), 0, code->at,
                                code->size};
}

static void assert_gives(lua_State *L, const struct lt_embedded *module, const char *expected)
{
    assert_int_equal(lt_embedded_load(L, module), LUA_OK);
    assert_int_equal(lua_gettop(L), 1);
    lua_call(L, 0, 1);
    assert_string_equal(lua_tostring(L, -1), expected);
    lua_settop(L, 0);
}

static void what_this_compiler_made_is_taken(void **state)
{
    (void)state;
    lua_State *L = luaL_newstate();
    const bytes same = compiled(L, TEXT), other = compiled(L, "return 'of the code'");
    const struct lt_embedded first = module_of(&same), second = module_of(&other);
    assert_gives(L, &first, "of the text");
    assert_gives(L, &second, "of the code"); /* asked once, with the first */
    lua_close(L);
}

static void what_another_compiler_made_is_left(void **state)
{
    (void)state;
    lua_State *L = luaL_newstate();
    const bytes other = compiled(L, "return 'of the code'");
    bytes longer = compiled(L, TEXT), damaged = {"\33Lua\x53", 5};
    longer.size++;
    const struct lt_embedded modules[] = {module_of(&other), module_of(&longer),
                                          module_of(&damaged)};
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        lua_State *fresh = luaL_newstate();
        assert_gives(fresh, &modules[i], "of the text");
        assert_gives(fresh, &modules[i], "of the text");
        lua_close(fresh);
    }
    lua_close(L);
}

static int push_text(lua_State *L)
{
    lt_embedded_push_text(L, lua_touserdata(L, 1));
    return 1;
}

static void a_damaged_text_is_an_error(void **state)
{
    (void)state;
    lua_State *L = luaL_newstate();
    struct lt_embedded module = {"a.module", (const unsigned char *)TEXT, strlen(TEXT), 100, NULL,
                                 0};
    lua_pushcfunction(L, push_text);
    lua_pushlightuserdata(L, &module);
    assert_int_equal(lua_pcall(L, 1, 1, 0), LUA_ERRRUN);
    assert_non_null(
        strstr(lua_tostring(L, -1), "the text of the module a.module could not be read"));
    lua_close(L);
}

static void every_module_of_the_library_has_its_text(void **state)
{
    (void)state;
    lua_State *L = luaL_newstate();
    for (const struct lt_embedded *module = lib_modules; module->name; module++) {
        lua_settop(L, 0);
        lt_embedded_push_text(L, module);
        const bytes none = {.size = 0};
        struct lt_embedded text = *module;
        text.code = none.at;
        text.code_size = 0;
        assert_int_equal(lt_embedded_load(L, &text), LUA_OK);
    }
    lua_close(L);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_this_compiler_made_is_taken),
        cmocka_unit_test(what_another_compiler_made_is_left),
        cmocka_unit_test(a_damaged_text_is_an_error),
        cmocka_unit_test(every_module_of_the_library_has_its_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
