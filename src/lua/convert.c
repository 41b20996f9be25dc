/* convert.c - Lua values to tensors and back: torch.tensor, new_tensor, item, tolist.
 *
 * A nested table is traversed twice: first for its shape and the kind of its numbers (no resource
 * is held yet, so errors may be raised), then to store the numbers in host memory. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "autograd/autograd.h"
#include "binding.h"
#include "context/interrupt.h"
#include "devices/backend.h"
#include "devices/copies.h"
#include "devices/transfer.h"
#include "dtypes/dtype.h"
#include "dtypes/fits.h"
#include "dtypes/half.h"
#include "sparse.h"
#include "compile/deferred.h"
#include "op/_to_copy.h"

/* ---- tables to tensors ----------------------------------------------------------------------- */

typedef struct lt_literal {
    int ndim;
    int64_t sizes[LT_MAX_DIMS];
    enum lt_scalar_kind kind; /* the widest so far: bool < int < float < complex */
    bool tensors;             /* some leaves are tensors: their dtypes decide */
    lt_dtype dtype;           /* promoted over such leaves */
    bool options;             /* the names in the outer table are options that have been read */
} lt_literal;

static void note_number(lua_State *L, int index, lt_literal *m)
{
    enum lt_scalar_kind kind = LT_SCALAR_FLOAT;
    lt_tensor *t;
    switch (lua_type(L, index)) {
    case LUA_TBOOLEAN: kind = LT_SCALAR_BOOL; break;
    case LUA_TNUMBER:
        if (!lua_isinteger(L, index)) break;
        kind = LT_SCALAR_INT;
        break;
    default:
        if (lt_lua_to_complex(L, index, NULL)) {
            kind = LT_SCALAR_COMPLEX;
            break;
        }
        t = lt_lua_get(L, index);
        if (t == NULL || t->numel != 1)
            lt_lua_error(
                L,
                t == NULL
                    ? "tensor(): expected numbers, booleans or nested tables of them, but got a %s"
                    : "tensor(): only one element tensors can be converted to numbers",
                lt_lua_type_name(L, index));
        m->dtype = m->tensors ? lt_promote(m->dtype, (lt_dtype)t->dtype) : (lt_dtype)t->dtype;
        if (m->dtype == LT_DTYPE_NONE) lt_lua_error(L, "%s", lt_error_message());
        m->tensors = true;
        return;
    }
    if (kind > m->kind) m->kind = kind;
}

/* Reads the shape from the first entry of each level; check_level then rejects entries of another
 * shape. */
static void measure_shape(lua_State *L, int index, lt_literal *m)
{
    luaL_checkstack(L, LT_MAX_DIMS + 4, NULL);
    int top = lua_gettop(L);
    lua_pushvalue(L, index);
    while (lua_type(L, -1) == LUA_TTABLE) {
        if (m->ndim == LT_MAX_DIMS)
            lt_lua_error(L, "tensor(): more than %d dimensions", LT_MAX_DIMS);
        m->sizes[m->ndim++] = (int64_t)lua_rawlen(L, -1);
        if (lua_rawlen(L, -1) == 0) break;
        lua_rawgeti(L, -1, 1);
    }
    lua_settop(L, top);
}

/* Pushes the first key behind the n entries of a list, and its value; false if the table has none,
 * other than the n of table.pack. */
static bool next_behind(lua_State *L, int index, size_t n)
{
    if (n > 0)
        lua_pushinteger(L, (lua_Integer)n);
    else
        lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        if (lua_type(L, -2) != LUA_TSTRING || strcmp(lua_tostring(L, -2), "n") != 0) return true;
        lua_pop(L, 1);
    }
    return false;
}

/* Raises an error for a key behind the list of a nested table. */
static void check_list(lua_State *L, int index, int dim)
{
    if (!next_behind(L, index, lua_rawlen(L, index))) return;
    lua_pop(L, 1);
    if (lua_isinteger(L, -1))
        lt_lua_error(L, "tensor(): the list at dim %d has an entry %I but a nil at %I", dim + 1,
                     (LUAI_UACINT)lua_tointeger(L, -1), (LUAI_UACINT)lua_rawlen(L, index) + 1);
    lt_lua_error(L,
                 "tensor(): the list at dim %d has the name '%s'; pass options in the outer "
                 "table, or in a last table of the call",
                 dim + 1, luaL_tolstring(L, -1, NULL));
}

static void check_level(lua_State *L, int index, int dim, lt_literal *m)
{
    if (dim == m->ndim) {
        if (lua_type(L, index) == LUA_TTABLE)
            lt_lua_error(L, "tensor(): expected a number at dim %d, got a table", dim + 1);
        note_number(L, index, m);
        return;
    }
    if (lua_type(L, index) != LUA_TTABLE)
        lt_lua_error(L, "expected sequence of length %d at dim %d (got a %s)", (int)m->sizes[dim],
                     dim + 1, lt_lua_type_name(L, index));
    int64_t n = (int64_t)lua_rawlen(L, index);
    if (n != m->sizes[dim])
        lt_lua_error(L, "expected sequence of length %d at dim %d (got %d)", (int)m->sizes[dim],
                     dim + 1, (int)n);
    if (dim > 0 || !m->options) check_list(L, index, dim);
    for (int64_t i = 1; i <= n; i++) {
        lt_lua_look(L);
        lua_rawgeti(L, index, i);
        check_level(L, lua_gettop(L), dim + 1, m);
        lua_pop(L, 1);
    }
}

static lt_status read_number(lua_State *L, int index, lt_scalar *out)
{
    if (lua_isboolean(L, index))
        *out = lt_scalar_from_bool(lua_toboolean(L, index));
    else if (lua_isinteger(L, index))
        *out = lt_scalar_from_int(lua_tointeger(L, index));
    else if (lua_type(L, index) == LUA_TNUMBER)
        *out = lt_scalar_from_float(lua_tonumber(L, index));
    else if (!lt_lua_to_complex(L, index, out))
        return lt_tensor_item(lt_lua_get(L, index), out);
    return LT_OK;
}

/* Stores the numbers below the value at index, advancing *p. Does not raise. */
static lt_status store_level(lua_State *L, int index, int dim, const lt_literal *m, lt_dtype dtype,
                             char **p)
{
    if (dim == m->ndim) {
        lt_scalar s;
        LT_TRY(read_number(L, index, &s));
        if (s.kind == LT_SCALAR_COMPLEX && !lt_dtype_is_complex(dtype))
            return lt_error(LT_ERR_TYPE, "must be real number, not complex");
        if (lt_dtype_is_int(dtype) && !lt_fits(s, dtype))
            return lt_error(LT_ERR_RUNTIME, "value cannot be converted to type %s without overflow",
                            lt_dtype_name(dtype));
        lt_store_scalar(*p, dtype, s);
        *p += lt_dtype_size(dtype);
        return LT_OK;
    }
    for (int64_t i = 1; i <= m->sizes[dim]; i++) {
        if (lt_interrupted()) return lt_stopped();
        lua_rawgeti(L, index, i);
        lt_status status = LT_OK;
        if (dtype == LT_FLOAT32 && dim + 1 == m->ndim && lua_type(L, -1) == LUA_TNUMBER) {
            float value = (float)lua_tonumber(L, -1);
            memcpy(*p, &value, sizeof value);
            *p += sizeof value;
        } else {
            status = store_level(L, lua_gettop(L), dim + 1, m, dtype, p);
        }
        lua_pop(L, 1);
        LT_TRY(status);
    }
    return LT_OK;
}

typedef struct lt_factory_options {
    lt_dtype dtype;
    lt_device device;
    bool has_device, requires_grad, pin_memory;
    bool in_data; /* the table of data had names */
} lt_factory_options;

static void read_option(lua_State *L, const char *key, const char *op, lt_factory_options *o)
{
    if (strcmp(key, "dtype") == 0) {
        o->dtype = lt_lua_to_dtype(L, -1);
        if (o->dtype == LT_DTYPE_NONE)
            lt_lua_error(L, "%s(): argument 'dtype' must be torch.dtype, not %s", op,
                         lt_lua_type_name(L, -1));
    } else if (strcmp(key, "device") == 0) {
        if (!lt_lua_to_device(L, -1, &o->device)) lt_lua_raise(L);
        o->has_device = true;
    } else if (strcmp(key, "requires_grad") == 0 && lua_isboolean(L, -1)) {
        o->requires_grad = lua_toboolean(L, -1);
    } else if (strcmp(key, "pin_memory") == 0 && lua_isboolean(L, -1)) {
        o->pin_memory = lua_toboolean(L, -1);
    } else {
        lua_pushvalue(L, -2);
        lt_lua_error(L,
                     "%s(): unknown or invalid argument '%s' (known: data, dtype, device, "
                     "requires_grad, pin_memory)",
                     op, luaL_tolstring(L, -1, NULL));
    }
}

/* Reads the names in the table at index, behind its list of n entries. ignored: a name that is no
 * option. */
static void read_names(lua_State *L, int index, size_t n, const char *ignored, const char *op,
                       lt_factory_options *o)
{
    if (n > 0)
        lua_pushinteger(L, (lua_Integer)n);
    else
        lua_pushnil(L);
    for (; lua_next(L, index) != 0; lua_pop(L, 1)) {
        const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
        if (lua_isinteger(L, -2))
            lt_lua_error(L, "%s(): a list has an entry %I but a nil at %I", op,
                         (LUAI_UACINT)lua_tointeger(L, -2), (LUAI_UACINT)n + 1);
        if (strcmp(key, ignored) != 0) read_option(L, key, op, o);
    }
}

/* Reads the names in the table of data, and leaves the data in its stack slot. Returns whether
 * there are any. */
static bool read_data(lua_State *L, int data, const char *op, lt_factory_options *o)
{
    if (lua_type(L, data) != LUA_TTABLE || lua_getmetatable(L, data)) return false;
    size_t n = lua_rawlen(L, data);
    if (!next_behind(L, data, n)) return false;
    read_names(L, data, n, n > 0 ? "n" : "data", op, o);
    o->in_data = n > 0;
    if (n > 0) return true;
    if (lua_getfield(L, data, "data") == LUA_TNIL)
        lt_lua_error(L, "%s() missing 1 required argument: 'data'", op);
    lua_replace(L, data);
    return true;
}

/* Reads the values from the stack index `data` on: tensor({1, 2}, {dtype = ...}),
 * tensor{1, 2, dtype = ...}, tensor{data = {1, 2}, dtype = ...}. Leaves the data alone there. */
static void read_call(lua_State *L, int data, const char *op, lt_factory_options *o)
{
    lt_lua_check_any(L, data);
    int given = lua_gettop(L);
    while (given > data + 1 && lua_isnil(L, given)) given--;
    if (given > data + 1)
        lt_lua_error(L, "%s() takes data and a table of options but %d values were given", op,
                     given - data + 1);
    lua_settop(L, data + 1);
    const bool named = read_data(L, data, op, o);
    lua_settop(L, data + 1);
    if (!lua_isnil(L, data + 1)) {
        lt_lua_check_type(L, data + 1, LUA_TTABLE);
        if (named) lt_lua_error(L, "%s() got two tables with options; put all of them in one", op);
        read_names(L, data + 1, 0, "", op, o);
    }
    lua_settop(L, data);
}

static lt_status from_table(lua_State *L, int index, const lt_literal *m, lt_dtype dtype,
                            lt_tensor **out)
{
    lt_tensor *t = NULL;
    LT_TRY(lt_tensor_new(dtype, lt_host, m->ndim, m->sizes, &t));
    char *p = lt_data(t);
    lt_status status = store_level(L, index, 0, m, dtype, &p);
    if (status == LT_OK)
        *out = t;
    else
        lt_tensor_release(t);
    return status;
}

static lt_status finish_tensor(lt_tensor *t, const lt_factory_options *o, lt_tensor **out)
{
    lt_tensor *result = lt_tensor_retain(t), *next = NULL;
    lt_status status = LT_OK;
    bool grad = lt_set_grad_enabled(false);
    if (o->has_device && (o->device.type != LT_CPU)) {
        LT_CHECK(lt__to_copy(result, LT_DTYPE_NONE, &o->device, false, &next));
        lt_tensor_release(result);
        result = next, next = NULL;
    } else if (o->pin_memory) {
        LT_CHECK(lt_tensor_pin(result, &next));
        lt_tensor_release(result);
        result = next, next = NULL;
    }
    if (o->requires_grad) LT_CHECK(lt_set_requires_grad(result, true));
    *out = result;
    result = NULL;
done:
    lt_set_grad_enabled(grad);
    lt_tensor_release(result);
    return status;
}

/* Pushes a tensor made of the value at `data`. */
static int make_tensor(lua_State *L, int data, lt_factory_options *o)
{
    lt_tensor *source = lt_lua_get(L, data), *made = NULL;
    lt_literal m = {.options = o->in_data};
    lt_dtype dtype = o->dtype;
    if (source == NULL) {
        measure_shape(L, data, &m);
        m.kind = LT_SCALAR_BOOL;
        check_level(L, data, 0, &m);
        bool empty = m.ndim > 0 && m.sizes[m.ndim - 1] == 0;
        if (dtype == LT_DTYPE_NONE) {
            const lt_dtype usual = LT_INSIDE(L, lt_get_default_dtype());
            dtype = m.kind == LT_SCALAR_COMPLEX          ? lt_complex_of(usual)
                    : empty || m.kind == LT_SCALAR_FLOAT ? usual
                    : m.kind == LT_SCALAR_INT            ? LT_INT64
                                                         : LT_BOOL;
            if (m.tensors) dtype = m.dtype;
        }
    }
    lt_tensor **slot = lt_lua_new(L);
    lt_entry entry = lt_enter(L);
    lt_status status = LT_OK;
    if (source == NULL) {
        LT_CHECK(from_table(L, data, &m, dtype, &made));
    } else {
        bool grad = lt_set_grad_enabled(false);
        const lt_device *device = o->has_device ? &o->device : NULL;
        status = lt__to_copy(source, dtype, device, false, &made);
        lt_set_grad_enabled(grad);
        o->has_device = false;
        if (status != LT_OK) goto done;
    }
    LT_CHECK(finish_tensor(made, o, slot));
done:
    lt_tensor_release(made);
    lt_leave(entry);
    lt_lua_check(L, status);
    return 1;
}

void lt_lua_push_tensor_of(lua_State *L, int index)
{
    lt_factory_options o = {.dtype = LT_DTYPE_NONE};
    make_tensor(L, index, &o);
}

/* torch.tensor(data, {dtype =, device =, requires_grad =, pin_memory =}), also in one table */
static int tensor_from(lua_State *L)
{
    lt_factory_options o = {.dtype = LT_DTYPE_NONE};
    read_call(L, 1, "tensor", &o);
    return make_tensor(L, 1, &o);
}

/* torch.as_tensor(data, options): returns a tensor that already has the requested dtype and device
 * unchanged. */
static int as_tensor(lua_State *L)
{
    lt_factory_options o = {.dtype = LT_DTYPE_NONE};
    read_call(L, 1, "as_tensor", &o);
    lt_tensor *t = lt_lua_get(L, 1);
    bool same = t != NULL && (o.dtype == LT_DTYPE_NONE || (lt_dtype)t->dtype == o.dtype) &&
                (!o.has_device || lt_device_equal(t->device, o.device)) && !o.requires_grad &&
                !o.pin_memory;
    if (same) return 1;
    return make_tensor(L, 1, &o);
}

/* x:new_tensor(data, options): dtype and device are x's unless given. */
static int new_tensor(lua_State *L)
{
    lt_tensor *self = lt_lua_check_tensor(L, 1);
    lt_factory_options o = {
        .dtype = (lt_dtype)self->dtype, .device = self->device, .has_device = true};
    read_call(L, 2, "new_tensor", &o);
    return make_tensor(L, 2, &o);
}

/* ---- tensors to Lua -------------------------------------------------------------------------- */

static int item(lua_State *L)
{
    lt_tensor *t = lt_lua_check_tensor(L, 1);
    lt_scalar s;
    lt_entry entry = lt_enter(L);
    lt_copy_cause previous = lt_copies_imply("item");
    lt_status status = lt_tensor_item(t, &s);
    lt_copies_set_cause(previous);
    lt_leave(entry);
    lt_lua_check(L, status);
    lt_lua_push_scalar(L, s);
    return 1;
}

static void push_level(lua_State *L, const lt_tensor *t, int dim, const char *p)
{
    if (dim == t->ndim) {
        lt_lua_push_scalar(L, lt_load_scalar(p, (lt_dtype)t->dtype));
        return;
    }
    int64_t n = t->sizes[dim];
    const int64_t stride = n > 1 ? t->strides[dim] * (int64_t)lt_dtype_size((lt_dtype)t->dtype) : 0;
    luaL_checkstack(L, 4, NULL);
    lua_createtable(L, n < INT32_MAX ? (int)n : INT32_MAX, 0);
    for (int64_t i = 0; i < n; i++) {
        lt_lua_look(L);
        push_level(L, t, dim + 1, p + i * stride);
        lua_rawseti(L, -2, i + 1);
    }
}

/* Nested tables of numbers; one number for a 0-dim tensor. */
static int tolist(lua_State *L)
{
    lt_tensor *t = lt_lua_check_tensor(L, 1);
    if (lt_is_batched(t))
        return lt_lua_error(L, "vmap: tolist() of a batched tensor is not possible: its numbers "
                               "differ from sample to sample");
    lt_lua_check(L, lt_require_strided("tolist", t));
    lt_lua_do(L, lt_materialize("tolist", t));
    if (t->device.type != LT_CPU) {
        lt_tensor **host = lt_lua_new(L);
        lt_entry entry = lt_enter(L);
        lt_copy_cause previous = lt_copies_imply("tolist");
        bool grad = lt_set_grad_enabled(false);
        lt_status status = lt__to_copy(t, LT_DTYPE_NONE, &lt_host, false, host);
        lt_set_grad_enabled(grad);
        lt_copies_set_cause(previous);
        lt_leave(entry);
        lt_lua_check(L, status);
        t = *host;
    }
    push_level(L, t, 0, lt_data(t));
    return 1;
}

void lt_lua_open_convert(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"tensor", tensor_from}, {"as_tensor", as_tensor}, {NULL, NULL}};
    static const luaL_Reg methods[] = {
        {"item", item}, {"tolist", tolist}, {"new_tensor", new_tensor}, {NULL, NULL}};
    lua_pushvalue(L, 1);
    lt_lua_setfuncs(L, functions);
    lua_pushvalue(L, 3);
    lt_lua_setfuncs(L, methods);
    lua_pop(L, 2);
}
