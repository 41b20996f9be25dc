/* ltensor_prompt.h - the prompt, for a host with its own Lua interpreter.
 *
 * Link libltensor_repl.a and readline. Open the standard libraries and torch (luaopen_torch of
 * ltensor_lua.h) in the interpreter first. While the prompt runs, SIGINT stops cells, and
 * coroutine.resume, coroutine.wrap, print and io.write are replaced. When it returns, these, the
 * signal handlers and readline's variables are restored. A process can run one prompt at a time. */
#ifndef LTENSOR_PROMPT_H
#define LTENSOR_PROMPT_H

#include <lua.h>

#include "ltensor_lua.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs the prompt on stdin and stdout with L's globals until the input ends, or exit(), quit() or
 * %quit is called. Returns LUA_OK, or the status of an error, with its message on top of the stack.
 */
LT_API int ltensor_prompt(lua_State *L);

#ifdef __cplusplus
}
#endif

#endif
