/* linalg.h - what the files on matrices share: their checks. Included by src/core/ops only. */
#ifndef LT_OPS_LINALG_H
#define LT_OPS_LINALG_H

#include <float.h>

#include "devices/backend.h"
#include "op/amax.h"
#include "op/eye.h"
#include "op/tril.h"
#include "op/triu.h"
#include "ops/steps.h"
#include "step/conj.h"

/* op is the name in messages: "linalg.inv". */
lt_status lt_linalg_check_matrix(const char *op, const lt_tensor *a);
lt_status lt_linalg_check_square(const char *op, const lt_tensor *a);
/* float32, float64, complex64 or complex128, of which LAPACK and cuSOLVER have matrices. */
lt_status lt_linalg_check_kind(const char *op, const lt_tensor *a);

/* Error where an element is nan, or else also where one is infinite; waits for the device. */
lt_status lt_linalg_refuse_nan(lt_tensor *a, const char *message);
lt_status lt_linalg_refuse_infinite(lt_tensor *a, const char *message);
/* int32, of each matrix: the number from 1 of the first nan of its diagonal, 0 for none. */
lt_tensor *do_first_nan(lt_scope *s, lt_tensor *factors);

/* f on the host, whose arrays lie on a device: what that has no library for. op: for the ledger of
 * copies. */
lt_status lt_linalg_factor_on_host(lt_factor *f, const char *op);

static inline int64_t lt_rows(const lt_tensor *a) { return a->sizes[a->ndim - 2]; }
static inline int64_t lt_columns(const lt_tensor *a) { return a->sizes[a->ndim - 1]; }

/* The matrices transposed. */
static inline lt_tensor *do_turn(lt_scope *s, lt_tensor *a) { return do_transpose(s, a, -2, -1); }

/* The matrices transposed and conjugated; of real ones the transposed, a view. */
static inline lt_tensor *do_adjoint(lt_scope *s, lt_tensor *a) { return do_turn(s, do_conj(s, a)); }

static inline lt_tensor *do_tril_at(lt_scope *s, lt_tensor *a, int64_t diagonal)
{
    lt_tensor *out = NULL;
    const lt_status status = s->status == LT_OK ? lt_tril(a, diagonal, &out) : s->status;
    return lt_scope_hold(s, status, out);
}

static inline lt_tensor *do_triu_at(lt_scope *s, lt_tensor *a, int64_t diagonal)
{
    lt_tensor *out = NULL;
    const lt_status status = s->status == LT_OK ? lt_triu(a, diagonal, &out) : s->status;
    return lt_scope_hold(s, status, out);
}

/* Of n rows, of the dtype and device of like. */
static inline lt_tensor *do_eye_like(lt_scope *s, const lt_tensor *like, int64_t n)
{
    lt_tensor *out = NULL;
    const lt_status status = s->status == LT_OK
                                 ? lt_eye(n, NULL, (lt_dtype)like->dtype, &like->device, &out)
                                 : s->status;
    return lt_scope_hold(s, status, out);
}

/* The largest of each line, which keeps its dimension. */
static inline lt_tensor *do_largest(lt_scope *s, lt_tensor *a)
{
    lt_tensor *out = NULL;
    const lt_status status =
        s->status == LT_OK ? lt_amax(a, &(lt_dims){1, {-1}}, true, &out) : s->status;
    return lt_scope_hold(s, status, out);
}

/* What rounding leaves of 1, in a's dtype. */
static inline double lt_linalg_epsilon(const lt_tensor *a)
{
    return lt_real_of((lt_dtype)a->dtype) == LT_FLOAT32 ? FLT_EPSILON : DBL_EPSILON;
}

/* One of several results, moved out of an open scope. */
static inline lt_status lt_scope_hand(lt_scope *s, lt_tensor *t, lt_tensor **out)
{
    if (s->status == LT_OK) *out = lt_tensor_retain(t);
    return s->status;
}

#endif
