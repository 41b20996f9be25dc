/* index.c - x[key] and x[key] = value, in all the forms of the language.
 *
 *   x[i]   x[{i, j}]   x[{ {from, to, step}, {}, torch.newaxis, '...' }]
 *   x[mask]   x[positions]   mixtures of these
 *   x['from:to:step, :, None, ...']
 *   x[{ {{1, 3}, {2, 4}}, {} }]   x[{true, false, true}]   tensors as tables
 *
 * The key is first read into a list of subscripts (this part may raise: nothing is held), then
 * applied: numbers and slices make a view, tensors then index that view. Positions count from 1,
 * both ends are included; ends of slices beyond the dimension are clamped. */
#include <string.h>

#include "args.h"
#include "autograd/autograd.h"
#include "binding.h"
#include "devices/backend.h"
#include "devices/copies.h"
#include "devices/device.h"
#include "devices/transfer.h"
#include "dtypes/dtype.h"
#include "index_key.h"
#include "op/_alias.h"
#include "op/_index.h"
#include "op/_index_put_.h"
#include "op/_slice.h"
#include "op/copy_.h"
#include "op/expand.h"
#include "op/fill_.h"
#include "op/select.h"
#include "op/to.h"
#include "op/unsqueeze.h"

static const char newaxis_key = 0, next_of_ipairs_key = 0;

/* ---- reading a key --------------------------------------------------------------------------- */

static bool integer_at(lua_State *L, int index, int64_t *out)
{
    int is_integer;
    *out = lua_tointegerx(L, index, &is_integer);
    return is_integer && lua_type(L, index) == LUA_TNUMBER;
}

static int64_t slice_entry(lua_State *L, int table, int i, bool *given, int64_t otherwise)
{
    int64_t value = otherwise;
    lua_rawgeti(L, table, i);
    *given = !lua_isnil(L, -1);
    if (*given && !integer_at(L, -1, &value))
        lt_lua_error(L, "a slice {from, to, step} holds integers, got a %s",
                     lt_lua_type_name(L, -1));
    lua_pop(L, 1);
    return value;
}

static void read_slice(lua_State *L, int index, lt_subscript *s)
{
    bool has_step;
    if (lua_rawlen(L, index) > 3)
        lt_lua_error(L, "a slice is {from, to, step}, got %d entries", (int)lua_rawlen(L, index));
    s->kind = LT_SLICE;
    s->from = slice_entry(L, index, 1, &s->has_from, 1);
    s->to = slice_entry(L, index, 2, &s->has_to, -1);
    s->step = slice_entry(L, index, 3, &has_step, 1);
    if (s->has_from && !s->has_to)
        lt_lua_error(L, "a slice is {from, to}: {%d} lacks its end", (int)s->from);
    lt_lua_check_slice(L, s);
}

/* Whether the table at index begins with a table or a boolean: then it is a literal tensor, since
 * slices contain numbers. */
static bool is_written_out(lua_State *L, int index)
{
    int type = lua_rawgeti(L, index, 1);
    lua_pop(L, 1);
    return type == LUA_TTABLE || type == LUA_TBOOLEAN;
}

/* Reads positions or a mask from nested tables; the tensor made of them replaces the table at
 * index, so that it lives as long as the key. */
static void read_written_out(lua_State *L, int index, lt_subscript *s)
{
    lt_lua_push_tensor_of(L, index);
    lua_replace(L, index);
    s->kind = LT_INDICES;
    s->tensor = lt_lua_get(L, index);
}

static bool is_mask(const lt_tensor *t) { return t->dtype == LT_BOOL || t->dtype == LT_UINT8; }

/* A tensor; a 0-dim one of an integer is a position like any other, as in PyTorch: its result is a
 * view. */
static void read_tensor(lua_State *L, lt_tensor *t, lt_subscript *s)
{
    lt_scalar position;
    s->kind = LT_INDICES;
    s->tensor = t;
    if (t->ndim > 0 || is_mask(t) || !lt_dtype_is_int((lt_dtype)t->dtype)) return;
    lt_entry entry = lt_enter(L);
    lt_copy_cause previous = lt_copies_imply("index");
    lt_status status = lt_tensor_item(t, &position);
    lt_copies_set_cause(previous);
    lt_leave(entry);
    lt_lua_check(L, status);
    s->kind = LT_AT;
    s->from = position.v.i;
    if (s->from == 0) lt_lua_error(L, "index 0: positions count from 1");
}

/* One subscript; the value is at index, an absolute index. */
static void read_subscript(lua_State *L, int index, lt_subscript *s)
{
    memset(s, 0, sizeof *s);
    switch (lua_type(L, index)) {
    case LUA_TNUMBER:
        s->kind = LT_AT;
        if (!integer_at(L, index, &s->from))
            lt_lua_error(L, "an index must be an integer, got %f", lua_tonumber(L, index));
        if (s->from == 0) lt_lua_error(L, "index 0: positions count from 1");
        return;
    case LUA_TTABLE:
        if (is_written_out(L, index))
            read_written_out(L, index, s);
        else
            read_slice(L, index, s);
        return;
    case LUA_TLIGHTUSERDATA:
        if (lua_touserdata(L, index) == (void *)&newaxis_key) {
            s->kind = LT_NEWAXIS;
            return;
        }
        break;
    case LUA_TSTRING:
        if (strcmp(lua_tostring(L, index), "...") == 0) {
            s->kind = LT_ELLIPSIS;
            return;
        }
        break;
    case LUA_TUSERDATA:
        if (lt_lua_get(L, index) == NULL) break;
        read_tensor(L, lt_lua_get(L, index), s);
        return;
    }
    lt_lua_error(L,
                 "an index is an integer, a slice {from, to}, {}, a tensor, torch.newaxis or "
                 "'...', got a %s",
                 lt_lua_type_name(L, index));
}

/* {true, false, true}: a mask of the first dimension. */
static bool is_mask_table(lua_State *L, int index)
{
    int type = lua_rawgeti(L, index, 1);
    lua_pop(L, 1);
    return type == LUA_TBOOLEAN;
}

/* Fills room, to which the key then refers. */
static void read_key(lua_State *L, int index, lt_subscript *room, lt_key *key)
{
    *key = (lt_key){.n = 1, .tensors = false, .at = room};
    if (lua_type(L, index) == LUA_TSTRING) {
        *key = lt_lua_index_text(L, index);
        return;
    }
    if (lua_type(L, index) != LUA_TTABLE || is_mask_table(L, index)) {
        read_subscript(L, index, &room[0]);
    } else {
        lua_Integer n = (lua_Integer)lua_rawlen(L, index);
        if (n > LT_MAX_SUBSCRIPTS) lt_lua_error(L, "too many indices: %d", (int)n);
        /* tensors of the key stay on it */
        luaL_checkstack(L, LT_MAX_SUBSCRIPTS + LUA_MINSTACK, NULL);
        key->n = (int)n;
        for (int i = 0; i < key->n; i++) {
            lua_rawgeti(L, index, i + 1);
            read_subscript(L, lua_gettop(L), &room[i]);
            if (room[i].kind != LT_INDICES) lua_pop(L, 1);
        }
    }
    int ellipses = 0;
    for (int i = 0; i < key->n; i++) {
        key->tensors = key->tensors || key->at[i].kind == LT_INDICES;
        ellipses += key->at[i].kind == LT_ELLIPSIS;
    }
    if (ellipses > 1) lt_lua_error(L, "an index can only have a single '...'");
}

/* ---- applying it ----------------------------------------------------------------------------- */

/* The parsed result of a key on a tensor: a view, and for each of its leading dimensions an index
 * tensor or NULL. */
typedef struct lt_target {
    lt_tensor *view;
    int n;       /* entries of indices */
    int covered; /* dimensions that they index; a mask indexes all of its own */
    lt_tensor *indices[LT_MAX_DIMS];
} lt_target;

static void target_release(lt_target *target)
{
    lt_tensor_release(target->view);
    for (int i = 0; i < target->n; i++) lt_tensor_release(target->indices[i]);
}

/* The number of dimensions of the tensor that a subscript consumes. */
static int dims_taken(const lt_subscript *s)
{
    if (s->kind == LT_NEWAXIS || s->kind == LT_ELLIPSIS) return 0;
    return s->kind == LT_INDICES && is_mask(s->tensor) ? s->tensor->ndim : 1;
}

/* New reference: index positions as int64 on the indexed tensor's device, marked as such; masks as
 * bool. */
static lt_status prepare_index(lt_tensor *index, lt_device device, lt_tensor **out)
{
    lt_status status = LT_OK;
    lt_tensor *moved = NULL, *wide = NULL;
    if (lt_dtype_is_inexact((lt_dtype)index->dtype))
        return lt_error(LT_ERR_INDEX,
                        "tensors used as indices must be integer or bool tensors, not torch.%s",
                        lt_dtype_name((lt_dtype)index->dtype));
    if (!lt_device_equal(index->device, device) && index->device.type != LT_CPU) {
        char text[16];
        return lt_error(
            LT_ERR_RUNTIME,
            "indices should be either on cpu or on the same device as the indexed tensor (%s)",
            lt_format_device(text, sizeof text, device));
    }
    LT_CHECK(lt_to(index, &device, LT_DTYPE_NONE, false, false, &moved));
    LT_CHECK(lt_to_dtype(moved, is_mask(moved) ? LT_BOOL : LT_INT64, false, false, &wide));
    if (wide->dtype == LT_BOOL)
        *out = lt_tensor_retain(wide);
    else
        status = lt_lua_positions(wide, out);
done:
    lt_tensor_release(moved);
    lt_tensor_release(wide);
    return status;
}

/* Bounds out of range are clamped to the dimension. */
static lt_status apply_slice(lt_tensor *t, int dim, const lt_subscript *s, lt_tensor **out)
{
    int64_t size = t->sizes[dim];
    int64_t first = s->from > 0 ? s->from - 1 : s->from + size;
    int64_t stop = s->to >= 0 ? s->to : s->to + size + 1; /* one behind the last */
    if (!s->has_from && !s->has_to && s->step == 1) {
        *out = lt_tensor_retain(t);
        return LT_OK;
    }
    return lt__slice(t, dim, first < 0 ? 0 : first, stop < 0 ? 0 : stop, s->step, out);
}

static lt_status apply_one(lt_tensor *t, int *dim, const lt_subscript *s, lt_target *target,
                           lt_tensor **out)
{
    switch (s->kind) {
    case LT_AT:
        if (s->from > t->sizes[*dim] || s->from < -t->sizes[*dim])
            return lt_error(LT_ERR_INDEX,
                            "index %lld is out of bounds for dimension %d with size %lld",
                            (long long)s->from, *dim + 1, (long long)t->sizes[*dim]);
        return lt_select(t, *dim, s->from > 0 ? s->from - 1 : s->from, out);
    case LT_SLICE: return apply_slice(t, (*dim)++, s, out);
    case LT_NEWAXIS: return lt_unsqueeze(t, (*dim)++, out);
    case LT_INDICES:
        for (; target->covered < *dim; target->covered++) target->indices[target->n++] = NULL;
        if (target->n == LT_MAX_DIMS) return lt_error(LT_ERR_INDEX, "too many indices");
        LT_TRY(prepare_index(s->tensor, t->device, &target->indices[target->n]));
        target->n++;
        target->covered = *dim += dims_taken(s);
        break;
    case LT_ELLIPSIS: break;
    }
    *out = lt_tensor_retain(t);
    return LT_OK;
}

static lt_status apply_key(lt_tensor *self, const lt_key *key, lt_target *target)
{
    int taken = 0, dim = 0;
    for (int i = 0; i < key->n; i++) taken += dims_taken(&key->at[i]);
    target->view = lt_tensor_retain(self);
    target->n = target->covered = 0;
    if (taken > self->ndim)
        return lt_error(LT_ERR_INDEX, "too many indices for tensor of dimension %d", self->ndim);
    for (int i = 0; i < key->n; i++) {
        lt_tensor *next = NULL;
        if (key->at[i].kind == LT_ELLIPSIS && self->ndim > taken) dim += self->ndim - taken;
        LT_TRY(apply_one(target->view, &dim, &key->at[i], target, &next));
        lt_tensor_release(target->view);
        target->view = next;
    }
    return LT_OK;
}

/* ---- x[key] ---------------------------------------------------------------------------------- */

static lt_status get(lt_tensor *self, const lt_key *key, lt_tensor **out)
{
    lt_target target = {NULL, 0, 0, {NULL}};
    lt_status status;
    LT_CHECK(apply_key(self, key, &target));
    if (key->tensors) {
        lt_tensor_list indices = {target.n, target.indices};
        status = lt__index(target.view, &indices, out);
    } else if (target.view == self) {
        status = lt__alias(self, out);
    } else {
        *out = lt_tensor_retain(target.view);
    }
done:
    target_release(&target);
    return status;
}

/* Whether ipairs reads the row behind the last one: nil ends its loop, while other readers get an
 * error. */
static bool ends_ipairs(lua_State *L, const lt_tensor *self)
{
    lua_Debug caller;
    if (!lua_isinteger(L, 2) || self->ndim == 0 ||
        (lua_Unsigned)lua_tointeger(L, 2) != (lua_Unsigned)self->sizes[0] + 1)
        return false;
    if (lua_getstack(L, 1, &caller) == 0 || lua_getinfo(L, "f", &caller) == 0) return false;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &next_of_ipairs_key);
    bool same = lua_iscfunction(L, -1) && lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    return same;
}

int lt_lua_index(lua_State *L)
{
    static const int args[] = {1};
    lt_tensor *self = lt_lua_get(L, 1);
    lt_subscript room[LT_MAX_SUBSCRIPTS];
    lt_key key;
    if (lua_isnil(L, 2)) return lt_lua_error(L, "index is nil");
    read_key(L, 2, room, &key);
    lt_tensor **slot = lt_lua_new(L);
    lt_entry entry = lt_enter(L);
    lt_copy_cause previous = lt_copies_imply("index");
    lt_status status = get(self, &key, slot);
    lt_copies_set_cause(previous);
    lt_leave(entry);
    if (status != LT_OK && ends_ipairs(L, self)) {
        lua_pushnil(L);
        return 1;
    }
    lt_lua_check(L, status);
    if (lt_requires_grad(*slot)) lt_lua_link(L, lua_gettop(L), args, 1);
    return 1;
}

/* ---- x[key] = value -------------------------------------------------------------------------- */

/* Leading sizes of 1 that the target lacks are dropped, as PyTorch does. */
static lt_status drop_leading(lt_tensor *value, int ndim, lt_tensor **out)
{
    lt_tensor *t = lt_tensor_retain(value);
    while (t->ndim > ndim && t->sizes[0] == 1) {
        lt_tensor *next = NULL;
        lt_status status = lt_select(t, 0, 0, &next);
        lt_tensor_release(t);
        LT_TRY(status);
        t = next;
    }
    *out = t;
    return LT_OK;
}

static lt_status put_indexed(lt_tensor *self, const lt_key *key, lt_tensor *value, lt_scalar number)
{
    lt_target target = {NULL, 0, 0, {NULL}};
    lt_tensor *source = NULL, *near = NULL;
    lt_status status;
    LT_CHECK(apply_key(self, key, &target));
    if (!key->tensors && value == NULL) {
        status = lt_fill_(target.view, number);
    } else if (!key->tensors) {
        lt_dims size = {.n = target.view->ndim};
        for (int d = 0; d < size.n; d++) size.v[d] = target.view->sizes[d];
        LT_CHECK(drop_leading(value, size.n, &source));
        /* only for its message if the shapes do not fit: the copy */
        LT_CHECK(lt_expand(source, &size, &near));
        status = lt_copy_(target.view, source, false); /* expands by itself, after a transfer */
    } else {
        lt_tensor_list indices = {target.n, target.indices};
        if (value == NULL) {
            LT_CHECK(lt_tensor_new((lt_dtype)self->dtype, self->device, 0, NULL, &source));
            LT_CHECK(lt_fill_(source, number));
            near = lt_tensor_retain(source);
        } else if (value->ndim == 0) {
            LT_CHECK(lt_to(value, &self->device, (lt_dtype)self->dtype, false, false, &near));
        } else {
            near = lt_tensor_retain(value);
        }
        status = lt__index_put_(target.view, &indices, near, false);
    }
done:
    lt_tensor_release(source);
    lt_tensor_release(near);
    target_release(&target);
    return status;
}

int lt_lua_newindex(lua_State *L)
{
    static const int args[] = {1, 3};
    lt_tensor *self = lt_lua_get(L, 1), *value = lt_lua_get(L, 3);
    lt_scalar number = lt_scalar_from_int(0);
    lt_subscript room[LT_MAX_SUBSCRIPTS];
    lt_key key;
    if (lua_isnil(L, 2)) return lt_lua_error(L, "index is nil");
    if (value == NULL) {
        if (lua_isboolean(L, 3))
            number = lt_scalar_from_bool(lua_toboolean(L, 3));
        else if (lua_isinteger(L, 3))
            number = lt_scalar_from_int(lua_tointeger(L, 3));
        else if (lua_type(L, 3) == LUA_TNUMBER)
            number = lt_scalar_from_float(lua_tonumber(L, 3));
        else if (!lt_lua_to_complex(L, 3, &number))
            return lt_lua_error(L, "can't assign a %s to a Tensor", lt_lua_type_name(L, 3));
    }
    read_key(L, 2, room, &key);
    lt_entry entry = lt_enter(L);
    lt_copy_cause previous = lt_copies_imply("index");
    lt_status status = put_indexed(self, &key, value, number);
    lt_copies_set_cause(previous);
    lt_leave(entry);
    lt_lua_check(L, status);
    if (lt_requires_grad(self)) lt_lua_link(L, 1, args, 2);
    return 0;
}

void lt_lua_open_index(lua_State *L)
{
    lua_pushlightuserdata(L, (void *)&newaxis_key);
    lua_setfield(L, 1, "newaxis");
    if (lua_getglobal(L, "ipairs") == LUA_TFUNCTION) {
        lua_newtable(L);
        lua_call(L, 1, 1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &next_of_ipairs_key);
    } else {
        lua_pop(L, 1);
    }
}
