/* args.c - choosing an overload by the values on Lua's stack, and turning those values into C.
 *
 * Matching only looks: each overload is tried in turn, a value that does not fit is noted as a
 * problem, and the last problem makes the message. What needs memory of Lua's (the array of a list
 * of tensors) is a userdata left on the stack, so that nothing is lost when an error is raised.
 * Besides this folder it uses core's dtypes and the ops that shift index tensors. */
#include "assertion.h"
#include "autograd/dual.h"
#include "args.h"

#include <stdio.h>
#include <string.h>

#include "autograd/autograd.h"
#include "devices/copies.h"
#include "devices/transfer.h"
#include "dtypes/dtype.h"
#include "op/_position_to_index.h"
#include "op/to.h"

typedef enum problem_kind {
    WRONG_TYPE,
    WRONG_ENTRY,
    NOT_POSITIONS,
    TOO_LONG,
    TOO_MANY,
    MISSING,
    NAME_LEFT,
    ROW_NIL
} problem_kind;

/* Why a signature does not fit. */
typedef struct problem {
    problem_kind kind;
    const lt_arg_spec *arg;
    int value; /* stack index of the value */
    int entry; /* position in a table */
} problem;

/* What the call brought. */
typedef struct call {
    int positional; /* how many values stand in a row */
    int names;      /* stack index of the table of names, 0 if none */
    int n_names;
    bool empty_tail;         /* the last of the row is an empty table: no names, or an empty list */
    bool loose;              /* 0-dim tensors stand for their numbers */
    const lt_arg_spec *zero; /* a position that is 0: an error once the overload is chosen */
} call;

static const char *const expected[] = {
    [LT_ARG_TENSOR] = "Tensor",
    [LT_ARG_TENSOR_OR_SCALAR] = "Tensor or number",
    [LT_ARG_INDEX_TENSOR] = "Tensor",
    [LT_ARG_POSITIONS] = "Tensor",
    [LT_ARG_TENSORS] = "table of Tensors",
    [LT_ARG_INDEX_TENSORS] = "table of Tensors",
    [LT_ARG_SCALAR] = "number",
    [LT_ARG_INT] = "int",
    [LT_ARG_FLOAT] = "float",
    [LT_ARG_BOOL] = "bool",
    [LT_ARG_STRING] = "string",
    [LT_ARG_DIM] = "int",
    [LT_ARG_DIMS] = "int or table of ints",
    [LT_ARG_INDEX] = "int",
    [LT_ARG_SIZE] = "table of ints",
    [LT_ARG_DTYPE] = "torch.dtype",
    [LT_ARG_DEVICE] = "torch.device",
    [LT_ARG_GENERATOR] = "torch.Generator",
};

/* ---- looking at values ----------------------------------------------------------------------- */

/* Numbers that are whole; strings never are. */
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

static bool integer_fits(lua_State *L, const lt_arg_spec *arg, int index, call *c)
{
    int64_t i;
    if (!to_integer(L, index, &i)) return false;
    if (i == 0 && is_positions(arg->type)) c->zero = arg;
    return true;
}

/* A table of integers. */
static bool integers_fit(lua_State *L, const lt_arg_spec *arg, int index, call *c, problem *p)
{
    size_t n = lua_rawlen(L, index);
    if (n > LT_MAX_DIMS) {
        *p = (problem){TOO_LONG, arg, index, (int)n};
        return false;
    }
    for (int i = 1; i <= (int)n; i++) {
        lua_rawgeti(L, index, i);
        if (!integer_fits(L, arg, -1, c)) {
            *p = (problem){WRONG_ENTRY, arg, index, i};
            return false;
        }
        lua_pop(L, 1);
    }
    return true;
}

/* A table of tensors; leaves an array of them on the stack, whose index goes to *array. */
static bool tensors_fit(lua_State *L, const lt_arg_spec *arg, int index, int *array, problem *p)
{
    size_t n = lua_rawlen(L, index);
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    lt_tensor **v = lua_newuserdatauv(L, (n > 0 ? n : 1) * sizeof *v, 0);
    *array = lua_gettop(L);
    for (size_t i = 0; i < n; i++) {
        lua_rawgeti(L, index, (lua_Integer)i + 1);
        v[i] = lt_lua_get(L, -1);
        if (v[i] == NULL) {
            *p = (problem){WRONG_ENTRY, arg, index, (int)i + 1};
            return false;
        }
        lua_pop(L, 1);
    }
    return true;
}

/* How many stack values from index on the argument takes (0: it does not fit); last bounds a
 * row. */
static int accept(lua_State *L, const lt_arg_spec *arg, int index, int last, int *rows, call *c,
                  problem *p)
{
    int type = lua_type(L, index);
    lt_tensor *t;
    bool fits = false;
    LT_ASSERT((size_t)arg->type < sizeof expected / sizeof *expected, "%s: type %d", arg->name,
              arg->type);
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
            *p = (problem){NOT_POSITIONS, arg, index, 0};
            return 0;
        }
        break;
    case LT_ARG_TENSORS:
    case LT_ARG_INDEX_TENSORS:
        if (type != LUA_TTABLE) break;
        return tensors_fit(L, arg, index, rows, p);
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
            *p = (problem){TOO_LONG, arg, index, *rows};
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
    if (!fits) *p = (problem){WRONG_TYPE, arg, index, 0};
    return !fits ? 0 : *rows > 0 ? *rows : 1;
}

/* ---- the shape of the call ------------------------------------------------------------------- */

static int raise_type(lua_State *L, const char *text)
{
    lt_error_set(LT_ERR_TYPE, "%s", text);
    return lt_lua_raise(L);
}

/* Counts the names of the table at index, all of whose keys must be strings. */
static int count_names(lua_State *L, const char *op, int index)
{
    int n = 0;
    for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1), n++)
        if (lua_type(L, -2) != LUA_TSTRING)
            raise_type(L, lua_pushfstring(L, "%s(): positional and named values in one table", op));
    return n;
}

static void look_at_call(lua_State *L, const char *op, int given, call *c)
{
    *c = (call){.positional = given};
    if (given == 0 || lua_type(L, given) != LUA_TTABLE) return;
    if (lua_getmetatable(L, given)) {
        lua_pop(L, 1);
        return;
    }
    luaL_checkstack(L, LT_MAX_ARGS + LUA_MINSTACK, NULL);
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
        raise_type(L, lua_pushfstring(L, "%s(): a list has an entry %I but a nil at %I", op,
                                      (LUAI_UACINT)lua_tointeger(L, -2), (LUAI_UACINT)length + 1));
    lua_pop(L, 2);
    if (!named) return;
    c->names = given;
    c->positional = given - 1;
    c->n_names = count_names(L, op, given);
}

static bool takes_table(const lt_arg_spec *arg)
{
    return arg->type == LT_ARG_DIMS || arg->type == LT_ARG_SIZE || arg->type == LT_ARG_TENSORS ||
           arg->type == LT_ARG_INDEX_TENSORS;
}

/* ---- 0-dim tensors as numbers ---------------------------------------------------------------- */

/* Whether the value is a 0-dim tensor whose number may stand for it: an integer one where an
 * integer is wanted. */
static lt_tensor *number_tensor(lua_State *L, int index, bool integer)
{
    lt_tensor *t = lt_lua_get(L, index);
    if (t == NULL || t->ndim > 0 || lt_requires_grad(t) || (lt_here.duals != 0 && lt_is_dual(t)))
        return NULL;
    bool whole = lt_dtype_is_int((lt_dtype)t->dtype) && t->dtype != LT_BOOL;
    return integer && !whole ? NULL : t;
}

static void push_number(lua_State *L, lt_tensor *t)
{
    lt_scalar number;
    lt_entry entry = lt_enter(L);
    lt_copy_cause previous = lt_copies_set_cause((lt_copy_cause){"item", true});
    lt_status status = lt_tensor_item(t, &number);
    lt_copies_set_cause(previous);
    lt_leave(entry);
    lt_lua_check(L, status);
    lt_lua_push_scalar(L, number);
}

/* Numbers and 0-dim tensors, in a row up to `last` or the entries of a table, as a table of numbers
 * on top of the stack. Returns how many stack values they were; 0, and nothing pushed, when there
 * is no tensor among them. */
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

/* As accept, where *at is changed to the place of a number that stands for a 0-dim tensor. */
static int accept_loosely(lua_State *L, const lt_arg_spec *arg, int *at, int last, int *rows,
                          call *c, problem *p)
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

static bool is_self(const lt_arg_spec *arg) { return strcmp(arg->name, "self") == 0; }

/* Other names of arguments: PyTorch's functions call `self` input, NumPy's names stand for those
 * that they replace, and those of torch.linalg are A and B. */
static const struct {
    const char *name, *others[6];
} aliases[] = {
    {"self", {"input", "x", "a", "x1", "A"}},
    {"input", {"x", "a", "x1", "A"}},
    {"dim", {"axis"}},
    {"keepdim", {"keepdims"}},
    {"other", {"x2", "B"}},
};

/* The other names of an argument, up to NULL; NULL where it has none. */
static const char *const *aliases_of(const char *name)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (strcmp(aliases[i].name, name) == 0) return aliases[i].others;
    return NULL;
}

static bool is_name_of(const lt_arg_spec *arg, const char *name)
{
    if (strcmp(arg->name, name) == 0) return true;
    const char *const *other = aliases_of(arg->name);
    for (; other != NULL && *other != NULL; other++)
        if (strcmp(*other, name) == 0) return true;
    return false;
}

/* Pushes the value that an argument has by one of its names, or nil; its type. */
static int push_named(lua_State *L, int names, const lt_arg_spec *arg)
{
    int type = lua_getfield(L, names, arg->name);
    if (type != LUA_TNIL) return type;
    const char *const *other = aliases_of(arg->name);
    for (; other != NULL && *other != NULL && type == LUA_TNIL; other++) {
        lua_pop(L, 1);
        type = lua_getfield(L, names, *other);
    }
    return type;
}

/* Finds the place of every argument of one signature. */
static bool fits(lua_State *L, const lt_signature *s, lt_args *a, call *c, problem *p)
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
    /* A number that is missing at the end of a shape is no argument that is absent. */
    if (at <= c->positional && lua_type(L, at) == LUA_TNIL && i > 0 && a->rows[i - 1] > 0 &&
        s->args[i - 1].row) {
        *p = (problem){ROW_NIL, &s->args[i - 1], a->at[i - 1], a->rows[i - 1] + 1};
        return false;
    }
    while (at <= c->positional && lua_type(L, at) == LUA_TNIL) at++;
    if (at <= c->positional) {
        *p = (problem){TOO_MANY, NULL, 0, 0};
        return false;
    }
    int named = 0, missing = -1, first = i;
    for (; i < s->n; i++) {
        const lt_arg_spec *arg = &s->args[i];
        a->at[i] = a->rows[i] = 0;
        if (named < c->n_names) {
            if (push_named(L, c->names, arg) != LUA_TNIL) {
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
        *p = (problem){NAME_LEFT, NULL, 0, first};
        return false;
    }
    if (missing >= 0) {
        *p = (problem){MISSING, &s->args[missing], 0, first};
        return false;
    }
    return true;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* What to add where the first argument, a tensor, is none: perhaps a method was called with a
 * dot. */
static const char *colon_hint(lua_State *L, const lt_signature *s)
{
    if (s->n == 0 || !is_self(&s->args[0]) || lt_lua_get(L, 1) != NULL) return "";
    return lua_pushfstring(L, " (a method is called with a colon: x:%s())", s->op);
}

static const lt_arg_spec *find_name(const lt_signature *s, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < s[i].n; j++) {
            const lt_arg_spec *arg = &s[i].args[j];
            if (is_name_of(arg, name)) return arg;
        }
    return NULL;
}

/* Raises when a name is none of any overload. */
static void check_names(lua_State *L, const lt_signature *s, int n, const call *c)
{
    if (c->names == 0) return;
    for (lua_pushnil(L); lua_next(L, c->names) != 0; lua_pop(L, 1)) {
        const char *name = lua_tostring(L, -2);
        if (find_name(s, n, name) != NULL) continue;
        luaL_Buffer b;
        luaL_buffinit(L, &b);
        bool first = true;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < s[i].n; j++) {
                const char *known = s[i].args[j].name;
                if (find_name(s, i, known) != NULL || is_self(&s[i].args[j])) continue;
                luaL_addstring(&b, first ? "" : ", ");
                luaL_addstring(&b, known);
                first = false;
            }
        luaL_pushresult(&b);
        const char *list = lua_tostring(L, -1);
        raise_type(L, *list != 0 ? lua_pushfstring(L, "%s(): unknown argument '%s' (known: %s)",
                                                   s->op, name, list)
                                 : lua_pushfstring(L, "%s(): unknown argument '%s' (it has none)",
                                                   s->op, name));
    }
}

static int raise_missing(lua_State *L, const lt_signature *s, const lt_args *a, int first)
{
    luaL_Buffer b;
    int n = 0;
    luaL_buffinit(L, &b);
    for (int i = first; i < s->n; i++) {
        if (s->args[i].has_default || a->at[i] != 0) continue;
        luaL_addstring(&b, n++ > 0 ? ", '" : "'");
        luaL_addstring(&b, s->args[i].name);
        luaL_addchar(&b, '\'');
    }
    luaL_pushresult(&b);
    const char *list = lua_tostring(L, -1);
    return raise_type(L,
                      lua_pushfstring(L, "%s() missing %d required argument%s: %s%s", s->op, n,
                                      n == 1 ? "" : "s", list, first == 0 ? colon_hint(L, s) : ""));
}

static int raise_too_many(lua_State *L, const lt_signature *s, const call *c)
{
    int n = 0;
    while (n < s->n && !s->args[n].keyword_only) n++;
    return raise_type(L, lua_pushfstring(L, "%s() takes %d argument%s but %d were given", s->op, n,
                                         n == 1 ? "" : "s", c->positional));
}

/* A name that is an argument's, but stands for one given in the row. */
static int raise_twice(lua_State *L, const lt_signature *s, const call *c, int first)
{
    for (int i = 0; i < first; i++)
        if (push_named(L, c->names, &s->args[i]) != LUA_TNIL)
            return raise_type(L, lua_pushfstring(L, "%s() got multiple values for argument '%s'",
                                                 s->op, s->args[i].name));
    return 0;
}

static int raise_problem(lua_State *L, const lt_signature *s, const lt_args *a, const call *c,
                         const problem *p)
{
    char where[32] = "";
    const char *name = p->arg != NULL ? p->arg->name : "";
    if (p->value > 0 && p->value <= c->positional)
        snprintf(where, sizeof where, " (position %d)", p->value);
    switch (p->kind) {
    case WRONG_TYPE:
        return raise_type(L, lua_pushfstring(L, "%s(): argument '%s'%s must be %s, not %s%s", s->op,
                                             name, where, expected[p->arg->type],
                                             lt_lua_type_name(L, p->value),
                                             p->value == 1 ? colon_hint(L, s) : ""));
    case WRONG_ENTRY:
        return raise_type(
            L, lua_pushfstring(
                   L, "%s(): argument '%s'%s must be %s, but found element of type %s at pos %d",
                   s->op, name, where,
                   p->arg->type == LT_ARG_TENSORS || p->arg->type == LT_ARG_INDEX_TENSORS
                       ? expected[LT_ARG_TENSORS]
                       : "table of ints",
                   (lua_rawgeti(L, p->value, p->entry), lt_lua_type_name(L, -1)), p->entry));
    case NOT_POSITIONS:
        return raise_type(
            L, lua_pushfstring(
                   L, "%s(): expected an integer tensor of positions for '%s', got torch.%s", s->op,
                   name, lt_dtype_name((lt_dtype)lt_lua_get(L, p->value)->dtype)));
    case TOO_LONG:
        return raise_type(
            L, lua_pushfstring(L, "%s(): argument '%s'%s has %d entries, at most %d are possible",
                               s->op, name, where, p->entry, LT_MAX_DIMS));
    case ROW_NIL:
        return raise_type(
            L, lua_pushfstring(L, "%s(): argument '%s'%s must be %s, but number %d is nil", s->op,
                               name, where, expected[p->arg->type], p->entry));
    case TOO_MANY: return raise_too_many(L, s, c);
    case MISSING: return raise_missing(L, s, a, p->entry);
    default: return raise_twice(L, s, c, p->entry);
    }
}

/* "got (Tensor, string, dim=number), but expected one of: ..." */
static int raise_combination(lua_State *L, const lt_signature *s, int n, const call *c)
{
    luaL_Buffer b;
    int top = lua_gettop(L);
    luaL_buffinit(L, &b);
    luaL_addstring(&b, s->op);
    luaL_addstring(&b, "() received an invalid combination of arguments - got (");
    luaL_pushresult(&b);
    for (int i = 1; i <= c->positional; i++) {
        lua_pushfstring(L, "%s%s", i > 1 ? ", " : "", lt_lua_type_name(L, i));
        lua_concat(L, 2);
    }
    if (c->names != 0) {
        bool first = c->positional == 0;
        for (lua_pushnil(L); lua_next(L, c->names) != 0; first = false) {
            lua_pushvalue(L, top + 1);
            lua_pushfstring(L, "%s%s=%s", first ? "" : ", ", lua_tostring(L, -3),
                            lt_lua_type_name(L, -2));
            lua_concat(L, 2);
            lua_replace(L, top + 1);
            lua_pop(L, 1);
        }
    }
    lua_pushfstring(
        L, ")%s, but expected one of:", c->positional > 0 || c->names == 0 ? colon_hint(L, s) : "");
    lua_insert(L, top + 2); /* below what made the hint */
    lua_settop(L, top + 2);
    lua_concat(L, 2);
    for (int i = 0; i < n; i++) {
        lua_pushfstring(L, "\n * %s", strchr(s[i].text, '('));
        lua_concat(L, 2);
    }
    return raise_type(L, lua_tostring(L, -1));
}

/* The first overload that fits; false: none does. */
static bool choose(lua_State *L, const lt_signature *overloads, int n, lt_args *a, call *c,
                   problem *p)
{
    for (int i = 0; i < n; i++) {
        if (!fits(L, &overloads[i], a, c, p)) {
            if (n > 1) lua_settop(L, a->given); /* the message of one looks at its values */
            continue;
        }
        if (c->zero != NULL)
            raise_type(L, lua_pushfstring(L, "%s 0: positions count from 1", c->zero->name));
        a->overload = i;
        return true;
    }
    return false;
}

/* Whether a 0-dim tensor, itself or in a table, is among the values: only then is there a second
 * look at the overloads. */
static bool any_number_tensor(lua_State *L, const call *c)
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
    call c;
    problem p;
    a->given = lua_gettop(L);
    a->n_owned = 0;
    look_at_call(L, overloads->op, a->given, &c);
    if (choose(L, overloads, n, a, &c, &p)) return;
    if (any_number_tensor(L, &c)) {
        problem loosely; /* the message is about the values as they came */
        c.loose = true;
        lua_settop(L, a->given);
        if (choose(L, overloads, n, a, &c, &loosely)) return;
        c.loose = false;
        lua_settop(L, a->given);
        choose(L, overloads, n, a, &c, &p);
    }
    check_names(L, overloads, n, &c);
    if (n == 1)
        raise_problem(L, overloads, a, &c, &p);
    else
        raise_combination(L, overloads, n, &c);
}

/* ---- conversion ------------------------------------------------------------------------------ */

/* The one place where positions become indices. */
static int64_t to_index(int64_t position) { return position > 0 ? position - 1 : position; }

static lt_scalar to_scalar(lua_State *L, int index)
{
    if (lua_isboolean(L, index)) return lt_boolean(lua_toboolean(L, index));
    if (lua_isinteger(L, index)) return lt_int(lua_tointeger(L, index));
    lt_scalar z;
    if (lt_lua_to_complex(L, index, &z)) return z;
    return lt_float(lua_tonumber(L, index));
}

static lt_status wrap_number(lt_scalar number, lt_args *a, lt_arg_value *v)
{
    LT_TRY(lt_tensor_from_scalar(number, &v->tensor));
    a->owned[a->n_owned++] = v->tensor;
    return LT_OK;
}

lt_status lt_lua_positions(lt_tensor *positions, lt_tensor **out)
{
    LT_TRY(lt_tensor_alias(positions, out));
    (*out)->flags |= LT_FLAG_POSITIONS;
    if (lt_is_batched(*out)) (*out)->view_base->flags |= LT_FLAG_POSITIONS;
    return LT_OK;
}

/* shift: indices from 0, else positions marked as such, for a kernel that knows. */
static lt_status to_indices(lt_tensor *positions, bool shift, lt_args *a, lt_arg_value *v)
{
    lt_tensor *whole = NULL, *indices = NULL;
    lt_status status = LT_OK;
    if (positions->dtype != LT_INT64) {
        LT_CHECK(lt_to_dtype(positions, LT_INT64, false, false, &whole));
        positions = whole;
    }
    LT_CHECK(shift ? lt__position_to_index(positions, &indices)
                   : lt_lua_positions(positions, &indices));
    a->owned[a->n_owned++] = v->tensor = indices;
done:
    lt_tensor_release(whole);
    return status;
}

/* Masks stay, positions are marked; the array is the call's own. */
static lt_status to_index_list(lt_args *a, lt_arg_value *v)
{
    if (v->list.n > LT_MAX_DIMS)
        return lt_error(LT_ERR_INDEX, "too many indices: %lld, at most %d are possible",
                        (long long)v->list.n, LT_MAX_DIMS);
    for (int64_t i = 0; i < v->list.n; i++) {
        lt_dtype dtype = (lt_dtype)v->list.v[i]->dtype;
        lt_arg_value index;
        if (dtype == LT_BOOL) continue;
        if (lt_dtype_is_inexact(dtype))
            return lt_error(LT_ERR_INDEX,
                            "tensors used as indices must be long, int, byte or bool tensors");
        lt_status status = to_indices(v->list.v[i], false, a, &index);
        if (status != LT_OK) return status;
        v->list.v[i] = index.tensor;
    }
    return LT_OK;
}

/* Numbers in a row, or the entries of a table. */
static void to_dims(lua_State *L, const lt_arg_spec *arg, int index, int rows, lt_dims *dims)
{
    bool row = rows > 0;
    dims->n = row ? rows : (int)lua_rawlen(L, index);
    for (int i = 0; i < dims->n; i++) {
        int64_t value;
        if (row) {
            value = lua_tointeger(L, index + i);
        } else {
            lua_rawgeti(L, index, i + 1);
            value = lua_tointeger(L, -1);
            lua_pop(L, 1);
        }
        dims->v[i] = arg->type == LT_ARG_DIMS ? to_index(value) : value;
    }
}

static lt_status convert_value(lua_State *L, const lt_arg_spec *arg, int i, lt_args *a)
{
    lt_arg_value *v = &a->value[i];
    int index = a->at[i];
    switch ((lt_arg_type)arg->type) {
    case LT_ARG_TENSOR: v->tensor = lt_lua_get(L, index); break;
    case LT_ARG_TENSOR_OR_SCALAR:
        v->tensor = lt_lua_get(L, index);
        return v->tensor != NULL ? LT_OK : wrap_number(to_scalar(L, index), a, v);
    case LT_ARG_INDEX_TENSOR: return to_indices(lt_lua_get(L, index), true, a, v);
    case LT_ARG_POSITIONS: return to_indices(lt_lua_get(L, index), false, a, v);
    case LT_ARG_TENSORS:
        v->list = (lt_tensor_list){(int64_t)lua_rawlen(L, index), lua_touserdata(L, a->rows[i])};
        break;
    case LT_ARG_INDEX_TENSORS:
        v->list = (lt_tensor_list){(int64_t)lua_rawlen(L, index), lua_touserdata(L, a->rows[i])};
        return to_index_list(a, v);
    case LT_ARG_SCALAR: v->scalar = to_scalar(L, index); break;
    case LT_ARG_INT: v->i = lua_tointeger(L, index); break;
    case LT_ARG_DIM:
    case LT_ARG_INDEX: v->i = to_index(lua_tointeger(L, index)); break;
    case LT_ARG_FLOAT: v->d = lua_tonumber(L, index); break;
    case LT_ARG_BOOL: v->b = lua_toboolean(L, index); break;
    case LT_ARG_STRING: v->s = lua_tostring(L, index); break;
    case LT_ARG_DIMS:
    case LT_ARG_SIZE: to_dims(L, arg, index, a->rows[i], &v->dims); break;
    case LT_ARG_DTYPE: v->dtype = lt_lua_to_dtype(L, index); break;
    case LT_ARG_DEVICE: return lt_lua_to_device(L, index, &v->device) ? LT_OK : LT_ERR_RUNTIME;
    case LT_ARG_GENERATOR: v->generator = lt_lua_to_generator(L, index); break;
    }
    return LT_OK;
}

/* The value of an argument that was not given. */
static lt_status convert_fallback(const lt_arg_spec *arg, int i, lt_args *a)
{
    lt_arg_value *v = &a->value[i];
    lt_scalar s = arg->fallback;
    switch ((lt_arg_type)arg->type) {
    case LT_ARG_TENSOR_OR_SCALAR: return wrap_number(s, a, v);
    case LT_ARG_SCALAR: v->scalar = s; break;
    case LT_ARG_INT: v->i = s.v.i; break;
    case LT_ARG_DIM:
    case LT_ARG_INDEX: v->i = to_index(s.v.i); break;
    case LT_ARG_FLOAT: v->d = lt_scalar_double(s); break;
    case LT_ARG_BOOL: v->b = s.v.i != 0; break;
    case LT_ARG_STRING: v->s = arg->fallback_text; break;
    case LT_ARG_SIZE: v->dims = (lt_dims){1, {s.v.i}}; break;
    case LT_ARG_DTYPE: v->dtype = LT_DTYPE_NONE; break;
    case LT_ARG_GENERATOR: v->generator = NULL; break;
    default: v->tensor = NULL; break;
    }
    return LT_OK;
}

lt_status lt_args_convert(lua_State *L, const lt_signature *s, lt_args *a)
{
    for (int i = 0; i < s->n; i++) {
        a->present[i] = a->at[i] != 0;
        lt_status status = a->present[i] ? convert_value(L, &s->args[i], i, a)
                                         : convert_fallback(&s->args[i], i, a);
        if (status != LT_OK) {
            lt_args_release(a);
            return status;
        }
    }
    return LT_OK;
}

void lt_args_release(lt_args *a)
{
    for (int i = 0; i < a->n_owned; i++) lt_tensor_release(a->owned[i]);
    a->n_owned = 0;
}
