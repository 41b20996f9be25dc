/* factor.c - factorizations of batches of matrices and solutions by them, one matrix at a time, by
 * LAPACK (lapack.h). Cholesky factorizations and triangular solves of float and double use our own
 * loops (triangle.h): no library, and no barrier of threads every few columns. */
#include <string.h>

#include "cpu/cpu.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "libraries/lapack.h"
#include "triangle.h"

/* Matrix i of an array; stride: elements between matrices. */
static char *at(const lt_factor *f, void *array, int64_t i, int64_t stride)
{
    return array != NULL ? (char *)array + i * stride * (int64_t)lt_dtype_size(f->dtype) : NULL;
}

/* The same for an array that is real even if the matrices are complex. */
static char *real_at(const lt_factor *f, void *array, int64_t i, int64_t stride)
{
    return (char *)array + i * stride * (int64_t)lt_dtype_size(lt_real_of(f->dtype));
}

/* The same for an array that is complex even if the matrices are real; NULL stays NULL. */
static char *complex_at(const lt_factor *f, void *array, int64_t i, int64_t stride)
{
    return array != NULL ? real_at(f, array, i, 2 * stride) : NULL;
}

static void set_identity(const lt_factor *f, char *b)
{
    const size_t size = lt_dtype_size(f->dtype);
    memset(b, 0, (size_t)f->n * (size_t)f->n * size);
    for (size_t j = 0; j < (size_t)f->n; j++) {
        char *entry = b + j * ((size_t)f->n + 1) * size;
        if (lt_real_of(f->dtype) == LT_FLOAT32)
            *(float *)entry = 1;
        else
            *(double *)entry = 1;
    }
}

/* Replaces -0 by 0: the signs of zeros in the inverse of a diagonal matrix depend on the library's
 * kernel. */
static void without_signs_of_zeros(const lt_factor *f, char *b)
{
    const int64_t parts = (int64_t)f->n * f->n * (lt_dtype_is_complex(f->dtype) ? 2 : 1);
    float *const single = (float *)(void *)b;
    double *const wide = (double *)(void *)b;
    if (lt_real_of(f->dtype) == LT_FLOAT32)
        for (int64_t i = 0; i < parts; i++) single[i] += 0.0F;
    else
        for (int64_t i = 0; i < parts; i++) wide[i] += 0.0;
}

/* The inverse; a contains the LU factors. */
static int invert(const lt_factor *f, char *a, int32_t *pivots, char *b)
{
    set_identity(f, b);
    const int info = lt_lapack_lu_solve(f->dtype, false, f->n, f->n, a, pivots, b);
    without_signs_of_zeros(f, b);
    return info;
}

/* Processes matrix i; returns LAPACK's info. */
static int one(const lt_factor *f, int64_t i, int *rank)
{
    const lt_dtype dtype = f->dtype;
    const int64_t m = f->m, n = f->n, k = m < n ? m : n, columns = f->columns;
    char *a = at(f, f->a, i, f->stride_a);
    int32_t *pivots = f->pivots != NULL ? f->pivots + i * n : NULL;
    switch (f->kind) {
    case LT_FACTOR_LU: return lt_lapack_lu(dtype, f->n, a, pivots);
    case LT_FACTOR_SOLVE:
        return lt_lapack_lu_solve(dtype, f->transposed, f->n, f->columns, a, pivots,
                                  at(f, f->b, i, n * columns));
    case LT_FACTOR_INVERSE: return invert(f, a, pivots, at(f, f->b, i, n * n));
    case LT_FACTOR_CHOLESKY: return lt_lapack_cholesky(dtype, f->upper, f->n, a);
    case LT_FACTOR_TRIANGULAR:
        return lt_lapack_triangular(dtype, (lt_lapack_triangle){f->upper, f->transposed, f->unit},
                                    f->n, f->columns, a, at(f, f->b, i, n * columns));
    case LT_FACTOR_QR: return lt_lapack_qr(dtype, f->m, f->n, a, at(f, f->values, i, k));
    case LT_FACTOR_Q:
        return lt_lapack_qr_q(dtype, f->m, f->columns, f->k, a, at(f, f->values, i, f->k));
    case LT_FACTOR_SVD:
        return lt_lapack_svd(dtype, f->full, f->m, f->n, a,
                             (lt_lapack_svd_results){real_at(f, f->values, i, k),
                                                     at(f, f->u, i, m * (f->full ? m : k)),
                                                     at(f, f->v, i, (f->full ? n : k) * n)});
    case LT_FACTOR_EIGH:
        return lt_lapack_symmetric_eigen(dtype, f->upper, f->vectors, f->n, a,
                                         real_at(f, f->values, i, n));
    case LT_FACTOR_EIG:
        return lt_lapack_eigen(dtype, f->n, a, complex_at(f, f->values, i, n),
                               complex_at(f, f->u, i, n * n));
    case LT_FACTOR_LDL: return lt_lapack_ldl(dtype, f->hermitian, f->n, a, pivots);
    case LT_FACTOR_LDL_SOLVE:
        return lt_lapack_ldl_solve(dtype, f->hermitian, f->n, f->columns, a, pivots,
                                   at(f, f->b, i, n * columns));
    case LT_FACTOR_LEAST_SQUARES:
        return lt_lapack_least_squares(
            dtype,
            (lt_lapack_system){f->m, f->n, f->columns, a,
                               at(f, f->b, i, (m > n ? m : n) * columns)},
            f->rcond, rank);
    }
    return 0;
}

/* The error of a negative info, which concerns the call, not a matrix. */
static lt_status lapack_error(int info)
{
    if (info < LT_LAPACK_FAILED(LT_OK) && info > LT_LAPACK_ABSENT)
        return (lt_status)LT_LAPACK_FAILED(info);
    if (info == LT_LAPACK_ABSENT)
        return lt_error(
            LT_ERR_RUNTIME,
            "LAPACK is required to factorize matrices, but no library with it can be opened (%s): "
            "install OpenBLAS (Debian: libopenblas0-openmp), or set LTENSOR_LAPACK to the path of "
            "another library",
            lt_lapack_absent_reason());
    if (info == -1) return lt_error(LT_ERR_MEMORY, "out of memory for the factors of a matrix");
    return lt_error(LT_ERR_RUNTIME, "LAPACK reported that its argument %d is invalid", -info);
}

/* Processes matrix i by our own loops. */
static lt_status by_loops(const lt_factor *f, int64_t i)
{
    char *a = at(f, f->a, i, f->stride_a);
    int info = 0;
    if (f->kind == LT_FACTOR_CHOLESKY)
        LT_TRY(lt_cpu_cholesky(f, a, &info));
    else
        LT_TRY(lt_cpu_triangular(f, a, at(f, f->b, i, (int64_t)f->n * f->columns)));
    if (f->infos != NULL) f->infos[i] = info;
    return LT_OK;
}

lt_status lt_cpu_factor(lt_factor *f)
{
    const bool loops = (f->kind == LT_FACTOR_CHOLESKY || f->kind == LT_FACTOR_TRIANGULAR) &&
                       !lt_dtype_is_complex(f->dtype);
    for (int64_t i = 0; i < f->batch; i++) {
        int rank = 0;
        if (loops) {
            LT_TRY(by_loops(f, i));
            continue;
        }
        const int info = one(f, i, &rank);
        if (info < 0) return lapack_error(info);
        if (f->infos != NULL) f->infos[i] = f->kind == LT_FACTOR_LEAST_SQUARES ? rank : info;
    }
    return LT_OK;
}
