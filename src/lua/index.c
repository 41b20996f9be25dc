/* index.c - x[key] and x[key] = value, in all the forms of the language.
 *
 *   x[i]   x[{i, j}]   x[{ {from, to, step}, {}, torch.newaxis, '...' }]   x[mask]   x[positions]   mixtures
 *
 * The key is first read into a list of subscripts (this part may raise: nothing is held), then applied:
 * numbers and slices make a view, tensors then index that view. Positions count from 1, both ends are
 * included. */
#include <string.h>

#include "args.h"
#include "autograd.h"
#include "backend.h"
#include "binding.h"
#include "copies.h"
#include "dtype.h"
#include "ltensor_ops.h"

#define MAX_SUBSCRIPTS (2 * LT_MAX_DIMS)

static const char newaxis_key = 0;

typedef struct lt_subscript {
    enum { AT, SLICE, NEWAXIS, ELLIPSIS, TENSOR } kind;
    int64_t from, to, step; /* AT: from; positions as Lua gives them */
    bool has_from, has_to;
    lt_tensor *tensor;      /* borrowed from the key */
} lt_subscript;

typedef struct lt_key {
    int n;
    bool tensors;
    lt_subscript at[MAX_SUBSCRIPTS];
} lt_key;

/* ---- reading a key --------------------------------------------------------------------------------------------------- */

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
        luaL_error(L, "a slice {from, to, step} holds integers, got a %s", luaL_typename(L, -1));
    lua_pop(L, 1);
    return value;
}

static void read_slice(lua_State *L, int index, lt_subscript *s)
{
    bool has_step;
    if (lua_rawlen(L, index) > 3) luaL_error(L, "a slice is {from, to, step}, got %d entries", (int)lua_rawlen(L, index));
    s->kind = SLICE;
    s->from = slice_entry(L, index, 1, &s->has_from, 1);
    s->to = slice_entry(L, index, 2, &s->has_to, -1);
    s->step = slice_entry(L, index, 3, &has_step, 1);
    if (s->has_from && !s->has_to) luaL_error(L, "a slice is {from, to}: {%d} lacks its end", (int)s->from);
    if (s->step < 1) luaL_error(L, "slice step must be positive");
    if ((s->has_from && s->from == 0) || (s->has_to && s->to == 0 && s->from > 1))
        luaL_error(L, "index 0: positions count from 1");
}

/* One subscript; the value is at index. */
static void read_subscript(lua_State *L, int index, lt_subscript *s)
{
    memset(s, 0, sizeof *s);
    switch (lua_type(L, index)) {
    case LUA_TNUMBER:
        s->kind = AT;
        if (!integer_at(L, index, &s->from)) luaL_error(L, "an index must be an integer, got %f", lua_tonumber(L, index));
        if (s->from == 0) luaL_error(L, "index 0: positions count from 1");
        return;
    case LUA_TTABLE: read_slice(L, index, s); return;
    case LUA_TLIGHTUSERDATA:
        if (lua_touserdata(L, index) == (void *)&newaxis_key) {
            s->kind = NEWAXIS;
            return;
        }
        break;
    case LUA_TSTRING:
        if (strcmp(lua_tostring(L, index), "...") == 0) {
            s->kind = ELLIPSIS;
            return;
        }
        break;
    case LUA_TUSERDATA:
        s->kind = TENSOR;
        s->tensor = lt_lua_get(L, index);
        if (s->tensor != NULL) return;
        break;
    }
    luaL_error(L, "an index is an integer, a slice {from, to}, {}, a tensor, torch.newaxis or '...', got a %s",
               luaL_typename(L, index));
}

static void read_key(lua_State *L, int index, lt_key *key)
{
    key->n = 1;
    key->tensors = false;
    if (lua_type(L, index) != LUA_TTABLE) {
        read_subscript(L, index, &key->at[0]);
    } else {
        lua_Integer n = (lua_Integer)lua_rawlen(L, index);
        if (n > MAX_SUBSCRIPTS) luaL_error(L, "too many indices: %d", (int)n);
        key->n = (int)n;
        for (int i = 0; i < key->n; i++) {
            lua_rawgeti(L, index, i + 1);
            read_subscript(L, lua_gettop(L), &key->at[i]);
            lua_pop(L, 1);
        }
    }
    int ellipses = 0;
    for (int i = 0; i < key->n; i++) {
        key->tensors = key->tensors || key->at[i].kind == TENSOR;
        ellipses += key->at[i].kind == ELLIPSIS;
    }
    if (ellipses > 1) luaL_error(L, "an index can only have a single '...'");
}

/* ---- applying it -------------------------------------------------------------------------------------------------------- */

/* What a key makes of a tensor: a view, and for each of its leading dimensions an index tensor or NULL. */
typedef struct lt_target {
    lt_tensor *view;
    int n; /* entries of indices */
    lt_tensor *indices[LT_MAX_DIMS];
} lt_target;

static void target_release(lt_target *target)
{
    lt_tensor_release(target->view);
    for (int i = 0; i < target->n; i++) lt_tensor_release(target->indices[i]);
}

static bool is_mask(const lt_tensor *t) { return t->dtype == LT_BOOL || t->dtype == LT_UINT8; }

/* How many dimensions of the tensor a subscript takes. */
static int dims_taken(const lt_subscript *s)
{
    if (s->kind == NEWAXIS || s->kind == ELLIPSIS) return 0;
    return s->kind == TENSOR && is_mask(s->tensor) ? s->tensor->ndim : 1;
}

/* New reference: index positions as int64 on the indexed tensor's device, marked as such; masks as bool. */
static lt_status prepare_index(lt_tensor *index, lt_device device, lt_tensor **out)
{
    lt_status status = LT_OK;
    lt_tensor *moved = NULL, *wide = NULL;
    if (lt_dtype_is_float((lt_dtype)index->dtype))
        return lt_error(LT_ERR_INDEX, "tensors used as indices must be integer or bool tensors, not torch.%s",
                        lt_dtype_name((lt_dtype)index->dtype));
    if (!lt_device_equal(index->device, device) && index->device.type != LT_CPU)
        return lt_error(LT_ERR_RUNTIME,
                        "indices should be either on cpu or on the same device as the indexed tensor");
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

static lt_status apply_slice(lt_tensor *t, int dim, const lt_subscript *s, lt_tensor **out)
{
    int64_t size = t->sizes[dim];
    int64_t first = s->from > 0 ? s->from - 1 : s->from + size;
    int64_t last = s->to >= 0 ? s->to - 1 : s->to + size; /* included */
    if (!s->has_from && !s->has_to) {
        *out = lt_tensor_retain(t);
        return LT_OK;
    }
    if (first < 0 || last >= size || first > last + 1)
        return lt_error(LT_ERR_INDEX, "slice {%lld, %lld} is out of bounds for dimension %d with size %lld",
                        (long long)s->from, (long long)s->to, dim + 1, (long long)size);
    return lt__slice(t, dim, first, last + 1, s->step, out);
}

static lt_status apply_one(lt_tensor *t, int *dim, const lt_subscript *s, lt_target *target, lt_tensor **out)
{
    switch (s->kind) {
    case AT:
        if (s->from > t->sizes[*dim] || -s->from > t->sizes[*dim])
            return lt_error(LT_ERR_INDEX, "index %lld is out of bounds for dimension %d with size %lld",
                            (long long)s->from, *dim + 1, (long long)t->sizes[*dim]);
        return lt_select(t, *dim, s->from > 0 ? s->from - 1 : s->from, out);
    case SLICE: return apply_slice(t, (*dim)++, s, out);
    case NEWAXIS: return lt_unsqueeze(t, (*dim)++, out);
    case TENSOR:
        for (; target->n < *dim; target->n++) target->indices[target->n] = NULL;
        if (target->n == LT_MAX_DIMS) return lt_error(LT_ERR_INDEX, "too many indices");
        LT_TRY(prepare_index(s->tensor, t->device, &target->indices[*dim]));
        target->n++;
        *dim += dims_taken(s);
        break;
    case ELLIPSIS: break;
    }
    *out = lt_tensor_retain(t);
    return LT_OK;
}

static lt_status apply_key(lt_tensor *self, const lt_key *key, lt_target *target)
{
    int taken = 0, dim = 0;
    for (int i = 0; i < key->n; i++) taken += dims_taken(&key->at[i]);
    target->view = lt_tensor_retain(self);
    target->n = 0;
    if (taken > self->ndim) return lt_error(LT_ERR_INDEX, "too many indices for tensor of dimension %d", self->ndim);
    for (int i = 0; i < key->n; i++) {
        lt_tensor *next = NULL;
        if (key->at[i].kind == ELLIPSIS && self->ndim > taken) dim += self->ndim - taken;
        LT_TRY(apply_one(target->view, &dim, &key->at[i], target, &next));
        lt_tensor_release(target->view);
        target->view = next;
    }
    return LT_OK;
}

/* ---- x[key] ------------------------------------------------------------------------------------------------------------ */

static lt_status get(lt_tensor *self, const lt_key *key, lt_tensor **out)
{
    lt_target target = {NULL, 0, {NULL}};
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

int lt_lua_index(lua_State *L)
{
    static const int args[] = {1};
    lt_tensor *self = lt_lua_get(L, 1);
    lt_key key;
    if (lua_isnil(L, 2)) return luaL_error(L, "index is nil");
    read_key(L, 2, &key);
    lt_tensor **slot = lt_lua_new(L);
    lt_entry entry = lt_enter(L);
    lt_copy_cause previous = lt_copies_set_cause((lt_copy_cause){"index", true});
    lt_status status = get(self, &key, slot);
    lt_copies_set_cause(previous);
    lt_leave(entry);
    lt_lua_check(L, status);
    if (lt_requires_grad(*slot)) lt_lua_link(L, lua_gettop(L), args, 1);
    return 1;
}

/* ---- x[key] = value ------------------------------------------------------------------------------------------------------ */

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

static lt_status put(lt_tensor *self, const lt_key *key, lt_tensor *value, lt_scalar number)
{
    lt_target target = {NULL, 0, {NULL}};
    lt_tensor *source = NULL, *near = NULL;
    lt_status status;
    LT_CHECK(apply_key(self, key, &target));
    if (!key->tensors && value == NULL) {
        status = lt_fill_(target.view, number);
    } else if (!key->tensors) {
        lt_dims size = {.n = target.view->ndim};
        for (int d = 0; d < size.n; d++) size.v[d] = target.view->sizes[d];
        LT_CHECK(drop_leading(value, size.n, &source));
        LT_CHECK(lt_expand(source, &size, &near)); /* for its words when the shapes do not fit: the copy */
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
    lt_scalar number = lt_int(0);
    lt_key key;
    if (lua_isnil(L, 2)) return luaL_error(L, "index is nil");
    if (value == NULL) {
        if (lua_isboolean(L, 3))
            number = lt_boolean(lua_toboolean(L, 3));
        else if (lua_isinteger(L, 3))
            number = lt_int(lua_tointeger(L, 3));
        else if (lua_type(L, 3) == LUA_TNUMBER)
            number = lt_float(lua_tonumber(L, 3));
        else
            return luaL_error(L, "can't assign a %s to a Tensor", luaL_typename(L, 3));
    }
    read_key(L, 2, &key);
    lt_entry entry = lt_enter(L);
    lt_copy_cause previous = lt_copies_set_cause((lt_copy_cause){"index", true});
    lt_status status = put(self, &key, value, number);
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
}
