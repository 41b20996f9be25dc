/* arrow.c - columns of Arrow (ltensor.h) as userdata "arrow_array" with a schema and an array, and
 * functions of torch._C for lib/utils/arrow.lua: to_arrow, from_arrow. */
#include <string.h>

#include "binding.h"
#include "error.h"

static const char CAPSULE_META[] = "arrow_array";

typedef struct arrow_capsule {
    struct ArrowSchema schema;
    struct ArrowArray array; /* release NULL: consumed */
} arrow_capsule;

/* Pushes an empty capsule. Fill it only after the call that makes its content has succeeded. */
static arrow_capsule *push_capsule(lua_State *L)
{
    arrow_capsule *c = lua_newuserdatauv(L, sizeof *c, 0);
    memset(c, 0, sizeof *c);
    luaL_setmetatable(L, CAPSULE_META);
    return c;
}

static void move_arrow(struct ArrowSchema *schema, struct ArrowArray *array,
                       struct ArrowSchema *to_schema, struct ArrowArray *to_array)
{
    *to_schema = *schema;
    *to_array = *array;
    schema->release = NULL;
    array->release = NULL;
}

LT_API void lt_lua_push_arrow(lua_State *L, struct ArrowSchema *schema, struct ArrowArray *array)
{
    if (L == NULL) return;
    arrow_capsule *c = push_capsule(L);
    if (schema != NULL && array != NULL) move_arrow(schema, array, &c->schema, &c->array);
}

LT_API lt_status lt_lua_take_arrow(lua_State *L, int index, struct ArrowSchema *schema,
                                   struct ArrowArray *array)
{
    LT_REQUIRE(L);
    LT_REQUIRE(schema);
    LT_REQUIRE(array);
    arrow_capsule *c = luaL_testudata(L, index, CAPSULE_META);
    if (c == NULL)
        return lt_error(LT_ERR_TYPE, "a capsule of Arrow is expected, not a %s",
                        lt_lua_type_name(L, index));
    if (c->array.release == NULL)
        return lt_error(LT_ERR_TYPE, "the capsule of Arrow was used before");
    move_arrow(&c->schema, &c->array, schema, array);
    return LT_OK;
}

static int capsule_gc(lua_State *L)
{
    arrow_capsule *c = lt_lua_check_udata(L, 1, CAPSULE_META);
    if (c->array.release != NULL) c->array.release(&c->array);
    if (c->schema.release != NULL) c->schema.release(&c->schema);
    c->array.release = NULL;
    c->schema.release = NULL;
    return 0;
}

static int capsule_tostring(lua_State *L)
{
    const arrow_capsule *c = lt_lua_check_udata(L, 1, CAPSULE_META);
    lua_pushstring(L, c->array.release == NULL ? "<capsule object \"used_arrow_array\">"
                                               : "<capsule object \"arrow_array\">");
    return 1;
}

static int capsule_index(lua_State *L)
{
    const arrow_capsule *c = lt_lua_check_udata(L, 1, CAPSULE_META);
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
    if (strcmp(name, "used") == 0)
        lua_pushboolean(L, c->array.release == NULL);
    else
        lua_pushnil(L);
    return 1;
}

/* to_arrow(tensor) -> capsule */
static int to_arrow(lua_State *L)
{
    lt_tensor *t = lt_lua_check_tensor(L, 1);
    arrow_capsule *c = push_capsule(L);
    lt_entry entry = lt_enter(L);
    const lt_status status = lt_tensor_to_arrow(t, &c->schema, &c->array);
    lt_leave(entry);
    lt_lua_check(L, status);
    return 1;
}

/* from_arrow(capsule) -> tensor */
static int from_arrow(lua_State *L)
{
    arrow_capsule *c = luaL_testudata(L, 1, CAPSULE_META);
    if (c == NULL)
        return lt_lua_error(L, "from_arrow(): a capsule of Arrow is expected, not a %s",
                            lt_lua_type_name(L, 1));
    if (c->array.release == NULL)
        return lt_lua_error(L, "from_arrow(): the capsule of Arrow was used before");
    lua_settop(L, 1);
    lt_tensor **out = lt_lua_new(L);
    lt_entry entry = lt_enter(L);
    const lt_status status = lt_tensor_from_arrow(&c->schema, &c->array, out);
    lt_leave(entry);
    lt_lua_check(L, status);
    return 1;
}

void lt_lua_open_arrow(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"to_arrow", to_arrow}, {"from_arrow", from_arrow}, {NULL, NULL}};
    static const luaL_Reg metamethods[] = {{"__gc", capsule_gc},
                                           {"__tostring", capsule_tostring},
                                           {"__index", capsule_index},
                                           {NULL, NULL}};
    luaL_newmetatable(L, CAPSULE_META);
    lt_lua_setfuncs(L, metamethods);
    lt_lua_set_field_names(L, (const char *const[]){"used", NULL});
    lua_pop(L, 1);
    lua_pushvalue(L, 2);
    lt_lua_setfuncs(L, functions);
    lua_pop(L, 1);
}
