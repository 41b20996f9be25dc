/* linalg.h - shared by the files on matrices: checks, batches of matrices, and factorizations of
 * each matrix by the backend. Included by src/core/ops only.
 *
 * LAPACK and cuSOLVER are column-major: a contiguous tensor of the transposed matrices has this
 * order, and their results are transposed back as a view. */
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
/* Accepts float32, float64, complex64 and complex128, the dtypes of LAPACK and cuSOLVER. */
lt_status lt_linalg_check_kind(const char *op, const lt_tensor *a);

/* Fails if an element is nan, or infinite; waits for the device. */
lt_status lt_linalg_refuse_nan(const char *op, lt_tensor *a, const char *message);
lt_status lt_linalg_refuse_infinite(const char *op, lt_tensor *a, const char *message);
/* int32, for each matrix: the 1-based index of the first nan of its diagonal, 0 for none. */
lt_tensor *do_first_nan(lt_scope *s, lt_tensor *factors);

/* Runs f on the host, with arrays on a device that has no library for it. op: for the ledger of
 * copies. */
lt_status lt_linalg_factor_on_host(lt_factor *f, const char *op);

static inline int64_t lt_rows(const lt_tensor *a) { return a->sizes[a->ndim - 2]; }
static inline int64_t lt_columns(const lt_tensor *a) { return a->sizes[a->ndim - 1]; }

/* The matrices transposed. */
static inline lt_tensor *do_turn(lt_scope *s, lt_tensor *a) { return do_transpose(s, a, -2, -1); }

/* The matrices transposed and conjugated; real ones as a view. */
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

/* An n x n identity with the dtype and device of like. */
static inline lt_tensor *do_eye_like(lt_scope *s, const lt_tensor *like, int64_t n)
{
    lt_tensor *out = NULL;
    const lt_status status = s->status == LT_OK
                                 ? lt_eye(n, NULL, (lt_dtype)like->dtype, &like->device, &out)
                                 : s->status;
    return lt_scope_hold(s, status, out);
}

/* The largest element of each row; keeps the dimension. */
static inline lt_tensor *do_largest(lt_scope *s, lt_tensor *a)
{
    lt_tensor *out = NULL;
    const lt_status status =
        s->status == LT_OK ? lt_amax(a, &(lt_dims){1, {-1}}, true, &out) : s->status;
    return lt_scope_hold(s, status, out);
}

/* The machine epsilon of a's dtype. */
static inline double lt_linalg_epsilon(const lt_tensor *a)
{
    return lt_real_of((lt_dtype)a->dtype) == LT_FLOAT32 ? FLT_EPSILON : DBL_EPSILON;
}

/* Moves one of several results out of an open scope. */
static inline lt_status lt_scope_move_out(lt_scope *s, lt_tensor *t, lt_tensor **out)
{
    if (s->status == LT_OK) *out = lt_tensor_retain(t);
    return s->status;
}

/* ---- batches and their factorizations -------------------------------------------------------- */

/* A contiguous copy of a in new memory. */
lt_tensor *do_dense_copy(lt_scope *s, lt_tensor *a);

/* Uninitialized tensors; do_new_like has the dtype and device of like. */
lt_tensor *do_new_of(lt_scope *s, lt_dtype dtype, lt_device device, const lt_dims *sizes);
lt_tensor *do_new_like(lt_scope *s, const lt_tensor *like, const lt_dims *sizes);
/* Real zeros, also for a complex `like`: for its singular values or eigenvalues. */
lt_tensor *do_new_real(lt_scope *s, const lt_tensor *like, const lt_dims *sizes);

/* int32 zeros on the device of like. */
lt_tensor *do_new_integers(lt_scope *s, const lt_tensor *like, const lt_dims *sizes);

/* The sizes of a batch like a's, of rows x columns matrices; columns < 0: of vectors; rows < 0: of
 * scalars. */
lt_dims lt_linalg_batch_of(const lt_tensor *a, int64_t rows, int64_t columns);

/* The batches of a and b broadcast, followed by two sizes of 1. */
lt_status lt_linalg_broadcast_batches(const lt_tensor *a, const lt_tensor *b, lt_dims *out);

/* Fails unless pivots has one entry for each row or column of factors, the smaller number of both.
 * name: of factors in the message. */
lt_status lt_linalg_check_pivots(const char *op, const char *name, const lt_tensor *factors,
                                 const lt_tensor *pivots);

static inline int32_t *lt_linalg_integers(lt_tensor *t) { return (int32_t *)(void *)lt_data(t); }

/* The op of the messages, and PyTorch's message for a matrix that cannot be factored; without a
 * message, the failure is no error. Its %d is LAPACK's info; with `element`, where info is the number of a diagonal element, the user-visible
 * index of that element. */
typedef struct lt_linalg_refusal {
    const char *op, *format;
    bool element;
} lt_linalg_refusal;

/* The call of the backend for all matrices of a, which are column-major. */
lt_factor lt_linalg_factor_of(lt_factor_kind kind, const lt_tensor *a);

/* The error of the first matrix with a nonzero entry in infos, or, with `any`, whether there is
 * one. a has the shape that the caller of the op passed. */
lt_status lt_linalg_refused(const lt_linalg_refusal *r, const lt_tensor *a, lt_tensor *infos,
                            bool *any);

/* Runs f. With `r`, a matrix of a that cannot be factored is an error; if the backend has a second
 * algorithm that factors more matrices, the result is false instead. */
bool do_factor(lt_scope *s, lt_factor *f, const lt_tensor *a, const lt_linalg_refusal *r);

/* LU factors of square column-major matrices, in place. Returns the pivots. info: receives LAPACK's
 * info of each matrix; NULL: not requested. */
lt_tensor *do_lu(lt_scope *s, lt_tensor *work, const lt_linalg_refusal *r, lt_tensor *info);

/* Which side of the unknown a triangular matrix stands on, and whether its diagonal is assumed to be
 * ones. */
typedef struct lt_linalg_side {
    bool right, unit;
} lt_linalg_side;

/* X of A X = B, or, right, of X A = B. */
lt_tensor *do_linalg_triangular(lt_scope *s, lt_tensor *a, lt_tensor *b, bool upper,
                                lt_linalg_side side);

#endif
