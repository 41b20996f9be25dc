/* fields.c - see fields.h. __index searches a name among the methods, then among the fields; any
 * other key is an index. */
#include "fields.h"

#include <string.h>

#include "autograd/autograd.h"
#include "dtypes/dtype.h"
#include "index/index_key.h"
#include "sparse.h"
#include "op/adjoint.h"
#include "op/conj.h"
#include "op/copy_.h"
#include "op/imag.h"
#include "op/permute.h"
#include "op/real.h"
#include "op/transpose.h"

int lt_lua_push_unary(lua_State *L, lt_tensor *self, lt_unary_fn f)
{
    static const int args[] = {1};
    lt_tensor **slot = lt_lua_new(L);
    lt_entry entry = lt_enter(L);
    lt_status status = f(self, slot);
    lt_leave(entry);
    lt_lua_check(L, status);
    if (lt_requires_grad(*slot)) lt_lua_link(L, lua_gettop(L), args, 1);
    return 1;
}

/* Pushes a tensor borrowed from core; nil for NULL. */
static int push_borrowed(lua_State *L, lt_tensor *t)
{
    if (t == NULL) {
        lua_pushnil(L);
        return 1;
    }
    lt_tensor **slot = lt_lua_new(L);
    *slot = lt_tensor_retain(t);
    return 1;
}

/* ---- fields ---------------------------------------------------------------------------------- */

typedef enum field {
    FIELD_SHAPE = 1,
    FIELD_DTYPE,
    FIELD_DEVICE,
    FIELD_GRAD,
    FIELD_DATA,
    FIELD_T,
    FIELD_MT,
    FIELD_H,
    FIELD_MH,
    FIELD_REAL,
    FIELD_IMAG,
    FIELD_NDIM,
    FIELD_REQUIRES_GRAD,
    FIELD_GRAD_FN,
    FIELD_IS_LEAF,
    FIELD_IS_CUDA,
    FIELD_IS_CPU,
    FIELD_RETAINS_GRAD,
    FIELD_VERSION,
    FIELD_IS_META,
    FIELD_OUTPUT_NR,
    FIELD_NBYTES,
    FIELD_ITEMSIZE,
    FIELD_LAYOUT,
    FIELD_IS_SPARSE,
    FIELD_IS_SPARSE_CSR
} field;

static const struct {
    const char *name;
    field id;
} field_names[] = {
    {"shape", FIELD_SHAPE},
    {"dtype", FIELD_DTYPE},
    {"device", FIELD_DEVICE},
    {"grad", FIELD_GRAD},
    {"data", FIELD_DATA},
    {"T", FIELD_T},
    {"mT", FIELD_MT},
    {"ndim", FIELD_NDIM},
    {"requires_grad", FIELD_REQUIRES_GRAD},
    {"grad_fn", FIELD_GRAD_FN},
    {"is_leaf", FIELD_IS_LEAF},
    {"is_cuda", FIELD_IS_CUDA},
    {"is_cpu", FIELD_IS_CPU},
    {"retains_grad", FIELD_RETAINS_GRAD},
    {"H", FIELD_H},
    {"mH", FIELD_MH},
    {"real", FIELD_REAL},
    {"imag", FIELD_IMAG},
    {"_version", FIELD_VERSION},
    {"is_meta", FIELD_IS_META},
    {"output_nr", FIELD_OUTPUT_NR},
    {"nbytes", FIELD_NBYTES},
    {"itemsize", FIELD_ITEMSIZE},
    {"layout", FIELD_LAYOUT},
    {"is_sparse", FIELD_IS_SPARSE},
    {"is_sparse_csr", FIELD_IS_SPARSE_CSR},
};

static lt_status transpose_all(const lt_tensor *self, lt_tensor **out)
{
    lt_dims dims = {.n = self->ndim};
    for (int d = 0; d < self->ndim; d++) dims.v[d] = self->ndim - 1 - d;
    return lt_permute(self, &dims, out);
}

static lt_status transpose_last(const lt_tensor *self, lt_tensor **out)
{
    return lt_transpose(self, -2, -1, out);
}

static lt_status adjoint_of_matrix(const lt_tensor *self, lt_tensor **out)
{
    if (self->ndim != 0 && self->ndim != 2)
        return lt_error(LT_ERR_RUNTIME,
                        "tensor.H is only supported on matrices (2-D tensors). Got %d-D tensor.%s",
                        self->ndim,
                        self->ndim > 2 ? " For batches of matrices, consider using tensor.mH" : "");
    return self->ndim == 0 ? lt_conj(self, out) : lt_adjoint(self, out);
}

static lt_status data_of(const lt_tensor *self, lt_tensor **out)
{
    return lt_tensor_alias(self, out);
}

/* The tensor's output number at its node, from 1; 1 if it has no node. */
static int push_output_number(lua_State *L, lt_tensor *self)
{
    lt_node *node = NULL;
    int slot = 0;
    if (lt_requires_grad(self)) lt_lua_do(L, lt_edge_of(self, &node, &slot));
    lt_node_release(node);
    lua_pushinteger(L, slot + 1);
    return 1;
}

static int push_grad_fn(lua_State *L, lt_tensor *self)
{
    lt_node *fn = NULL;
    if (!lt_requires_grad(self)) {
        lua_pushnil(L);
        return 1;
    }
    lt_lua_do(L, lt_grad_fn(self, &fn));
    lt_lua_push_node(L, fn, 1);
    return 1;
}

static int push_field(lua_State *L, lt_tensor *self, field id)
{
    switch (id) {
    case FIELD_SHAPE: lt_lua_push_size(L, self->ndim, self->sizes); return 1;
    case FIELD_DTYPE: lt_lua_push_dtype(L, (lt_dtype)self->dtype); return 1;
    case FIELD_DEVICE: lt_lua_push_device(L, self->device); return 1;
    case FIELD_GRAD: return push_borrowed(L, lt_tensor_grad(self));
    case FIELD_DATA: return lt_lua_push_unary(L, self, data_of);
    case FIELD_T: return lt_lua_push_unary(L, self, transpose_all);
    case FIELD_MT: return lt_lua_push_unary(L, self, transpose_last);
    case FIELD_H: return lt_lua_push_unary(L, self, adjoint_of_matrix);
    case FIELD_MH: return lt_lua_push_unary(L, self, lt_adjoint);
    case FIELD_REAL: return lt_lua_push_unary(L, self, lt_real);
    case FIELD_IMAG: return lt_lua_push_unary(L, self, lt_imag);
    case FIELD_NDIM: lua_pushinteger(L, self->ndim); return 1;
    case FIELD_REQUIRES_GRAD: lua_pushboolean(L, lt_requires_grad(self)); return 1;
    case FIELD_GRAD_FN: return push_grad_fn(L, self);
    case FIELD_IS_LEAF: lua_pushboolean(L, lt_is_leaf(self)); return 1;
    case FIELD_IS_CUDA: lua_pushboolean(L, self->device.type == LT_CUDA); return 1;
    case FIELD_IS_CPU: lua_pushboolean(L, self->device.type == LT_CPU); return 1;
    case FIELD_RETAINS_GRAD:
        lua_pushboolean(L, (self->flags & LT_FLAG_RETAINS_GRAD) != 0);
        return 1;
    case FIELD_VERSION:
        if (self->flags & LT_FLAG_INFERENCE)
            return lt_lua_error(L, "Inference tensors do not track version counter.");
        lua_pushinteger(L, atomic_load(&self->storage->version));
        return 1;
    case FIELD_IS_META: lua_pushboolean(L, false); return 1;
    case FIELD_OUTPUT_NR: return push_output_number(L, self);
    case FIELD_NBYTES:
        lua_pushinteger(L, self->numel * (lua_Integer)lt_dtype_size((lt_dtype)self->dtype));
        return 1;
    case FIELD_LAYOUT: lua_pushstring(L, lt_layout_name(lt_tensor_layout(self))); return 1;
    case FIELD_IS_SPARSE: lua_pushboolean(L, lt_tensor_layout(self) == LT_SPARSE_COO); return 1;
    case FIELD_IS_SPARSE_CSR: lua_pushboolean(L, lt_tensor_layout(self) == LT_SPARSE_CSR); return 1;
    case FIELD_ITEMSIZE:
        lua_pushinteger(L, (lua_Integer)lt_dtype_size((lt_dtype)self->dtype));
        return 1;
    }
    return 0;
}

/* Upvalues of __index and __newindex beyond the common two. */
#define METHODS lua_upvalueindex(LT_UPVALUES + 1)
#define FIELDS  lua_upvalueindex(LT_UPVALUES + 2)

/* Names under which PyTorch's tuples hold their results. Those of methods of sparse tensors are
 * errors for strided ones; the others name no field. */
static const struct {
    const char *name, *call;
    bool is_method;
} result_names[] = {
    {"values", "values, indices = x:max(dim)", true},
    {"indices", "values, indices = x:max(dim)", true},
    {"Q", "Q, R = torch.linalg.qr(A)", false},
    {"R", "Q, R = torch.linalg.qr(A)", false},
    {"U", "U, S, Vh = torch.linalg.svd(A)", false},
    {"S", "U, S, Vh = torch.linalg.svd(A)", false},
    {"V", "U, S, V = torch.svd(A)", false},
    {"Vh", "U, S, Vh = torch.linalg.svd(A)", false},
    {"L", "P, L, U = torch.linalg.lu(A)", false},
    {"LU", "LU, pivots = torch.linalg.lu_factor(A)", false},
    {"pivots", "LU, pivots = torch.linalg.lu_factor(A)", false},
    {"eigenvalues", "eigenvalues, eigenvectors = torch.linalg.eigh(A)", false},
    {"eigenvectors", "eigenvalues, eigenvectors = torch.linalg.eigh(A)", false},
    {"logabsdet", "sign, logabsdet = torch.linalg.slogdet(A)", false},
    {"solution", "solution, residuals = torch.linalg.lstsq(A, B)", false},
    {"mantissa", "mantissa, exponent = torch.frexp(x)", false},
    {"exponent", "mantissa, exponent = torch.frexp(x)", false},
};

/* Raises an error if the name is that of a result of a function with several. */
static void refuse_result_name(lua_State *L, const char *name, bool is_method)
{
    for (size_t i = 0; i < sizeof result_names / sizeof *result_names; i++) {
        if (result_names[i].is_method != is_method || strcmp(result_names[i].name, name) != 0)
            continue;
        lua_pushfstring(L,
                        is_method ? "%s expected sparse tensor layout but got Strided"
                                  : "a Tensor has no field '%s'",
                        name);
        lt_lua_error(L, "%s; a function with several results returns all: local %s",
                     lua_tostring(L, -1), result_names[i].call);
    }
}

static int tensor_index(lua_State *L)
{
    lt_tensor *self = lt_lua_check_tensor(L, 1);
    if (lua_type(L, 2) != LUA_TSTRING) return lt_lua_index(L);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, METHODS) != LUA_TNIL) {
        const size_t n = lua_rawlen(L, 2);
        if ((n == 6 || n == 7) && lt_tensor_layout(self) == LT_STRIDED)
            refuse_result_name(L, lua_tostring(L, 2), true);
        return 1;
    }
    lua_pushvalue(L, 2);
    if (lua_rawget(L, FIELDS) == LUA_TNIL) {
        if (!lt_lua_is_index_text(lua_tostring(L, 2))) {
            refuse_result_name(L, lua_tostring(L, 2), false);
            return lt_lua_no_field(L, "Tensor", METHODS, FIELDS);
        }
        lua_settop(L, 2);
        return lt_lua_index(L);
    }
    field id = (field)lua_tointeger(L, -1);
    lua_settop(L, 2);
    return push_field(L, self, id);
}

static int set_grad(lua_State *L, lt_tensor *self)
{
    lt_tensor *grad = lua_isnil(L, 3) ? NULL : lt_lua_get(L, 3);
    if (grad == NULL && !lua_isnil(L, 3))
        return lt_lua_error(L,
                            "assigned grad has unsupported type: expected a Tensor or nil, got %s",
                            lt_lua_type_name(L, 3));
    lt_lua_do(L, lt_set_grad(self, grad));
    return 0;
}

/* Copies the tensor at 3 into the real or imaginary parts, in place. */
static int write_part(lua_State *L, lt_tensor *self, field id)
{
    static const int args[] = {1, 3};
    push_field(L, self, id);
    lt_lua_do(L, lt_copy_(lt_lua_get(L, -1), lt_lua_get(L, 3), false));
    if (lt_requires_grad(self)) lt_lua_link(L, 1, args, 2);
    return 0;
}

static int tensor_newindex(lua_State *L)
{
    lt_tensor *self = lt_lua_check_tensor(L, 1);
    if (lua_type(L, 2) != LUA_TSTRING) return lt_lua_newindex(L);
    lua_pushvalue(L, 2);
    field id = lua_rawget(L, FIELDS) == LUA_TNIL ? 0 : (field)lua_tointeger(L, -1);
    lua_settop(L, 3);
    if (id == FIELD_GRAD) return set_grad(L, self);
    if (id == FIELD_REQUIRES_GRAD && lua_isboolean(L, 3)) {
        const bool on = lua_toboolean(L, 3);
        lt_lua_do(L, lt_set_requires_grad(self, on));
        return 0;
    }
    if ((id == FIELD_REAL || id == FIELD_IMAG) && lt_lua_get(L, 3) != NULL)
        return write_part(L, self, id);
    if (id == FIELD_DATA && lt_lua_get(L, 3) != NULL) {
        lt_tensor *src = lt_lua_get(L, 3);
        if (lt_requires_grad(self) && !lt_dtype_is_inexact((lt_dtype)src->dtype))
            return lt_lua_error(L, "data set to a tensor that requires gradients must be floating "
                                   "point or complex dtype");
        lt_tensor_set_data(self, src);
        return 0;
    }
    if (id == 0 && lt_lua_is_index_text(lua_tostring(L, 2))) return lt_lua_newindex(L);
    if (id == 0) return lt_lua_no_field(L, "Tensor", METHODS, FIELDS);
    return lt_lua_error(L, "a Tensor's field '%s' cannot be assigned%s", lua_tostring(L, 2),
                        id == FIELD_REQUIRES_GRAD ? " anything but true or false"
                        : id == FIELD_DATA || id == FIELD_REAL || id == FIELD_IMAG
                            ? " anything but a Tensor"
                            : "");
}

static void set_field_closure(lua_State *L, const char *name, lua_CFunction f)
{
    luaL_getmetatable(L, LT_TENSOR_META_NAME);
    const int metatable = lua_gettop(L);
    lt_lua_pushfunction(L, f); /* for its upvalues */
    lua_getupvalue(L, -1, 1);
    lua_getupvalue(L, -2, 2);
    lua_pushvalue(L, 3);
    lua_newtable(L);
    for (size_t i = 0; i < sizeof field_names / sizeof *field_names; i++) {
        lua_pushinteger(L, field_names[i].id);
        lua_setfield(L, -2, field_names[i].name);
    }
    lua_pushvalue(L, -1);
    lua_setfield(L, metatable, "__fields");
    lua_pushcclosure(L, f, LT_UPVALUES + 2);
    lua_setfield(L, -3, name);
    lua_pop(L, 2);
}

void lt_lua_open_fields(lua_State *L)
{
    set_field_closure(L, "__index", tensor_index);
    set_field_closure(L, "__newindex", tensor_newindex);
}
