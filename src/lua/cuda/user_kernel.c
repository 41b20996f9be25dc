/* user_kernel.c - torch._C's functions behind torch.cuda._compile_kernel: they pass a source text,
 * and a launch's arguments that lib/cuda/user_kernel.lua has converted, to the backend.
 *
 * A kernel lives until the end of the process (devices/user_kernel.h). */
#include "devices/user_kernel.h"

#include "compile/deferred.h"
#include "compile/trace.h"
#include "gpu.h"
#include "overlap.h"
#include "sparse.h"

#define KERNEL_META "ltensor.CudaKernel"

enum { MOST_ARGUMENTS = 256, MOST_OPTIONS = 64 };

typedef struct lua_kernel {
    lt_user_kernel *kernel;
    int device;
} lua_kernel;

static const lt_user_kernels *check_table(lua_State *L)
{
    lt_lua_gpu(L);
    const lt_user_kernels *table = lt_backend_user_kernels();
    if (table != NULL) return table;
    lt_error_set(LT_ERR_DEVICE, "torch.cuda._compile_kernel() is not supported by this backend");
    lt_lua_raise(L);
    return NULL;
}

static lt_status authorize(int access, const char *name) { return lt_authorize(access, name); }

/* Reads the list of strings at arg. */
static int read_strings(lua_State *L, int arg, const char **to, int most)
{
    const lua_Integer n = luaL_len(L, arg);
    if (n > most) luaL_error(L, "_compile_kernel(): %d options, the maximum is %d", (int)n, most);
    for (int i = 0; i < (int)n; i++) {
        lua_rawgeti(L, arg, i + 1); /* the table keeps the string */
        to[i] = lua_tostring(L, -1);
        lua_pop(L, 1);
    }
    return (int)n;
}

/* compile_user_kernel(device, text, name, file, options, architecture) -> kernel */
static int compile_kernel(lua_State *L)
{
    const lt_user_kernels *table = check_table(L);
    const char *options[MOST_OPTIONS];
    const int device = lt_lua_gpu_device(L, 1);
    const lt_kernel_source source = {.text = luaL_checkstring(L, 2),
                                     .name = luaL_checkstring(L, 3),
                                     .file = luaL_checkstring(L, 4),
                                     .options = options,
                                     .n_options = read_strings(L, 5, options, MOST_OPTIONS),
                                     .architecture = (int)luaL_checkinteger(L, 6),
                                     .authorize = authorize};
    lua_kernel *k = lua_newuserdatauv(L, sizeof *k, 0);
    *k = (lua_kernel){NULL, device};
    luaL_setmetatable(L, KERNEL_META);
    lt_lua_do(L, table->compile(device, &source, &k->kernel));
    return 1;
}

/* An argument that is a tensor, and the pointer to its elements. */
typedef struct pointer_argument {
    lt_tensor *tensor;
    void *data;
    bool written;
} pointer_argument;

/* Evaluates a tensor whose elements the kernel accesses. */
static lt_status prepare_tensor(pointer_argument *p)
{
    LT_TRY(lt_require_strided("a CUDA kernel", p->tensor));
    LT_TRY(lt_materialize("a CUDA kernel", p->tensor));
    if (p->written) LT_TRY(lt_prepare_write(p->tensor));
    p->data = p->tensor->numel == 0 ? NULL : lt_data(p->tensor);
    return LT_OK;
}

static lt_status prepare_tensors(pointer_argument *pointers, int n)
{
    for (int i = 0; i < n; i++)
        if (pointers[i].tensor != NULL) LT_TRY(prepare_tensor(&pointers[i]));
    return lt_trace_flush(); /* deferred ops may write the kernel's memory */
}

/* Reads an argument from the table at 6, { value =, name =, written = }: a tensor or the bytes of a
 * number. */
static void read_argument(lua_State *L, int i, lt_kernel_argument *argument, pointer_argument *p)
{
    size_t bytes = 0;
    lua_rawgeti(L, 6, i + 1);
    lua_getfield(L, -1, "value");
    lua_getfield(L, -2, "name");
    lua_getfield(L, -3, "written");
    *p = (pointer_argument){lt_lua_get(L, -3), NULL, lua_toboolean(L, -1)};
    *argument = (lt_kernel_argument){.name = lua_tostring(L, -2)};
    if (p->tensor != NULL) {
        argument->value = &p->data;
        argument->bytes = sizeof p->data;
        argument->element = lt_element_size(p->tensor->dtype);
    } else {
        argument->value = lua_tolstring(L, -3, &bytes);
        argument->bytes = bytes;
    }
    lua_pop(L, 4);
}

static uint32_t read_size(lua_State *L, int arg, int i)
{
    lua_rawgeti(L, arg, i);
    const lua_Integer size = lua_tointeger(L, -1);
    lua_pop(L, 1);
    return (uint32_t)size;
}

/* launch_user_kernel(kernel, grid, block, shared bytes, stream handle or nil, arguments) */
static int launch_kernel(lua_State *L)
{
    const lua_kernel *k = lt_lua_check_udata(L, 1, KERNEL_META);
    const lt_backend *backend = lt_lua_gpu(L);
    lt_kernel_argument arguments[MOST_ARGUMENTS];
    pointer_argument pointers[MOST_ARGUMENTS];
    const lua_Integer n = luaL_len(L, 6);
    if (k->kernel == NULL || n > MOST_ARGUMENTS)
        return luaL_error(L, "a CUDA kernel has at most %d parameters", (int)MOST_ARGUMENTS);
    for (int i = 0; i < (int)n; i++) read_argument(L, i, &arguments[i], &pointers[i]);
    lt_lua_do(L, prepare_tensors(pointers, (int)n));
    for (int i = 0; i < (int)n; i++) {
        const lt_tensor *t = pointers[i].tensor;
        if (t == NULL || t->numel == 0) continue;
        arguments[i].memory = t->storage->data;
        arguments[i].memory_bytes = t->storage->nbytes;
    }
    lt_kernel_launch launch = {.shared_bytes = (size_t)luaL_checkinteger(L, 4),
                               .stream = lua_isnil(L, 5) ? backend->current_stream(k->device)
                                                         : (uint64_t)luaL_checkinteger(L, 5),
                               .arguments = arguments,
                               .n_arguments = (int)n};
    for (int i = 0; i < 3; i++) {
        launch.grid[i] = read_size(L, 2, i + 1);
        launch.block[i] = read_size(L, 3, i + 1);
    }
    lt_lua_do(L, lt_backend_user_kernels()->launch(k->kernel, &launch));
    for (int i = 0; i < (int)n; i++)
        if (pointers[i].tensor != NULL && pointers[i].written) lt_bump_version(pointers[i].tensor);
    return 0;
}

void lt_lua_open_user_kernels(lua_State *L)
{
    luaL_newmetatable(L, KERNEL_META);
    lua_pushliteral(L, "CudaKernel");
    lua_setfield(L, -2, "__name");
    lua_pop(L, 1);
    lt_lua_pushfunction(L, compile_kernel);
    lua_setfield(L, 2, "compile_user_kernel");
    lt_lua_pushfunction(L, launch_kernel);
    lua_setfield(L, 2, "launch_user_kernel");
}
