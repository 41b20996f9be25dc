/* arrow_lua_test.c - columns of Arrow that a host and its scripts pass each other in capsules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lualib.h>
#include <string.h>

#include "expect.h"
#include "ltensor_lua.h"

static lua_State *L;

static int open_lua(void **state)
{
    (void)state;
    L = luaL_newstate();
    if (L == NULL) return -1;
    luaL_openlibs(L);
    luaL_requiref(L, "torch", luaopen_torch, 1);
    lua_settop(L, 0);
    return 0;
}

static int close_lua(void **state)
{
    (void)state;
    lua_close(L);
    return 0;
}

/* The function of a chunk is called with the values on the stack, which its result replaces. */
static void run(const char *chunk)
{
    if (luaL_loadstring(L, chunk) != LUA_OK) fail_msg("%s", lua_tostring(L, -1));
    lua_insert(L, 1);
    if (lua_pcall(L, lua_gettop(L) - 1, 1, 0) != LUA_OK) fail_msg("%s", lua_tostring(L, -1));
}

/* ---- a column of the host's ------------------------------------------------------------------ */

static int arrays_released, schemas_released;
static const double ages[] = {31, 27, 45};
static const void *buffers[] = {NULL, ages};

static void release_array(struct ArrowArray *self)
{
    self->release = NULL;
    arrays_released++;
}

static void release_schema(struct ArrowSchema *self)
{
    self->release = NULL;
    schemas_released++;
}

static void push_ages(void)
{
    struct ArrowSchema schema = {.format = "g", .name = "age", .release = release_schema};
    struct ArrowArray array = {
        .length = 3, .n_buffers = 2, .buffers = buffers, .release = release_array};
    arrays_released = schemas_released = 0;
    lt_lua_push_arrow(L, &schema, &array);
    assert_null(schema.release); /* both are moved */
    assert_null(array.release);
}

static void a_script_takes_the_hosts_column(void **state)
{
    (void)state;
    push_ages();
    run("x = torch.from_arrow(...) return x");
    assert_ptr_equal(lt_tensor_data(lt_lua_tensor(L, 1)), ages);
    lua_settop(L, 0);
    run("local sum = x:sum():item() x = nil collectgarbage() collectgarbage() return sum");
    assert_true(lua_tonumber(L, 1) == 103);
    lua_settop(L, 0);
    assert_int_equal(arrays_released, 1);
    assert_int_equal(schemas_released, 1);
}

static void what_nobody_takes_is_released(void **state)
{
    (void)state;
    push_ages();
    lua_settop(L, 0);
    run("collectgarbage() collectgarbage()");
    lua_settop(L, 0);
    assert_int_equal(arrays_released, 1);
    assert_int_equal(schemas_released, 1);
}

static void what_is_refused_stays_in_its_capsule(void **state)
{
    (void)state;
    struct ArrowSchema schema = {.format = "u", .release = release_schema};
    struct ArrowArray array = {
        .length = 3, .n_buffers = 3, .buffers = buffers, .release = release_array};
    arrays_released = schemas_released = 0;
    lt_lua_push_arrow(L, &schema, &array);
    run("local ok, message = pcall(torch.from_arrow, ...) return tostring(message) .. "
        "tostring((...).used)");
    assert_non_null(strstr(lua_tostring(L, 1), "the format 'u' (text) is not supported"));
    assert_non_null(strstr(lua_tostring(L, 1), "false"));
    assert_int_equal(arrays_released, 0);
    lua_settop(L, 0);
}

/* ---- a column of a script's ------------------------------------------------------------------ */

static void the_host_takes_a_scripts_column(void **state)
{
    (void)state;
    struct ArrowSchema schema;
    struct ArrowArray array;
    run("return torch.to_arrow(torch.arange(4))");
    assert_ok(lt_lua_take_arrow(L, 1, &schema, &array));
    assert_fails(lt_lua_take_arrow(L, 1, &schema, &array), LT_ERR_TYPE,
                 "the capsule of Arrow was used before");
    lua_settop(L, 0);
    run("collectgarbage() collectgarbage()");
    lua_settop(L, 0);
    assert_string_equal(schema.format, "l");
    assert_int_equal(array.length, 4);
    assert_int_equal(((const int64_t *)array.buffers[1])[3], 3);
    array.release(&array);
    schema.release(&schema);
}

static void wrong_values_are_errors(void **state)
{
    (void)state;
    struct ArrowSchema schema;
    struct ArrowArray array;
    lua_pushinteger(L, 3);
    assert_fails(lt_lua_take_arrow(L, 1, &schema, &array), LT_ERR_TYPE,
                 "a capsule of Arrow is expected, not a number");
    assert_fails(lt_lua_take_arrow(L, 2, &schema, &array), LT_ERR_TYPE, "not a no value");
    assert_fails(lt_lua_take_arrow(L, 1, NULL, &array), LT_ERR_TYPE,
                 "argument 'schema' must not be NULL");
    assert_fails(lt_lua_take_arrow(L, 1, &schema, NULL), LT_ERR_TYPE,
                 "argument 'array' must not be NULL");
    lua_settop(L, 0);
    lt_lua_push_arrow(L, NULL, NULL); /* as one that was used */
    assert_fails(lt_lua_take_arrow(L, 1, &schema, &array), LT_ERR_TYPE, "used before");
    lua_settop(L, 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, open_lua, close_lua)
    const struct CMUnitTest tests[] = {
        TEST(a_script_takes_the_hosts_column),
        TEST(what_nobody_takes_is_released),
        TEST(what_is_refused_stays_in_its_capsule),
        TEST(the_host_takes_a_scripts_column),
        TEST(wrong_values_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
