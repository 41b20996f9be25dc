/* loops.h - the vector loops: what src/core/cpu/vector compiles once per instruction set.
 *
 * Every file of vector/ is built three times, with LT_ISA one of baseline, avx2, avx512 and flags
 * that let the compiler use these instructions; LT_LOOP(name) gives each copy its own symbol.
 * loops.c picks one set at start, by what the processor has, or as LTENSOR_CPU says. A loop knows
 * nothing of tensors, threads or errors. Included by src/core/cpu only. */
#ifndef LT_CPU_LOOPS_H
#define LT_CPU_LOOPS_H

#include "cpu/fft/lanes.h"
#include "devices/backend.h"
#include "dtypes/half.h"
#include "cpu/common/sizes.h"
#include "kernel_families.h" /* generated from the declarations */

/* n elements; ptrs[0] is the output; strides in bytes. context: the op's numbers (lt_scalar), or
 * what a loop of the driver itself needs. */
typedef void (*lt_loop)(char *const *ptrs, const int64_t *strides, int64_t n, const void *context);

typedef lt_loop lt_pointwise_row[LT_DTYPE_COUNT];

/* The loops of an elementwise op over complex64 and complex128. */
typedef struct lt_complex_loops {
    int op;
    lt_loop of[2];
} lt_complex_loops;

enum {
    /* fixed: accumulators of a sum; as many for every instruction set, so that sums are the same */
    LT_ACCUMULATORS = 64,
    /* tuning: elements of a line that are converted, or mapped, at a time; they stay in L1 beside
     * the operands; norms of rows take 1.10 of their time with half of it (Zen 5, 2026-11-28) */
    LT_SLICE_BLOCK = 1024
};

/* What accumulators are joined in: double for floats, int64 for integers and bools. */
typedef union lt_total {
    double d;
    int64_t i;
    uint64_t u;
} lt_total;

/* A line that comes in pieces of at least LT_SLICE_BLOCK elements: what was made of those that came;
 * zeroed at first. */
typedef struct lt_slice_part {
    bool begun;
    int64_t rows;               /* that the lanes have taken */
    lt_total parts[8], careful; /* careful: of pieces with a nan */
    /* accumulators of the rows, of which element i of a line goes to number i % LT_ACCUMULATORS */
    _Alignas(64) char lanes[LT_ACCUMULATORS * 8];
} lt_slice_part;

/* The loops of one reduction in one type of elements. */
typedef struct lt_reduce_loops {
    lt_total identity;
    /* Joins each of count dense lines of n elements, stride bytes apart, into its total. */
    void (*line)(lt_total *totals, const char *lines, int64_t stride, int64_t count, int64_t n,
                 double parameter);
    /* The same with a parameter for each line, where that is worth a loop of its own; else NULL. */
    void (*lines)(lt_total *totals, const char *lines, int64_t stride, int64_t count, int64_t n,
                  const lt_total *parameters);
    /* The same of one line in pieces, to the bit: n elements, a multiple of LT_SLICE_BLOCK, or the
     * last ones, which alone have a total. NULL: line() may be given one piece after the other,
     * each of a multiple of LT_SLICE_BLOCK. */
    void (*piece)(lt_slice_part *part, const void *elements, int64_t n, double parameter,
                  lt_total *total);
    /* acc[j] = step(acc[j], rows[i][j]) for ncols columns of nrows rows that lie row_stride bytes
     * apart. Columns are contiguous; the parameters, one a column, are of the elements' type,
     * accumulators of `lane` bytes, at most 8. begin: acc holds nothing yet (of no rows, too). At
     * most LT_COLUMNS_FLUSH rows are added up before the accumulators are joined into totals. */
    void (*rows)(void *acc, bool begin, const char *rows, int64_t row_stride, int64_t nrows,
                 int64_t ncols, const void *parameters);
    void (*join)(lt_total *totals, const void *acc, int64_t n);
    void (*merge)(lt_total *totals, const lt_total *others, int64_t n);
    int64_t lane;
} lt_reduce_loops;

/* fixed: rows of LT_ACCUMULATORS elements that are added up before accumulators are joined into totals
 * of double; equal numbers, whose errors add up, lose five units in the last place at most */
#define LT_ROWS_FLUSH 32
/* fixed: the same of rows of columns; they are added by fours first */
#define LT_COLUMNS_FLUSH 128

typedef enum lt_rows_op {
    LT_ROWS_SUM,
    LT_ROWS_PROD,
    LT_ROWS_MAX, /* nan wins */
    LT_ROWS_MIN,
    LT_ROWS_SUM_ABS,
    LT_ROWS_SUM_SQUARE,
    LT_ROWS_SUM_OFF,        /* x - parameter */
    LT_ROWS_SUM_SQUARE_OFF, /* (x - parameter)^2 */
    LT_ROWS_SUM_POWER,      /* |x|^parameter */
    LT_ROWS_SUM_EXP,        /* exp(x - parameter) */
    LT_ROWS_SUM_NUMBERS,    /* without nan */
    LT_ROWS_MAX_ABS,
    LT_ROWS_MIN_ABS,
    LT_ROWS_COUNT, /* of elements that are not 0 */
    LT_ROWS_OPS
} lt_rows_op;

/* The types that reductions are computed in. LT_ROWS_U8 is bool: bytes of 0 and 1. */
enum { LT_ROWS_F32, LT_ROWS_F64, LT_ROWS_I64, LT_ROWS_U8, LT_ROWS_TYPES };

/* Extremes and running totals (vector/reduce/scan.c), by LT_ROWS_F32, _F64 and _I64. Places of
 * float are int32, of the others int64. */
typedef struct lt_scan_loops {
    /* Position of the first element that is the value, or nan. One of them must be there. */
    int64_t (*find)(const void *line, int64_t n, lt_total value);
    /* Rows number first, first + 1, ... taken into the extremes of ncols columns and their places;
     * last: of equals. */
    void (*across)(bool maximum, bool last, void *best, void *place, const char *rows,
                   int64_t row_stride, int64_t nrows, int64_t ncols, int64_t first);
    /* Extremes up to each of n elements of a line, of which the first is number `from`; of equals
     * the last. */
    void (*follow)(bool maximum, void *best, int64_t *place, void *out, int64_t *places,
                   const void *in, int64_t from, int64_t n);
    /* Running sums or products of a line that go on from *so_far; of `count` whole lines that begin
     * `step` elements apart; of n neighbouring lines, whose elements lie `step` bytes apart. */
    void (*line)(lt_scan op, void *out, const void *in, int64_t n, lt_total *so_far);
    void (*lines)(lt_scan op, void *out, int64_t out_step, const void *in, int64_t in_step,
                  int64_t length, int64_t count);
    void (*side_by_side)(lt_scan op, char *out, int64_t out_step, const char *in, int64_t in_step,
                         int64_t length, int64_t n, lt_total *so_far);
} lt_scan_loops;

/* At most LT_LANES dense lines, some elements apart, sorted stably; nan is the largest. Of
 * each line the first `wanted` values and places in it, from 0, are stored; NULL: not wanted. */
typedef struct lt_short_slices {
    int64_t n, lines, wanted;
    bool descending;
    const void *in;
    void *values;
    int64_t *places, in_step, values_step, places_step;
} lt_short_slices;
typedef struct lt_sort_loops {
    void (*lines)(const lt_short_slices *s);
    int64_t most; /* elements of a line */
} lt_sort_loops;

/* Softmax of some contiguous lines of n elements, at most LT_LANES, each from its in to
 * its out (which may be the same); of `width` neighbouring lines, at most LT_COLUMNS, whose
 * elements lie `step` elements apart. ahead: how many elements later lies what is asked for
 * meanwhile, which no other thread writes to; 0: nothing is. */
typedef struct lt_softmax_loops {
    void (*forward)(bool log, char *const *out, const char *const *in, int lines, int64_t n,
                    int64_t ahead);
    void (*backward)(bool log, void *grad_in, const void *grad, const void *result, int64_t n);
    void (*columns)(bool log, void *out, int64_t out_step, const void *in, int64_t in_step,
                    int64_t n, int64_t width);
    void (*columns_backward)(bool log, void *grad_in, int64_t in_step, const void *grad,
                             int64_t grad_step, const void *result, int64_t result_step, int64_t n,
                             int64_t width);
} lt_softmax_loops;

/* Normalization of rows or channels [first, last), all of the type of the statistics. What a
 * backward adds up for the parameters goes to sums and products (of grad and the normalized input),
 * which hold zeros or what came before; NULL: not wanted. Channels have no others to share sums
 * with: they go straight to the gradients. */
typedef struct lt_norm_loops {
    void (*rows)(const lt_row_norm_args *n, int64_t first, int64_t last);
    void (*rows_backward)(const lt_row_norm_args *n, int64_t first, int64_t last, void *sums,
                          void *products);
    void (*channels)(const lt_batch_norm_args *n, int64_t first, int64_t last);
    void (*channels_backward)(const lt_batch_norm_args *n, int64_t first, int64_t last);
} lt_norm_loops;

/* Rows of attention. step: scores become exponentials less the largest so far, *most, which with
 * their sum *sum is brought up to date; returns the factor for what was added up before. weights:
 * scores become probabilities by their logsumexp. slopes: of the scores, from probabilities and
 * gradients of them, (grad - delta) * p * scale. */
typedef struct lt_attention_loops {
    double (*step)(void *scores, int64_t n, double *most, double *sum);
    void (*multiply)(void *row, int64_t n, double factor);
    void (*weights)(void *scores, int64_t n, double logsumexp);
    void (*slopes)(void *grad, const void *p, int64_t n, double delta, double scale);
    double (*dot)(const void *a, const void *b, int64_t n);
} lt_attention_loops;

/* tuning: products that are added up before they go to C; two vectors of columns of so many lines
 * leave room in L1; mm of 1000x1000 takes 1.09 of its time with half of it (Zen 5, 2026-11-28) */
#define LT_PRODUCT_DEPTH 256
/* fixed: rows of A, and of triangles, that the registers of AVX-512 hold with their sums */
#define LT_PRODUCT_ROWS 12
/* tuning: multiplications; as many take as long as an element of a simple loop; mm of 400x400 takes
 * 0.008 ns for each, neg 0.03 to 0.07 ns for an element in L1 (Zen 5, 2026-11-28) */
#define LT_PRODUCT_COST 3
/* tuning: bytes of each of these lines that are brought side by side at a time; they stay in L2
 * while rows of A stay in L1; linear of 64 rows, 1024 to 256, takes 1.12 of its time with half of
 * it (Zen 5, 2026-11-28) */
#define LT_PRODUCT_TOGETHER 1024
/* with a vector beyond them, and one beyond the rows of A */
#define LT_PRODUCT_SCRATCH ((size_t)LT_PRODUCT_DEPTH * LT_PRODUCT_TOGETHER + 128)

/* C = alpha A B + beta C, of one matrix, on one thread: element (i, p) of A is a[i * a_row + p *
 * a_column], likewise B and C. C is not read when beta is 0. Integers: rows of B and C are dense.
 * Floats: A has dense rows or columns. */
typedef struct lt_product {
    int64_t m, n, k, a_row, a_column, b_row, b_column, c_row, c_column;
    double alpha, beta;
    const void *a, *b;
    void *c;
    /* columns of B, which are dense as the rows of A are: sums go along both (floats only) */
    bool few;
    /* LT_PRODUCT_SCRATCH bytes for columns of B, then for rows of A m times the least of k and
     * LT_PRODUCT_DEPTH elements. NULL: the rows are read where they lie (floats only) */
    void *room;
    /* m elements, added to the rows of C, which are dense; NULL where few (floats only) */
    const void *row_bias;
} lt_product;
typedef void (*lt_product_loop)(const lt_product *p);

/* A lower triangle, or with `backward` an upper one: element (i, p) is a[i * a_row + p * a_column].
 * unit: those of the diagonal are 1, whatever is there. */
typedef struct lt_triangle {
    const void *a;
    int64_t rows, a_row, a_column;
    bool backward, unit;
} lt_triangle;

/* Of few rows, `step` elements apart. solve: n columns of x become the solution. cholesky: the
 * square that n columns begin with becomes its upper factor, what is right of it the solution by
 * that; the order of the minor that is not positive, or 0. mirror: one triangle of n x n elements
 * to the other. */
typedef struct lt_triangle_loops {
    void (*solve)(const lt_triangle *t, void *x, int64_t step, int64_t n);
    int (*cholesky)(void *matrix, int64_t step, int64_t rows, int64_t n);
    void (*mirror)(void *matrix, int64_t n, bool to_upper);
} lt_triangle_loops;

/* One step of an optimizer (optim_rules.h) for n elements of its arrays. */
typedef void (*lt_optim_loop)(void *const *arrays, int64_t n, const double *numbers);

/* Pooling. Of one row of windows: element i of the input lies i * step elements from the first. */
typedef struct lt_pool_loops {
    /* Extremes so far and, unless NULL, where they are: position `first` is the input's first
     * element. */
    void (*extremes)(void *best, int32_t *place, const void *in, int64_t step, int64_t n,
                     int32_t first);
    /* Extremes of two elements of each window, the second `apart` elements after the first; what
     * `most` held is not read. */
    void (*pairs)(void *most, const void *in, int64_t step, int64_t apart, int64_t n);
    /* Extremes of all windows of a plane, where takes_rectangles(p). */
    bool (*takes_rectangles)(const lt_pooling *p);
    void (*rectangles)(const lt_pooling *p, void *out, const void *in);
    /* Adds `taps` elements of each window, one after the other, to its sum. */
    void (*sums)(void *sum, const void *in, int64_t step, int64_t taps, int64_t n);
    void (*means)(void *sums, int64_t size, int64_t n); /* in place */
    void (*line)(void *sum, const void *in, int64_t n); /* adds the sum of dense elements */
} lt_pool_loops;

/* grid_sample of one image x with its grid. Forward and the derivative by the grid are done for
 * points [from, to), the derivative by x for so many channels, the first of which are given; it is
 * added to grad_x, of planes as dense as those of grad and y. */
typedef struct lt_sample_loops {
    void (*forward)(const lt_sampling *s, void *y, const void *x, const void *grid, int64_t from,
                    int64_t to);
    void (*grad_x)(const lt_sampling *s, void *grad_x, const void *grad, const void *grid,
                   int64_t channels);
    void (*grad_grid)(const lt_sampling *s, void *grad_grid, const void *grad, const void *x,
                      const void *grid, int64_t from, int64_t to);
} lt_sample_loops;

/* Rows [from, to) of a step of a recurrent layer (cell.h). */
typedef void (*lt_cell_loop)(const lt_cell_step *step, int64_t from, int64_t to);

/* A convolution by stride 1: inputs planes, or lines, that contain the padding; out planes are
 * dense. weights [outputs / tile][inputs][kernel...][tile]. Of lines a tap is a row of the
 * kernel. */
typedef struct lt_direct {
    int64_t inputs, outputs, tile, kernel[2], out[2];
    int64_t row, plane;          /* elements from one to the next */
    const float *weights, *bias; /* bias NULL: none */
} lt_direct;

typedef struct lt_direct_loops {
    /* tile 4 or 6; reads up to 16 elements beyond the last */
    void (*image)(const lt_direct *d, const float *in, float *out);
    /* n windows of each line; reads what `windows` of them see, if there are fewer */
    void (*line)(const lt_direct *d, const float *in, float *out, int64_t n);
    int64_t tile, windows; /* of a line, taken at once: less than a hundred windows */
} lt_direct_loops;

/* Rows `from` to `to` - 1 of a product of a matrix in CSR (vector/products/csr.c). */
typedef struct lt_csr_loops {
    void (*f32)(const lt_csr_product *p, int64_t from, int64_t to);
    void (*f64)(const lt_csr_product *p, int64_t from, int64_t to);
} lt_csr_loops;

/* Convolutions of float whose output channels see one input channel each: whether they can be done;
 * planes [from, to) of the batch's results. All is dense. */
typedef struct lt_depthwise_loops {
    bool (*takes)(const lt_conv *c);
    void (*planes)(const lt_conv *c, int64_t from, int64_t to, const float *x, const float *w,
                   const float *bias, float *y);
} lt_depthwise_loops;

/* to[c * to_step + r] = from[r * from_step + c], r < rows, c < columns; steps in elements. */
typedef void (*lt_turn_loop)(void *to, int64_t to_step, const void *from, int64_t from_step,
                             int64_t rows, int64_t columns);

/* Of each of some lines, bytes apart: out[i] = in[-i], i < n. */
typedef void (*lt_reverse_loop)(char *out, int64_t out_step, const char *in, int64_t in_step,
                                int64_t lines, int64_t n);

/* Positions [from, to) of a resampled dimension (lt_resampling), in a plane whose positions lie
 * `step` elements apart, on both sides; of each the first `width` elements. */
typedef void (*lt_resample_loop)(const lt_resampling *r, const void *in, void *out, int64_t step,
                                 int64_t width, int64_t from, int64_t to);

/* The places of n positions of the result that have one each, or two. */
typedef struct lt_resample_indices {
    int64_t n;
    /* of float alone: the second ones, and their weights, lie after all the first */
    bool two;
    const int32_t *near; /* NULL: the line is longer than an int32 counts */
    const int64_t *far;
    const void *weights; /* NULL: all are 1, and elements stay what they were */
} lt_resample_indices;

typedef struct lt_resample_loops {
    lt_resample_loop rows;
    void (*line_of_places)(const lt_resample_indices *p, const void *in, void *out);
} lt_resample_loops;

/* n indices, `stride` bytes apart, which count from `base`, or from the end where they are
 * negative, up to `size`: their places times `step` begin offsets, to which i * `own` is added, or
 * are added to them; or they are only looked at. Bit 63 of the result: one is out of range. */
typedef uint64_t (*lt_locate_loop)(const char *indices, int64_t stride, int64_t n, uint64_t base,
                                   uint64_t size, int64_t step, int64_t own, int64_t *offsets);
typedef enum lt_locating {
    LT_LOCATE_BEGIN,
    LT_LOCATE_ADD,
    LT_LOCATE_LOOK,
    LT_LOCATE_COUNT
} lt_locating;

typedef struct lt_cpu_loops {
    const char *isa;
#define FAMILY(name, NAME) const lt_pointwise_row *name; /* a row a kernel of the family */
    LT_KERNEL_FAMILIES(FAMILY)
#undef FAMILY
    const lt_loop (*cast)[LT_DTYPE_COUNT]; /* [to][from] */
    const lt_reduce_loops (*rows)[LT_ROWS_TYPES];
    const lt_scan_loops *scan;           /* float, double, int64 */
    const lt_sort_loops *sort;           /* float, double, int32, int64, by dtype */
    const lt_softmax_loops *softmax;     /* float, double */
    const lt_norm_loops *norm;           /* float, double */
    const lt_attention_loops *attention; /* float, double */
    const lt_product_loop *multiply;     /* by dtype, of integers */
    const lt_product_loop *product;      /* float, double */
    const lt_triangle_loops *triangle;   /* float, double */
    const lt_pool_loops *pool;           /* float, double, int64 */
    const lt_direct_loops *direct;       /* one, of float */
    const lt_depthwise_loops *depthwise; /* one, of float */
    const lt_csr_loops *csr;             /* one */
    const lt_optim_loop (*optim)[2];     /* float, double */
    const lt_cell_loop (*cells)[2][2];   /* [cell][backward]: float, double */
    const lt_fft_loops *fft;             /* float, double */
    const lt_turn_loop *turn;            /* elements of 4 bytes, of 8 */
    const lt_reverse_loop *reverse;      /* the same */
    const lt_resample_loops *resample;   /* float, double */
    const lt_complex_loops *complex;     /* op -1 ends them */
    const lt_sample_loops *sample;       /* float, double */
    const lt_locate_loop *locate;        /* by lt_locating */
} lt_cpu_loops;

/* The chosen set, filled in before main; its name is shown by `ltensor --version`. */
extern lt_cpu_loops lt_loops;
/* Its elementwise loops, by op and dtype; NULL where there is no loop. */
extern lt_pointwise_row lt_pointwise_loops[];

/* What has no instruction set: the conversions that a table lacks, first those of unsigned integers
 * (common/unsigned_cast.c), then those of complex numbers (common/complex_cast.c). */
void lt_enter_unsigned_casts(lt_loop (*cast)[LT_DTYPE_COUNT]);
void lt_enter_complex_casts(lt_loop (*cast)[LT_DTYPE_COUNT]);
void lt_enter_float8_casts(lt_loop (*cast)[LT_DTYPE_COUNT]);
/* A conversion made of two, a block at a time. */
void lt_cast_through(lt_dtype middle, lt_dtype to, lt_dtype from, char *const *ptrs,
                     const int64_t *strides, int64_t n);

#define LT_LOOP_PASTE(name, isa) lt_##name##_##isa
#define LT_LOOP_NAME(name, isa)  LT_LOOP_PASTE(name, isa)
#define LT_LOOP(name)            LT_LOOP_NAME(name, LT_ISA)

#define LT_DECLARE_FAMILY(name, NAME)                                                              \
    extern const lt_pointwise_row lt_##name##_baseline[], lt_##name##_avx2[], lt_##name##_avx512[];
LT_KERNEL_FAMILIES(LT_DECLARE_FAMILY)
#undef LT_DECLARE_FAMILY
#define LT_DECLARE_LOOPS(isa)                                                                      \
    extern const lt_loop lt_cast_##isa[LT_DTYPE_COUNT][LT_DTYPE_COUNT];                            \
    extern const lt_reduce_loops lt_rows_##isa[LT_ROWS_OPS][LT_ROWS_TYPES];                        \
    extern const lt_scan_loops lt_scan_##isa[LT_ROWS_I64 + 1];                                     \
    extern const lt_sort_loops lt_sort_##isa[LT_DTYPE_COUNT];                                      \
    extern const lt_softmax_loops lt_softmax_##isa[2];                                             \
    extern const lt_norm_loops lt_norm_##isa[2];                                                   \
    extern const lt_attention_loops lt_attention_##isa[2];                                         \
    extern const lt_product_loop lt_multiply_##isa[LT_DTYPE_COUNT];                                \
    extern const lt_product_loop lt_product_##isa[2];                                              \
    extern const lt_triangle_loops lt_triangle_##isa[2];                                           \
    extern const lt_pool_loops lt_pool_##isa[3];                                                   \
    extern const lt_direct_loops lt_direct_##isa[1];                                               \
    extern const lt_depthwise_loops lt_depthwise_##isa[1];                                         \
    extern const lt_csr_loops lt_csr_##isa[1];                                                     \
    extern const lt_optim_loop lt_optim_##isa[LT_OPTIM_COUNT][2];                                  \
    extern const lt_cell_loop lt_cells_##isa[LT_CELLS][2][2];                                      \
    extern const lt_fft_loops lt_fft_##isa[2];                                                     \
    extern const lt_turn_loop lt_turn_##isa[2];                                                    \
    extern const lt_reverse_loop lt_reverse_##isa[2];                                              \
    extern const lt_resample_loops lt_resample_##isa[2];                                           \
    extern const lt_complex_loops lt_complex_##isa[];                                              \
    extern const lt_sample_loops lt_sample_##isa[2];                                               \
    extern const lt_locate_loop lt_locate_##isa[LT_LOCATE_COUNT];
LT_DECLARE_LOOPS(baseline)
LT_DECLARE_LOOPS(avx2)
LT_DECLARE_LOOPS(avx512)
#undef LT_DECLARE_LOOPS

#endif
