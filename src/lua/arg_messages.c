/* arg_messages.c - see arg_messages.h. */
#include "arg_messages.h"

#include <stdio.h>
#include <string.h>

#include "assertion.h"
#include "dtypes/dtype.h"

static const char *const expected[] = {
    [LT_ARG_TENSOR] = "Tensor",
    [LT_ARG_TENSOR_OR_SCALAR] = "Tensor or number",
    [LT_ARG_INDEX_TENSOR] = "Tensor",
    [LT_ARG_POSITIONS] = "Tensor",
    [LT_ARG_TENSORS] = "table of Tensors",
    [LT_ARG_INDEX_TENSORS] = "table of Tensors",
    [LT_ARG_NUMBERS] = "table of numbers",
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

int lt_args_raise_type(lua_State *L, const char *text)
{
    lt_error_set(LT_ERR_TYPE, "%s", text);
    return lt_lua_raise(L);
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool is_self(const lt_arg_spec *arg) { return strcmp(arg->name, "self") == 0; }

/* Other names of arguments, which a call may use unless its function has an argument of that name:
 * those of PyTorch's documentation and schemas where they differ, NumPy's, and A and B of
 * torch.linalg. The readers of functions in Lua use this table too. */
static const struct {
    const char *name, *others[8];
} aliases[] = {
    {"self", {"input", "x", "a", "x1", "A", "tensor"}},
    {"input", {"x", "a", "x1", "A", "mat", "input_", "tensor"}},
    {"dim", {"axis"}},
    {"dims", {"axis"}},
    {"dim0", {"axis0"}},
    {"dim1", {"axis1"}},
    {"keepdim", {"keepdims"}},
    {"other", {"x2", "B", "b"}},
    {"A", {"input", "x", "a"}},
    {"B", {"other", "b", "input"}},
    {"b", {"input", "B"}},
    {"L", {"input"}},
    {"mat", {"input"}},
    {"mat1", {"input"}},
    {"src", {"other"}},
    {"target", {"target_"}},
    {"training", {"train"}},
    {"elements", {"element"}},
    {"test_elements", {"test_element"}},
    {"tensor1", {"tensor"}},
    {"tensor2", {"other"}},
    {"split_size", {"split_size_or_sections"}},
    {"split_sizes", {"split_size_or_sections", "split_size"}},
    {"indices_or_sections", {"sections", "indices", "tensor_indices_or_sections"}},
};

/* The aliases of an argument, ended by NULL; NULL if it has none. */
static const char *const *aliases_of(const char *name)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (strcmp(aliases[i].name, name) == 0) return aliases[i].others;
    return NULL;
}

int lt_lua_push_aliases(lua_State *L)
{
    lua_newtable(L);
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        lua_newtable(L);
        for (int j = 0; aliases[i].others[j] != NULL; j++) {
            lua_pushstring(L, aliases[i].others[j]);
            lua_rawseti(L, -2, j + 1);
        }
        lua_setfield(L, -2, aliases[i].name);
    }
    return 1;
}

/* Whether the signature has an argument of this very name. */
static bool has_argument(const lt_signature *s, const char *name)
{
    for (int i = 0; i < s->n; i++)
        if (strcmp(s->args[i].name, name) == 0) return true;
    return false;
}

static bool is_name_of(const lt_signature *s, const lt_arg_spec *arg, const char *name)
{
    if (strcmp(arg->name, name) == 0) return true;
    const char *const *other = aliases_of(arg->name);
    for (; other != NULL && *other != NULL; other++)
        if (strcmp(*other, name) == 0) return !has_argument(s, name);
    return false;
}

int lt_args_push_named(lua_State *L, int names, const lt_signature *s, const lt_arg_spec *arg)
{
    int type = lua_getfield(L, names, arg->name);
    if (type != LUA_TNIL) return type;
    const char *const *other = aliases_of(arg->name);
    for (; other != NULL && *other != NULL; other++) {
        lua_pop(L, 1);
        type = lua_getfield(L, names, *other);
        if (type == LUA_TNIL) continue;
        if (!has_argument(s, *other)) return type;
        lua_pop(L, 1);
        lua_pushnil(L);
    }
    return LUA_TNIL;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* The hint for a first argument that should be a tensor and is not: the method may have been called
 * with a dot. */
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
            if (is_name_of(&s[i], arg, name)) return arg;
        }
    return NULL;
}

void lt_args_check_names(lua_State *L, const lt_signature *s, int n, const lt_arg_call *c)
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
        lt_args_raise_type(
            L,
            *list != 0
                ? lua_pushfstring(L, "%s(): unknown argument '%s' (known: %s)", s->op, name, list)
                : lua_pushfstring(L, "%s(): unknown argument '%s' (it has none)", s->op, name));
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
    return lt_args_raise_type(L, lua_pushfstring(L, "%s() missing %d required argument%s: %s%s",
                                                 s->op, n, n == 1 ? "" : "s", list,
                                                 first == 0 ? colon_hint(L, s) : ""));
}

static int raise_too_many(lua_State *L, const lt_signature *s, const lt_arg_call *c)
{
    int n = 0;
    while (n < s->n && !s->args[n].keyword_only) n++;
    /* a function with several results returns tensors */
    const char *hint = lt_lua_get(L, c->positional) != NULL
                           ? "; put a last argument that is a call with several results in "
                             "parentheses: f(x, (y:sort()))"
                           : "";
    return lt_args_raise_type(
        L, lua_pushfstring(L, "%s() takes %d positional argument%s but %d were given%s", s->op, n,
                           n == 1 ? "" : "s", c->positional, hint));
}

/* The name under which an argument is given in the table of named ones; NULL: it is not. */
static const char *given_name(lua_State *L, int names, const lt_signature *s,
                              const lt_arg_spec *arg)
{
    if (lua_getfield(L, names, arg->name) != LUA_TNIL) return arg->name;
    const char *const *other = aliases_of(arg->name);
    for (; other != NULL && *other != NULL; other++)
        if (!has_argument(s, *other) && lua_getfield(L, names, *other) != LUA_TNIL) return *other;
    return NULL;
}

/* Raises an error for a named argument that is also given by position. */
static int raise_twice(lua_State *L, const lt_signature *s, const lt_arg_call *c, int first)
{
    for (int i = 0; i < first; i++) {
        const char *name = given_name(L, c->names, s, &s->args[i]);
        if (name != NULL)
            return lt_args_raise_type(
                L, lua_pushfstring(L, "%s() got multiple values for argument '%s'", s->op, name));
    }
    return 0;
}

int lt_args_raise_problem(lua_State *L, const lt_signature *s, const lt_args *a,
                          const lt_arg_call *c, const lt_arg_problem *p)
{
    LT_ASSERT(p->arg == NULL || p->arg->type < sizeof expected / sizeof *expected, "%s: type %d",
              p->arg->name, p->arg->type);
    char where[32] = "";
    const char *name = p->arg != NULL ? p->arg->name : "";
    if (p->value > 0 && p->value <= c->positional)
        snprintf(where, sizeof where, " (position %d)", p->value);
    switch (p->kind) {
    case LT_ARG_PROBLEM_WRONG_TYPE:
        return lt_args_raise_type(
            L, lua_pushfstring(L, "%s(): argument '%s'%s must be %s, not %s%s", s->op, name, where,
                               expected[p->arg->type], lt_lua_type_name(L, p->value),
                               p->value == 1 ? colon_hint(L, s) : ""));
    case LT_ARG_PROBLEM_WRONG_ENTRY:
        return lt_args_raise_type(
            L, lua_pushfstring(
                   L, "%s(): argument '%s'%s must be %s, but found element of type %s at pos %d",
                   s->op, name, where,
                   p->arg->type == LT_ARG_TENSORS || p->arg->type == LT_ARG_INDEX_TENSORS
                       ? expected[LT_ARG_TENSORS]
                       : "table of ints",
                   (lua_rawgeti(L, p->value, p->entry), lt_lua_type_name(L, -1)), p->entry));
    case LT_ARG_PROBLEM_NOT_POSITIONS:
        return lt_args_raise_type(
            L, lua_pushfstring(
                   L, "%s(): expected an integer tensor of positions for '%s', got torch.%s", s->op,
                   name, lt_dtype_name((lt_dtype)lt_lua_get(L, p->value)->dtype)));
    case LT_ARG_PROBLEM_TOO_LONG:
        return lt_args_raise_type(
            L, lua_pushfstring(L, "%s(): argument '%s'%s has %d entries, at most %d are possible",
                               s->op, name, where, p->entry, LT_MAX_DIMS));
    case LT_ARG_PROBLEM_ROW_NIL:
        return lt_args_raise_type(
            L, lua_pushfstring(L, "%s(): argument '%s'%s must be %s, but number %d is nil", s->op,
                               name, where, expected[p->arg->type], p->entry));
    case LT_ARG_PROBLEM_NAMES:
        if (p->entry > 0)
            lua_pushinteger(L, p->entry);
        else
            lua_pushnil(L);
        lua_next(L, p->value);
        lua_pop(L, 1);
        return lt_args_raise_type(
            L, lua_pushfstring(L,
                               "%s(): argument '%s'%s must be %s, but has the name '%s'; pass "
                               "names in the last table of the call",
                               s->op, name, where, expected[p->arg->type],
                               luaL_tolstring(L, -1, NULL)));
    case LT_ARG_PROBLEM_TOO_MANY: return raise_too_many(L, s, c);
    case LT_ARG_PROBLEM_MISSING: return raise_missing(L, s, a, p->entry);
    default: return raise_twice(L, s, c, p->entry);
    }
}

int lt_args_raise_combination(lua_State *L, const lt_signature *s, int n, const lt_arg_call *c)
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
    lua_insert(L, top + 2); /* below the hint, which is then popped */
    lua_settop(L, top + 2);
    lua_concat(L, 2);
    for (int i = 0; i < n; i++) {
        lua_pushfstring(L, "\n * %s", strchr(s[i].text, '('));
        lua_concat(L, 2);
    }
    return lt_args_raise_type(L, lua_tostring(L, -1));
}
