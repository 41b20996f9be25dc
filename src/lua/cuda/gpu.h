/* gpu.h - shared by the files of torch.cuda: the backend or an error, device arguments, openers.
 *
 * Only the files of this folder include it. */
#ifndef LT_LUA_GPU_H
#define LT_LUA_GPU_H

#include "binding.h"
#include "devices/backend.h"

/* The loaded backend; raises an error that names the missing component. */
const lt_backend *lt_lua_gpu(lua_State *L);

/* Calls an entry of the backend's table and raises its failure. Arguments must raise nothing. */
#define lt_lua_gpu_do(L, call)                                                                     \
    do {                                                                                           \
        const lt_backend *backend_of_call_ = lt_lua_gpu(L);                                        \
        lt_lua_do(L, backend_of_call_->call);                                                      \
    } while (0)

/* The number of the GPU that the value at arg names: a number, a device, "cuda:1"; nil is the
 * current one. */
int lt_lua_gpu_device(lua_State *L, int arg);

/* They take the table torch.cuda on top of the stack; torch._C is at 2, the methods of tensors are
 * at 3. */
void lt_lua_open_streams(lua_State *L);
void lt_lua_open_ledger(lua_State *L);
void lt_lua_open_graphs(lua_State *L);
void lt_lua_open_user_kernels(lua_State *L);

#endif
