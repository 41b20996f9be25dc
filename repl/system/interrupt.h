/* interrupt.h - Ctrl-C for the prompt: stops a running cell, or a line being edited.
 *
 * Only the prompt installs the signal handler; scripts keep the default action. Only one
 * interpreter at a time can be interruptible. */
#ifndef REPL_INTERRUPT_H
#define REPL_INTERRUPT_H

#include <lua.h>
#include <stdbool.h>

/* The Lua module repl.interrupt: install(), restore(), call(f, handler, ...). */
int luaopen_repl_interrupt(lua_State *L);

/* Calls f(coroutine, value) when a coroutine has ended with an error, from now on. */
void interrupt_watch_coroutines(lua_State *L, lua_CFunction f);

/* True if Ctrl-C was pressed and no code has been interrupted by it yet. */
bool interrupt_is_due(void);

/* True if SIGINT arrived since the last call while no cell was running. */
bool interrupt_while_editing(void);

/* The running coroutine or the main state; NULL before the first coroutine if SIGINT is not
 * handled. */
lua_State *interrupt_running(void);

/* Resumes co with the nargs values on top of L, so that Ctrl-C and the debugger reach it. Returns
 * the number of results now on L, or -1 with the error value there. */
int interrupt_resume(lua_State *L, lua_State *co, int nargs);

/* The thread that has resumed co; NULL: unknown. */
lua_State *interrupt_resumer(lua_State *co);

#endif
