/* loops.h - the interface of the vector loops, which src/core/cpu/vector compiles once per
 * instruction set.
 *
 * Each file of vector/ is compiled three times, with LT_ISA baseline, avx2 and avx512 and the flags
 * for these instructions; LT_LOOP(name) gives each copy its own symbol. loops.c selects a set at
 * start by the processor, or by LTENSOR_CPU. A line is a 1-D slice. Loops do not use tensors,
 * threads or errors. Included by src/core/cpu only. */
#ifndef LT_CPU_LOOPS_H
#define LT_CPU_LOOPS_H

#include "cpu/fft/lanes.h"
#include "devices/backend.h"
#include "dtypes/half.h"
#include "cpu/common/sizes.h"
#include "kernel_families.h" /* generated from the declarations */

/* Processes n elements; ptrs[0] is the output; strides in bytes. context: the op's numbers
 * (lt_scalar), or data of the driver. */
typedef void (*lt_loop)(char *const *ptrs, const int64_t *strides, int64_t n, const void *context);

typedef lt_loop lt_pointwise_row[LT_DTYPE_COUNT];

/* The loops of an elementwise op over complex64 and complex128. */
typedef struct lt_complex_loops {
    int op;
    lt_loop of[2];
} lt_complex_loops;

enum {
    /* fixed: accumulators of a sum; the same for all instruction sets, so that they return equal
     * sums */
    LT_ACCUMULATORS = 64,
    /* tuning: elements of a line that are converted or mapped at a time; they stay in L1 together
     * with the operands; norms of rows take 1.10 times as long with half of it (Zen 5, 2026-11-28)
     */
    LT_SLICE_BLOCK = 1024
};

/* The total of accumulators: double for floats, int64 for integers and bools. */
typedef union lt_total {
    double d;
    int64_t i;
    uint64_t u;
} lt_total;

/* The state of a line that is reduced in pieces of at least LT_SLICE_BLOCK elements. Zero it first.
 */
typedef struct lt_slice_part {
    bool begun;
    int64_t rows;               /* rows that the accumulators contain */
    lt_total parts[8], careful; /* careful: result of pieces with a nan */
    /* accumulators: element i of a line is added to number i % LT_ACCUMULATORS */
    _Alignas(64) char lanes[LT_ACCUMULATORS * 8];
} lt_slice_part;

/* The loops of one reduction in one type of elements. */
typedef struct lt_reduce_loops {
    lt_total identity;
    /* Joins each of `count` contiguous lines of n elements, stride bytes apart, into its total. */
    void (*line)(lt_total *totals, const char *lines, int64_t stride, int64_t count, int64_t n,
                 double parameter);
    /* The same with a parameter for each line; NULL unless it is faster than calls of line(). */
    void (*lines)(lt_total *totals, const char *lines, int64_t stride, int64_t count, int64_t n,
                  const lt_total *parameters);
    /* The same for a line in pieces, with the same bits: n elements, a multiple of LT_SLICE_BLOCK
     * except for the last piece, which alone has a total. NULL: call line() for one piece after the
     * other, each a multiple of LT_SLICE_BLOCK. */
    void (*piece)(lt_slice_part *part, const void *elements, int64_t n, double parameter,
                  lt_total *total);
    /* acc[j] = step(acc[j], rows[i][j]) for nrows rows, row_stride bytes apart, of ncols contiguous
     * columns. parameters: one per column, of the elements' type; accumulators have `lane` bytes,
     * at most 8. begin: initializes acc first, even without rows. At most LT_COLUMNS_FLUSH rows may
     * be added before join(). */
    void (*rows)(void *acc, bool begin, const char *rows, int64_t row_stride, int64_t nrows,
                 int64_t ncols, const void *parameters);
    void (*join)(lt_total *totals, const void *acc, int64_t n);
    void (*merge)(lt_total *totals, const lt_total *others, int64_t n);
    int64_t lane;
} lt_reduce_loops;

/* fixed: rows of LT_ACCUMULATORS elements that are added before accumulators are joined into totals of
 * double; the error is at most five ULP for equal numbers, where rounding errors add up */
#define LT_ROWS_FLUSH 32
/* fixed: the same for rows of columns, which are added by fours first */
#define LT_COLUMNS_FLUSH 128

typedef enum lt_rows_op {
    LT_ROWS_SUM,
    LT_ROWS_PROD,
    LT_ROWS_MAX, /* nan if there is one */
    LT_ROWS_MIN,
    LT_ROWS_SUM_ABS,
    LT_ROWS_SUM_SQUARE,
    LT_ROWS_SUM_OFF,        /* x - parameter */
    LT_ROWS_SUM_SQUARE_OFF, /* (x - parameter)^2 */
    LT_ROWS_SUM_POWER,      /* |x|^parameter */
    LT_ROWS_SUM_EXP,        /* exp(x - parameter) */
    LT_ROWS_SUM_NUMBERS,    /* ignores nan */
    LT_ROWS_MAX_ABS,
    LT_ROWS_MIN_ABS,
    LT_ROWS_COUNT, /* number of nonzero elements */
    LT_ROWS_OPS
} lt_rows_op;

/* The types of reductions. LT_ROWS_U8 is bool: bytes of 0 and 1. */
enum { LT_ROWS_F32, LT_ROWS_F64, LT_ROWS_I64, LT_ROWS_U8, LT_ROWS_TYPES };

/* Rows of ncols contiguous columns, row_stride bytes apart, with indices first, first + 1, ...; the
 * extreme of each column and its row index (int32 for float, otherwise int64). */
typedef struct lt_extreme_rows {
    const char *rows;
    int64_t row_stride, nrows, ncols, first;
    void *best, *place;
} lt_extreme_rows;

/* n elements of a line, the first of which has index `from`; the extreme of the elements so far and
 * its index; the running extremes and their indices. */
typedef struct lt_running_extreme {
    const void *in;
    int64_t from, n;
    void *best;
    int64_t *place;
    void *out;
    int64_t *places;
} lt_running_extreme;

/* n adjacent lines with their totals so far; steps in bytes between elements of a line. */
typedef struct lt_scan_columns {
    const char *in;
    char *out;
    int64_t in_step, out_step, length, n;
    lt_total *so_far;
} lt_scan_columns;

/* Extremes and running totals (vector/reduce/scan.c) for LT_ROWS_F32, _F64 and _I64. */
typedef struct lt_scan_loops {
    /* The index of the first element that equals `value` or is nan; there must be one. */
    int64_t (*find)(const void *line, int64_t n, lt_total value);
    /* Updates the extremes of columns; last: of equal elements the last one wins. */
    void (*across)(bool maximum, bool last, const lt_extreme_rows *r);
    /* Running extremes; of equal elements the last one wins. */
    void (*follow)(bool maximum, const lt_running_extreme *r);
    /* Running sums or products: of a line, continued from *so_far; of `count` lines, steps in
     * elements between them; of adjacent lines. */
    void (*line)(lt_scan op, void *out, const void *in, int64_t n, lt_total *so_far);
    void (*lines)(lt_scan op, void *out, int64_t out_step, const void *in, int64_t in_step,
                  int64_t length, int64_t count);
    void (*side_by_side)(lt_scan op, const lt_scan_columns *c);
} lt_scan_loops;

/* At most LT_LANES contiguous lines to be sorted stably; nan is the largest. The first `wanted`
 * values and indices (from 0) of each line are stored; NULL: not stored. Steps in elements between
 * lines. */
typedef struct lt_short_slices {
    int64_t n, lines, wanted;
    bool descending;
    const void *in;
    void *values;
    int64_t *places, in_step, values_step, places_step;
} lt_short_slices;
typedef struct lt_sort_loops {
    void (*lines)(const lt_short_slices *s);
    int64_t most; /* maximum of elements per line */
} lt_sort_loops;

/* The gradients of `width` adjacent lines of n elements; steps in elements between elements of a
 * line. */
typedef struct lt_softmax_columns {
    void *grad_in;
    const void *grad, *result;
    int64_t in_step, grad_step, result_step, n, width;
} lt_softmax_columns;

/* Softmax of at most LT_LANES contiguous lines of n elements, from in to out (may be equal); or of
 * `width` adjacent lines, at most LT_COLUMNS, with `step` elements between elements of a line.
 * ahead: prefetch distance in elements (0: none), into memory that no other thread writes. */
typedef struct lt_softmax_loops {
    void (*forward)(bool log, char *const *out, const char *const *in, int lines, int64_t n,
                    int64_t ahead);
    void (*backward)(bool log, void *grad_in, const void *grad, const void *result, int64_t n);
    void (*columns)(bool log, void *out, int64_t out_step, const void *in, int64_t in_step,
                    int64_t n, int64_t width);
    void (*columns_backward)(bool log, const lt_softmax_columns *c);
} lt_softmax_loops;

/* Normalization of rows or channels [first, last) in the type of the statistics. rows_backward adds
 * the parameters' gradients to sums (of grad) and products (of grad and the normalized input);
 * NULL: not needed. channels_backward stores the parameters' gradients, since a channel is computed
 * as a whole. */
typedef struct lt_norm_loops {
    void (*rows)(const lt_row_norm_args *n, int64_t first, int64_t last);
    void (*rows_backward)(const lt_row_norm_args *n, int64_t first, int64_t last, void *sums,
                          void *products);
    void (*channels)(const lt_batch_norm_args *n, int64_t first, int64_t last);
    void (*channels_backward)(const lt_batch_norm_args *n, int64_t first, int64_t last);
} lt_norm_loops;

/* Operations on rows of scores (online softmax). step: replaces scores by exp(score - maximum so
 * far), updates the maximum *most and the sum *sum, and returns the factor for earlier sums.
 * weights: scores to probabilities, by their logsumexp. slopes: gradients of probabilities p to
 * gradients of scores, (grad - delta) * p * scale. */
typedef struct lt_attention_loops {
    double (*step)(void *scores, int64_t n, double *most, double *sum);
    void (*multiply)(void *row, int64_t n, double factor);
    void (*weights)(void *scores, int64_t n, double logsumexp);
    void (*slopes)(void *grad, const void *p, int64_t n, double delta, double scale);
    double (*dot)(const void *a, const void *b, int64_t n);
} lt_attention_loops;

/* tuning: products that are summed in registers before they are added to C; two vectors of columns
 * with so many rows leave space in L1; mm of 1000x1000 takes 1.09 times as long with half of it
 * (Zen 5, 2026-11-28) */
#define LT_PRODUCT_DEPTH 256
/* fixed: rows of A, and of triangles, for which the sums fit into the registers of AVX-512 */
#define LT_PRODUCT_ROWS 12
/* tuning: multiplications; the cost of so many is that of an element of a simple loop; mm of
 * 400x400 takes 0.008 ns for each, neg 0.03 to 0.07 ns for an element in L1 (Zen 5, 2026-11-28) */
#define LT_PRODUCT_COST 3
/* tuning: bytes of each row of B that are packed at a time; the panels stay in L2 while rows of A
 * stay in L1; linear of 64 rows, 1024 to 256, takes 1.12 times as long with half of it (Zen 5,
 * 2026-11-28) */
#define LT_PRODUCT_TOGETHER 1024
/* bytes of packed columns of B, plus a vector after them and one after the rows of A */
#define LT_PRODUCT_SCRATCH ((size_t)LT_PRODUCT_DEPTH * LT_PRODUCT_TOGETHER + 128)

/* C = alpha A B + beta C for one matrix on one thread. Element (i, p) of A is a[i * a_row + p *
 * a_column]; B and C likewise. If beta is 0, C is not read. Integers: rows of B and C are
 * contiguous. Floats: A has contiguous rows or columns. */
typedef struct lt_product {
    int64_t m, n, k, a_row, a_column, b_row, b_column, c_row, c_column;
    double alpha, beta;
    const void *a, *b;
    void *c;
    /* B has few columns, which are contiguous, as rows of A are: use dot products (floats only) */
    bool few;
    /* Memory for packing: LT_PRODUCT_SCRATCH bytes for columns of B, then m * min(k, LT_PRODUCT_DEPTH)
     * elements for rows of A. NULL: rows of A are not packed (floats only) */
    void *room;
    /* m elements that are added to the contiguous rows of C; NULL if `few`. Floats only */
    const void *row_bias;
} lt_product;
typedef void (*lt_product_loop)(const lt_product *p);

/* m inputs of n floats each times rows of n halves, `row` elements apart (vector/products/half_rows.c):
 * out[r * out_row + j * out_input] = alpha times the product of row r and input j + beta times itself
 * (not read if beta is 0). Rows [from, to). */
typedef struct lt_half_product {
    int64_t m, n, row, out_row, out_input;
    float alpha, beta;
    const void *rows;
    const float *in;
    void *out;
} lt_half_product;
typedef void (*lt_half_loop)(const lt_half_product *h, int64_t from, int64_t to);

/* A lower triangle, or with `backward` an upper one; element (i, p) is a[i * a_row + p * a_column].
 * unit: the diagonal is 1 and is not read. */
typedef struct lt_triangle {
    const void *a;
    int64_t rows, a_row, a_column;
    bool backward, unit;
} lt_triangle;

/* Operations on few rows, `step` elements apart. solve: replaces n columns of x by the solution.
 * cholesky: factorizes the square at the beginning of n columns into its upper factor, and replaces
 * the columns right of it by their solution; returns the order of the minor that is not positive,
 * or 0. mirror: copies a triangle of an n x n matrix to the other. */
typedef struct lt_triangle_loops {
    void (*solve)(const lt_triangle *t, void *x, int64_t step, int64_t n);
    int (*cholesky)(void *matrix, int64_t step, int64_t rows, int64_t n);
    void (*mirror)(void *matrix, int64_t n, bool to_upper);
} lt_triangle_loops;

/* One step of an optimizer (optim_rules.h) for n elements of its arrays. */
typedef void (*lt_optim_loop)(void *const *arrays, int64_t n, const double *numbers);

/* Pooling of a row of windows: the element of window i is i * step elements from the first one. */
typedef struct lt_pool_loops {
    /* Updates the extremes and, unless NULL, their indices; `first` is the index of the first
     * element. */
    void (*extremes)(void *best, int32_t *place, const void *in, int64_t step, int64_t n,
                     int32_t first);
    /* Maximum of two elements of each window, the second `apart` elements after the first;
     * overwrites `most`. */
    void (*pairs)(void *most, const void *in, int64_t step, int64_t apart, int64_t n);
    /* Maxima of all windows of a plane; requires takes_rectangles(p). */
    bool (*takes_rectangles)(const lt_pooling *p);
    void (*rectangles)(const lt_pooling *p, void *out, const void *in);
    /* Adds `taps` consecutive elements of each window to its sum. */
    void (*sums)(void *sum, const void *in, int64_t step, int64_t taps, int64_t n);
    void (*means)(void *sums, int64_t size, int64_t n); /* in place */
    void (*line)(void *sum, const void *in, int64_t n); /* adds the sum of n contiguous elements */
} lt_pool_loops;

/* grid_sample of one image x. forward and grad_grid process points [from, to). grad_x processes
 * `channels` channels from the given one on, and adds to grad_x; the planes of grad_x, grad and y
 * are contiguous. */
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

/* A direct convolution by stride 1. Inputs contain their padding; output planes are contiguous.
 * weights: [outputs / tile][inputs][kernel...][tile]. 1-D: kernel[0] taps, `row` elements apart. */
typedef struct lt_direct {
    int64_t inputs, outputs, tile, kernel[2], out[2];
    int64_t row, plane;          /* distances in elements */
    const float *weights, *bias; /* bias NULL: none */
} lt_direct;

typedef struct lt_direct_loops {
    /* 2-D; tile is 4 or 6; may read 16 elements beyond the last one */
    void (*image)(const lt_direct *d, const float *in, float *out);
    /* 1-D; n windows of each output channel; if n < windows, still reads the inputs of `windows` */
    void (*line)(const lt_direct *d, const float *in, float *out, int64_t n);
    int64_t tile, windows; /* of line(): channels and windows per step; windows < 100 */
} lt_direct_loops;

/* Rows [from, to) of a product of a CSR matrix (vector/products/csr.c). */
typedef struct lt_csr_loops {
    void (*f32)(const lt_csr_product *p, int64_t from, int64_t to);
    void (*f64)(const lt_csr_product *p, int64_t from, int64_t to);
} lt_csr_loops;

/* Quantized weights (vector/products/blocks.c). decode: `blocks` blocks of so many bytes. rows: rows
 * [from, to) of the weight, times few rows. */
/* fixed: rows whose sums are kept in registers */
enum { LT_BLOCK_PRODUCT_ROWS = 8 };
typedef struct lt_block_loops {
    void (*decode)(lt_block_format format, int64_t bytes, const uint8_t *in, int64_t blocks,
                   float *out);
    void (*rows)(const lt_block_product *p, int64_t from, int64_t to);
} lt_block_loops;

/* m rows of inputs as bytes, `blocks` blocks of 32 elements each: an element is scale * q with
 * |q| <= 127. sum: scale times the sum of q; low and high: of the first and of the last 16. */
typedef struct lt_input_scale {
    float scale, sum, low, high;
} lt_input_scale;
typedef struct lt_block_inputs {
    int64_t m, blocks;
    int8_t *q;
    lt_input_scale *scales;
} lt_block_inputs;

/* Products of quantized weights with such inputs (vector/products/block_bytes.c). quantize: rows
 * [from, end) of floats. multiply: rows [from, to) of the weight; p->in is not used. `together`: rows
 * that are multiplied together; `from` is a multiple. Both NULL without AVX2. */
typedef struct lt_block_bytes_loops {
    void (*quantize)(const float *x, lt_block_inputs *inputs, int64_t from, int64_t end);
    void (*multiply)(const lt_block_product *p, const lt_block_inputs *inputs, int64_t from,
                     int64_t to);
    int64_t together;
} lt_block_bytes_loops;

/* Depthwise convolutions of float (each output channel reads one input channel), all contiguous.
 * takes: whether the arguments are supported. planes: output planes [from, to) of the batch. */
typedef struct lt_depthwise_loops {
    bool (*takes)(const lt_conv *c);
    void (*planes)(const lt_conv *c, int64_t from, int64_t to, const float *x, const float *w,
                   const float *bias, float *y);
} lt_depthwise_loops;

/* Transpose: to[c * to_step + r] = from[r * from_step + c], r < rows, c < columns; steps in
 * elements. */
typedef void (*lt_turn_loop)(void *to, int64_t to_step, const void *from, int64_t from_step,
                             int64_t rows, int64_t columns);

/* Reversal of each of `lines` lines: out[i] = in[-i], i < n; steps in bytes between lines. */
typedef void (*lt_reverse_loop)(char *out, int64_t out_step, const char *in, int64_t in_step,
                                int64_t lines, int64_t n);

/* Positions [from, to) of a resampled dimension (lt_resampling) in a plane with `step` elements
 * between positions, in input and output; the first `width` elements of each position. */
typedef void (*lt_resample_loop)(const lt_resampling *r, const void *in, void *out, int64_t step,
                                 int64_t width, int64_t from, int64_t to);

/* The taps of n positions of the result, one each or two. */
typedef struct lt_resample_indices {
    int64_t n;
    /* float only: second indices and weights follow all first ones */
    bool two;
    const int32_t *near; /* NULL: indices exceed int32, use `far` */
    const int64_t *far;
    const void *weights; /* NULL: 1, elements are copied */
} lt_resample_indices;

typedef struct lt_resample_loops {
    lt_resample_loop rows;
    void (*line_of_places)(const lt_resample_indices *p, const void *in, void *out);
} lt_resample_loops;

/* n indices, `stride` bytes apart, which count from `base`, or if negative from the end. */
typedef struct lt_located_indices {
    const char *indices;
    int64_t stride, n;
    uint64_t base, size;
    int64_t step, own;
} lt_located_indices;

/* Converts indices to offsets: index * step, plus i * own for LT_LOCATE_BEGIN; added to offsets for
 * LT_LOCATE_ADD; only checked for LT_LOCATE_LOOK. Bit 63 of the result is set if an index is
 * outside of `size`. */
typedef uint64_t (*lt_locate_loop)(const lt_located_indices *x, int64_t *offsets);
typedef enum lt_locating {
    LT_LOCATE_BEGIN,
    LT_LOCATE_ADD,
    LT_LOCATE_LOOK,
    LT_LOCATE_COUNT
} lt_locating;

typedef struct lt_cpu_loops {
    const char *isa;
#define FAMILY(name, NAME) const lt_pointwise_row *name; /* a row per kernel of the family */
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
    const lt_direct_loops *direct;       /* float */
    const lt_depthwise_loops *depthwise; /* float */
    const lt_csr_loops *csr;             /* a single set */
    const lt_block_loops *blocks;        /* a single set */
    const lt_block_bytes_loops *block_bytes;
    const lt_half_loop *half_rows;     /* float16, bfloat16 */
    const lt_optim_loop (*optim)[2];   /* float, double */
    const lt_cell_loop (*cells)[2][2]; /* [cell][backward]: float, double */
    const lt_fft_loops *fft;           /* float, double */
    const lt_turn_loop *turn;          /* elements of 4 bytes, of 8 */
    const lt_reverse_loop *reverse;    /* the same */
    const lt_resample_loops *resample; /* float, double */
    const lt_complex_loops *complex;   /* ends with op -1 */
    const lt_sample_loops *sample;     /* float, double */
    const lt_locate_loop *locate;      /* by lt_locating */
} lt_cpu_loops;

/* The selected set, filled in before main; `ltensor --version` prints its name. */
extern lt_cpu_loops lt_loops;
/* Its elementwise loops by op and dtype; NULL: no loop. */
extern lt_pointwise_row lt_pointwise_loops[];

/* Add the conversions that are compiled once to the table: first unsigned integers
 * (common/unsigned_cast.c), then complex numbers (common/complex_cast.c), then one-byte floats
 * (common/float8_cast.c). */
void lt_enter_unsigned_casts(lt_loop (*cast)[LT_DTYPE_COUNT]);
void lt_enter_complex_casts(lt_loop (*cast)[LT_DTYPE_COUNT]);
void lt_enter_float8_casts(lt_loop (*cast)[LT_DTYPE_COUNT]);
/* A conversion through a third dtype, a block at a time. */
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
    extern const lt_block_loops lt_blocks_##isa[1];                                                \
    extern const lt_block_bytes_loops lt_block_bytes_##isa[1];                                     \
    extern const lt_half_loop lt_half_rows_##isa[2];                                               \
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
