/* notes.h - records the terminal output of a cell; see notes.c. */
#ifndef REPL_NOTES_H
#define REPL_NOTES_H

#include <lua.h>
#include <stddef.h>
#include <stdio.h>

/* The Lua module repl.notes: start(), stop(), begin(), text(), inside_line(). */
int luaopen_repl_notes(lua_State *L);

/* The number of the current cell: output of a process that outlives its cell is not recorded. */
unsigned long notes_cell(void);
/* Records output of that cell. */
void notes_add(unsigned long cell, const char *bytes, size_t size);
/* The unrecorded stream of the terminal. */
FILE *notes_terminal(void);

#endif
