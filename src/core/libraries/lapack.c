/* lapack.c - see lapack.h. The routines come with the distribution's BLAS; they are declared here, since Fortran's
 * calling convention is all there is to know. The library is opened when the first routine is called: its thousands of
 * symbols would take a third of the time in which the program starts. A call that may take long is made apart (apart.h). */
#include "lapack.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

#include "context/apart.h"
#include "cpu/common/threads.h"
#include "library.h"
#include "mem.h"

#define DECLARE(p, real)                                                                                            \
    void p##getrf_(const int *m, const int *n, real *a, const int *lda, int *pivots, int *info);                    \
    void p##getri_(const int *n, real *a, const int *lda, const int *pivots, real *work, const int *lwork,          \
                   int *info);                                                                                      \
    void p##getrs_(const char *trans, const int *n, const int *nrhs, const real *a, const int *lda,                 \
                   const int *pivots, real *b, const int *ldb, int *info);                                          \
    void p##potrf_(const char *uplo, const int *n, real *a, const int *lda, int *info);                             \
    void p##trsm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m, const int *n, \
                  const real *alpha, const real *a, const int *lda, real *b, const int *ldb);                       \
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
#undef DECLARE
void openblas_set_num_threads(int n);
char *openblas_get_config(void);

#define ROUTINES(X)                                                                                                 \
    X(sgetrf_) X(dgetrf_) X(sgetri_) X(dgetri_) X(sgetrs_) X(dgetrs_) X(spotrf_) X(dpotrf_) X(strsm_) X(dtrsm_)   \
    X(sgeqrf_) X(dgeqrf_) X(sorgqr_) X(dorgqr_) X(sgesdd_) X(dgesdd_) X(ssyevd_) X(dsyevd_) X(sgelsy_) X(dgelsy_)   \
    X(openblas_set_num_threads) X(openblas_get_config)

static struct {
#define X(name) __typeof__(&name) name;
    ROUTINES(X)
#undef X
    bool complete;
} lib;

static void open_library(const lt_library *self)
{
    (void)self;
    void *library = dlopen("libopenblas.so.0", RTLD_LAZY | RTLD_LOCAL);
    lib.complete = library != NULL;
    if (library == NULL) return;
#define X(name) lib.complete = lib.complete && (*(void **)&lib.name = dlsym(library, #name)) != NULL;
    ROUTINES(X)
#undef X
}

static lt_library openblas = LT_LIBRARY("libopenblas.so.0", open_library);

/* 0 when the routines can be called, which then use as many threads as we do; or why not, as an info. */
static int missing(void)
{
    static _Atomic int told;
    const lt_status status = lt_library_need(&openblas);
    if (status != LT_OK) return LT_LAPACK_FAILED(status);
    const int threads = lt_get_num_threads();
    if (lib.complete && atomic_exchange(&told, threads) != threads) lib.openblas_set_num_threads(threads);
    return lib.complete ? 0 : LT_LAPACK_ABSENT;
}

const char *lt_lapack_config(void) { return missing() == 0 ? lib.openblas_get_config() : "none"; }

static int at_least_1(int n) { return n > 1 ? n : 1; }

/* The arguments of any routine, and what it says. */
typedef struct call {
    lt_dtype dtype;
    int m, n, k, columns;
    bool upper, transposed, unit, full;
    double rcond;
    void *a, *b; /* matrices */
    void *u, *vt;
    void *vector; /* pivots, tau, values */
    int rank, info;
} call;

static int64_t matrix(const call *c, int rows, int columns)
{
    return lt_times(lt_times(rows, columns), (int64_t)lt_dtype_size(c->dtype));
}

#define ARRAY(name, size, reads, leaves) {offsetof(call, name), size, reads, leaves}

/* Calls routine(c); with a thread of its own where there are about `work` multiplications, many. */
#define LITTLE 2e7

static int made(void (*routine)(void *context), call *c, double work, const lt_apart_array *arrays, int n)
{
    lt_status status = LT_OK;
    const int absent = missing();
    if (absent != 0) return absent;
    if (work < LITTLE)
        routine(c);
    else
        status = lt_apart(routine, c, sizeof *c, arrays, n);
    return status == LT_OK ? c->info : LT_LAPACK_FAILED(status);
}

static double cube(int n) { return (double)n * n * n; }

/* ---- triangular factors ---------------------------------------------------------------------------------------- */

static void lu(void *context)
{
    call *c = context;
    int n = c->n, lda = at_least_1(n);
    if (c->dtype == LT_FLOAT32)
        lib.sgetrf_(&n, &n, c->a, &lda, c->vector, &c->info);
    else
        lib.dgetrf_(&n, &n, c->a, &lda, c->vector, &c->info);
}

int lt_lapack_lu(lt_dtype dtype, int n, void *a, int *pivots)
{
    call c = {.dtype = dtype, .n = n, .a = a, .vector = pivots};
    const lt_apart_array arrays[] = {ARRAY(a, matrix(&c, n, n), true, true),
                                     ARRAY(vector, n * (int64_t)sizeof *pivots, false, true)};
    return made(lu, &c, cube(n), arrays, 2);
}

static void lu_solve(void *context)
{
    call *c = context;
    int n = c->n, lda = at_least_1(n);
    const char *trans = c->transposed ? "T" : "N";
    if (c->dtype == LT_FLOAT32)
        lib.sgetrs_(trans, &n, &c->columns, c->a, &lda, c->vector, c->b, &lda, &c->info);
    else
        lib.dgetrs_(trans, &n, &c->columns, c->a, &lda, c->vector, c->b, &lda, &c->info);
}

int lt_lapack_lu_solve(lt_dtype dtype, bool transposed, int n, int columns, const void *a, const int *pivots, void *b)
{
    call c = {.dtype = dtype, .n = n, .columns = columns, .transposed = transposed, .a = (void *)a,
              .vector = (void *)pivots, .b = b};
    const lt_apart_array arrays[] = {ARRAY(a, matrix(&c, n, n), true, false),
                                     ARRAY(vector, n * (int64_t)sizeof *pivots, true, false),
                                     ARRAY(b, matrix(&c, n, columns), true, true)};
    return made(lu_solve, &c, (double)n * n * columns, arrays, 3);
}

static void cholesky(void *context)
{
    call *c = context;
    int n = c->n, lda = at_least_1(n);
    if (c->dtype == LT_FLOAT32)
        lib.spotrf_(c->upper ? "U" : "L", &n, c->a, &lda, &c->info);
    else
        lib.dpotrf_(c->upper ? "U" : "L", &n, c->a, &lda, &c->info);
}

int lt_lapack_cholesky(lt_dtype dtype, bool upper, int n, void *a)
{
    call c = {.dtype = dtype, .n = n, .upper = upper, .a = a};
    const lt_apart_array arrays[] = {ARRAY(a, matrix(&c, n, n), true, true)};
    return made(cholesky, &c, cube(n), arrays, 1);
}

static void triangular(void *context)
{
    call *c = context;
    int n = c->n, lda = at_least_1(n);
    const char *uplo = c->upper ? "U" : "L", *trans = c->transposed ? "T" : "N", *diag = c->unit ? "U" : "N";
    if (c->dtype == LT_FLOAT32)
        lib.strsm_("L", uplo, trans, diag, &n, &c->columns, &(float){1}, c->a, &lda, c->b, &lda);
    else
        lib.dtrsm_("L", uplo, trans, diag, &n, &c->columns, &(double){1}, c->a, &lda, c->b, &lda);
}

int lt_lapack_triangular(lt_dtype dtype, bool upper, bool transposed, bool unit, int n, int columns, const void *a,
                         void *b)
{
    call c = {.dtype = dtype, .n = n, .columns = columns, .upper = upper, .transposed = transposed, .unit = unit,
              .a = (void *)a, .b = b};
    const lt_apart_array arrays[] = {ARRAY(a, matrix(&c, n, n), true, false),
                                     ARRAY(b, matrix(&c, n, columns), true, true)};
    return made(triangular, &c, (double)n * n * columns, arrays, 2);
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
    room r;                                                                                        \
    ask(&r, integers);                                                                             \
    if (c->dtype == LT_FLOAT32)                                                                    \
        call_s;                                                                                    \
    else                                                                                           \
        call_d;                                                                                    \
    if (c->info != 0) return;                                                                      \
    const bool enough = take(&r, c->dtype);                                                        \
    if (!enough)                                                                                   \
        c->info = -1;                                                                              \
    else if (c->dtype == LT_FLOAT32)                                                               \
        call_s;                                                                                    \
    else                                                                                           \
        call_d;                                                                                    \
    give(&r);

static void lu_inverse(void *context)
{
    call *c = context;
    int n = c->n, lda = at_least_1(n);
    IN_ROOM(1, lib.sgetri_(&n, c->a, &lda, c->vector, r.work, &r.size, &c->info),
            lib.dgetri_(&n, c->a, &lda, c->vector, r.work, &r.size, &c->info))
}

int lt_lapack_lu_inverse(lt_dtype dtype, int n, void *a, const int *pivots)
{
    call c = {.dtype = dtype, .n = n, .a = a, .vector = (void *)pivots};
    const lt_apart_array arrays[] = {ARRAY(a, matrix(&c, n, n), true, true),
                                     ARRAY(vector, n * (int64_t)sizeof *pivots, true, false)};
    return made(lu_inverse, &c, cube(n), arrays, 2);
}

static void qr(void *context)
{
    call *c = context;
    int m = c->m, n = c->n, lda = at_least_1(m);
    IN_ROOM(1, lib.sgeqrf_(&m, &n, c->a, &lda, c->vector, r.work, &r.size, &c->info),
            lib.dgeqrf_(&m, &n, c->a, &lda, c->vector, r.work, &r.size, &c->info))
}

int lt_lapack_qr(lt_dtype dtype, int m, int n, void *a, void *tau)
{
    call c = {.dtype = dtype, .m = m, .n = n, .a = a, .vector = tau};
    const int k = m < n ? m : n;
    const lt_apart_array arrays[] = {ARRAY(a, matrix(&c, m, n), true, true), ARRAY(vector, matrix(&c, k, 1), false, true)};
    return made(qr, &c, 2.0 * m * n * k, arrays, 2);
}

static void qr_q(void *context)
{
    call *c = context;
    int m = c->m, columns = c->columns, k = c->k, lda = at_least_1(m);
    IN_ROOM(1, lib.sorgqr_(&m, &columns, &k, c->a, &lda, c->vector, r.work, &r.size, &c->info),
            lib.dorgqr_(&m, &columns, &k, c->a, &lda, c->vector, r.work, &r.size, &c->info))
}

int lt_lapack_qr_q(lt_dtype dtype, int m, int columns, int k, void *a, const void *tau)
{
    call c = {.dtype = dtype, .m = m, .columns = columns, .k = k, .a = a, .vector = (void *)tau};
    const lt_apart_array arrays[] = {ARRAY(a, matrix(&c, m, columns), true, true),
                                     ARRAY(vector, matrix(&c, k, 1), true, false)};
    return made(qr_q, &c, 2.0 * m * columns * k, arrays, 2);
}

static void svd(void *context)
{
    call *c = context;
    int m = c->m, n = c->n, k = m < n ? m : n, lda = at_least_1(m), ldvt = at_least_1(c->full ? n : k);
    const char *job = c->u == NULL ? "N" : c->full ? "A" : "S";
    IN_ROOM(8 * k,
            lib.sgesdd_(job, &m, &n, c->a, &lda, c->vector, c->u, &lda, c->vt, &ldvt, r.work, &r.size, r.whole, &c->info),
            lib.dgesdd_(job, &m, &n, c->a, &lda, c->vector, c->u, &lda, c->vt, &ldvt, r.work, &r.size, r.whole, &c->info))
}

int lt_lapack_svd(lt_dtype dtype, bool full, int m, int n, void *a, void *s, void *u, void *vt)
{
    call c = {.dtype = dtype, .m = m, .n = n, .full = full, .a = a, .vector = s, .u = u, .vt = vt};
    const int k = m < n ? m : n;
    const lt_apart_array arrays[] = {ARRAY(a, matrix(&c, m, n), true, false), ARRAY(vector, matrix(&c, k, 1), false, true),
                                     ARRAY(u, u != NULL ? matrix(&c, m, full ? m : k) : 0, false, true),
                                     ARRAY(vt, u != NULL ? matrix(&c, full ? n : k, n) : 0, false, true)};
    return made(svd, &c, 10.0 * m * n * k, arrays, 4);
}

static void symmetric_eigen(void *context)
{
    call *c = context;
    int n = c->n, lda = at_least_1(n);
    const char *job = c->full ? "V" : "N", *uplo = c->upper ? "U" : "L";
    IN_ROOM(1, lib.ssyevd_(job, uplo, &n, c->a, &lda, c->vector, r.work, &r.size, r.whole, &r.whole_size, &c->info),
            lib.dsyevd_(job, uplo, &n, c->a, &lda, c->vector, r.work, &r.size, r.whole, &r.whole_size, &c->info))
}

int lt_lapack_symmetric_eigen(lt_dtype dtype, bool upper, bool vectors, int n, void *a, void *values)
{
    call c = {.dtype = dtype, .n = n, .upper = upper, .full = vectors, .a = a, .vector = values};
    const lt_apart_array arrays[] = {ARRAY(a, matrix(&c, n, n), true, true), ARRAY(vector, matrix(&c, n, 1), false, true)};
    return made(symmetric_eigen, &c, 5 * cube(n), arrays, 2);
}

static void least_squares(void *context)
{
    call *c = context;
    int m = c->m, n = c->n, lda = at_least_1(m), ldb = at_least_1(m > n ? m : n);
    float rcond_s = (float)c->rcond;
    IN_ROOM(n,
            lib.sgelsy_(&m, &n, &c->columns, c->a, &lda, c->b, &ldb, r.whole, &rcond_s, &c->rank, r.work, &r.size, &c->info),
            lib.dgelsy_(&m, &n, &c->columns, c->a, &lda, c->b, &ldb, r.whole, &c->rcond, &c->rank, r.work, &r.size, &c->info))
}

int lt_lapack_least_squares(lt_dtype dtype, int m, int n, int columns, void *a, void *b, double rcond, int *rank)
{
    call c = {.dtype = dtype, .m = m, .n = n, .columns = columns, .a = a, .b = b, .rcond = rcond};
    const lt_apart_array arrays[] = {ARRAY(a, matrix(&c, m, n), true, false),
                                     ARRAY(b, matrix(&c, m > n ? m : n, columns), true, true)};
    const int info = made(least_squares, &c, 4.0 * m * n * ((m < n ? m : n) + (double)columns), arrays, 2);
    *rank = c.rank;
    return info;
}
