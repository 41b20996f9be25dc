/* lapack.c - see lapack.h. The routines come with a library of the system (lapack_library.c). They are
 * declared here rather than included: only Fortran's calling convention matters. It is opened when
 * the first routine is called: resolving its thousands of symbols would take a third of the
 * program's startup time. A call that may take long runs on its own thread (detached.h). */
#include "lapack.h"

#include <stdatomic.h>

#include "context/detached.h"
#include "context/thread.h"
#include "context/thread_pool.h"
#include "saturating.h"
#include "dtypes/dtype.h"
#include "lapack_library.h"
#include "lapack_routines.h"
#include "library.h"
#include "memory/alloc.h"
#include "openmp.h"
#include "system/process.h"
#include "system/shared_library.h"
#include "system/threads.h"

#define KINDS 4

typedef struct lapack_routines {
#define X(name, s, d, c, z, arguments) void(*name) arguments;
    LT_LAPACK_ROUTINES(X)
#undef X
} lapack_routines;

static lt_lapack_library lib;
static lapack_routines routines[KINDS];

/* Index of the element type, which determines the first letter of a routine's name. */
static int routine_index_of(lt_dtype dtype)
{
    switch (dtype) {
    case LT_FLOAT32: return 0;
    case LT_FLOAT64: return 1;
    case LT_COMPLEX64: return 2;
    default: return 3;
    }
}

/* Fills `routines`; returns the name of a routine that the library lacks, else NULL. */
static const char *find_routines(const lt_lapack_library *library)
{
    const char *absent = NULL;
#define X(name, s, d, c, z, arguments)                                                             \
    for (int kind = 0; kind < KINDS; kind++) {                                                     \
        const char *symbol = (const char *[KINDS]){s, d, c, z}[kind];                              \
        if (symbol == NULL) continue;                                                              \
        *(void **)&routines[kind].name = lt_lapack_library_symbol(library, symbol);                \
        if (routines[kind].name == NULL) absent = symbol;                                          \
    }
    LT_LAPACK_ROUTINES(X)
#undef X
    return absent;
}

static void open_library(const lt_library *self)
{
    (void)self;
    lt_lapack_library_open(&lib, find_routines);
}

/* The name for authorizers, whichever library is opened. */
static lt_library lapack = LT_LIBRARY(LT_SHARED_NAME("openblas", "0"), open_library);

/* 0 if the routines can be called, else the reason as an info. */
static int missing(void)
{
    const lt_status status = lt_library_need(&lapack);
    if (status != LT_OK) return LT_LAPACK_FAILED(status);
    return lib.handle != NULL ? 0 : LT_LAPACK_ABSENT;
}

const char *lt_lapack_config(void) { return missing() == 0 ? lib.description : "none"; }

const char *lt_lapack_absent_reason(void) { return lib.reason; }

static const lapack_routines *routines_of(lt_dtype dtype)
{
    return &routines[routine_index_of(dtype)];
}

static bool narrow(lt_dtype dtype) { return lt_real_of(dtype) == LT_FLOAT32; }

static int at_least_1(int n) { return n > 1 ? n : 1; }

/* The arguments and results of any routine, and the number of threads for it. */
typedef struct lapack_call {
    void (*routine)(void *context);
    int threads;
    lt_dtype dtype;
    int m, n, k, columns;
    bool upper, transposed, unit, full, hermitian;
    double rcond;
    void *a, *b; /* matrices */
    void *u, *vt;
    void *vector; /* pivots, tau, values */
    int rank, info;
} lapack_call;

static int64_t matrix(const lapack_call *c, int rows, int columns)
{
    return lt_mul_sat(lt_mul_sat(rows, columns), (int64_t)lt_dtype_size(c->dtype));
}

#define ARRAY(name, size, reads, leaves)                                                           \
    {                                                                                              \
        offsetof(lapack_call, name), size, reads, leaves                                           \
    }

/* The minimum number of multiplications for which a routine gains from threads. A solver partitions
 * the columns. A factorization synchronizes its threads every few columns: with little work between
 * two barriers it mostly waits, more so on a busy machine. */
#define SOLVES  2e6
#define LU      1e8
#define FACTORS 5e9

/* Number of running calls with several threads. OpenBLAS with OpenMP runs one at a time; the others
 * would spin until it ends, each with a team of threads of its own. So a call that finds another one
 * running uses one thread. So does a child forked meanwhile, for which the other call never ends. */
static _Atomic int parallel_calls;
static bool only_one_thread;

static void lapack_in_child(void)
{
    if (atomic_exchange(&parallel_calls, 0) > 0) only_one_thread = true;
}

__attribute__((constructor)) static void register_fork_handlers(void)
{
    lt_at_fork(NULL, NULL, lapack_in_child);
}

static void call_with(int threads, lapack_call *c)
{
    static _Atomic int set;
    if ((threads > 1 || !lib.follows_openmp) && atomic_exchange(&set, threads) != threads) {
        if (lib.set_num_threads != NULL) lib.set_num_threads(threads);
        if (lib.set_num_threads_wide != NULL) lib.set_num_threads_wide(threads);
    }
    const int before = lt_openmp_set_threads(&lib.openmp, threads);
    c->routine(c);
    lt_openmp_set_threads(&lib.openmp, before);
}

/* The threads that the library starts inherit the blocked signals. */
static void call_routine(void *context)
{
    lapack_call *c = context;
    lt_signal_set before;
    if (c->threads == 1 || only_one_thread || lib.one_thread) {
        call_with(1, c);
        return;
    }
    const bool is_alone = atomic_fetch_add(&parallel_calls, 1) == 0;
    const bool is_parallel = (is_alone || !lib.follows_openmp) && lt_openmp_can_start(c->threads);
    lt_signals_block(&before);
    call_with(is_parallel ? c->threads : 1, c);
    lt_signals_restore(&before);
    atomic_fetch_sub(&parallel_calls, 1);
}

/* Calls routine(c), which takes about `work` multiplications: with several threads from `shared`
 * multiplications on, and interruptibly, on its own thread, from LITTLE on. LITTLE takes ten times
 * as long as starting that thread and its pool. */
#define LITTLE 5e8

static int made(void (*routine)(void *context), lapack_call *c, double work, double shared,
                const lt_detached_array *arrays, int n)
{
    lt_status status = LT_OK;
    const int absent = missing();
    if (absent != 0) return absent;
    c->routine = routine;
    c->threads = work < shared || lt_pool_is_lent() ? 1 : lt_get_num_threads();
    if (work < LITTLE)
        call_routine(c);
    else
        status = lt_call_detached(call_routine, c, sizeof *c, arrays, n);
    return status == LT_OK ? c->info : LT_LAPACK_FAILED(status);
}

static double cube(int n) { return (double)n * n * n; }

/* ---- triangular factors ---------------------------------------------------------------------- */

static void lu(void *context)
{
    lapack_call *c = context;
    int n = c->n, lda = at_least_1(n);
    routines_of(c->dtype)->getrf(&n, &n, c->a, &lda, c->vector, &c->info);
}

int lt_lapack_lu(lt_dtype dtype, int n, void *a, int *pivots)
{
    lapack_call c = {.dtype = dtype, .n = n, .a = a, .vector = pivots};
    const lt_detached_array arrays[] = {ARRAY(a, matrix(&c, n, n), true, true),
                                        ARRAY(vector, n * (int64_t)sizeof *pivots, false, true)};
    return made(lu, &c, cube(n), LU, arrays, 2);
}

static void lu_solve(void *context)
{
    lapack_call *c = context;
    int n = c->n, lda = at_least_1(n);
    const char *trans = c->transposed ? "T" : "N";
    routines_of(c->dtype)->getrs(trans, &n, &c->columns, c->a, &lda, c->vector, c->b, &lda,
                                 &c->info);
}

int lt_lapack_lu_solve(lt_dtype dtype, bool transposed, int n, int columns, const void *a,
                       const int *pivots, void *b)
{
    lapack_call c = {.dtype = dtype,
                     .n = n,
                     .columns = columns,
                     .transposed = transposed,
                     .a = (void *)a,
                     .vector = (void *)pivots,
                     .b = b};
    const lt_detached_array arrays[] = {ARRAY(a, matrix(&c, n, n), true, false),
                                        ARRAY(vector, n * (int64_t)sizeof *pivots, true, false),
                                        ARRAY(b, matrix(&c, n, columns), true, true)};
    return made(lu_solve, &c, (double)n * n * columns, SOLVES, arrays, 3);
}

static void cholesky(void *context)
{
    lapack_call *c = context;
    int n = c->n, lda = at_least_1(n);
    routines_of(c->dtype)->potrf(c->upper ? "U" : "L", &n, c->a, &lda, &c->info);
}

int lt_lapack_cholesky(lt_dtype dtype, bool upper, int n, void *a)
{
    lapack_call c = {.dtype = dtype, .n = n, .upper = upper, .a = a};
    const lt_detached_array arrays[] = {ARRAY(a, matrix(&c, n, n), true, true)};
    return made(cholesky, &c, cube(n), FACTORS, arrays, 1);
}

static void triangular(void *context)
{
    lapack_call *c = context;
    int n = c->n, lda = at_least_1(n);
    const char *uplo = c->upper ? "U" : "L", *trans = c->transposed ? "T" : "N",
               *diag = c->unit ? "U" : "N";
    const void *one =
        narrow(c->dtype) ? (const void *)(float[]){1, 0} : (const void *)(double[]){1, 0};
    routines_of(c->dtype)->trsm("L", uplo, trans, diag, &n, &c->columns, one, c->a, &lda, c->b,
                                &lda);
}

int lt_lapack_triangular(lt_dtype dtype, lt_lapack_triangle triangle, int n, int columns,
                         const void *a, void *b)
{
    lapack_call c = {.dtype = dtype,
                     .n = n,
                     .columns = columns,
                     .upper = triangle.upper,
                     .transposed = triangle.transposed,
                     .unit = triangle.unit,
                     .a = (void *)a,
                     .b = b};
    const lt_detached_array arrays[] = {ARRAY(a, matrix(&c, n, n), true, false),
                                        ARRAY(b, matrix(&c, n, columns), true, true)};
    return made(triangular, &c, (double)n * n * columns, SOLVES, arrays, 2);
}

/* ---- routines with a workspace: its size is queried first ------------------------------------ */

typedef struct room {
    void *work, *parts; /* elements; numbers of the type of an element's parts */
    int *whole;         /* integers */
    int size, parts_size, whole_size;
    union {
        float f;
        double d[2];
    } asked, parts_asked;
    int whole_asked;
} room;

static void workspace_query(room *r, int integers)
{
    *r = (room){.size = -1, .parts_size = -1, .whole_size = -1};
    r->whole = &r->whole_asked;
    r->work = &r->asked;
    r->parts = &r->parts_asked;
    r->whole_asked = integers;
}

/* Allocates the workspace of the reported sizes. parts: the size of r->parts, -1: as reported. */
static bool workspace_alloc(room *r, lt_dtype dtype, int64_t parts)
{
    r->size = at_least_1((int)(narrow(dtype) ? (double)r->asked.f * 1.0000002 : r->asked.d[0]));
    r->whole_size = at_least_1(r->whole_asked);
    if (parts < 0)
        parts =
            (int64_t)(narrow(dtype) ? (double)r->parts_asked.f * 1.0000002 : r->parts_asked.d[0]);
    r->parts_size = parts > 1 ? (int)parts : 1;
    r->work = lt_mem_array(r->size, (int64_t)lt_dtype_size(dtype));
    r->parts = lt_mem_array(parts > 1 ? parts : 1, sizeof(double));
    r->whole = lt_mem_zarray(r->whole_size, sizeof(int));
    return r->work != NULL && r->parts != NULL && r->whole != NULL;
}

static void workspace_free(room *r)
{
    lt_mem_free(r->work);
    lt_mem_free(r->parts);
    lt_mem_free(r->whole);
}

/* Runs `call` twice with a workspace r: to query its sizes, then to compute. integers, numbers:
 * sizes of r.whole and r.parts that the routine does not report; numbers -1: it reports it. */
#define IN_ROOM(integers, numbers, call)                                                           \
    room r;                                                                                        \
    workspace_query(&r, integers);                                                                 \
    call;                                                                                          \
    if (c->info != 0) return;                                                                      \
    if (workspace_alloc(&r, c->dtype, numbers))                                                    \
        call;                                                                                      \
    else                                                                                           \
        c->info = -1;                                                                              \
    workspace_free(&r);

static void qr(void *context)
{
    lapack_call *c = context;
    int m = c->m, n = c->n, lda = at_least_1(m);
    IN_ROOM(1, 0,
            routines_of(c->dtype)->geqrf(&m, &n, c->a, &lda, c->vector, r.work, &r.size, &c->info))
}

int lt_lapack_qr(lt_dtype dtype, int m, int n, void *a, void *tau)
{
    lapack_call c = {.dtype = dtype, .m = m, .n = n, .a = a, .vector = tau};
    const int k = m < n ? m : n;
    const lt_detached_array arrays[] = {ARRAY(a, matrix(&c, m, n), true, true),
                                        ARRAY(vector, matrix(&c, k, 1), false, true)};
    return made(qr, &c, 2.0 * m * n * k, FACTORS, arrays, 2);
}

static void qr_q(void *context)
{
    lapack_call *c = context;
    int m = c->m, columns = c->columns, k = c->k, lda = at_least_1(m);
    IN_ROOM(1, 0,
            routines_of(c->dtype)->orgqr(&m, &columns, &k, c->a, &lda, c->vector, r.work, &r.size,
                                         &c->info))
}

int lt_lapack_qr_q(lt_dtype dtype, int m, int columns, int k, void *a, const void *tau)
{
    lapack_call c = {
        .dtype = dtype, .m = m, .columns = columns, .k = k, .a = a, .vector = (void *)tau};
    const lt_detached_array arrays[] = {ARRAY(a, matrix(&c, m, columns), true, true),
                                        ARRAY(vector, matrix(&c, k, 1), true, false)};
    return made(qr_q, &c, 2.0 * m * columns * k, FACTORS, arrays, 2);
}

static void find_svd(void *context)
{
    lapack_call *c = context;
    int m = c->m, n = c->n, k = m < n ? m : n, lda = at_least_1(m),
        ldvt = at_least_1(c->full ? n : k);
    const char *job = c->u == NULL ? "N" : c->full ? "A" : "S";
    /* sufficient for both documented sizes */
    const int64_t longer = m > n ? m : n, parts = lt_mul_sat(k, 5 * (int64_t)k + 2 * longer + 7);
    if (lt_dtype_is_complex(c->dtype)) {
        IN_ROOM(8 * k, parts,
                routines_of(c->dtype)->complex_gesdd(job, &m, &n, c->a, &lda, c->vector, c->u, &lda,
                                                     c->vt, &ldvt, r.work, &r.size, r.parts,
                                                     r.whole, &c->info))
    } else {
        IN_ROOM(8 * k, 0,
                routines_of(c->dtype)->gesdd(job, &m, &n, c->a, &lda, c->vector, c->u, &lda, c->vt,
                                             &ldvt, r.work, &r.size, r.whole, &c->info))
    }
}

int lt_lapack_svd(lt_dtype dtype, bool full, int m, int n, void *a, lt_lapack_svd_results to)
{
    lapack_call c = {.dtype = dtype,
                     .m = m,
                     .n = n,
                     .full = full,
                     .a = a,
                     .vector = to.s,
                     .u = to.u,
                     .vt = to.vt};
    const int k = m < n ? m : n;
    const lt_detached_array arrays[] = {
        ARRAY(a, matrix(&c, m, n), true, false), ARRAY(vector, matrix(&c, k, 1), false, true),
        ARRAY(u, to.u != NULL ? matrix(&c, m, full ? m : k) : 0, false, true),
        ARRAY(vt, to.u != NULL ? matrix(&c, full ? n : k, n) : 0, false, true)};
    return made(find_svd, &c, 10.0 * m * n * k, FACTORS, arrays, 4);
}

static void symmetric_eigen(void *context)
{
    lapack_call *c = context;
    int n = c->n, lda = at_least_1(n);
    const char *job = c->full ? "V" : "N", *uplo = c->upper ? "U" : "L";
    if (lt_dtype_is_complex(c->dtype)) {
        IN_ROOM(1, -1,
                routines_of(c->dtype)->heevd(job, uplo, &n, c->a, &lda, c->vector, r.work, &r.size,
                                             r.parts, &r.parts_size, r.whole, &r.whole_size,
                                             &c->info))
    } else {
        IN_ROOM(1, 0,
                routines_of(c->dtype)->syevd(job, uplo, &n, c->a, &lda, c->vector, r.work, &r.size,
                                             r.whole, &r.whole_size, &c->info))
    }
}

int lt_lapack_symmetric_eigen(lt_dtype dtype, bool upper, bool vectors, int n, void *a,
                              void *values)
{
    lapack_call c = {
        .dtype = dtype, .n = n, .upper = upper, .full = vectors, .a = a, .vector = values};
    const lt_detached_array arrays[] = {ARRAY(a, matrix(&c, n, n), true, true),
                                        ARRAY(vector, matrix(&c, n, 1), false, true)};
    return made(symmetric_eigen, &c, 5 * cube(n), FACTORS, arrays, 2);
}

static void least_squares(void *context)
{
    lapack_call *c = context;
    int m = c->m, n = c->n, lda = at_least_1(m), ldb = at_least_1(m > n ? m : n);
    const float narrow_rcond = (float)c->rcond;
    const void *rcond = narrow(c->dtype) ? (const void *)&narrow_rcond : &c->rcond;
    if (lt_dtype_is_complex(c->dtype)) {
        IN_ROOM(n, 2 * (int64_t)n,
                routines_of(c->dtype)->complex_gelsy(&m, &n, &c->columns, c->a, &lda, c->b, &ldb,
                                                     r.whole, rcond, &c->rank, r.work, &r.size,
                                                     r.parts, &c->info))
    } else {
        IN_ROOM(n, 0,
                routines_of(c->dtype)->gelsy(&m, &n, &c->columns, c->a, &lda, c->b, &ldb, r.whole,
                                             rcond, &c->rank, r.work, &r.size, &c->info))
    }
}

int lt_lapack_least_squares(lt_dtype dtype, lt_lapack_system system, double rcond, int *rank)
{
    const int m = system.m, n = system.n, columns = system.columns;
    lapack_call c = {.dtype = dtype,
                     .m = m,
                     .n = n,
                     .columns = columns,
                     .a = system.a,
                     .b = system.b,
                     .rcond = rcond};
    const lt_detached_array arrays[] = {ARRAY(a, matrix(&c, m, n), true, false),
                                        ARRAY(b, matrix(&c, m > n ? m : n, columns), true, true)};
    const int info = made(least_squares, &c, 4.0 * m * n * ((m < n ? m : n) + (double)columns),
                          FACTORS, arrays, 2);
    *rank = c.rank;
    return info;
}

/* ---- eigenvalues of any square matrix -------------------------------------------------------- */

/* Entry i of an array of parts. */
static double part(lt_dtype dtype, const void *array, int64_t i)
{
    return narrow(dtype) ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

static void set_pair(lt_dtype dtype, void *array, int64_t i, double real, double imaginary)
{
    if (narrow(dtype)) {
        ((float *)array)[2 * i] = (float)real;
        ((float *)array)[2 * i + 1] = (float)imaginary;
    } else {
        ((double *)array)[2 * i] = real;
        ((double *)array)[2 * i + 1] = imaginary;
    }
}

/* Converts geev's results for a real matrix to complex numbers: values with parts re and im; for a
 * complex pair, two adjacent columns of v are the real and imaginary part of its first vector, and
 * the second vector is the conjugate. */
static void as_complex(const lapack_call *c, const void *re, const void *im, const void *v)
{
    const int64_t n = c->n;
    for (int64_t i = 0; i < n; i++)
        set_pair(c->dtype, c->vector, i, part(c->dtype, re, i), part(c->dtype, im, i));
    for (int64_t i = 0; v != NULL && i < n; i++) {
        const bool pair = part(c->dtype, im, i) != 0;
        for (int64_t row = 0; row < n; row++) {
            const double x = part(c->dtype, v, i * n + row),
                         y = pair ? part(c->dtype, v, (i + 1) * n + row) : 0;
            set_pair(c->dtype, c->u, i * n + row, x, y);
            if (pair) set_pair(c->dtype, c->u, (i + 1) * n + row, x, -y);
        }
        if (pair) i++;
    }
}

static void eigen_of_real(lapack_call *c, void *re, void *im, void *v)
{
    int n = c->n, lda = at_least_1(n);
    IN_ROOM(1, 0,
            routines_of(c->dtype)->geev("N", c->u != NULL ? "V" : "N", &n, c->a, &lda, re, im, NULL,
                                        &lda, v, &lda, r.work, &r.size, &c->info))
}

static void eigen(void *context)
{
    lapack_call *c = context;
    int n = c->n, lda = at_least_1(n);
    if (lt_dtype_is_complex(c->dtype)) {
        IN_ROOM(1, 2 * (int64_t)n,
                routines_of(c->dtype)->complex_geev("N", c->u != NULL ? "V" : "N", &n, c->a, &lda,
                                                    c->vector, NULL, &lda, c->u, &lda, r.work,
                                                    &r.size, r.parts, &c->info))
        return;
    }
    void *re = lt_mem_array(n, sizeof(double)), *im = lt_mem_array(n, sizeof(double));
    void *v = c->u != NULL ? lt_mem_array(lt_mul_sat(n, n), sizeof(double)) : NULL;
    if (re == NULL || im == NULL || (c->u != NULL && v == NULL))
        c->info = -1;
    else
        eigen_of_real(c, re, im, v);
    if (c->info == 0) as_complex(c, re, im, v);
    lt_mem_free(re);
    lt_mem_free(im);
    lt_mem_free(v);
}

int lt_lapack_eigen(lt_dtype dtype, int n, void *a, void *values, void *vectors)
{
    lapack_call c = {.dtype = dtype, .n = n, .a = a, .vector = values, .u = vectors};
    const int64_t pair = 2 * (int64_t)lt_dtype_size(lt_real_of(dtype));
    const lt_detached_array arrays[] = {
        ARRAY(a, matrix(&c, n, n), true, false), ARRAY(vector, lt_mul_sat(n, pair), false, true),
        ARRAY(u, vectors != NULL ? lt_mul_sat(lt_mul_sat(n, n), pair) : 0, false, true)};
    return made(eigen, &c, 25 * cube(n), FACTORS, arrays, 3);
}

/* ---- symmetric indefinite matrices ----------------------------------------------------------- */

static void ldl(void *context)
{
    lapack_call *c = context;
    int n = c->n, lda = at_least_1(n);
    const lapack_routines *all = routines_of(c->dtype);
    IN_ROOM(1, 0,
            (c->hermitian ? all->hetrf : all->sytrf)("L", &n, c->a, &lda, c->vector, r.work,
                                                     &r.size, &c->info))
}

int lt_lapack_ldl(lt_dtype dtype, bool hermitian, int n, void *a, int *pivots)
{
    lapack_call c = {.dtype = dtype, .n = n, .hermitian = hermitian, .a = a, .vector = pivots};
    const lt_detached_array arrays[] = {ARRAY(a, matrix(&c, n, n), true, true),
                                        ARRAY(vector, n * (int64_t)sizeof *pivots, false, true)};
    return made(ldl, &c, cube(n), FACTORS, arrays, 2);
}

static void ldl_solve(void *context)
{
    lapack_call *c = context;
    int n = c->n, lda = at_least_1(n);
    const lapack_routines *all = routines_of(c->dtype);
    (c->hermitian ? all->hetrs : all->sytrs)("L", &n, &c->columns, c->a, &lda, c->vector, c->b,
                                             &lda, &c->info);
}

int lt_lapack_ldl_solve(lt_dtype dtype, bool hermitian, int n, int columns, const void *a,
                        const int *pivots, void *b)
{
    lapack_call c = {.dtype = dtype,
                     .n = n,
                     .columns = columns,
                     .hermitian = hermitian,
                     .a = (void *)a,
                     .vector = (void *)pivots,
                     .b = b};
    const lt_detached_array arrays[] = {ARRAY(a, matrix(&c, n, n), true, false),
                                        ARRAY(vector, n * (int64_t)sizeof *pivots, true, false),
                                        ARRAY(b, matrix(&c, n, columns), true, true)};
    return made(ldl_solve, &c, (double)n * n * columns, SOLVES, arrays, 3);
}
