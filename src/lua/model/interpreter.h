/* interpreter.h - an interpreter of the library behind an object of the C interface, such as a model:
 * it runs the library's files alone, in the context of the calling thread, one call at a time. */
#ifndef LT_LUA_INTERPRETER_H
#define LT_LUA_INTERPRETER_H

#include <lua.h>
#include <pthread.h>

#include "ltensor_lua.h"

typedef struct lt_interpreter {
    lua_State *L;
    lt_context *context; /* counts the interpreter's memory */
    pthread_mutex_t lock;
} lt_interpreter;

/* Creates the state, without libraries. On failure, call lt_interpreter_close, too. */
lt_status lt_interpreter_new(lt_interpreter *out);
void lt_interpreter_close(lt_interpreter *interpreter);

/* Runs f(argument) protected, in this thread's context. The caller holds the lock or the only
 * reference. */
lt_status lt_interpreter_call(lt_interpreter *interpreter, lua_CFunction f, void *argument);

/* Inside f of the first call: opens Lua's libraries and torch, and leaves the stack empty. */
void lt_interpreter_open_libraries(lua_State *L);
/* Inside f: pushes a function of a Lua module, then the value that lt_interpreter_set_state stored. */
void lt_interpreter_push(lua_State *L, const char *module, const char *function);
/* Pops the value. */
void lt_interpreter_set_state(lua_State *L);

#endif
