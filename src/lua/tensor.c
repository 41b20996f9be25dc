/* tensor.c - the metatable of tensors: length, iteration, printing, and the methods that are not
 * ops. fields.c has the fields. */
#include <string.h>

#include "autograd/autograd.h"
#include "binding.h"
#include "devices/backend.h"
#include "devices/transfer.h"
#include "dtypes/dtype.h"
#include "fields.h"
#include "compile/deferred.h"
#include "memory_format.h"
#include "print/print.h"
#include "sparse.h"
#include "op/to.h"
#include "memory/alloc.h"

/* Owns core's text until Lua has copied it. */
#define TEXT_META "ltensor.text"

static int text_gc(lua_State *L)
{
    char **text = lua_touserdata(L, 1);
    lt_mem_free(*text);
    *text = NULL;
    return 0;
}

char **lt_lua_new_text(lua_State *L)
{
    char **text = lua_newuserdatauv(L, sizeof *text, 0);
    *text = NULL;
    luaL_setmetatable(L, TEXT_META);
    return text;
}

static int tensor_tostring(lua_State *L)
{
    lt_tensor *self = lt_lua_check_tensor(L, 1);
    char **text = lt_lua_new_text(L);
    size_t n = 0;
    lt_entry entry = lt_enter(L);
    bool grad = lt_set_grad_enabled(false);
    lt_status status = lt_tensor_format(self, text, &n);
    lt_set_grad_enabled(grad);
    lt_leave(entry);
    lt_lua_check(L, status);
    lua_pushlstring(L, *text, n);
    return 1;
}

/* ---- methods --------------------------------------------------------------------------------- */

static int wrap_position(lua_State *L, const lt_tensor *self, int arg)
{
    lua_Integer position = lt_lua_check_integer(L, arg);
    int dim;
    if (position == 0) return lt_lua_error(L, "dim 0: positions count from 1");
    lt_lua_check(L, lt_wrap_dim(position > 0 ? position - 1 : position, self->ndim, &dim));
    if (self->ndim == 0) return lt_lua_error(L, "a 0-dim tensor has no sizes");
    return dim;
}

static int tensor_size(lua_State *L)
{
    lt_tensor *self = lt_lua_check_tensor(L, 1);
    if (lua_isnoneornil(L, 2))
        lt_lua_push_size(L, self->ndim, self->sizes);
    else
        lua_pushinteger(L, self->sizes[wrap_position(L, self, 2)]);
    return 1;
}

static int tensor_stride(lua_State *L)
{
    lt_tensor *self = lt_lua_check_tensor(L, 1);
    lt_lua_check(L, lt_require_strided("stride", self));
    if (!lua_isnoneornil(L, 2)) {
        lua_pushinteger(L, self->strides[wrap_position(L, self, 2)]);
        return 1;
    }
    lua_createtable(L, self->ndim, 0);
    for (int d = 0; d < self->ndim; d++) {
        lua_pushinteger(L, self->strides[d]);
        lua_rawseti(L, -2, d + 1);
    }
    return 1;
}

static int tensor_dim(lua_State *L)
{
    lua_pushinteger(L, lt_lua_check_tensor(L, 1)->ndim);
    return 1;
}

static int tensor_numel(lua_State *L)
{
    lua_pushinteger(L, lt_lua_check_tensor(L, 1)->numel);
    return 1;
}

static int tensor_element_size(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)lt_dtype_size((lt_dtype)lt_lua_check_tensor(L, 1)->dtype));
    return 1;
}

static int tensor_storage_offset(lua_State *L)
{
    lua_pushinteger(L, lt_lua_check_tensor(L, 1)->offset);
    return 1;
}

static int tensor_data_ptr(lua_State *L)
{
    lt_tensor *self = lt_lua_check_tensor(L, 1);
    lt_lua_check(L, lt_require_strided("data_ptr", self));
    lt_lua_do(L, lt_materialize("data_ptr", self));
    lua_pushinteger(L, self->numel == 0 ? 0 : (lua_Integer)(intptr_t)lt_data(self));
    return 1;
}

/* is_contiguous([memory_format]): row-major, or channels-last. */
static int tensor_is_contiguous(lua_State *L)
{
    static const char *const formats[] = {"contiguous_format", "preserve_format", "channels_last",
                                          "channels_last_3d", NULL};
    const lt_tensor *self = lt_lua_check_tensor(L, 1);
    /* 4 or 5 for the last two formats */
    const int format = luaL_checkoption(L, 2, formats[0], formats), dims = format + 2;
    lua_pushboolean(L, format < 2 ? lt_is_contiguous(self)
                                  : self->ndim == dims && lt_is_channels_last(self));
    return 1;
}

static int tensor_is_pinned(lua_State *L)
{
    lua_pushboolean(L, lt_lua_check_tensor(L, 1)->storage->pinned);
    return 1;
}

static lt_status pinned_copy(const lt_tensor *self, lt_tensor **out)
{
    return lt_tensor_pin((lt_tensor *)self, out);
}

static int tensor_pin_memory(lua_State *L)
{
    lt_tensor *self = lt_lua_check_tensor(L, 1);
    lua_settop(L, 1);
    return self->storage->pinned ? 1 : lt_lua_push_unary(L, self, pinned_copy);
}

static int tensor_is_floating_point(lua_State *L)
{
    const lt_dtype dtype = (lt_dtype)lt_lua_check_tensor(L, 1)->dtype;
    lua_pushboolean(L, lt_dtype_is_float(dtype) || lt_dtype_is_float8(dtype));
    return 1;
}

static int tensor_is_complex(lua_State *L)
{
    lua_pushboolean(L, lt_dtype_is_complex((lt_dtype)lt_lua_check_tensor(L, 1)->dtype));
    return 1;
}

static int tensor_is_same_size(lua_State *L)
{
    const lt_tensor *a = lt_lua_check_tensor(L, 1), *b = lt_lua_check_tensor(L, 2);
    lua_pushboolean(L, lt_same_sizes(a, b));
    return 1;
}

static int tensor_get_device(lua_State *L)
{
    const lt_tensor *self = lt_lua_check_tensor(L, 1);
    lua_pushinteger(L, self->device.type == LT_CPU ? -1 : self->device.index);
    return 1;
}

/* The dtype and device of a name such as "torch.cuda.LongTensor", "torch.int64" or "int64"; false
 * for other names. */
static bool parse_type(const char *name, lt_dtype *dtype, lt_device *device)
{
    *device = lt_host;
    if (strncmp(name, "torch.", 6) == 0) name += 6;
    if (strncmp(name, "cuda.", 5) == 0) {
        *device = (lt_device){LT_CUDA, -1};
        name += 5;
    }
    for (int d = 0; d < LT_DTYPE_COUNT; d++) {
        const char *word = lt_dtype_scalar_name((lt_dtype)d);
        size_t n = strlen(word);
        if (strncmp(name, word, n) == 0 && strcmp(name + n, "Tensor") == 0) {
            *dtype = (lt_dtype)d;
            return true;
        }
    }
    *dtype = lt_dtype_from_name(name);
    return *dtype != LT_DTYPE_NONE && device->type == LT_CPU;
}

/* type(dtype): x:to(dtype). An old-style name, "torch.cuda.LongTensor", also gives the device. */
static int to_type(lua_State *L, lt_tensor *self)
{
    static const int args[] = {1};
    lt_dtype dtype = lt_lua_to_dtype(L, 2);
    lt_device device = self->device;
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : NULL;
    if (dtype == LT_DTYPE_NONE && name == NULL)
        return lt_lua_error(L, "type(): dtype must be a torch.dtype or its name, got %s",
                            lt_lua_type_name(L, 2));
    if (name != NULL) {
        bool has_place = strstr(name, "Tensor") != NULL;
        lt_device place;
        if (!parse_type(name, &dtype, &place)) return lt_lua_error(L, "invalid type: '%s'", name);
        if (has_place && place.type != self->device.type) device = place;
    }
    bool non_blocking = lua_toboolean(L, 3);
    lt_tensor **slot = lt_lua_new(L);
    lt_entry entry = lt_enter(L);
    lt_status status = lt_to(self, &device, dtype, non_blocking, false, slot);
    lt_leave(entry);
    lt_lua_check(L, status);
    if (*slot == self) {
        lt_tensor_release(*slot);
        *slot = NULL;
        lua_settop(L, 1);
        return 1;
    }
    if (lt_requires_grad(*slot)) lt_lua_link(L, lua_gettop(L), args, 1);
    return 1;
}

/* type(): "torch.FloatTensor", "torch.cuda.LongTensor"; type(dtype, non_blocking) */
static int tensor_type(lua_State *L)
{
    lt_tensor *self = lt_lua_check_tensor(L, 1);
    if (!lua_isnoneornil(L, 2)) return to_type(L, self);
    lua_pushfstring(L, "torch.%s%sTensor", self->device.type == LT_CUDA ? "cuda." : "",
                    lt_dtype_scalar_name((lt_dtype)self->dtype));
    return 1;
}

static int is_tensor(lua_State *L)
{
    lua_pushboolean(L, lt_lua_get(L, 1) != NULL);
    return 1;
}

/* ---- length, iteration, identity ------------------------------------------------------------- */

static int tensor_len(lua_State *L)
{
    const lt_tensor *self = lt_lua_check_tensor(L, 1);
    if (self->ndim == 0) return lt_lua_error(L, "len() of a 0-d tensor");
    lua_pushinteger(L, self->sizes[0]);
    return 1;
}

/* next_row(tensor, i) -> i + 1, tensor[i + 1] */
static int next_row(lua_State *L)
{
    lt_tensor *self = lt_lua_check_tensor(L, 1);
    lua_Integer i = lt_lua_check_integer(L, 2);
    if (self->ndim == 0 || i >= self->sizes[0]) {
        lua_pushnil(L);
        return 1;
    }
    lua_settop(L, 1);
    lua_pushinteger(L, i + 1);
    lt_lua_index(L);
    lua_pushinteger(L, i + 1);
    lua_insert(L, -2);
    return 2;
}

static int tensor_iter(lua_State *L)
{
    const lt_tensor *self = lt_lua_check_tensor(L, 1);
    if (self->ndim == 0) return lt_lua_error(L, "iteration over a 0-d tensor");
    lua_pushvalue(L, LT_TENSOR_META);
    lua_pushvalue(L, LT_STATE_UPVALUE);
    lua_pushcclosure(L, next_row, LT_UPVALUES);
    lua_pushvalue(L, 1);
    lua_pushinteger(L, 0);
    return 3;
}

/* Lua converts the result of a comparison to a boolean and evaluates x > 1 as 1 < x: the order of
 * the operands decides which method the message suggests. */
static int refuse_comparison(lua_State *L, const char *less, const char *greater)
{
    bool first = lt_lua_get(L, 1) != NULL, both = first && lt_lua_get(L, 2) != NULL;
    const char *method = first ? less : greater;
    if (!first && lt_lua_get(L, 2) == NULL) return 0;
    if (both)
        return lt_lua_error(
            L,
            "tensors are compared by methods, x:%s(y): <, <=, > and >= return one boolean in Lua",
            method);
    int number = first ? 2 : 1;
    if (lua_type(L, number) != LUA_TNUMBER)
        return lt_lua_error(L, "attempt to compare a Tensor with a %s",
                            lt_lua_type_name(L, number));
    return lt_lua_error(
        L, "a tensor is compared by a method, x:%s(%s): <, <=, > and >= return one boolean in Lua",
        method, luaL_tolstring(L, number, NULL));
}

static int tensor_lt(lua_State *L) { return refuse_comparison(L, "lt", "gt"); }

static int tensor_le(lua_State *L) { return refuse_comparison(L, "le", "ge"); }

static int tensor_eq(lua_State *L)
{
    lua_pushboolean(L, lt_lua_get(L, 1) != NULL && lt_lua_get(L, 1) == lt_lua_get(L, 2));
    return 1;
}

static int tensor_gc(lua_State *L)
{
    lt_box *box = lt_lua_box(L, 1);
    if (box == NULL) return 0;
    lt_tensor *t = box->tensor;
    *box = (lt_box){NULL, NULL};
    lt_tensor_release(t);
    return 0;
}

/* ---- opening --------------------------------------------------------------------------------- */

void lt_lua_open_tensor(lua_State *L)
{
    static const luaL_Reg meta[] = {{"__tostring", tensor_tostring},
                                    {"__len", tensor_len},
                                    {"__pairs", tensor_iter},
                                    {"__eq", tensor_eq},
                                    {"__lt", tensor_lt},
                                    {"__le", tensor_le},
                                    {"__gc", tensor_gc},
                                    {NULL, NULL}};
    static const luaL_Reg methods[] = {
        {"size", tensor_size},
        {"stride", tensor_stride},
        {"dim", tensor_dim},
        {"ndimension", tensor_dim},
        {"numel", tensor_numel},
        {"nelement", tensor_numel},
        {"element_size", tensor_element_size},
        {"storage_offset", tensor_storage_offset},
        {"data_ptr", tensor_data_ptr},
        {"is_contiguous", tensor_is_contiguous},
        {"is_pinned", tensor_is_pinned},
        {"pin_memory", tensor_pin_memory},
        {"is_floating_point", tensor_is_floating_point},
        {"is_complex", tensor_is_complex},
        {"is_same_size", tensor_is_same_size},
        {"get_device", tensor_get_device},
        {"type", tensor_type},
        {"iter", tensor_iter},
        {NULL, NULL},
    };
    static const luaL_Reg functions[] = {{"is_tensor", is_tensor},
                                         {"numel", tensor_numel},
                                         {"is_floating_point", tensor_is_floating_point},
                                         {"is_complex", tensor_is_complex},
                                         {NULL, NULL}};
    static const luaL_Reg text_meta[] = {{"__gc", text_gc}, {NULL, NULL}};
    luaL_newmetatable(L, TEXT_META);
    luaL_setfuncs(L, text_meta, 0);
    luaL_getmetatable(L, LT_TENSOR_META_NAME);
    lt_lua_setfuncs(L, meta);
    lua_pushliteral(L, LT_TENSOR_NAME);
    lua_setfield(L, -2, "__name");
    lua_pushvalue(L, 3);
    lua_setfield(L, -2, "__methods");
    lua_pushvalue(L, 1);
    lt_lua_setfuncs(L, functions);
    lua_pushvalue(L, 3);
    lt_lua_setfuncs(L, methods);
    lua_settop(L, 3);
    lt_lua_open_fields(L);
}
