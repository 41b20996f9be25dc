/* interrupt.h - Ctrl-C for the prompt: stops a running cell, or a line being edited.
 *
 * The signal handler is installed by the prompt alone; scripts keep the default action. One
 * interpreter at a time can be interruptible.
 */
#ifndef REPL_INTERRUPT_H
#define REPL_INTERRUPT_H

#include <lua.h>
#include <stdbool.h>

/* The Lua module repl.interrupt: install(), restore(), call(f, handler, ...). */
int luaopen_repl_interrupt(lua_State *L);

/* True when Ctrl-C was pressed and nothing has stopped for it yet. */
bool interrupt_is_due(void);

/* True when SIGINT arrived since the last call, with no cell running. */
bool interrupt_while_editing(void);

#endif
