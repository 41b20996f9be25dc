/* gpu.c - see gpu.h. */
#include "gpu.h"

const lt_backend *lt_lua_gpu(lua_State *L)
{
    const lt_backend *backend = LT_INSIDE(L, lt_backend_get(LT_CUDA));
    if (backend == NULL) lt_lua_raise(L);
    return backend;
}

int lt_lua_gpu_device(lua_State *L, int arg)
{
    lt_device device = {LT_CUDA, -1};
    lt_lua_gpu(L);
    if (!lua_isnoneornil(L, arg) && !lt_lua_to_device(L, arg, &device)) lt_lua_raise(L);
    if (device.type != LT_CUDA) {
        lt_error_set(LT_ERR_TYPE, "Expected a cuda device, but got: cpu");
        lt_lua_raise(L);
    }
    lt_lua_do(L, lt_device_resolve(&device));
    return device.index;
}
