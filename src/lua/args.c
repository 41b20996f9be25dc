/* args.c - selects an overload by the values on Lua's stack. arg_values.c converts them to C.
 *
 * Matching converts nothing: each overload is tried in turn, a value that does not fit is recorded
 * as a problem, and the last problem makes the message (arg_messages.c). Arrays (the pointers of a
 * list of tensors) are userdata left on the stack, so that a raised error leaks nothing. */
#include "args.h"

#include <string.h>

#include "arg_messages.h"
#include "assertion.h"
#include "autograd/autograd.h"
#include "autograd/dual.h"
#include "devices/copies.h"
#include "devices/transfer.h"
#include "dtypes/dtype.h"

/* ---- reading values -------------------------------------------------------------------------- */

/* Accepts numbers with an integer value; rejects strings. */
static bool to_integer(lua_State *L, int index, int64_t *out)
{
    int whole;
    if (lua_type(L, index) != LUA_TNUMBER) return false;
    *out = lua_tointegerx(L, index, &whole);
    return whole;
}

static bool is_positions(uint8_t type)
{
    return type == LT_ARG_DIM || type == LT_ARG_DIMS || type == LT_ARG_INDEX;
}

static bool integer_fits(lua_State *L, const lt_arg_spec *arg, int index, lt_arg_call *c)
{
    int64_t i;
    if (!to_integer(L, index, &i)) return false;
    if (i == 0 && is_positions(arg->type)) c->zero = arg;
    return true;
}

/* Whether a list of n entries also has names, other than the n of table.pack. */
static bool has_names(lua_State *L, int index, size_t n)
{
    if (n > 0)
        lua_pushinteger(L, (lua_Integer)n);
    else
        lua_pushnil(L);
    for (; lua_next(L, index) != 0; lua_pop(L, 1)) {
        if (lua_type(L, -2) == LUA_TSTRING && strcmp(lua_tostring(L, -2), "n") == 0) continue;
        lua_pop(L, 2);
        return true;
    }
    return false;
}

/* A table of integers. */
static bool integers_fit(lua_State *L, const lt_arg_spec *arg, int index, lt_arg_call *c,
                         lt_arg_problem *p)
{
    size_t n = lua_rawlen(L, index);
    if (n > LT_MAX_DIMS) {
        *p = (lt_arg_problem){LT_ARG_PROBLEM_TOO_LONG, arg, index, (int)n};
        return false;
    }
    for (int i = 1; i <= (int)n; i++) {
        lua_rawgeti(L, index, i);
        if (!integer_fits(L, arg, -1, c)) {
            *p = (lt_arg_problem){LT_ARG_PROBLEM_WRONG_ENTRY, arg, index, i};
            return false;
        }
        lua_pop(L, 1);
    }
    if (!has_names(L, index, n)) return true;
    *p = (lt_arg_problem){LT_ARG_PROBLEM_NAMES, arg, index, (int)n};
    return false;
}

/* Checks a table of numbers. */
static bool numbers_fit(lua_State *L, const lt_arg_spec *arg, int index, lt_arg_problem *p)
{
    const size_t n = lua_rawlen(L, index);
    for (size_t i = 1; i <= n; i++) {
        const bool fits = lua_rawgeti(L, index, (lua_Integer)i) == LUA_TNUMBER;
        lua_pop(L, 1);
        if (fits) continue;
        *p = (lt_arg_problem){LT_ARG_PROBLEM_WRONG_ENTRY, arg, index, (int)i};
        return false;
    }
    if (!has_names(L, index, n)) return true;
    *p = (lt_arg_problem){LT_ARG_PROBLEM_NAMES, arg, index, (int)n};
    return false;
}

/* Checks a table of tensors. Leaves a userdata with an array of their pointers on the stack; *array
 * is its stack index. */
static bool tensors_fit(lua_State *L, const lt_arg_spec *arg, int index, int *array,
                        lt_arg_problem *p)
{
    size_t n = lua_rawlen(L, index);
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    lt_tensor **v = lua_newuserdatauv(L, (n > 0 ? n : 1) * sizeof *v, 0);
    *array = lua_gettop(L);
    for (size_t i = 0; i < n; i++) {
        lua_rawgeti(L, index, (lua_Integer)i + 1);
        v[i] = lt_lua_get(L, -1);
        if (v[i] == NULL) {
            *p = (lt_arg_problem){LT_ARG_PROBLEM_WRONG_ENTRY, arg, index, (int)i + 1};
            return false;
        }
        lua_pop(L, 1);
    }
    if (!has_names(L, index, n)) return true;
    *p = (lt_arg_problem){LT_ARG_PROBLEM_NAMES, arg, index, (int)n};
    return false;
}

/* Returns the number of stack values from index on that the argument consumes (0: it does not fit).
 * last: the end of a sequence of numbers. */
static int accept(lua_State *L, const lt_arg_spec *arg, int index, int last, int *rows,
                  lt_arg_call *c, lt_arg_problem *p)
{
    int type = lua_type(L, index);
    lt_tensor *t;
    bool fits = false;
    switch ((lt_arg_type)arg->type) {
    case LT_ARG_TENSOR: fits = lt_lua_get(L, index) != NULL; break;
    case LT_ARG_TENSOR_OR_SCALAR:
        fits = type == LUA_TNUMBER || type == LUA_TBOOLEAN || lt_lua_get(L, index) != NULL ||
               lt_lua_to_complex(L, index, NULL);
        break;
    case LT_ARG_INDEX_TENSOR:
    case LT_ARG_POSITIONS:
        t = lt_lua_get(L, index);
        fits = t != NULL;
        if (fits && !lt_dtype_is_int((lt_dtype)t->dtype)) {
            *p = (lt_arg_problem){LT_ARG_PROBLEM_NOT_POSITIONS, arg, index, 0};
            return 0;
        }
        break;
    case LT_ARG_TENSORS:
    case LT_ARG_INDEX_TENSORS:
        if (type != LUA_TTABLE) break;
        return tensors_fit(L, arg, index, rows, p);
    case LT_ARG_NUMBERS:
        if (type != LUA_TTABLE) break;
        return numbers_fit(L, arg, index, p);
    case LT_ARG_SCALAR:
        fits = type == LUA_TNUMBER || type == LUA_TBOOLEAN || lt_lua_to_complex(L, index, NULL);
        break;
    case LT_ARG_INT:
    case LT_ARG_DIM:
    case LT_ARG_INDEX: fits = integer_fits(L, arg, index, c); break;
    case LT_ARG_FLOAT: fits = type == LUA_TNUMBER; break;
    case LT_ARG_BOOL: fits = type == LUA_TBOOLEAN; break;
    case LT_ARG_STRING: fits = type == LUA_TSTRING; break;
    case LT_ARG_DIMS:
    case LT_ARG_SIZE:
        if (type == LUA_TTABLE) return integers_fit(L, arg, index, c, p);
        for (; index + *rows <= last && (*rows == 0 || arg->row); ++*rows)
            if (!integer_fits(L, arg, index + *rows, c)) break;
        fits = *rows > 0;
        if (*rows > LT_MAX_DIMS) {
            *p = (lt_arg_problem){LT_ARG_PROBLEM_TOO_LONG, arg, index, *rows};
            return 0;
        }
        break;
    case LT_ARG_DTYPE: fits = lt_lua_to_dtype(L, index) != LT_DTYPE_NONE; break;
    case LT_ARG_DEVICE: {
        int64_t number;
        fits = (type == LUA_TSTRING && lt_lua_to_dtype(L, index) == LT_DTYPE_NONE) ||
               (to_integer(L, index, &number) && number >= 0) || lt_lua_is_device(L, index);
        break;
    }
    case LT_ARG_GENERATOR: fits = lt_lua_to_generator(L, index) != NULL; break;
    }
    if (!fits) *p = (lt_arg_problem){LT_ARG_PROBLEM_WRONG_TYPE, arg, index, 0};
    return !fits ? 0 : *rows > 0 ? *rows : 1;
}

/* ---- the form of the call -------------------------------------------------------------------- */

static bool takes_table(const lt_arg_spec *arg)
{
    return arg->type == LT_ARG_DIMS || arg->type == LT_ARG_SIZE || arg->type == LT_ARG_TENSORS ||
           arg->type == LT_ARG_INDEX_TENSORS || arg->type == LT_ARG_NUMBERS;
}

/* Counts the names in the table at index, which begin behind its list. */
static int count_names(lua_State *L, const char *op, int index, lua_Integer length)
{
    int n = 0;
    for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) {
        if (lua_type(L, -2) == LUA_TSTRING) {
            n++;
            continue;
        }
        lua_Integer i = lua_isinteger(L, -2) ? lua_tointeger(L, -2) : 0;
        if (i < 1 || i > length)
            lt_args_raise_type(
                L, lua_pushfstring(L,
                                   "%s(): the key %s is neither a name nor in the list of its "
                                   "table",
                                   op, luaL_tolstring(L, -2, NULL)));
    }
    return n;
}

/* Pushes a table with the names in the table at index. */
static void push_names(lua_State *L, int index)
{
    lua_newtable(L);
    for (lua_pushnil(L); lua_next(L, index) != 0;) {
        if (lua_type(L, -2) == LUA_TSTRING) {
            lua_pushvalue(L, -2);
            lua_pushvalue(L, -2);
            lua_rawset(L, -5);
        }
        lua_pop(L, 1);
    }
}

/* Whether the list of the table at index, the last value, is the value of one argument. */
static bool is_data(lua_State *L, const lt_signature *s, int n, int index)
{
    bool nested = lua_rawgeti(L, index, 1) == LUA_TTABLE;
    lua_pop(L, 1);
    for (int i = 0; i < n && !nested; i++)
        if (index <= s[i].n && takes_table(&s[i].args[index - 1])) return true;
    return false;
}

/* Splits the table at index, the last value, into its list and its names: cat{x, y, dim = 2},
 * softmax{x, dim = 2}. The entries of a list that is not the value of one argument become the
 * positional values from index on. */
static void split_table(lua_State *L, const lt_signature *s, int n, int index, lt_arg_call *c)
{
    int length = (int)lua_rawlen(L, index);
    bool data = is_data(L, s, n, index);
    if (length > (data ? INT32_MAX - 1 : LT_MAX_ARGS))
        lt_args_raise_type(L, lua_pushfstring(L,
                                              "%s(): %d positional values in one table, at most "
                                              "%d are possible",
                                              s->op, length, LT_MAX_ARGS));
    c->n_names = count_names(L, s->op, index, length);
    push_names(L, index);
    if (data) {
        if (c->n_names == 1 && lua_getfield(L, -1, "n") == LUA_TNUMBER) { /* table.pack's */
            lua_settop(L, index);
            c->n_names = 0;
            return;
        }
        lua_settop(L, index + 1);
        lua_createtable(L, length, 0);
        for (int i = 1; i <= length; i++) {
            lua_rawgeti(L, index, i);
            lua_rawseti(L, -2, i);
        }
        lua_replace(L, index);
    } else {
        for (int i = 1; i <= length; i++) lua_rawgeti(L, index, i);
        lua_rotate(L, index + 1, -1); /* the names behind the values */
        lua_remove(L, index);
    }
    c->names = lua_gettop(L);
    c->positional = c->names - 1;
}

/* Finds the table of names. May replace the last value (split_table). */
static void look_at_call(lua_State *L, const lt_signature *s, int n, lt_arg_call *c)
{
    int given = lua_gettop(L);
    *c = (lt_arg_call){.positional = given};
    if (given == 0 || lua_type(L, given) != LUA_TTABLE) return;
    if (lua_getmetatable(L, given)) {
        lua_pop(L, 1);
        return;
    }
    luaL_checkstack(L, 2 * LT_MAX_ARGS + LUA_MINSTACK, NULL);
    lua_Integer length = (lua_Integer)lua_rawlen(L, given);
    /* After the last entry of a list only names can follow. */
    if (length > 0)
        lua_pushinteger(L, length);
    else
        lua_pushnil(L);
    if (lua_next(L, given) == 0) {
        c->empty_tail = length == 0;
        return;
    }
    bool named = lua_type(L, -2) == LUA_TSTRING;
    if (length > 0 && lua_isinteger(L, -2))
        lt_args_raise_type(L, lua_pushfstring(L, "%s(): a list has an entry %I but a nil at %I",
                                              s->op, (LUAI_UACINT)lua_tointeger(L, -2),
                                              (LUAI_UACINT)length + 1));
    lua_pop(L, 2);
    if (!named) return;
    if (length > 0) {
        split_table(L, s, n, given, c);
        return;
    }
    c->names = given;
    c->positional = given - 1;
    c->n_names = count_names(L, s->op, given, 0);
}

/* ---- 0-dim tensors as numbers ---------------------------------------------------------------- */

/* The 0-dim tensor at index if its number can be passed in its place, else NULL: it must need no
 * derivative, and have an integer dtype if `integer` is set. */
static lt_tensor *number_tensor(lua_State *L, int index, bool integer)
{
    lt_tensor *t = lt_lua_get(L, index);
    if (t == NULL || t->ndim > 0 || lt_requires_grad(t) || (lt_tls.duals != 0 && lt_is_dual(t)))
        return NULL;
    bool whole = lt_dtype_is_int((lt_dtype)t->dtype) && t->dtype != LT_BOOL;
    return integer && !whole ? NULL : t;
}

static void push_number(lua_State *L, lt_tensor *t)
{
    lt_scalar number;
    lt_entry entry = lt_enter(L);
    lt_copy_cause previous = lt_copies_imply("item");
    lt_status status = lt_tensor_item(t, &number);
    lt_copies_set_cause(previous);
    lt_leave(entry);
    lt_lua_check(L, status);
    lt_lua_push_scalar(L, number);
}

/* Pushes a table of numbers, from numbers and 0-dim tensors that are on the stack up to `last` or
 * in a table. Returns the number of stack values read; 0, and pushes nothing, if none of them is a
 * tensor. */
static int push_numbers(lua_State *L, const lt_arg_spec *arg, int index, int last)
{
    bool table = lua_type(L, index) == LUA_TTABLE, any = false;
    int n = table ? (int)lua_rawlen(L, index) : arg->row ? last - index + 1 : 1, used = 0;
    if (n > LT_MAX_DIMS) return 0;
    lua_createtable(L, n, 0);
    for (; used < n; used++) {
        if (table)
            lua_rawgeti(L, index, used + 1);
        else
            lua_pushvalue(L, index + used);
        lt_tensor *t = number_tensor(L, -1, true);
        if (t != NULL) {
            lua_pop(L, 1);
            push_number(L, t);
            any = true;
        } else if (lua_type(L, -1) != LUA_TNUMBER) {
            lua_pop(L, 1);
            break;
        }
        lua_rawseti(L, -2, used + 1);
    }
    if (any && (!table || used == n)) return table ? 1 : used;
    lua_pop(L, 1);
    return 0;
}

/* As accept; *at becomes the stack index of a number that replaces a 0-dim tensor. */
static int accept_loosely(lua_State *L, const lt_arg_spec *arg, int *at, int last, int *rows,
                          lt_arg_call *c, lt_arg_problem *p)
{
    int used = 0;
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    switch ((lt_arg_type)arg->type) {
    case LT_ARG_SCALAR:
    case LT_ARG_FLOAT:
    case LT_ARG_INT:
    case LT_ARG_DIM:
    case LT_ARG_INDEX: {
        lt_tensor *t =
            number_tensor(L, *at, arg->type != LT_ARG_SCALAR && arg->type != LT_ARG_FLOAT);
        if (t == NULL) break;
        push_number(L, t);
        used = 1;
        break;
    }
    case LT_ARG_DIMS:
    case LT_ARG_SIZE: used = push_numbers(L, arg, *at, last); break;
    default: break;
    }
    if (used == 0) return accept(L, arg, *at, last, rows, c, p);
    *at = lua_gettop(L);
    return accept(L, arg, *at, *at, rows, c, p) > 0 ? used : 0;
}

/* Finds the stack index of every argument of one signature. */
static bool signature_fits(lua_State *L, const lt_signature *s, lt_args *a, lt_arg_call *c,
                           lt_arg_problem *p)
{
    LT_ASSERT(s->n >= 0 && s->n <= LT_MAX_ARGS, "%s: %d arguments", s->op, s->n);
    int at = 1, i = 0;
    c->zero = NULL;
    for (; i < s->n && at <= c->positional && !s->args[i].keyword_only; i++) {
        const lt_arg_spec *arg = &s->args[i];
        a->at[i] = a->rows[i] = 0;
        if (lua_type(L, at) == LUA_TNIL && (arg->optional || arg->has_default)) {
            at++;
            continue;
        }
        if (c->empty_tail && at == c->positional && !takes_table(arg)) break;
        a->at[i] = at;
        int used = c->loose ? accept_loosely(L, arg, &a->at[i], c->positional, &a->rows[i], c, p)
                            : accept(L, arg, at, c->positional, &a->rows[i], c, p);
        if (used == 0) return false;
        at += used;
    }
    if (c->empty_tail && at == c->positional) at++;
    /* nil at the end of a shape of numbers is a missing number, not an absent argument */
    if (at <= c->positional && lua_type(L, at) == LUA_TNIL && i > 0 && a->rows[i - 1] > 0 &&
        s->args[i - 1].row) {
        *p = (lt_arg_problem){LT_ARG_PROBLEM_ROW_NIL, &s->args[i - 1], a->at[i - 1],
                              a->rows[i - 1] + 1};
        return false;
    }
    while (at <= c->positional && lua_type(L, at) == LUA_TNIL) at++;
    if (at <= c->positional) {
        *p = (lt_arg_problem){LT_ARG_PROBLEM_TOO_MANY, NULL, 0, 0};
        return false;
    }
    int named = 0, missing = -1, first = i;
    for (; i < s->n; i++) {
        const lt_arg_spec *arg = &s->args[i];
        a->at[i] = a->rows[i] = 0;
        if (named < c->n_names) {
            if (lt_args_push_named(L, c->names, s, arg) != LUA_TNIL) {
                int index = lua_gettop(L);
                a->at[i] = index;
                if ((c->loose ? accept_loosely(L, arg, &a->at[i], index, &a->rows[i], c, p)
                              : accept(L, arg, index, index, &a->rows[i], c, p)) == 0)
                    return false;
                named++;
                continue;
            }
            lua_pop(L, 1);
        }
        if (!arg->has_default && missing < 0) missing = i;
    }
    if (named != c->n_names) {
        *p = (lt_arg_problem){LT_ARG_PROBLEM_NAME_LEFT, NULL, 0, first};
        return false;
    }
    if (missing >= 0) {
        *p = (lt_arg_problem){LT_ARG_PROBLEM_MISSING, &s->args[missing], 0, first};
        return false;
    }
    return true;
}

/* ---- selecting an overload ------------------------------------------------------------------- */

/* Selects the first overload that fits; false if none does. */
static bool choose_overload(lua_State *L, const lt_signature *overloads, int n, lt_args *a,
                            lt_arg_call *c, lt_arg_problem *p)
{
    for (int i = 0; i < n; i++) {
        if (!signature_fits(L, &overloads[i], a, c, p)) {
            if (n > 1) lua_settop(L, a->given); /* the message for one overload reads its values */
            continue;
        }
        if (c->zero != NULL)
            lt_args_raise_type(L,
                               lua_pushfstring(L, "%s 0: positions count from 1", c->zero->name));
        a->overload = i;
        return true;
    }
    return false;
}

/* Whether a value is, or a table contains, a 0-dim tensor: only then the overloads are tried a
 * second time. */
static bool any_number_tensor(lua_State *L, const lt_arg_call *c)
{
    for (int i = 1; i <= c->positional + (c->names != 0); i++) {
        if (number_tensor(L, i, false) != NULL) return true;
        if (lua_type(L, i) != LUA_TTABLE) continue;
        for (lua_pushnil(L); lua_next(L, i) != 0; lua_pop(L, 1)) {
            if (number_tensor(L, -1, false) == NULL) continue;
            lua_pop(L, 2);
            return true;
        }
    }
    return false;
}

void lt_args_match(lua_State *L, const lt_signature *overloads, int n, lt_args *a)
{
    lt_arg_call c;
    lt_arg_problem p;
    look_at_call(L, overloads, n, &c);
    a->given = lua_gettop(L);
    a->n_owned = 0;
    if (choose_overload(L, overloads, n, a, &c, &p)) return;
    if (any_number_tensor(L, &c)) {
        lt_arg_problem loosely; /* the message is about the values before this conversion */
        c.loose = true;
        lua_settop(L, a->given);
        if (choose_overload(L, overloads, n, a, &c, &loosely)) return;
        c.loose = false;
        lua_settop(L, a->given);
        choose_overload(L, overloads, n, a, &c, &p);
    }
    lt_args_check_names(L, overloads, n, &c);
    if (n == 1)
        lt_args_raise_problem(L, overloads, a, &c, &p);
    else
        lt_args_raise_combination(L, overloads, n, &c);
}
