/* caller.c - see caller.h. Objects (the program and its shared libraries) are compared by the
 * address at which they are mapped, which needs no access to a state. */
#include "caller.h"

#include <dlfcn.h>
#include <lauxlib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ltensor_lua.h"
#include "system/shared_library.h"

typedef int raise_function(lua_State *L, const char *format, ...);

/* The base is NULL if it is unknown, as in a static program, which is one object. */
static lt_shared_object object_of(const void *address)
{
    lt_shared_object object;
    if (lt_shared_object_of(address, &object)) return object;
    return (lt_shared_object){NULL, "", false};
}

/* The symbol as defined by the object or the libraries that it needs; NULL: none does. */
static void *find_symbol(lt_shared_object where, const char *name)
{
    void *const handle = dlopen(where.is_program ? NULL : where.path, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == NULL) return NULL;
    void *const found = dlsym(handle, name);
    dlclose(handle); /* the object stays loaded: its code is running */
    return found;
}

/* The object that provides Lua's functions to the library. *mixed: several do, as in a program with
 * an older Lua: ours provides the functions that it lacks, such as lua_newuserdatauv and lua_toclose
 * of 5.4. */
static lt_shared_object own_lua(bool *mixed)
{
    const uintptr_t functions[] = {
#if LUA_VERSION_NUM == 503
        (uintptr_t)&lua_rotate,
        (uintptr_t)&lua_geti,
#elif LUA_VERSION_NUM == 504
        (uintptr_t)&lua_newuserdatauv,
        (uintptr_t)&lua_toclose,
#else
        (uintptr_t)&luaL_makeseed,
        (uintptr_t)&lua_numbertocstring,
#endif
        (uintptr_t)&lua_rawgetp,
        (uintptr_t)&lua_getinfo,
        (uintptr_t)&luaL_checkversion_,
        (uintptr_t)&lua_error,
        (uintptr_t)&lua_settop,
        (uintptr_t)&luaL_error
    };
    const lt_shared_object first = object_of((const void *)functions[0]);
    *mixed = false;
    for (size_t i = 1; i < sizeof functions / sizeof *functions; i++)
        if (object_of((const void *)functions[i]).base != first.base) *mixed = true;
    return first;
}

/* A host may call luaopen_torch by itself, or through a module of its own: such an object has no
 * Lua, and the linker bound it to the library. */
static bool is_linked_with_us(lt_shared_object caller, const void *opener)
{
    return find_symbol(caller, "luaopen_torch") == opener;
}

/* luaL_error of the caller's Lua, which has the same form in every version; NULL: it is not
 * exported. */
static raise_function *find_raise(lt_shared_object caller)
{
    void *const raise = find_symbol(caller, "luaL_error");
    if (raise == NULL || object_of(raise).base != caller.base) return NULL;
    return (raise_function *)(uintptr_t)raise;
}

int lt_lua_check_caller(lua_State *L, const void *return_address, const void *opener)
{
    static const char format[] =
        "cannot open torch: it was called by the Lua in '%s', but it is bound to the " LUA_VERSION
        " in '%s', and two Luas cannot share a state. Use lua" LUA_VERSION_MAJOR
        "." LUA_VERSION_MINOR " or ltensor; a host must export the functions of its " LUA_VERSION
        " to modules (link it with -Wl,-E, or load it with RTLD_GLOBAL)";
    bool mixed;
    const lt_shared_object own = own_lua(&mixed), caller = object_of(return_address);
    if (own.base == NULL || caller.base == NULL) return 1;
    if (caller.base == own.base && !mixed) return 1;
    raise_function *const raise = find_raise(caller);
    if (raise == NULL && !mixed && is_linked_with_us(caller, opener)) return 1;
    if (raise != NULL) return raise(L, format, caller.path, own.path);
    fprintf(stderr, format, caller.path, own.path);
    fputc('\n', stderr);
    return 0;
}
