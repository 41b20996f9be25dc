/* images.c - torch._C.decode_image and encode_image, for lib/utils/data/image.lua. */
#include <lauxlib.h>

#include "binding.h"
#include "compile/deferred.h"
#include "files/image.h"
#include "op/contiguous.h"

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

/* encode_image(uint8 tensor on the host (channels, height, width), 'png' or 'jpeg', quality) -> uint8
 * tensor of the file's bytes, or nil and a message */
static int encode_image(lua_State *L)
{
    lt_tensor *image = lt_lua_check_tensor(L, 1), *dense;
    const char *name = luaL_checkstring(L, 2);
    const lua_Integer quality = lt_lua_check_integer(L, 3);
    if (lt_tensor_device(image).type != LT_CPU) lt_lua_refuse(L, 1, "a Tensor on the CPU");
    if (quality < 1 || quality > 100) lt_lua_refuse(L, 3, "a quality from 1 to 100");
    lt_lua_do(L, lt_materialize("encode_image", image));
    lt_lua_do(L, lt_contiguous(image, &dense));
    *lt_lua_new(L) = dense;
    lt_tensor **out = lt_lua_new(L);
    const lt_image_format format = name[0] == 'p' ? LT_IMAGE_PNG : LT_IMAGE_JPEG;
    lt_status status = LT_INSIDE(L, lt_image_encode(dense, format, (int)quality, out));
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
    static const luaL_Reg functions[] = {
        {"decode_image", decode_image}, {"encode_image", encode_image}, {NULL, NULL}};
    lua_pushvalue(L, 2);
    lt_lua_setfuncs(L, functions);
    lua_pop(L, 1);
}
