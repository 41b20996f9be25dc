/* complex.c - complex numbers as Lua values: torch.complex(1, 2), and item() of a complex tensor.
 * Arithmetic of two numbers follows Python; if the other operand is a tensor, its metamethod is
 * called. Values are immutable, compare by value, and print as Python's. */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binding.h"

#define COMPLEX_META "ltensor.complex"

typedef double complex number;

void lt_lua_push_complex(lua_State *L, double real, double imaginary)
{
    number *z = lua_newuserdatauv(L, sizeof *z, 0);
    *z = __builtin_complex(real, imaginary); /* CMPLX: glibc defines it for GCC only */
    luaL_setmetatable(L, COMPLEX_META);
}

bool lt_lua_to_complex(lua_State *L, int index, lt_scalar *out)
{
    const number *z =
        lua_type(L, index) == LUA_TUSERDATA ? luaL_testudata(L, index, COMPLEX_META) : NULL;
    if (z == NULL) return false;
    if (out != NULL) *out = lt_scalar_from_complex(creal(*z), cimag(*z));
    return true;
}

/* A complex or real number; false: neither. */
static bool to_number(lua_State *L, int index, number *out)
{
    lt_scalar s;
    if (lua_type(L, index) == LUA_TNUMBER)
        *out = lua_tonumber(L, index);
    else if (lt_lua_to_complex(L, index, &s))
        *out = __builtin_complex(s.v.d, s.imaginary);
    else
        return false;
    return true;
}

/* Calls the other operand's metamethod, or raises Lua's error. */
static int by_other(lua_State *L, const char *event)
{
    const int other = lt_lua_to_complex(L, 1, NULL) ? 2 : 1;
    if (luaL_getmetafield(L, other, event) == LUA_TNIL)
        return lt_lua_error(L, "attempt to perform arithmetic on a complex number and a %s",
                            lt_lua_type_name(L, other));
    lua_pushvalue(L, 1);
    lua_pushvalue(L, 2);
    lua_call(L, 2, 1);
    return 1;
}

#define OPERATOR(name, event, EXPRESSION)                                                          \
    static int name(lua_State *L)                                                                  \
    {                                                                                              \
        number a, b;                                                                               \
        if (!to_number(L, 1, &a) || !to_number(L, 2, &b)) return by_other(L, event);               \
        const number z = EXPRESSION;                                                               \
        lt_lua_push_complex(L, creal(z), cimag(z));                                                \
        return 1;                                                                                  \
    }
OPERATOR(add, "__add", a + b)
OPERATOR(subtract, "__sub", a - b)
OPERATOR(multiply, "__mul", a *b)
OPERATOR(divide, "__div", a / b)
OPERATOR(power, "__pow", b == 2 ? a * a : cpow(a, b))
#undef OPERATOR

static number check_complex(lua_State *L, int arg)
{
    number z;
    if (!to_number(L, arg, &z)) lt_lua_refuse(L, arg, "a complex number");
    return z;
}

static int negate(lua_State *L)
{
    const number z = check_complex(L, 1);
    lt_lua_push_complex(L, -creal(z), -cimag(z));
    return 1;
}

static int equals(lua_State *L)
{
    lt_scalar a, b;
    lua_pushboolean(L, lt_lua_to_complex(L, 1, &a) && lt_lua_to_complex(L, 2, &b) &&
                           a.v.d == b.v.d && a.imaginary == b.imaginary);
    return 1;
}

/* The shortest digits that read back as x. */
static void add_digits(luaL_Buffer *b, double x, bool sign)
{
    char text[40];
    if (isnan(x) || isinf(x)) {
        snprintf(text, sizeof text, "%s%s",
                 isinf(x) && x < 0 ? "-"
                 : sign            ? "+"
                                   : "",
                 isnan(x) ? "nan" : "inf");
    } else {
        for (int digits = 1; digits <= 17; digits++) {
            snprintf(text, sizeof text, sign ? "%+.*g" : "%.*g", digits, x);
            if (strtod(text, NULL) == x) break;
        }
    }
    luaL_addstring(b, text);
}

static int to_string(lua_State *L)
{
    const number z = check_complex(L, 1);
    const bool alone = creal(z) == 0 && !signbit(creal(z));
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    if (!alone) {
        luaL_addchar(&b, '(');
        add_digits(&b, creal(z), false);
    }
    add_digits(&b, cimag(z), !alone);
    luaL_addstring(&b, alone ? "j" : "j)");
    luaL_pushresult(&b);
    return 1;
}

static int conjugate(lua_State *L)
{
    const number z = check_complex(L, 1);
    lt_lua_push_complex(L, creal(z), -cimag(z));
    return 1;
}

static int magnitude(lua_State *L)
{
    lua_pushnumber(L, cabs(check_complex(L, 1)));
    return 1;
}

static int angle(lua_State *L)
{
    lua_pushnumber(L, carg(check_complex(L, 1)));
    return 1;
}

/* .real, .imag, and the methods in upvalue 1. */
static int field(lua_State *L)
{
    const number z = check_complex(L, 1);
    const char *key = luaL_tolstring(L, 2, NULL);
    if (strcmp(key, "real") == 0)
        lua_pushnumber(L, creal(z));
    else if (strcmp(key, "imag") == 0)
        lua_pushnumber(L, cimag(z));
    else if (lua_getfield(L, lua_upvalueindex(1), key) == LUA_TNIL)
        return lt_lua_error(
            L, "a complex number has no field '%s' (it has real, imag, conj, abs, angle)", key);
    return 1;
}

/* complex(1, 2) of numbers; else the op, upvalue 1. */
static int complex_of(lua_State *L)
{
    if (lua_gettop(L) == 2 && lua_type(L, 1) == LUA_TNUMBER && lua_type(L, 2) == LUA_TNUMBER) {
        lt_lua_push_complex(L, lua_tonumber(L, 1), lua_tonumber(L, 2));
        return 1;
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 1);
    return 1;
}

void lt_lua_open_complex(lua_State *L)
{
    static const luaL_Reg meta[] = {
        {"__add", add},        {"__sub", subtract}, {"__mul", multiply}, {"__div", divide},
        {"__pow", power},      {"__unm", negate},   {"__eq", equals},    {"__tostring", to_string},
        {"__repr", to_string}, {NULL, NULL}};
    static const luaL_Reg methods[] = {
        {"conj", conjugate}, {"abs", magnitude}, {"angle", angle}, {NULL, NULL}};
    luaL_newmetatable(L, COMPLEX_META);
    luaL_setfuncs(L, meta, 0);
    lt_lua_set_field_names(L, (const char *const[]){"real", "imag", NULL});
    luaL_newlib(L, methods);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "__methods");
    lua_pushcclosure(L, field, 1);
    lua_setfield(L, -2, "__index");
    lua_pushliteral(L, "complex");
    lua_setfield(L, -2, "__name");
    lua_pop(L, 1);
    if (lua_getfield(L, 1, "complex") == LUA_TNIL) { /* a library without the op */
        lua_pop(L, 1);
        return;
    }
    lua_pushcclosure(L, complex_of, 1);
    lua_setfield(L, 1, "complex");
}
