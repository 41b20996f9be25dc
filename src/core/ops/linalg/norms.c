/* norms.c - the norms of matrices, and their ranks. */
#include <math.h>
#include <string.h>

#include "linalg.h"
#include "op/amin.h"
#include "op/diagonal.h"
#include "op/frobenius_norm.h"
#include "op/linalg_diagonal.h"
#include "op/linalg_matrix_norm.h"
#include "op/linalg_matrix_rank.h"
#include "op/linalg_norm.h"
#include "op/norm.h"
#include "op/nuclear_norm.h"
#include "step/linalg_svdvals.h"

/* Moves the two dimensions, the last ones if dims is NULL, to the end. */
static lt_status at_the_end(lt_scope *s, lt_tensor *self, const lt_dims *dims, lt_dtype dtype,
                            lt_tensor **moved, lt_dims *places)
{
    int a = self->ndim - 2, b = self->ndim - 1;
    if (self->ndim < 2)
        return lt_error(LT_ERR_RUNTIME,
                        "linalg.matrix_norm: The input tensor A must have at least 2 dimensions.");
    if (dims != NULL) {
        if (dims->n != 2)
            return lt_error(LT_ERR_RUNTIME, "linalg.matrix_norm: dim must be a 2-tuple. Got %d",
                            dims->n);
        LT_TRY(lt_wrap_dim(dims->v[0], self->ndim, &a));
        LT_TRY(lt_wrap_dim(dims->v[1], self->ndim, &b));
        if (a == b)
            return lt_error(LT_ERR_RUNTIME,
                            "linalg.matrix_norm: dims must be different. Got (%d, %d)", a + 1,
                            b + 1);
    }
    if (!lt_dtype_is_inexact((lt_dtype)self->dtype))
        return lt_error(
            LT_ERR_RUNTIME,
            "linalg.matrix_norm: Expected a floating point or complex tensor as input. Got %s",
            lt_dtype_scalar_name((lt_dtype)self->dtype));
    lt_dims order = {.n = 0};
    for (int d = 0; d < self->ndim; d++)
        if (d != a && d != b) order.v[order.n++] = d;
    order.v[order.n++] = a;
    order.v[order.n++] = b;
    *places = (lt_dims){2, {a, b}};
    lt_tensor *from = dtype != LT_DTYPE_NONE ? do_cast(s, self, dtype) : self;
    *moved = from != NULL ? do_permute(s, from, &order) : NULL;
    return s->status;
}

/* The largest, or the smallest, element of each row. */
static lt_tensor *do_extreme(lt_scope *s, lt_tensor *lines, bool largest)
{
    const lt_dims last = {1, {-1}};
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    const lt_status status =
        largest ? lt_amax(lines, &last, false, &out) : lt_amin(lines, &last, false, &out);
    return lt_scope_hold(s, status, out);
}

/* The result for a batch of matrices, with the two dimensions restored as size 1. */
static lt_tensor *do_keep(lt_scope *s, lt_tensor *norms, const lt_tensor *self,
                          const lt_dims *places, bool keepdim)
{
    return keepdim ? do_restore_dims(s, norms, self->ndim, places, false) : norms;
}

lt_status lt_linalg_matrix_norm_impl(lt_tensor *self, lt_scalar ord, const lt_dims *dim,
                                     bool keepdim, lt_dtype dtype, lt_tensor **out)
{
    double p = lt_scalar_double(ord), size = fabs(p);
    if (size != 1 && size != 2 && !isinf(p))
        return lt_error(LT_ERR_RUNTIME, "linalg.matrix_norm: Order %g not supported.", p);
    lt_tensor *a, *norms;
    lt_dims places;
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(linalg_matrix_norm));
    s.status = at_the_end(&s, self, dim, dtype, &a, &places);
    if (s.status != LT_OK) return lt_scope_close(&s);
    lt_tensor *lines = size == 2 ? do_linalg_svdvals(&s, a)
                                 : do_sum_dim(&s, do_abs(&s, a), size == 1 ? -2 : -1, false);
    /* the maximum of an empty row is 0 */
    const bool empty = lines != NULL && lines->sizes[lines->ndim - 1] == 0;
    norms = empty && p >= 0 ? do_sum_dim(&s, lines, -1, false) : do_extreme(&s, lines, p >= 0);
    return lt_scope_return(&s, do_keep(&s, norms, self, &places, keepdim), out);
}

lt_status lt_linalg_matrix_norm_named_impl(lt_tensor *self, const char *ord, const lt_dims *dim,
                                           bool keepdim, lt_dtype dtype, lt_tensor **out)
{
    bool nuclear = strcmp(ord, "nuc") == 0;
    if (!nuclear && strcmp(ord, "fro") != 0)
        return lt_error(LT_ERR_RUNTIME, "linalg.matrix_norm: Order %s not supported.", ord);
    lt_tensor *a, *norms = NULL;
    lt_dims places;
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(linalg_matrix_norm_named));
    s.status = at_the_end(&s, self, dim, dtype, &a, &places);
    if (s.status != LT_OK) return lt_scope_close(&s);
    if (nuclear) {
        norms = do_sum_dim(&s, do_linalg_svdvals(&s, a), -1, false);
    } else {
        lt_status status = lt_norm(a, lt_scalar_from_int(2), &(lt_dims){2, {-2, -1}}, false,
                                   LT_DTYPE_NONE, &norms);
        norms = lt_scope_hold(&s, status, norms);
    }
    return lt_scope_return(&s, do_keep(&s, norms, self, &places, keepdim), out);
}

lt_status lt_linalg_matrix_rank_impl(lt_tensor *self, const double *rtol, bool hermitian,
                                     lt_tensor **out)
{
    LT_TRY(lt_linalg_check_matrix("linalg.matrix_rank", self));
    if (hermitian) LT_TRY(lt_linalg_check_square("linalg.matrix_rank", self));
    LT_TRY(lt_linalg_check_kind("linalg.matrix_rank", self));
    int64_t m = lt_rows(self), n = lt_columns(self);
    double tolerance = rtol != NULL ? *rtol : lt_linalg_epsilon(self) * (double)(m > n ? m : n);
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *values = do_linalg_svdvals(&s, self);
    if (values != NULL && (m == 0 || n == 0))
        return lt_scope_return(&s, do_cast(&s, do_sum_dim(&s, values, -1, false), LT_INT64), out);
    lt_tensor *least = do_mul(&s, do_largest(&s, values), do_number(&s, tolerance));
    return lt_scope_return(&s, do_sum_dim(&s, do_gt(&s, values, least), -1, false), out);
}

/* ---- other forms ----------------------------------------------------------------------------- */

/* A view of the diagonals of matrices. */
lt_status lt_linalg_diagonal_impl(lt_tensor *A, int64_t offset, int64_t dim1, int64_t dim2,
                                  lt_tensor **out)
{
    return lt_diagonal(A, offset, dim1, dim2, out);
}

/* Without ord and dim of all elements; of matrices over two dimensions, otherwise of vectors. */
lt_status lt_linalg_norm_impl(lt_tensor *A, const lt_scalar *ord, const lt_dims *dim, bool keepdim,
                              lt_dtype dtype, lt_tensor **out)
{
    const lt_scalar two = lt_scalar_from_int(2);
    if (ord != NULL && (dim != NULL ? dim->n == 2 : A->ndim == 2))
        return lt_linalg_matrix_norm(A, *ord, dim, keepdim, dtype, out);
    return lt_norm(A, ord != NULL ? *ord : two, dim, keepdim, dtype, out);
}

lt_status lt_linalg_norm_named_impl(lt_tensor *A, const char *ord, const lt_dims *dim, bool keepdim,
                                    lt_dtype dtype, lt_tensor **out)
{
    return lt_linalg_matrix_norm_named(A, ord, dim, keepdim, dtype, out);
}

lt_status lt_frobenius_norm_impl(lt_tensor *self, const lt_dims *dim, bool keepdim, lt_tensor **out)
{
    return lt_norm(self, lt_scalar_from_int(2), dim, keepdim, LT_DTYPE_NONE, out);
}

lt_status lt_nuclear_norm_impl(lt_tensor *self, const lt_dims *dim, bool keepdim, lt_tensor **out)
{
    return lt_linalg_matrix_norm_named(self, "nuc", dim, keepdim, LT_DTYPE_NONE, out);
}

lt_status lt_nuclear_norm_keepdim_impl(lt_tensor *self, bool keepdim, lt_tensor **out)
{
    return lt_linalg_matrix_norm_named(self, "nuc", NULL, keepdim, LT_DTYPE_NONE, out);
}
