/* ltensor_prompt.h - the prompt, for a host that has a Lua interpreter of its own.
 *
 * Link libltensor_repl.a and readline. The standard libraries and torch (luaopen_torch of
 * ltensor_lua.h) must be open in the interpreter. While the prompt runs, SIGINT stops cells, and
 * coroutine.resume and wrap, print and io.write are replaced; when it returns, these, the signal
 * handlers and readline's variables are as they were. One prompt at a time in a process.
 */
#ifndef LTENSOR_PROMPT_H
#define LTENSOR_PROMPT_H

#include <lua.h>

#include "ltensor_lua.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs the prompt on stdin and stdout with L's globals until the input ends, or exit(), quit() or
 * %quit. Returns LUA_OK, or the status of an error whose message is then on top of the stack. */
LT_API int ltensor_prompt(lua_State *L);

#ifdef __cplusplus
}
#endif

#endif
