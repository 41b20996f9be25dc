/* notes.h - what a cell writes to the terminal, noted down as it passes; see notes.c. */
#ifndef REPL_NOTES_H
#define REPL_NOTES_H

#include <lua.h>
#include <stddef.h>
#include <stdio.h>

/* The Lua module repl.notes: start(), stop(), begin(), text(), inside_line(). */
int luaopen_repl_notes(lua_State *L);

/* Which cell is noted now: what a process that outlives its cell writes belongs to none. */
unsigned long notes_cell(void);
/* Notes down what was written for that cell. */
void notes_add(unsigned long cell, const char *bytes, size_t size);
/* The stream of the terminal, without notes. */
FILE *notes_terminal(void);

#endif
