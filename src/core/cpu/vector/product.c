/* product.c - products of matrices and vectors of float and double (lt_product), on one thread. The sums of a tile of
 * C, some rows by two vectors of columns, stay in registers while k goes by: every step reads two vectors of B and one
 * element of A for each row. Columns of B are brought side by side into a panel first, which the rows of A then pass by;
 * A is read where it lies. A product with a vector reads the matrix once, in the order in which it lies. An element of C
 * is the same sum however a product is cut into pieces of rows and columns. */
#include "cpu/common/loops.h"
#include "lanes.h"

#define DEPTH 512 /* of a panel: sums of more products than that are added up in C */

#if defined(__AVX512F__)
#define ROWS 8 /* times two sums are what the registers hold, and enough to hide how long one step takes */
#else
#define ROWS 4
#endif

/* Four vectors of four floats (two of two doubles) from lines `step` apart, turned round, to lines `width` apart. */
static inline void turn_f32(float *to, int64_t width, const float *from, int64_t step)
{
    __m128 a = _mm_loadu_ps(from), b = _mm_loadu_ps(from + step), c = _mm_loadu_ps(from + 2 * step),
           d = _mm_loadu_ps(from + 3 * step);
    _MM_TRANSPOSE4_PS(a, b, c, d);
    _mm_storeu_ps(to, a);
    _mm_storeu_ps(to + width, b);
    _mm_storeu_ps(to + 2 * width, c);
    _mm_storeu_ps(to + 3 * width, d);
}

static inline void turn_f64(double *to, int64_t width, const double *from, int64_t step)
{
    const __m128d a = _mm_loadu_pd(from), b = _mm_loadu_pd(from + step);
    _mm_storeu_pd(to, _mm_unpacklo_pd(a, b));
    _mm_storeu_pd(to + width, _mm_unpackhi_pd(a, b));
}

/* to[p][j] = from[p * row + j * column], p < k, j < n <= width; the rest of a line of the panel is 0. */
#define PACK(s, S, T, SIDE)                                                                        \
    static void pack_##s(T *to, int64_t width, const T *from, int64_t row, int64_t column, int64_t k, int64_t n) \
    {                                                                                              \
        if (column == 1) {                                                                         \
            for (int64_t p = 0; p < k; p++, to += width, from += row)                              \
                for (int64_t j = 0; j < width; j += LANES_##S) {                                   \
                    const int64_t rest = n - j < LANES_##S ? n - j : LANES_##S;                    \
                    STORE_##S(to + j, get_##s(from + j, rest));                                    \
                }                                                                                  \
            return;                                                                                \
        }                                                                                          \
        const int64_t square_k = row == 1 ? k / SIDE * SIDE : 0, square_n = n / SIDE * SIDE;       \
        if (n < width) memset(to, 0, (size_t)(k * width) * sizeof *to);                            \
        for (int64_t p = 0; p < square_k; p += SIDE)                                               \
            for (int64_t j = 0; j < square_n; j += SIDE)                                           \
                turn_##s(to + p * width + j, width, from + j * column + p, column);                \
        for (int64_t p = 0; p < k; p++)                                                            \
            for (int64_t j = p < square_k ? square_n : 0; j < n; j++) to[p * width + j] = from[p * row + j * column]; \
    }

/* R rows by V vectors, the first n columns of which exist. Lines of the panel lie `step` apart. */
#define TILE(R, V, s, S, T)                                                                        \
    static void tile_##R##x##V##_##s(const lt_product *g, int64_t k, const T *a, const T *b, int64_t step, T *c, \
                                     int64_t n, T beta)                                            \
    {                                                                                              \
        const int64_t a_row = g->a_row, a_column = g->a_column;                                    \
        lanes_##s sums[R][V];                                                                      \
        for (int r = 0; r < R; r++)                                                                \
            for (int v = 0; v < V; v++) sums[r][v] = ALL_##S(0);                                   \
        for (int64_t p = 0; p < k; p++, a += a_column, b += step) {                                \
            lanes_##s line[V];                                                                     \
            for (int v = 0; v < V; v++) line[v] = LOAD_##S(b + v * LANES_##S);                     \
            for (int r = 0; r < R; r++) {                                                          \
                const lanes_##s x = ALL_##S(a[r * a_row]);                                         \
                for (int v = 0; v < V; v++) sums[r][v] = MULTIPLY_ADD_##S(x, line[v], sums[r][v]); \
            }                                                                                      \
        }                                                                                          \
        const lanes_##s alpha = ALL_##S((T)g->alpha), zero = ALL_##S(0);                           \
        for (int r = 0; r < R; r++, c += g->c_row)                                                 \
            for (int v = 0; v < V; v++) {                                                          \
                T *to = c + v * LANES_##S * g->c_column, here[LANES_##S];                          \
                const int64_t width = n - v * LANES_##S < LANES_##S ? n - v * LANES_##S : LANES_##S; \
                if (g->c_column == 1) {                                                            \
                    lanes_##s start = beta == 0 ? zero : MULTIPLY_ADD_##S(ALL_##S(beta), get_##s(to, width), zero); \
                    put_##s(to, MULTIPLY_ADD_##S(alpha, sums[r][v], start), width);                \
                } else {                                                                           \
                    STORE_##S(here, sums[r][v]);                                                   \
                    for (int64_t j = 0; j < width; j++, to += g->c_column)                         \
                        *to = (beta == 0 ? 0 : beta * *to) + (T)g->alpha * here[j];                \
                }                                                                                  \
            }                                                                                      \
    }

/* All rows by one panel. */
#define RUN_ROWS(R, V, s) \
    for (; i + R <= g->m; i += R)                                                                  \
        tile_##R##x##V##_##s(g, k, a + i * g->a_row, b, step, c + i * g->c_row, n, beta);

/* C and B have one column, A has dense rows: some of its rows at a time. Long sums are made of those of BLOCK products,
 * which are more exact. */
#define BLOCK 1024
#define DOTS(R, s, S, T)                                                                           \
    static void dots_##R##_##s(const lt_product *g, const T *a, T *c)                              \
    {                                                                                              \
        const T *b = g->b;                                                                         \
        T total[R] = {0};                                                                          \
        for (int64_t p = 0; p < g->k;) {                                                           \
            const int64_t end = g->k - p < BLOCK ? g->k : p + BLOCK;                               \
            lanes_##s sums[R][2];                                                                  \
            for (int r = 0; r < R; r++) sums[r][0] = sums[r][1] = ALL_##S(0);                      \
            for (; p + 2 * LANES_##S <= end; p += 2 * LANES_##S) {                                 \
                const lanes_##s x = LOAD_##S(b + p), y = LOAD_##S(b + p + LANES_##S);              \
                for (int r = 0; r < R; r++) {                                                      \
                    sums[r][0] = MULTIPLY_ADD_##S(LOAD_##S(a + r * g->a_row + p), x, sums[r][0]);  \
                    sums[r][1] = MULTIPLY_ADD_##S(LOAD_##S(a + r * g->a_row + p + LANES_##S), y, sums[r][1]); \
                }                                                                                  \
            }                                                                                      \
            for (; p < end; p += LANES_##S) {                                                      \
                const int64_t n = end - p < LANES_##S ? end - p : LANES_##S;                       \
                const lanes_##s x = get_##s(b + p, n);                                             \
                for (int r = 0; r < R; r++)                                                        \
                    sums[r][0] = MULTIPLY_ADD_##S(get_##s(a + r * g->a_row + p, n), x, sums[r][0]); \
            }                                                                                      \
            for (int r = 0; r < R; r++) total[r] += total_##s(sums[r][0]) + total_##s(sums[r][1]); \
        }                                                                                          \
        for (int r = 0; r < R; r++, c += g->c_row)                                                 \
            *c = (g->beta == 0 ? 0 : (T)g->beta * *c) + (T)g->alpha * total[r];                    \
    }

/* C and B have one column, A has dense columns: those are added up, four at a time, for WIDTH rows. */
#define WIDTH 1024
#define SUMS(s, S, T)                                                                              \
    static void sums_##s(const lt_product *g, const T *a, T *c, int64_t m)                         \
    {                                                                                              \
        T sum[WIDTH] = {0};                                                                        \
        const T *b = g->b;                                                                         \
        const int64_t step = g->a_column;                                                          \
        int64_t p = 0;                                                                             \
        for (; p + 4 <= g->k; p += 4, a += 4 * step, b += 4 * g->b_row) {                          \
            const T w = b[0], x = b[g->b_row], y = b[2 * g->b_row], z = b[3 * g->b_row];           \
            _Pragma("omp simd") for (int64_t i = 0; i < m; i++)                                    \
                sum[i] += (a[i] * w + a[i + step] * x) + (a[i + 2 * step] * y + a[i + 3 * step] * z); \
        }                                                                                          \
        for (; p < g->k; p++, a += step, b += g->b_row)                                            \
            _Pragma("omp simd") for (int64_t i = 0; i < m; i++) sum[i] += a[i] * *b;               \
        for (int64_t i = 0; i < m; i++, c += g->c_row)                                             \
            *c = (g->beta == 0 ? 0 : (T)g->beta * *c) + (T)g->alpha * sum[i];                      \
    }

#define PRODUCT(s, S, T, SIDE)                                                                     \
    PACK(s, S, T, SIDE)                                                                            \
    EACH_TILE(1, s, S, T)                                                                          \
    EACH_TILE(2, s, S, T)                                                                          \
    static void pass_##s(const lt_product *g, int64_t k, const T *a, const T *b, int64_t step, T *c, int64_t n, T beta) \
    {                                                                                              \
        int64_t i = 0;                                                                             \
        if (n <= LANES_##S) {                                                                      \
            EACH_ROWS(1, s)                                                                        \
        } else {                                                                                   \
            EACH_ROWS(2, s)                                                                        \
        }                                                                                          \
    }                                                                                              \
    DOTS(4, s, S, T)                                                                               \
    DOTS(1, s, S, T)                                                                               \
    SUMS(s, S, T)                                                                                  \
    static void all_dots_##s(const lt_product *g)                                                  \
    {                                                                                              \
        const T *a = g->a;                                                                         \
        T *c = g->c;                                                                               \
        int64_t i = 0;                                                                             \
        for (; i + 4 <= g->m; i += 4) dots_4_##s(g, a + i * g->a_row, c + i * g->c_row);           \
        for (; i < g->m; i++) dots_1_##s(g, a + i * g->a_row, c + i * g->c_row);                   \
    }                                                                                              \
    static void vector_##s(const lt_product *g)                                                    \
    {                                                                                              \
        T dense[DEPTH];                                                                            \
        if (g->a_column != 1) {                                                                    \
            for (int64_t i = 0; i < g->m; i += WIDTH)                                              \
                sums_##s(g, (const T *)g->a + i, (T *)g->c + i * g->c_row, g->m - i < WIDTH ? g->m - i : WIDTH); \
            return;                                                                                \
        }                                                                                          \
        if (g->b_row == 1) {                                                                       \
            all_dots_##s(g);                                                                       \
            return;                                                                                \
        }                                                                                          \
        lt_product part = *g;                                                                      \
        part.b = dense;                                                                            \
        for (int64_t p = 0; p == 0 || p < g->k; p += DEPTH) {                                                \
            part.k = g->k - p < DEPTH ? g->k - p : DEPTH;                                          \
            part.a = (const T *)g->a + p;                                                          \
            for (int64_t i = 0; i < part.k; i++) dense[i] = ((const T *)g->b)[(p + i) * g->b_row]; \
            all_dots_##s(&part);                                                                   \
            part.beta = 1;                                                                         \
        }                                                                                          \
    }                                                                                              \
    static void matrix_##s(const lt_product *g)                                                    \
    {                                                                                              \
        T panel[DEPTH * 2 * LANES_##S] __attribute__((aligned(64)));                               \
        for (int64_t j = 0; j < g->n; j += 2 * LANES_##S)                                          \
            for (int64_t p = 0; p == 0 || p < g->k; p += DEPTH) {                                            \
                const int64_t n = g->n - j < 2 * LANES_##S ? g->n - j : 2 * LANES_##S, k = g->k - p < DEPTH ? g->k - p : DEPTH; \
                const int64_t width = n <= LANES_##S ? LANES_##S : 2 * LANES_##S;                  \
                const T *b = (const T *)g->b + p * g->b_row + j * g->b_column, *lines = b;         \
                int64_t step = g->b_row;                                                           \
                if (g->m > ROWS || n < width || g->b_column != 1) {                                \
                    pack_##s(panel, width, b, g->b_row, g->b_column, k, n);                        \
                    lines = panel;                                                                 \
                    step = width;                                                                  \
                }                                                                                  \
                pass_##s(g, k, (const T *)g->a + p * g->a_column, lines, step, (T *)g->c + j * g->c_column, n, \
                         p == 0 ? (T)g->beta : 1);                                                 \
            }                                                                                      \
    }                                                                                              \
    static void product_##s(const lt_product *g) { (g->n == 1 ? vector_##s : matrix_##s)(g); }

#if ROWS == 8
#define EACH_TILE(V, s, S, T) TILE(8, V, s, S, T) TILE(4, V, s, S, T) TILE(2, V, s, S, T) TILE(1, V, s, S, T)
#define EACH_ROWS(V, s) RUN_ROWS(8, V, s) RUN_ROWS(4, V, s) RUN_ROWS(2, V, s) RUN_ROWS(1, V, s)
#else
#define EACH_TILE(V, s, S, T) TILE(4, V, s, S, T) TILE(2, V, s, S, T) TILE(1, V, s, S, T)
#define EACH_ROWS(V, s) RUN_ROWS(4, V, s) RUN_ROWS(2, V, s) RUN_ROWS(1, V, s)
#endif
PRODUCT(f32, F32, float, 4)
PRODUCT(f64, F64, double, 2)

const lt_product_loop LT_LOOP(product)[2] = {product_f32, product_f64};
