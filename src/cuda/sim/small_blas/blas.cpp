/* blas.cpp - the functions of BLAS and LAPACK that the simulated cuBLAS and cuDNN call, in builds without OpenBLAS
 * (WebAssembly, static programs): products, triangular systems, LU and QR factors. Matrices are column-major. */
#include <cblas.h>

#include <algorithm>
#include <math.h>
#include <vector>

namespace {

/* The matrix, transposed if the flag is set, with the leading dimension of its rows. */
template <class T>
const T *plain(bool transposed, int rows, int columns, const T *a, int lda, std::vector<T> &copy,
               int *leading)
{
    *leading = transposed ? rows : lda;
    if (!transposed) return a;
    copy.resize((size_t)rows * (size_t)columns);
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++) copy[(size_t)j * rows + i] = a[(size_t)i * lda + j];
    return copy.data();
}

/* Four columns of A at a time, so that a column of C is loaded once for them. */
template <class T> void add_products(int m, int k, const T *a, int lda, const T *weights, T *c)
{
    int l = 0;
    for (; l + 4 <= k; l += 4) {
        const T *a0 = a + (size_t)l * lda, *a1 = a0 + lda, *a2 = a1 + lda, *a3 = a2 + lda;
        const T w0 = weights[l], w1 = weights[l + 1], w2 = weights[l + 2], w3 = weights[l + 3];
        for (int i = 0; i < m; i++) c[i] += a0[i] * w0 + a1[i] * w1 + a2[i] * w2 + a3[i] * w3;
    }
    for (; l < k; l++)
        for (int i = 0; i < m; i++) c[i] += a[(size_t)l * lda + i] * weights[l];
}

template <class T>
void multiply(CBLAS_ORDER order, bool ta, bool tb, int m, int n, int k, T alpha, const T *a,
              int lda, const T *b, int ldb, T beta, T *c, int ldc)
{
    if (order == CblasRowMajor) {
        multiply(CblasColMajor, tb, ta, n, m, k, alpha, b, ldb, a, lda, beta, c, ldc);
        return;
    }
    std::vector<T> of_a, of_b, weights((size_t)k);
    a = plain(ta, m, k, a, lda, of_a, &lda);
    b = plain(tb, k, n, b, ldb, of_b, &ldb);
    for (int j = 0; j < n; j++) {
        T *column = c + (size_t)j * ldc;
        for (int i = 0; i < m; i++) column[i] = beta == 0 ? 0 : beta * column[i];
        for (int l = 0; l < k; l++) weights[(size_t)l] = alpha * b[(size_t)j * ldb + l];
        add_products(m, k, a, lda, weights.data(), column);
    }
}

template <class T>
void solve(bool upper, bool transposed, bool unit, int m, int n, T alpha, const T *a, int lda, T *b,
           int ldb)
{
    const bool backwards = upper != transposed;
    for (int j = 0; j < n; j++) {
        T *x = b + (size_t)j * ldb;
        for (int i = 0; i < m; i++) x[i] *= alpha;
        for (int step = 0; step < m; step++) {
            const int i = backwards ? m - 1 - step : step;
            T sum = x[i];
            for (int done = 0; done < step; done++) {
                const int l = backwards ? m - 1 - done : done;
                sum -= (transposed ? a[(size_t)i * lda + l] : a[(size_t)l * lda + i]) * x[l];
            }
            x[i] = unit ? sum : sum / a[(size_t)i * lda + i];
        }
    }
}

/* Rows are exchanged for the pivot of the largest magnitude. Returns the first column with a pivot of 0, or 0. */
template <class T> int factor_lu(int m, int n, T *a, int lda, int *pivots)
{
    int info = 0;
    auto at = [=](int i, int j) -> T & { return a[(size_t)j * lda + i]; };
    for (int j = 0; j < std::min(m, n); j++) {
        int pivot = j;
        for (int i = j + 1; i < m; i++)
            if (fabs(at(i, j)) > fabs(at(pivot, j))) pivot = i;
        pivots[j] = pivot + 1;
        if (at(pivot, j) == 0) {
            if (info == 0) info = j + 1;
            continue;
        }
        for (int l = 0; l < n; l++) std::swap(at(j, l), at(pivot, l));
        for (int i = j + 1; i < m; i++) at(i, j) /= at(j, j);
        for (int l = j + 1; l < n; l++)
            for (int i = j + 1; i < m; i++) at(i, l) -= at(i, j) * at(j, l);
    }
    return info;
}

template <class T>
void solve_by_lu(bool transposed, int n, int columns, const T *a, int lda, const int *pivots, T *b,
                 int ldb)
{
    auto exchange = [&](int i) {
        for (int j = 0; j < columns; j++)
            std::swap(b[(size_t)j * ldb + i], b[(size_t)j * ldb + pivots[i] - 1]);
    };
    if (!transposed)
        for (int i = 0; i < n; i++) exchange(i);
    solve<T>(transposed, transposed, !transposed, n, columns, 1, a, lda, b, ldb);
    solve<T>(!transposed, transposed, transposed, n, columns, 1, a, lda, b, ldb);
    if (transposed)
        for (int i = n; i-- > 0;) exchange(i);
}

/* Householder reflections, as LAPACK's geqr2. */
template <class T> void factor_qr(int m, int n, T *a, int lda, T *tau)
{
    for (int j = 0; j < std::min(m, n); j++) {
        T *column = a + (size_t)j * lda, below = 0;
        for (int i = j + 1; i < m; i++) below = hypot(below, column[i]);
        tau[j] = 0;
        if (below == 0) continue;
        const T head = column[j], beta = -copysign(hypot(head, below), head);
        tau[j] = (beta - head) / beta;
        for (int i = j + 1; i < m; i++) column[i] /= head - beta;
        column[j] = beta;
        for (int l = j + 1; l < n; l++) {
            T *other = a + (size_t)l * lda, sum = other[j];
            for (int i = j + 1; i < m; i++) sum += column[i] * other[i];
            sum *= tau[j];
            other[j] -= sum;
            for (int i = j + 1; i < m; i++) other[i] -= column[i] * sum;
        }
    }
}

} // namespace

extern "C" {
#define BLAS(p, T)                                                                                 \
    void cblas_##p##gemm(CBLAS_ORDER order, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, blasint m,     \
                         blasint n, blasint k, T alpha, const T *a, blasint lda, const T *b,       \
                         blasint ldb, T beta, T *c, blasint ldc)                                   \
    {                                                                                              \
        multiply(order, ta != CblasNoTrans, tb != CblasNoTrans, m, n, k, alpha, a, lda, b, ldb,    \
                 beta, c, ldc);                                                                    \
    }                                                                                              \
    void cblas_##p##trsm(CBLAS_ORDER, CBLAS_SIDE, CBLAS_UPLO uplo, CBLAS_TRANSPOSE ta,             \
                         CBLAS_DIAG diag, blasint m, blasint n, T alpha, const T *a, blasint lda,  \
                         T *b, blasint ldb)                                                        \
    {                                                                                              \
        solve(uplo == CblasUpper, ta != CblasNoTrans, diag == CblasUnit, m, n, alpha, a, lda, b,   \
              ldb);                                                                                \
    }

#define LU(p, T)                                                                                   \
    void p##getrf_(const int *m, const int *n, T *a, const int *lda, int *pivots, int *info)       \
    {                                                                                              \
        *info = factor_lu(*m, *n, a, *lda, pivots);                                                \
    }                                                                                              \
    void p##getrs_(const char *trans, const int *n, const int *columns, const T *a,                \
                   const int *lda, const int *pivots, T *b, const int *ldb, int *info)             \
    {                                                                                              \
        solve_by_lu(*trans != 'N', *n, *columns, a, *lda, pivots, b, *ldb);                        \
        *info = 0;                                                                                 \
    }

#define QR(p, T)                                                                                   \
    void p##geqrf_(const int *m, const int *n, T *a, const int *lda, T *tau, T *, const int *size, \
                   int *info)                                                                      \
    {                                                                                              \
        *info = 0;                                                                                 \
        if (*size != -1) factor_qr(*m, *n, a, *lda, tau);                                          \
    }
BLAS(s, float)
BLAS(d, double)
LU(s, float)
LU(d, double)
QR(s, float)
QR(d, double)
#undef BLAS
#undef LU
#undef QR
}
