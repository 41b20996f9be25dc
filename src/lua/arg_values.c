/* arg_values.c - see args.h: converts the values of matched arguments to C. */
#include "args.h"
#include "devices/transfer.h"
#include "dtypes/dtype.h"
#include "op/_position_to_index.h"
#include "op/to.h"

/* The only conversion of positions to indices. */
static int64_t to_index(int64_t position) { return position > 0 ? position - 1 : position; }

static lt_scalar to_scalar(lua_State *L, int index)
{
    if (lua_isboolean(L, index)) return lt_scalar_from_bool(lua_toboolean(L, index));
    if (lua_isinteger(L, index)) return lt_scalar_from_int(lua_tointeger(L, index));
    lt_scalar z;
    if (lt_lua_to_complex(L, index, &z)) return z;
    return lt_scalar_from_float(lua_tonumber(L, index));
}

static lt_status wrap_number(lt_scalar number, lt_args *a, lt_arg_value *v)
{
    LT_TRY(lt_tensor_from_scalar(number, &v->tensor));
    a->owned[a->n_owned++] = v->tensor;
    return LT_OK;
}

lt_status lt_lua_positions(lt_tensor *positions, lt_tensor **out)
{
    LT_TRY(lt_tensor_alias(positions, out));
    (*out)->flags |= LT_FLAG_POSITIONS;
    if (lt_is_batched(*out)) (*out)->view_base->flags |= LT_FLAG_POSITIONS;
    return LT_OK;
}

/* shift: converts to 0-based indices. Otherwise marks the tensor as 1-based positions, for a kernel
 * that subtracts 1 itself. */
static lt_status to_indices(lt_tensor *positions, bool shift, lt_args *a, lt_arg_value *v)
{
    lt_tensor *whole = NULL, *indices = NULL;
    lt_status status = LT_OK;
    if (positions->dtype != LT_INT64) {
        LT_CHECK(lt_to_dtype(positions, LT_INT64, false, false, &whole));
        positions = whole;
    }
    LT_CHECK(shift ? lt__position_to_index(positions, &indices)
                   : lt_lua_positions(positions, &indices));
    a->owned[a->n_owned++] = v->tensor = indices;
done:
    lt_tensor_release(whole);
    return status;
}

/* Masks stay as they are, positions are marked; the call owns the array. */
static lt_status to_index_list(lt_args *a, lt_arg_value *v)
{
    if (v->list.n > LT_MAX_DIMS)
        return lt_error(LT_ERR_INDEX, "too many indices: %lld, at most %d are possible",
                        (long long)v->list.n, LT_MAX_DIMS);
    for (int64_t i = 0; i < v->list.n; i++) {
        lt_dtype dtype = (lt_dtype)v->list.v[i]->dtype;
        lt_arg_value index;
        if (dtype == LT_BOOL) continue;
        if (lt_dtype_is_inexact(dtype))
            return lt_error(LT_ERR_INDEX,
                            "tensors used as indices must be long, int, byte or bool tensors");
        lt_status status = to_indices(v->list.v[i], false, a, &index);
        if (status != LT_OK) return status;
        v->list.v[i] = index.tensor;
    }
    return LT_OK;
}

/* Reads dims from consecutive numbers on the stack, or from the entries of a table. */
static void to_dims(lua_State *L, const lt_arg_spec *arg, int index, int rows, lt_dims *dims)
{
    bool row = rows > 0;
    dims->n = row ? rows : (int)lua_rawlen(L, index);
    for (int i = 0; i < dims->n; i++) {
        int64_t value;
        if (row) {
            value = lua_tointeger(L, index + i);
        } else {
            lua_rawgeti(L, index, i + 1);
            value = lua_tointeger(L, -1);
            lua_pop(L, 1);
        }
        dims->v[i] = arg->type == LT_ARG_DIMS ? to_index(value) : value;
    }
}

/* A vector of float64 on the host. */
static lt_status to_numbers(lua_State *L, int index, lt_args *a, lt_arg_value *v)
{
    const int64_t n = (int64_t)lua_rawlen(L, index);
    LT_TRY(lt_tensor_new(LT_FLOAT64, lt_host, 1, &n, &v->tensor));
    a->owned[a->n_owned++] = v->tensor;
    double *numbers = (double *)lt_data(v->tensor);
    for (int64_t i = 0; i < n; i++) {
        lua_rawgeti(L, index, i + 1);
        numbers[i] = lua_tonumber(L, -1);
        lua_pop(L, 1);
    }
    return LT_OK;
}

static lt_status convert_value(lua_State *L, const lt_arg_spec *arg, int i, lt_args *a)
{
    lt_arg_value *v = &a->value[i];
    int index = a->at[i];
    switch ((lt_arg_type)arg->type) {
    case LT_ARG_TENSOR: v->tensor = lt_lua_get(L, index); break;
    case LT_ARG_TENSOR_OR_SCALAR:
        v->tensor = lt_lua_get(L, index);
        return v->tensor != NULL ? LT_OK : wrap_number(to_scalar(L, index), a, v);
    case LT_ARG_INDEX_TENSOR: return to_indices(lt_lua_get(L, index), true, a, v);
    case LT_ARG_POSITIONS: return to_indices(lt_lua_get(L, index), false, a, v);
    case LT_ARG_TENSORS:
        v->list = (lt_tensor_list){(int64_t)lua_rawlen(L, index), lua_touserdata(L, a->rows[i])};
        break;
    case LT_ARG_INDEX_TENSORS:
        v->list = (lt_tensor_list){(int64_t)lua_rawlen(L, index), lua_touserdata(L, a->rows[i])};
        return to_index_list(a, v);
    case LT_ARG_NUMBERS: return to_numbers(L, index, a, v);
    case LT_ARG_SCALAR: v->scalar = to_scalar(L, index); break;
    case LT_ARG_INT: v->i = lua_tointeger(L, index); break;
    case LT_ARG_DIM:
    case LT_ARG_INDEX: v->i = to_index(lua_tointeger(L, index)); break;
    case LT_ARG_FLOAT: v->d = lua_tonumber(L, index); break;
    case LT_ARG_BOOL: v->b = lua_toboolean(L, index); break;
    case LT_ARG_STRING: v->s = lua_tostring(L, index); break;
    case LT_ARG_DIMS:
    case LT_ARG_SIZE: to_dims(L, arg, index, a->rows[i], &v->dims); break;
    case LT_ARG_DTYPE: v->dtype = lt_lua_to_dtype(L, index); break;
    case LT_ARG_DEVICE: return lt_lua_to_device(L, index, &v->device) ? LT_OK : LT_ERR_RUNTIME;
    case LT_ARG_GENERATOR: v->generator = lt_lua_to_generator(L, index); break;
    }
    return LT_OK;
}

/* The value of an absent argument. */
static lt_status convert_fallback(const lt_arg_spec *arg, int i, lt_args *a)
{
    lt_arg_value *v = &a->value[i];
    lt_scalar s = arg->fallback;
    switch ((lt_arg_type)arg->type) {
    case LT_ARG_TENSOR_OR_SCALAR: return wrap_number(s, a, v);
    case LT_ARG_SCALAR: v->scalar = s; break;
    case LT_ARG_INT: v->i = s.v.i; break;
    case LT_ARG_DIM:
    case LT_ARG_INDEX: v->i = to_index(s.v.i); break;
    case LT_ARG_FLOAT: v->d = lt_scalar_double(s); break;
    case LT_ARG_BOOL: v->b = s.v.i != 0; break;
    case LT_ARG_STRING: v->s = arg->fallback_text; break;
    case LT_ARG_SIZE: v->dims = (lt_dims){1, {s.v.i}}; break;
    case LT_ARG_DTYPE: v->dtype = LT_DTYPE_NONE; break;
    case LT_ARG_GENERATOR: v->generator = NULL; break;
    default: v->tensor = NULL; break;
    }
    return LT_OK;
}

lt_status lt_args_convert(lua_State *L, const lt_signature *s, lt_args *a)
{
    for (int i = 0; i < s->n; i++) {
        a->present[i] = a->at[i] != 0;
        lt_status status = a->present[i] ? convert_value(L, &s->args[i], i, a)
                                         : convert_fallback(&s->args[i], i, a);
        if (status != LT_OK) {
            lt_args_release(a);
            return status;
        }
    }
    return LT_OK;
}

void lt_args_release(lt_args *a)
{
    for (int i = 0; i < a->n_owned; i++) lt_tensor_release(a->owned[i]);
    a->n_owned = 0;
}
