/* product.c - products of matrices and vectors of float and double (lt_product), on one thread. The sums of a tile of
 * C, some rows by two vectors of columns, stay in registers while k goes by: every step reads two vectors of B and one
 * element of A for each row. Columns of B are brought side by side into a panel first, which the rows of A then pass by;
 * A is read where it lies. A product with a vector reads the matrix once, in the order in which it lies. An element of C
 * is the same sum however a product is cut into pieces of rows and columns. The loops stand in product.inc. */
#include "cpu/common/loops.h"
#include "lanes.h"

#define DEPTH 512 /* of a panel: sums of more products than that are added up in C */

#if defined(__AVX512F__)
#define FEW_ROWS 4 /* of few columns */
#define ROWS 8 /* times two sums are what the registers hold, and enough to hide how long one step takes */
#else
#define FEW_ROWS 2
#define ROWS 4
#endif

/* Four vectors of four floats (two of two doubles) from lines `step` apart, turned round, to lines `width` apart. */
#if defined(__x86_64__)
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
#else
static inline void turn_f32(float *to, int64_t width, const float *from, int64_t step)
{
    const lanes_f32 a = LOAD_F32(from), b = LOAD_F32(from + step), c = LOAD_F32(from + 2 * step), d = LOAD_F32(from + 3 * step);
    const lanes_f32 ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5),
                    more_ab = __builtin_shufflevector(a, b, 2, 6, 3, 7), more_cd = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    STORE_F32(to, __builtin_shufflevector(ab, cd, 0, 1, 4, 5));
    STORE_F32(to + width, __builtin_shufflevector(ab, cd, 2, 3, 6, 7));
    STORE_F32(to + 2 * width, __builtin_shufflevector(more_ab, more_cd, 0, 1, 4, 5));
    STORE_F32(to + 3 * width, __builtin_shufflevector(more_ab, more_cd, 2, 3, 6, 7));
}

static inline void turn_f64(double *to, int64_t width, const double *from, int64_t step)
{
    const lanes_f64 a = LOAD_F64(from), b = LOAD_F64(from + step);
    STORE_F64(to, __builtin_shufflevector(a, b, 0, 2));
    STORE_F64(to + width, __builtin_shufflevector(a, b, 1, 3));
}
#endif

#define BLOCK 1024 /* products of which a long sum is made */
#define WIDTH 1024 /* rows of a matrix whose columns are added up */

#define T       float
#define SIDE    4
#define L(NAME) NAME##_F32
#define S(name) name##_f32
#include "product.inc"
#undef T
#undef SIDE
#undef L
#undef S
#define T       double
#define SIDE    2
#define L(NAME) NAME##_F64
#define S(name) name##_f64
#include "product.inc"
#undef T
#undef SIDE
#undef L
#undef S

const lt_product_loop LT_LOOP(product)[2] = {product_f32, product_f64};
