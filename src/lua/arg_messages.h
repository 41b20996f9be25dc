/* arg_messages.h - names of arguments, and the errors of calls that fit no signature. Included by
 * args.c and module.c only. */
#ifndef LT_LUA_ARG_MESSAGES_H
#define LT_LUA_ARG_MESSAGES_H

#include "args.h"

typedef enum lt_arg_problem_kind {
    LT_ARG_PROBLEM_WRONG_TYPE,
    LT_ARG_PROBLEM_WRONG_ENTRY,
    LT_ARG_PROBLEM_NOT_POSITIONS,
    LT_ARG_PROBLEM_TOO_LONG,
    LT_ARG_PROBLEM_TOO_MANY,
    LT_ARG_PROBLEM_MISSING,
    LT_ARG_PROBLEM_NAME_LEFT,
    LT_ARG_PROBLEM_ROW_NIL,
    LT_ARG_PROBLEM_NAMES /* a list also has names; entry: its length */
} lt_arg_problem_kind;

/* The reason why a signature does not fit. */
typedef struct lt_arg_problem {
    lt_arg_problem_kind kind;
    const lt_arg_spec *arg;
    int value; /* stack index of the value */
    int entry; /* position in a table */
} lt_arg_problem;

/* The arguments of a call. */
typedef struct lt_arg_call {
    int positional; /* number of positional values */
    int names;      /* stack index of the table of names, 0 if none */
    int n_names;
    bool empty_tail; /* the last positional value is an empty table: no names, or an empty list */
    bool loose;      /* 0-dim tensors are accepted as numbers */
    const lt_arg_spec *zero; /* an argument with index 0: an error once the overload is selected */
} lt_arg_call;

/* argument_aliases(), for Lua: a list of other names for each name of an argument */
int lt_lua_push_aliases(lua_State *L);

/* Raises the text as a type error. */
int lt_args_raise_type(lua_State *L, const char *text);

/* Pushes the value that an argument has by one of its names, or nil; returns its type. */
int lt_args_push_named(lua_State *L, int names, const lt_signature *s, const lt_arg_spec *arg);

/* Raises an error for a name that no overload has. */
void lt_args_check_names(lua_State *L, const lt_signature *s, int n, const lt_arg_call *c);

/* Raises the problem of the only signature. */
int lt_args_raise_problem(lua_State *L, const lt_signature *s, const lt_args *a,
                          const lt_arg_call *c, const lt_arg_problem *p);

/* "got (Tensor, string, dim=number), but expected one of: ..." */
int lt_args_raise_combination(lua_State *L, const lt_signature *s, int n, const lt_arg_call *c);

#endif
