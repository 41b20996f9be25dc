/* interpreter.c - an interpreter of the library behind an object of the C interface: interpreter.h. */
#include "interpreter.h"

#include <lualib.h>

#include "binding.h"
#include "context/interrupt.h"
#include "error.h"
#include "system/lua_versions.h"

#define STATE "ltensor.model" /* the field of the registry with the state of the object */

lt_status lt_interpreter_new(lt_interpreter *out)
{
    pthread_mutex_init(&out->lock, NULL);
    out->context = lt_context_retain(lt_context_current());
    out->L = lt_lua_new_state(lt_lua_alloc, out->context);
    return out->L != NULL ? LT_OK : lt_error(LT_ERR_MEMORY, "not enough memory for a model");
}

void lt_interpreter_close(lt_interpreter *interpreter)
{
    if (interpreter->L != NULL) lua_close(interpreter->L);
    lt_context_release(interpreter->context);
    pthread_mutex_destroy(&interpreter->lock);
}

lt_status lt_interpreter_call(lt_interpreter *interpreter, lua_CFunction f, void *argument)
{
    lua_State *L = interpreter->L;
    LT_TRY(lt_lua_set_context(L, lt_context_current()));
    lua_settop(L, 0);
    lua_pushcfunction(L, f);
    lua_pushlightuserdata(L, argument);
    const int code = lt_lua_call_status(L, lua_pcall(L, 1, 0, 0));
    lt_status status = LT_OK;
    if (lt_interrupted())
        status = lt_stopped();
    else if (code == LUA_ERRMEM)
        status = lt_error(LT_ERR_MEMORY, "not enough memory for the model's interpreter");
    else if (code != LUA_OK) {
        const char *text = lua_tostring(L, -1);
        status = lt_error(LT_ERR_RUNTIME, "%s", text != NULL ? text : "the model raised an error");
    }
    lua_settop(L, 0);
    return status;
}

void lt_interpreter_open_libraries(lua_State *L)
{
    luaL_openlibs(L);
    luaL_requiref(L, "torch", luaopen_torch, 1);
    lua_settop(L, 0);
}

void lt_interpreter_push(lua_State *L, const char *module, const char *function)
{
    lua_getglobal(L, "require");
    lua_pushstring(L, module);
    lua_call(L, 1, 1);
    lua_getfield(L, -1, function);
    lua_remove(L, -2);
    lua_getfield(L, LUA_REGISTRYINDEX, STATE);
}

void lt_interpreter_set_state(lua_State *L) { lua_setfield(L, LUA_REGISTRYINDEX, STATE); }
