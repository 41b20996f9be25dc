/* linalg.h - what the files on matrices share: their checks. Included by src/core/ops only. */
#ifndef LT_OPS_LINALG_H
#define LT_OPS_LINALG_H

#include "ops/steps.h"

/* op is the name in messages: "linalg.inv". */
lt_status lt_linalg_check_matrix(const char *op, const lt_tensor *a);
lt_status lt_linalg_check_square(const char *op, const lt_tensor *a);
/* float32 or float64, on the host, where LAPACK works. */
lt_status lt_linalg_check_kind(const char *op, const lt_tensor *a);

static inline int64_t lt_rows(const lt_tensor *a) { return a->sizes[a->ndim - 2]; }
static inline int64_t lt_columns(const lt_tensor *a) { return a->sizes[a->ndim - 1]; }

/* The matrices transposed. */
static inline lt_tensor *do_turn(lt_scope *s, lt_tensor *a) { return do_transpose(s, a, -2, -1); }

#endif
