/* images.c - torch._C.decode_image, for lib/utils/data/image.lua. */
#include <lauxlib.h>

#include "binding.h"
#include "files/image.h"

/* decode_image(bytes, channels) -> uint8 tensor (channels, height, width), or nil and a message */
static int decode_image(lua_State *L)
{
    size_t n;
    const char *bytes = lt_lua_check_lstring(L, 1, &n);
    lua_Integer channels = lt_lua_check_integer(L, 2);
    if (channels < 0 || channels > 4) lt_lua_refuse(L, 2, "0 to 4 channels");
    lt_tensor **out = lt_lua_new(L);
    lt_status status = LT_INSIDE(L, lt_image_decode(bytes, n, (int)channels, out));
    if (status != LT_ERR_IO) {
        lt_lua_check(L, status);
        return 1;
    }
    lua_pushnil(L);
    lua_pushstring(L, lt_error_message());
    return 2;
}

void lt_lua_open_images(lua_State *L)
{
    static const luaL_Reg functions[] = {{"decode_image", decode_image}, {NULL, NULL}};
    lua_pushvalue(L, 2);
    lt_lua_setfuncs(L, functions);
    lua_pop(L, 1);
}
