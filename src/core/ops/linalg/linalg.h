/* linalg.h - what the files on matrices share: their checks. Included by src/core/ops only. */
#ifndef LT_OPS_LINALG_H
#define LT_OPS_LINALG_H

#include "devices/backend.h"
#include "ops/steps.h"
#include "step/conj.h"

/* op is the name in messages: "linalg.inv". */
lt_status lt_linalg_check_matrix(const char *op, const lt_tensor *a);
lt_status lt_linalg_check_square(const char *op, const lt_tensor *a);
/* float32, float64, complex64 or complex128, of which LAPACK and cuSOLVER have matrices. */
lt_status lt_linalg_check_kind(const char *op, const lt_tensor *a);

/* f on the host, whose arrays lie on a device: what that has no library for. op: for the ledger of copies. */
lt_status lt_linalg_factor_on_host(lt_factor *f, const char *op);

static inline int64_t lt_rows(const lt_tensor *a) { return a->sizes[a->ndim - 2]; }
static inline int64_t lt_columns(const lt_tensor *a) { return a->sizes[a->ndim - 1]; }

/* The matrices transposed. */
static inline lt_tensor *do_turn(lt_scope *s, lt_tensor *a) { return do_transpose(s, a, -2, -1); }

/* The matrices transposed and conjugated; of real ones the transposed, a view. */
static inline lt_tensor *do_adjoint(lt_scope *s, lt_tensor *a) { return do_turn(s, do_conj(s, a)); }

#endif
