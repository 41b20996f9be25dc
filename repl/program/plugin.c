/* plugin.c - see plugin.h. The plugin needs ZeroMQ and Nettle; the program is built and starts
 * without them. Includes the Lua API and libraries/library.h of core. */
#include "plugin.h"

#include <dlfcn.h>
#include <lauxlib.h>
#include <stdint.h>

#include "libraries/library.h"

#define PLUGIN "libltensor_jupyter.so"

int plugin_open(lua_State *L)
{
    void *library = lt_library_open_ours(PLUGIN);
    if (library == NULL) {
        const char *why = dlerror();
        if (why != NULL)
            return luaL_error(L,
                              "%s could not be loaded (%s); on Debian and Ubuntu: apt-get install "
                              "libzmq5 libnettle8",
                              PLUGIN, why);
        return luaL_error(
            L,
            "this ltensor was built without a kernel for Jupyter: %s does not exist; on Debian and "
            "Ubuntu: apt-get install libzmq3-dev nettle-dev, then make",
            PLUGIN);
    }
    lua_CFunction open = (lua_CFunction)(uintptr_t)dlsym(library, "luaopen_ltensor_jupyter");
    if (open == NULL) return luaL_error(L, "%s is of another version of ltensor", PLUGIN);
    lua_pushcfunction(L, open);
    lua_call(L, 0, 1);
    return 1;
}
