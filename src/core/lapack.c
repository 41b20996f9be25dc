/* lapack.c - see lapack.h. The routines come with the distribution's BLAS; they are declared here, since Fortran's
 * calling convention is all there is to know. */
#include "lapack.h"

#include "mem.h"

#define DECLARE(p, real)                                                                                            \
    void p##getrf_(const int *m, const int *n, real *a, const int *lda, int *pivots, int *info);                    \
    void p##getri_(const int *n, real *a, const int *lda, const int *pivots, real *work, const int *lwork,          \
                   int *info);                                                                                      \
    void p##getrs_(const char *trans, const int *n, const int *nrhs, const real *a, const int *lda,                 \
                   const int *pivots, real *b, const int *ldb, int *info);                                          \
    void p##potrf_(const char *uplo, const int *n, real *a, const int *lda, int *info);                             \
    void p##trtrs_(const char *uplo, const char *trans, const char *diag, const int *n, const int *nrhs,            \
                   const real *a, const int *lda, real *b, const int *ldb, int *info);                              \
    void p##geqrf_(const int *m, const int *n, real *a, const int *lda, real *tau, real *work, const int *lwork,    \
                   int *info);                                                                                      \
    void p##orgqr_(const int *m, const int *n, const int *k, real *a, const int *lda, const real *tau, real *work,  \
                   const int *lwork, int *info);                                                                    \
    void p##gesdd_(const char *jobz, const int *m, const int *n, real *a, const int *lda, real *s, real *u,         \
                   const int *ldu, real *vt, const int *ldvt, real *work, const int *lwork, int *iwork, int *info); \
    void p##syevd_(const char *jobz, const char *uplo, const int *n, real *a, const int *lda, real *w, real *work,  \
                   const int *lwork, int *iwork, const int *liwork, int *info);                                     \
    void p##gelsy_(const int *m, const int *n, const int *nrhs, real *a, const int *lda, real *b, const int *ldb,   \
                   int *jpvt, const real *rcond, int *rank, real *work, const int *lwork, int *info);
DECLARE(s, float)
DECLARE(d, double)

static int at_least_1(int n) { return n > 1 ? n : 1; }

int lt_lapack_lu(lt_dtype dtype, int n, void *a, int *pivots)
{
    int info = 0, lda = at_least_1(n);
    if (dtype == LT_FLOAT32)
        sgetrf_(&n, &n, a, &lda, pivots, &info);
    else
        dgetrf_(&n, &n, a, &lda, pivots, &info);
    return info;
}

int lt_lapack_lu_solve(lt_dtype dtype, bool transposed, int n, int columns, const void *a, const int *pivots, void *b)
{
    int info = 0, lda = at_least_1(n);
    const char *trans = transposed ? "T" : "N";
    if (dtype == LT_FLOAT32)
        sgetrs_(trans, &n, &columns, a, &lda, pivots, b, &lda, &info);
    else
        dgetrs_(trans, &n, &columns, a, &lda, pivots, b, &lda, &info);
    return info;
}

int lt_lapack_cholesky(lt_dtype dtype, bool upper, int n, void *a)
{
    int info = 0, lda = at_least_1(n);
    if (dtype == LT_FLOAT32)
        spotrf_(upper ? "U" : "L", &n, a, &lda, &info);
    else
        dpotrf_(upper ? "U" : "L", &n, a, &lda, &info);
    return info;
}

int lt_lapack_triangular(lt_dtype dtype, bool upper, bool transposed, bool unit, int n, int columns, const void *a,
                         void *b)
{
    int info = 0, lda = at_least_1(n);
    const char *uplo = upper ? "U" : "L", *trans = transposed ? "T" : "N", *diag = unit ? "U" : "N";
    if (dtype == LT_FLOAT32)
        strtrs_(uplo, trans, diag, &n, &columns, a, &lda, b, &lda, &info);
    else
        dtrtrs_(uplo, trans, diag, &n, &columns, a, &lda, b, &lda, &info);
    return info;
}

/* ---- routines that want room: asked for how much first --------------------------------------------------------- */

typedef struct room {
    void *work;
    int *whole; /* integers */
    int size, whole_size;
    union {
        float f;
        double d;
    } asked;
    int whole_asked;
} room;

static void ask(room *r, int integers)
{
    *r = (room){.size = -1, .whole_size = -1};
    r->whole = &r->whole_asked;
    r->work = &r->asked;
    r->whole_asked = integers;
}

/* After the question: the room itself. `integers` of them when not asked for. */
static bool take(room *r, lt_dtype dtype)
{
    r->size = at_least_1((int)(dtype == LT_FLOAT32 ? (double)r->asked.f * 1.0000002 : r->asked.d));
    r->whole_size = at_least_1(r->whole_asked);
    r->work = lt_mem_array(r->size, sizeof(double));
    r->whole = lt_mem_zarray(r->whole_size, sizeof(int));
    return r->work != NULL && r->whole != NULL;
}

static void give(room *r)
{
    lt_mem_free(r->work);
    lt_mem_free(r->whole);
}

/* Runs call_s or call_d twice, with room r: once to ask, once in earnest. */
#define IN_ROOM(integers, call_s, call_d)                                                          \
    int info = 0;                                                                                  \
    room r;                                                                                        \
    ask(&r, integers);                                                                             \
    if (dtype == LT_FLOAT32)                                                                       \
        call_s;                                                                                    \
    else                                                                                           \
        call_d;                                                                                    \
    if (info != 0) return info;                                                                    \
    if (!take(&r, dtype)) {                                                                        \
        give(&r);                                                                                  \
        return -1;                                                                                 \
    }                                                                                              \
    if (dtype == LT_FLOAT32)                                                                       \
        call_s;                                                                                    \
    else                                                                                           \
        call_d;                                                                                    \
    give(&r);                                                                                      \
    return info;

int lt_lapack_lu_inverse(lt_dtype dtype, int n, void *a, const int *pivots)
{
    int lda = at_least_1(n);
    IN_ROOM(1, sgetri_(&n, a, &lda, pivots, r.work, &r.size, &info), dgetri_(&n, a, &lda, pivots, r.work, &r.size, &info))
}

int lt_lapack_qr(lt_dtype dtype, int m, int n, void *a, void *tau)
{
    int lda = at_least_1(m);
    IN_ROOM(1, sgeqrf_(&m, &n, a, &lda, tau, r.work, &r.size, &info),
            dgeqrf_(&m, &n, a, &lda, tau, r.work, &r.size, &info))
}

int lt_lapack_qr_q(lt_dtype dtype, int m, int columns, int k, void *a, const void *tau)
{
    int lda = at_least_1(m);
    IN_ROOM(1, sorgqr_(&m, &columns, &k, a, &lda, tau, r.work, &r.size, &info),
            dorgqr_(&m, &columns, &k, a, &lda, tau, r.work, &r.size, &info))
}

int lt_lapack_svd(lt_dtype dtype, bool full, int m, int n, void *a, void *s, void *u, void *vt)
{
    int k = m < n ? m : n, lda = at_least_1(m), ldvt = at_least_1(full ? n : k);
    const char *job = u == NULL ? "N" : full ? "A" : "S";
    IN_ROOM(8 * k, sgesdd_(job, &m, &n, a, &lda, s, u, &lda, vt, &ldvt, r.work, &r.size, r.whole, &info),
            dgesdd_(job, &m, &n, a, &lda, s, u, &lda, vt, &ldvt, r.work, &r.size, r.whole, &info))
}

int lt_lapack_symmetric_eigen(lt_dtype dtype, bool upper, bool vectors, int n, void *a, void *values)
{
    int lda = at_least_1(n);
    const char *job = vectors ? "V" : "N", *uplo = upper ? "U" : "L";
    IN_ROOM(1, ssyevd_(job, uplo, &n, a, &lda, values, r.work, &r.size, r.whole, &r.whole_size, &info),
            dsyevd_(job, uplo, &n, a, &lda, values, r.work, &r.size, r.whole, &r.whole_size, &info))
}

int lt_lapack_least_squares(lt_dtype dtype, int m, int n, int columns, void *a, void *b, double rcond, int *rank)
{
    int lda = at_least_1(m), ldb = at_least_1(m > n ? m : n);
    float rcond_s = (float)rcond;
    IN_ROOM(n, sgelsy_(&m, &n, &columns, a, &lda, b, &ldb, r.whole, &rcond_s, rank, r.work, &r.size, &info),
            dgelsy_(&m, &n, &columns, a, &lda, b, &ldb, r.whole, &rcond, rank, r.work, &r.size, &info))
}
