/* recorder.h - records the terminal output of a cell; see recorder.c. */
#ifndef REPL_RECORDER_H
#define REPL_RECORDER_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The Lua module repl.recorder: start(), stop(), begin(), text(), inside_line(). */
int luaopen_repl_recorder(lua_State *L);

/* The number of the current cell: output of a process that outlives its cell is not recorded. */
unsigned long recorder_cell(void);
/* Records output of that cell. */
void recorder_add(unsigned long cell, const char *bytes, size_t size);
/* Whether a write of the recording stream has failed. */
bool recorder_has_failed(void);
/* The unrecorded stream of the terminal. */
FILE *recorder_terminal(void);

#endif
