/* readline.c - the prompt's reader of plain lines, in programs that do not link readline: no editing, no history, no
 * completion. Includes the Lua API and the program's headers. */
#include "edit/readline.h"

#include <lauxlib.h>
#include <stdio.h>

#include "system/interrupt.h"

/* read(prompt) -> the line, nil at end of input, false after Ctrl-C. */
static int read_line(lua_State *L)
{
    luaL_Buffer line;
    int byte;
    fputs(luaL_checkstring(L, 1), stdout);
    fflush(stdout);
    interrupt_while_editing(); /* drop a signal that arrived earlier */
    luaL_buffinit(L, &line);
    bool empty = true;
    while ((byte = getc(stdin)) != EOF && byte != '\n') {
        luaL_addchar(&line, (char)byte);
        empty = false;
    }
    luaL_pushresult(&line);
    if (interrupt_while_editing()) {
        clearerr(stdin);
        putchar('\n');
        lua_pushboolean(L, 0);
    } else if (byte == EOF && empty) {
        lua_pushnil(L);
    }
    return 1;
}

static int nothing(lua_State *L)
{
    (void)L;
    return 0;
}

static int no_names(lua_State *L)
{
    lua_newtable(L);
    return 1;
}

int luaopen_repl_readline(lua_State *L)
{
    static const luaL_Reg functions[] = {{"read", read_line},
                                         {"restore", nothing},
                                         {"set_completer", nothing},
                                         {"set_judge", nothing},
                                         {"set_highlighter", nothing},
                                         {"set_colours", nothing},
                                         {"set_option", nothing},
                                         {"add_history", nothing},
                                         {"clear_history", nothing},
                                         {"filenames", no_names},
                                         {NULL, NULL}};
    luaL_newlib(L, functions);
    return 1;
}
