/* backend.h - what core knows of a device: one table of functions.
 *
 * src/core/cpu fills one for the host, src/cuda one for GPUs (real or simulated), loaded when a GPU
 * is first asked for. Core checks shapes, dtypes and devices before it calls; a kernel gets
 * geometry that fits. Every kernel runs on the current stream of its device and may return before
 * it is done. Kernels return LT_OK, LT_ERR_RUNTIME (dtype not supported: "\"exp\" not implemented
 * for 'Bool'"), LT_ERR_MEMORY or LT_ERR_DEVICE. Backends include this file, iter.h, random.h,
 * formulas.h and ltensor.h, and call core only through lt_core_services. */
#ifndef LT_BACKEND_H
#define LT_BACKEND_H

#include "cell.h"
#include "compile/fusion.h"
#include "ltensor.h"
#include "network.h"
#include "optim_rules.h"
#include "padding.h"
#include "random/random.h"

typedef struct lt_iter lt_iter; /* iter.h */

/* Numbers k of lt_backend's kth that depend on the line: the middle of its elements (the lower of
 * two), or nan if there is one; the middle of those that are not nan. */
enum { LT_KTH_MEDIAN = -1, LT_KTH_NANMEDIAN = -2 };

typedef enum lt_scan { LT_SCAN_SUM, LT_SCAN_PROD, LT_SCAN_LOGSUMEXP } lt_scan;

/* A dense tensor as kernels other than the iterator's see it. Strides in elements. */
typedef struct lt_array {
    void *data;
    lt_dtype dtype;
    int ndim;
    const int64_t *sizes;
    const int64_t *strides;
    lt_device device;
    int base; /* of indices: what they count from, 0 or 1 */
    /* what computes its elements, which are dense; NULL: they are in memory. Where a function says
     * that it takes such */
    const lt_fused_producer *producer;
} lt_array;

/* C[b] = alpha * A[b] B[b] + beta * C[b], all matrices of one dtype (bool excluded; integers
 * allowed on the CPU only). Row-major: C is m x n with row stride ldc (elements), unit column
 * stride. A is m x k: trans_a false: row stride lda; true: stored k x m with row stride lda. B
 * likewise (k x n). A batch stride of 0 repeats the operand. beta == 0 means C is not read. */
typedef struct lt_gemm {
    lt_dtype dtype;
    int64_t m, n, k, batch;
    bool trans_a, trans_b;
    double alpha, beta;
    const void *a, *b;
    void *c;
    int64_t lda, ldb, ldc;
    int64_t batch_a, batch_b, batch_c; /* elements */
    lt_device device;
    bool wide_result; /* C is float though A and B are of a half type; GPUs only */
    /* n elements, added to each row of the product; beta is 0 then, C not wide. NULL: none. GPUs
     * only */
    const void *bias;
    /* m elements, of one matrix or of each of the batch, added to the rows of the product; beta is
     * 0 then. NULL: none. CPU only */
    const void *row_bias;
    /* Without a bias, of floating dtypes: m elements for the sums of A's rows over k. *summed:
     * whether they were made. NULL: nobody asks. GPUs only. */
    void *sums;
    bool *summed;
} lt_gemm;

/* The product of a matrix in CSR, rows x in_rows, of which `count` values are stored, with a dense
 * one, in, of in_rows x columns, whose rows lie in_step elements apart, columns or more: row i of
 * out, which is dense, is the sum of values[k] times row places[k] of in, k from begins[i] to
 * begins[i + 1] - 1. None of rows, in_rows, columns and count is 0. */
typedef struct lt_csr_product {
    lt_dtype dtype;
    int64_t rows, in_rows, columns, count, in_step;
    const int64_t *begins, *places;
    const void *values, *in;
    void *out;
    lt_device device;
} lt_csr_product;

/* Fourier transforms of `lines` lines of length n, one after the other: of complex numbers; of real
 * ones to the first n / 2 + 1 results; back from these, of which the imaginary part of the first
 * (and for even n the last) is not read, to n real ones. Results are multiplied by scale. in and
 * out are apart; on a GPU the input of what gives real numbers may be destroyed. */
typedef enum lt_fft_kind { LT_FFT_COMPLEX, LT_FFT_TO_COMPLEX, LT_FFT_TO_REAL } lt_fft_kind;
typedef struct lt_fft {
    lt_fft_kind kind;
    lt_dtype dtype; /* of the parts: float or double */
    lt_device device;
    bool inverse;     /* LT_FFT_COMPLEX: exp(+2 pi i ..) */
    int64_t n, lines; /* neither is 0 */
    const void *in;
    void *out;
    double scale;
} lt_fft;

/* What becomes of a batch of float, double or complex matrices. Each lies column after column with
 * no gaps, as LAPACK wants it; those of a are stride_a elements apart, all others follow one
 * another. n x n unless said otherwise. infos, one a matrix, on the device: 0, or what LAPACK says
 * of a matrix that it cannot deal with; NULL: nobody asks. */
typedef enum lt_factor_kind {
    LT_FACTOR_LU, /* a becomes its factors, pivots (n a matrix) count from 1 */
    /* b (n x columns) becomes X of A X = b (transposed: A' X = b), from what LU left */
    LT_FACTOR_SOLVE,
    LT_FACTOR_INVERSE, /* b becomes the inverse, from what LU left in a, which is destroyed */
    /* one triangle of a becomes that of the factor. info: the order of the minor that is not
     * positive */
    LT_FACTOR_CHOLESKY,
    LT_FACTOR_TRIANGULAR, /* b becomes X of A X = b or A' X = b, of a one triangle is read */
    /* a (m x n) becomes R above the diagonal, reflectors below it; their factors in values, min(m,
     * n) */
    LT_FACTOR_QR,
    /* a (m x columns), of which k columns are reflectors, becomes the first columns of Q */
    LT_FACTOR_Q,
    LT_FACTOR_SVD, /* values (k = min(m, n), real), u (m x k; full: m x m) and v, V's adjoint (k x n; full: n x n); u NULL: values only.
                             a is destroyed */
    /* values (real), ascending, and with `vectors` the eigenvectors in place of a */
    LT_FACTOR_EIGH,
    /* b (max(m, n) x columns) becomes X, infos the ranks; a (m x n) is destroyed. CPU only */
    LT_FACTOR_LEAST_SQUARES,
    /* values and, unless u is NULL, eigenvectors in u, both complex; a is destroyed. CPU only */
    LT_FACTOR_EIG,
    /* the lower triangle becomes L and D of L D L', pivots as LAPACK's sytrf has them. CPU only */
    LT_FACTOR_LDL,
    LT_FACTOR_LDL_SOLVE /* b (n x columns) becomes X of A X = b, from what LDL left. CPU only */
} lt_factor_kind;

typedef struct lt_factor {
    lt_factor_kind kind;
    lt_dtype dtype;
    lt_device device;
    int64_t batch, stride_a;
    int m, n, k, columns; /* none is 0 */
    bool upper, transposed, unit, full, vectors;
    bool hermitian; /* LDL: L D L^H */
    bool v_by_rows; /* SVD, told by the backend: v is V itself, row after row */
    bool robust;    /* SVD, m >= n: by the way that deals with more matrices ... */
    /* ... told by the backend: there is one, besides that which it has just gone */
    bool has_robust;
    double rcond;
    void *a, *b, *u, *v, *values;
    int32_t *pivots, *infos;
} lt_factor;

/* Elements of three spatial sizes. */
static inline int64_t lt_volume(const int64_t size[3]) { return size[0] * size[1] * size[2]; }

/* A convolution as a relation of three dense arrays, x [batch, in_channels, in...], w
 * [out_channels, in_channels / groups, kernel...] and y [batch, out_channels, out...]:
 *   y[n, o, p] = sum over c, k of w[o, c, k] * x[n, c, p * stride - padding + k * dilation]
 * Spatial sizes are three, those of fewer dimensions preceded by ones. x may have elements that no
 * window covers. */
typedef struct lt_conv {
    lt_dtype dtype;
    lt_device device;
    int64_t batch, groups, in_channels, out_channels;
    int64_t in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
} lt_conv;
/* Which of the three is computed from the other two: the sum's derivative by it, given a gradient
 * of y. */
typedef enum lt_conv_part { LT_CONV_Y, LT_CONV_X, LT_CONV_W } lt_conv_part;

/* Pooling of `planes` dense planes of in... elements to out..., each of `lanes` numbers side by
 * side that have nothing to do with each other (channels that lie last; 1 where a backend has no
 * convolution_channels_last); spatial sizes as above. A window begins at p * stride - padding and
 * has kernel elements, dilation apart; adaptive: it is [p * in / out, (p + 1) * in / out), rounded
 * outwards. */
typedef struct lt_pooling {
    lt_dtype dtype;
    lt_device device;
    int64_t planes, lanes;
    int64_t in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
    bool adaptive;
    bool count_padding; /* averages count elements of the padding, which are 0 */
    int64_t divisor;    /* of averages; 0: the number of elements */
    /* what computes the planes that are read forward; NULL: they are in memory. The host's alone */
    const lt_fused_producer *producer;
} lt_pooling;
/* Up to three last dimensions with elements of their own (padding.h) at both ends: x, dense as
 * [outer, in...], to y, [outer, out...], of elements of `size` bytes. The first sizes of fewer
 * dimensions are 1. No amount is negative, and no dimension empty. */
typedef struct lt_padding {
    lt_pad_mode mode;
    int64_t size, outer, in[3], before[3], out[3];
} lt_padding;

/* Of dense matrices with elements of `size` bytes what lies on the diagonals from `low` to `high`
 * (0 the main one, those above it are more): of row i columns i + low to i + high stay, the others
 * become 0. Both are within [-rows, columns]. */
typedef struct lt_band {
    lt_device device;
    int64_t size, matrices, rows, columns, low, high;
} lt_band;

/* Positions of a dimension as weighted sums of others: of x, dense as [outer, in, inner], to y,
 * [outer, out, inner], both float or double. Position o of y adds up weights[k] times position
 * places[k] of x, k from starts[o] to before starts[o + 1]. The lists lie on the device; there are
 * `taps` places. */
typedef struct lt_resampling {
    lt_dtype dtype;
    lt_device device;
    int64_t outer, in, out, inner, taps;
    const int64_t *starts, *places;
    const void *weights; /* of the dtype */
} lt_resampling;

/* What grid_sample looks up: points of images of two spatial dimensions, or of volumes of three,
 * which lie between their elements. x [batch, channels, in...] has the strides (elements) of batch,
 * channel and the spatial dimensions; grid [batch, points, dims], y [batch, channels, points] and
 * the gradients are dense. A point's first coordinate is along the last dimension; -1 and 1 are the
 * ends (formulas/sampling.inc). Of two spatial dimensions the first of the three sizes is 1.
 * Elements are float or double, no image is empty. */
/* bicubic: of images only */
typedef enum lt_sampling_mode {
    LT_SAMPLE_BILINEAR,
    LT_SAMPLE_NEAREST,
    LT_SAMPLE_BICUBIC
} lt_sampling_mode;
typedef enum lt_sampling_padding {
    LT_SAMPLE_ZEROS,
    LT_SAMPLE_BORDER,
    LT_SAMPLE_REFLECTION
} lt_sampling_padding;
typedef struct lt_sampling {
    lt_dtype dtype;
    lt_device device;
    lt_sampling_mode mode;
    lt_sampling_padding padding;
    bool align_corners;
    int dims; /* 2 or 3 */
    int64_t batch, channels, points, in[3];
    int64_t x_batch, x_channel, x_step[3];
} lt_sampling;

/* Normalization of dense tensors: out = (in - mean) * rstd * weight + bias. Statistics are float,
 * or double where dtype is. weight and bias (NULL: 1 and 0) are of parameter_dtype; on the CPU all
 * are of the statistics' type. Backward takes grad and fills in those of grad_in, grad_weight and
 * grad_bias that are not NULL. */
typedef struct lt_norm_args {
    lt_dtype dtype, parameter_dtype;
    lt_device device;
    double eps;
    const void *in, *weight, *bias, *grad;
    void *out, *mean, *rstd; /* mean NULL: nothing is subtracted, rstd is of the mean square */
    void *grad_in, *grad_weight, *grad_bias;
    /* what computes `in`, or `grad` of backward, of any floating dtype; NULL: it is in memory.
     * Backward and channels: the host's alone */
    const lt_fused_producer *producer;
} lt_norm_args;

/* Rows of length elements have their own statistics. Those of row r have the parameters of group r
 * % groups, length / run in number, one per run of elements. */
typedef struct lt_row_norm_args {
    lt_norm_args norm;
    int64_t rows, length, groups, run;
} lt_row_norm_args;

/* outer x channels x inner elements, statistics and parameters per channel. In training mean and
 * rstd are computed (by the biased variance), and the running ones, when there are such, become (1
 * - momentum) * old + momentum * new (by the unbiased variance); else mean and rstd are given. */
typedef struct lt_batch_norm_args {
    lt_norm_args norm;
    int64_t outer, channels, inner;
    bool training;
    double momentum;
    void *running_mean, *running_var; /* of the statistics' type */
} lt_batch_norm_args;

/* out = softmax(query key^T * scale + mask) value over batch x heads matrices. The arrays have four
 * dimensions: [batch, heads, queries or keys, width], strides in elements; those of a row lie side
 * by side. key and value have heads / shared_by heads, each for as many of query that follow each
 * other. mask (data NULL: none) is [batch, heads, queries, keys] with strides that may be 0, bool
 * (true: takes part) or of dtype (added). logsumexp is dense [batch, heads, queries], float, or
 * double where dtype is; rows without a key are zeros, their logsumexp infinity. With a seed (two
 * numbers, on the device; GPUs only) probabilities are dropped, and the others divided by 1 -
 * dropout. Backward: grad of out; dense gradients of dtype, those of key and value with their
 * heads. */
typedef struct lt_attention {
    lt_dtype dtype;
    lt_device device;
    int64_t batch, heads, queries, keys, width, value_width;
    bool causal; /* query i takes keys 0 .. i */
    double scale, dropout;
    int64_t shared_by;
    const int64_t *seed; /* NULL: none is dropped */
    lt_array query, key, value, mask, out, grad;
    void *logsumexp, *grad_query, *grad_key, *grad_value; /* of gradients, NULL: not wanted */
} lt_attention;

/* What each of n elements, which lie in a row, has to be: from low to high, where `nan` says so
 * nan, or with `nonzero` only not 0. The CPU raises the error at once, a GPU at the next wait: the
 * texts live for ever. */
typedef struct lt_value_check {
    lt_dtype dtype; /* LT_INT64, LT_FLOAT32 or LT_FLOAT64 */
    lt_device device;
    const void *data;
    int64_t n;
    double low, high;
    bool nan, nonzero;
    const char *text;
    bool shown; /* the value follows the text */
} lt_value_check;

/* Operands of an index kernel: it->data[0] is the result (get) or the values (put), [1] the indexed
 * tensor with stride 0 along indexed dimensions, [2 .. 1+count] int64 index tensors. The address of
 * an element is data[1] + sum_k wrap(index_k, sizes[k]) * strides[k]. An index outside [-size,
 * size) is an error: lt_core_services' index_error. Indices may be positions, which count from 1:
 * base. */
typedef struct lt_index_args {
    int count;
    bool distinct; /* no place is named twice */
    /* put: nobody sees the indexed tensor when the call fails: no look at all indices first */
    bool fresh;
    int base[LT_MAX_DIMS]; /* 0, or 1 for positions */
    int64_t sizes[LT_MAX_DIMS];
    int64_t strides[LT_MAX_DIMS]; /* bytes */
    int dims[LT_MAX_DIMS];        /* for messages, from 0 */
} lt_index_args;

/* Index tensors reach kernels 0-based. This value marks the 0 of one that counts from 1, which is
 * no position. */
#define LT_INDEX_NO_POSITION INT64_MIN

/* An index counted from 0 of one that counts from base. */
static inline int64_t lt_index_from(int64_t value, int base)
{
    return base == 0 || value < 0 ? value : value > 0 ? value - 1 : LT_INDEX_NO_POSITION;
}

/* A bit that is set in negative indices and in no other. Cleared where counting from the end is no
 * choice (classes), it leaves an index that no tensor has; messages set it again. */
#define LT_INDEX_FROM_END ((int64_t)1 << 62)

typedef enum lt_scatter_mode {
    LT_SCATTER_SET,
    LT_SCATTER_ADD,
    LT_SCATTER_MUL,
    LT_SCATTER_MAX,
    LT_SCATTER_MIN
} lt_scatter_mode;

/* A step of an optimizer for n parameters of one dtype (floating) and device. data: for each
 * parameter its arrays, dense and of numel[i] elements laid out alike: the parameter, the gradient
 * (only read), the state. */
typedef struct lt_optim {
    lt_optim_rule rule;
    lt_dtype dtype;
    lt_device device;
    int arrays;
    int64_t n;
    const int64_t *numel; /* none is 0 */
    void *const *data;    /* n times `arrays` */
    double numbers[LT_OPTIM_NUMBERS];
} lt_optim;

typedef struct lt_device_properties {
    char name[256];
    int major, minor, multi_processor_count;
    size_t total_memory; /* bytes */
} lt_device_properties;

/* What a caching allocator counts, for blocks of all sizes and for those of its two pools. */
typedef enum lt_memory_kind {
    LT_MEMORY_ALLOCATIONS,    /* blocks that tensors hold */
    LT_MEMORY_SEGMENTS,       /* pieces taken from the device */
    LT_MEMORY_ACTIVE,         /* blocks held, or freed and still in use by another stream */
    LT_MEMORY_INACTIVE_SPLIT, /* free parts of segments that are partly in use */
    LT_MEMORY_ALLOCATED_BYTES,
    LT_MEMORY_RESERVED_BYTES,
    LT_MEMORY_ACTIVE_BYTES,
    LT_MEMORY_INACTIVE_SPLIT_BYTES,
    LT_MEMORY_REQUESTED_BYTES, /* as asked for, before rounding */
    LT_MEMORY_KINDS
} lt_memory_kind;
typedef enum lt_memory_pool { LT_POOL_ALL, LT_POOL_LARGE, LT_POOL_SMALL, LT_POOLS } lt_memory_pool;

typedef struct lt_memory_count {
    int64_t current, peak, allocated, freed; /* allocated and freed: since the start */
} lt_memory_count;

typedef struct lt_memory_stats {
    lt_memory_count counts[LT_MEMORY_KINDS][LT_POOLS];
    int64_t retries, out_of_memory;      /* allocations that failed at first, and for good */
    int64_t device_allocs, device_frees; /* calls of the device's own allocator */
} lt_memory_stats;

typedef enum lt_copy_mode { LT_COPY_BLOCKING, LT_COPY_NON_BLOCKING } lt_copy_mode;

typedef struct lt_backend {
    const char *name; /* "cpu", "cuda" */

    /* -- memory. *block is the backend's own handle, given back to free. ----------------------- */
    lt_status (*alloc)(int device, size_t nbytes, void **data, size_t *capacity, void **block);
    void (*free)(int device, void *data, size_t capacity, void *block);
    /* Dense transfers between device memory and the host or a peer; dst or src device may be the
     * CPU. Sets *waited to seconds the host stood still. pinned: the host side is page-locked. */
    lt_status (*transfer)(void *dst, lt_device dst_device, const void *src, lt_device src_device,
                          size_t nbytes, bool pinned, lt_copy_mode mode, double *waited);

    /* -- elementwise (same device). op: a number of pointwise_ops.h; params: its scalars, as
     * declared -- */
    lt_status (*copy)(const lt_iter *it);                        /* out <- in, any dtype pair */
    lt_status (*fill)(const lt_iter *it, lt_scalar value);       /* one operand */
    lt_status (*band)(const lt_band *b, void *y, const void *x); /* y may be x */
    /* operands of any dtypes: the kernel converts as it reads and writes */
    lt_status (*pointwise)(int op, const lt_iter *it, lt_dtype compute, const lt_scalar *params);
    /* Optional, with the next four. NULL; or why there are no fusions here now. */
    const char *(*fusion_unavailable)(void);
    /* Whether it may be a step of a fusion: it is there, and fails for no values. LT_FUSED_COPY:
     * whether such elements may be converted, and the results of conversions be such. */
    bool (*fuses)(int op, lt_dtype compute);
    /* *done is false where its steps are to be done one by one; nothing is written then */
    lt_status (*run_fusion)(const lt_fusion *c, bool *done);

    /* -- reductions ---------------------------------------------------------------------------- */
    /* op: an lt_reduction (reduction.h). compute: dtype in which elements are read; accumulate in
     * float (half types, float), double, or int64; out dtype is it->dtype[0]. numel 0 gives the
     * identity (core rejects max and min). */
    lt_status (*reduce)(int op, const lt_iter *it, int reduced_dims, double parameter);
    /* Whether it is there where operand 1 is a value of a fusion, whose elements come in the order
     * of the iterator's strides; and the reduction of that value, which need not be written: NULL
     * where the first says no to all. */
    bool (*reduces_fusion)(int op, const lt_iter *it, int reduced_dims);
    lt_status (*reduce_fusion)(const lt_fused_producer *producer, int op, const lt_iter *it,
                               int reduced_dims, double parameter);
    /* Extreme and its index (first one; nan counts as extreme) along dim; values or indices (int64)
     * may be NULL; their views have size 1 in dim. */
    lt_status (*extreme)(bool maximum, const lt_array *values, const lt_array *indices,
                         const lt_array *in, int dim);
    /* Running totals along dim, computed in double or int64. */
    lt_status (*scan)(lt_scan op, const lt_array *out, const lt_array *in, int dim);
    /* The extreme so far and its index (the last one; nan counts as extreme). */
    lt_status (*scan_extreme)(bool maximum, const lt_array *values, const lt_array *indices,
                              const lt_array *in, int dim);
    /* Stable sort along dim; nan is the largest. Values or indices (int64, of the elements sorted),
     * not both, may be NULL. Shorter than in along dim they get the first places. */
    lt_status (*sort)(bool descending, const lt_array *values, const lt_array *indices,
                      const lt_array *in, int dim);
    /* Optional. The element of number k (from 0) of each line in ascending order, the first of
     * equals, and its index; values and indices have size 1 in dim. */
    lt_status (*kth)(int64_t k, const lt_array *values, const lt_array *indices, const lt_array *in,
                     int dim);
    /* Optional. How many elements of each ascending line of `sorted` lie before each of `values`
     * (right: or are equal); nan come last. Dense arrays of one dtype that the backend may refuse
     * (LT_ERR_TYPE); lines: those of sorted, which has n elements a line; count: values a line. */
    lt_status (*search)(bool right, lt_dtype dtype, const void *sorted, int64_t n,
                        const void *values, int64_t count, int64_t lines, int64_t *out);

    /* Whether softmax, its derivative and row_norm take rows of `length` elements as a fusion
     * computes them, numel in all. The host's do; NULL there. */
    bool (*takes_rows)(lt_dtype dtype, int64_t numel, int64_t length);
    /* -- softmax over dim: out, in same shape and dtype (accumulate in float at least). Takes in,
     * or grad, producer, where dim is the
     * last one ------------- */
    lt_status (*softmax)(bool log, const lt_array *out, const lt_array *in, int dim);
    /* grad_in from grad and the forward's result. */
    lt_status (*softmax_backward)(bool log, const lt_array *grad_in, const lt_array *grad,
                                  const lt_array *result, int dim);

    /* -- normalization ------------------------------------------------------------------------- */
    lt_status (*row_norm)(const lt_row_norm_args *n);
    lt_status (*row_norm_backward)(const lt_row_norm_args *n);
    lt_status (*batch_norm)(const lt_batch_norm_args *n);
    lt_status (*batch_norm_backward)(const lt_batch_norm_args *n);

    lt_status (*attention)(const lt_attention *a);
    lt_status (*attention_backward)(const lt_attention *a);
    /* The factors of probabilities that the seed makes: dense [batch, heads, queries, keys], of
     * logsumexp's type. NULL on the CPU, which drops by formula. */
    lt_status (*attention_kept)(const lt_attention *a, void *out);

    /* -- products ------------------------------------------------------------------------------ */
    lt_status (*gemm)(const lt_gemm *g);
    /* Optional; of float and double. Elsewhere a formula does it, and where *done says that what it
     * takes is not there. */
    lt_status (*csr_product)(const lt_csr_product *p, bool *done);
    lt_status (*factor)(lt_factor *f);
    lt_status (*fft)(const lt_fft *f);

    /* -- convolutions and pools: floating dtypes, the latter of int64 too (forward), dense arrays ---- */
    /* One of x, w, y from the others; bias (NULL: none), of out_channels elements, is added to
     * y. */
    lt_status (*convolution)(lt_conv_part part, const lt_conv *c, void *x, void *w, void *y,
                             const void *bias);
    /* The same of arrays whose channels lie last: [batch, in..., in_channels], [out_channels,
     * kernel..., in_channels / groups] and [batch, out..., out_channels]; *done: whether it was.
     * NULL: the backend has none. */
    lt_status (*convolution_channels_last)(lt_conv_part part, const lt_conv *c, void *x, void *w,
                                           void *y, const void *bias, bool *done);
    /* Sums of products of 8-bit integers, exactly, without padding: x of c->dtype, uint8 or int8,
     * with its channels last, w [out_channels, in_channels / groups, kernel...] of int8, y of
     * int32, channels last; *done: whether it was. NULL: the backend has none. */
    lt_status (*int8_convolution)(const lt_conv *c, const void *x, const void *w, void *y,
                                  bool *done);
    /* The windows of x as columns [batch, in_channels * kernel, out]; back: columns summed into x.
     * w is not read. */
    lt_status (*columns)(bool back, const lt_conv *c, void *x, void *columns);
    /* Extremes of windows (nan wins) and where they lie in their plane (int64; may be NULL). */
    lt_status (*max_pool)(const lt_pooling *p, void *out, int64_t *indices, const void *in);
    /* grad_in: zero but for the sums of what windows whose extreme lies there have in grad. */
    lt_status (*max_pool_backward)(const lt_pooling *p, void *grad_in, const void *grad,
                                   const int64_t *indices);
    lt_status (*avg_pool)(const lt_pooling *p, void *out, const void *in);
    lt_status (*avg_pool_backward)(const lt_pooling *p, void *grad_in, const void *grad);
    lt_status (*pad)(const lt_padding *p, void *y, const void *x); /* NULL: the backend has none */
    lt_status (*resample)(const lt_resampling *r, void *y, const void *x);
    /* The last two dimensions, rows being of what columns makes: rows->outer planes, whose lines
     * columns has as its outer. NULL: the backend has none. */
    lt_status (*resample_planes)(const lt_resampling *rows, const lt_resampling *columns, void *y,
                                 const void *x);
    lt_status (*sample)(const lt_sampling *s, void *y, const void *x, const void *grid);
    /* The derivatives by x (dense) and by grid, each unless NULL. */
    lt_status (*sample_backward)(const lt_sampling *s, void *grad_x, void *grad_grid,
                                 const void *grad, const void *x, const void *grid);

    /* -- indexing ------------------------------------------------------------------------------ */
    lt_status (*index_get)(const lt_iter *it, const lt_index_args *args);
    lt_status (*index_put)(const lt_iter *it, const lt_index_args *args, bool accumulate);
    /* out[..i..] = in[..index..i..]: sizes of out are those of index. */
    lt_status (*gather)(const lt_array *out, const lt_array *in, int dim, const lt_array *index);
    /* out[..index..i..] (op)= src[..i..]; src NULL: the scalar value. fresh: see lt_index_args. */
    lt_status (*scatter)(lt_scatter_mode mode, const lt_array *out, int dim, const lt_array *index,
                         const lt_array *src, lt_scalar value, bool fresh);
    /* Two calls: count of non-zero elements; then their coordinates as [count, ndim] int64
     * (row-major order of in). The count waits for the device. */
    lt_status (*nonzero_count)(const lt_array *in, int64_t *count);
    lt_status (*nonzero)(const lt_array *in, const lt_array *out);

    /* -- sources ------------------------------------------------------------------------------- */
    /* start, start + step, start + 2 step ...; backwards: the last element is start. out
     * contiguous */
    lt_status (*check_values)(const lt_value_check *c);
    lt_status (*range)(const lt_array *out, lt_scalar start, lt_scalar step, bool backwards);
    /* The caller holds the generator's lock (random/generator.h). */
    lt_status (*random)(lt_distribution what, const lt_array *out, lt_scalar a, lt_scalar b,
                        lt_generator *generator); /* out contiguous; see random.h */
    /* A number for each element of a (and b; else NULL), all contiguous, of one shape, float or
     * double. */
    lt_status (*draw)(lt_draw what, const lt_array *out, const lt_array *a, const lt_array *b,
                      lt_generator *generator);

    /* -- recurrent layers: a step, after and before the products ------------------------------- */
    lt_status (*cell)(const lt_cell_step *step);
    lt_status (*cell_backward)(const lt_cell_step *step);
    /* -- and all layers at once (network.h), where the device has a library for it; NULL: it has
     * none. The other two are called for what the sizes were told of. */
    lt_status (*network_sizes)(const lt_network *network, lt_network_sizes *sizes);
    lt_status (*network)(const lt_network *network, const lt_network_arrays *arrays);
    lt_status (*network_backward)(const lt_network *network, const lt_network_arrays *arrays);

    /* -- optimizers ---------------------------------------------------------------------------- */
    lt_status (*optimize)(const lt_optim *o);

    /* -- devices; NULL entries on the CPU ------------------------------------------------------ */
    int (*device_count)(void);
    int (*current_device)(void);
    lt_status (*set_device)(int device);
    lt_status (*properties)(int device, lt_device_properties *out);
    lt_status (*synchronize)(int device); /* -1: the current one; reports asynchronous errors */
    /* Streams are opaque handles; 0 is the default stream. */
    uint64_t (*current_stream)(int device);
    void (*set_stream)(int device, uint64_t stream);
    lt_status (*stream_new)(int device, int priority, uint64_t *stream);
    void (*stream_free)(int device, uint64_t stream);
    lt_status (*stream_query)(int device, uint64_t stream, bool *done);
    lt_status (*stream_synchronize)(int device, uint64_t stream);
    lt_status (*stream_wait_event)(int device, uint64_t stream, uint64_t event);
    lt_status (*event_new)(int device, bool timing, uint64_t *event);
    void (*event_free)(uint64_t event);
    lt_status (*event_record)(uint64_t event, int device, uint64_t stream);
    lt_status (*event_query)(uint64_t event, bool *done);
    lt_status (*event_synchronize)(uint64_t event);
    lt_status (*event_elapsed)(uint64_t start, uint64_t stop, double *milliseconds);
    void (*record_stream)(void *block, uint64_t stream);
    void (*memory_stats)(int device, lt_memory_stats *out);
    void (*reset_peak_stats)(int device);
    void (*empty_cache)(void);
    lt_status (*memory_info)(int device, size_t *free, size_t *total);
    lt_status (*set_memory_fraction)(int device, double fraction);
    lt_status (*pinned_alloc)(size_t nbytes, void **data, void **block);
    void (*pinned_free)(void *data, void *block);
    bool (*can_access_peer)(int device, int peer);
    /* -- graphs: what a thread gives a stream between begin and end is recorded, and run by each
     * replay. Memory taken in between is the graph's, from a private pool that graphs may share (0:
     * one of its own); what would
     * wait for the device is refused. End with keep false drops what was recorded. */
    uint64_t (*graph_pool_new)(void);
    lt_status (*graph_new)(uint64_t *graph);
    void (*graph_free)(uint64_t graph);
    /* on the current stream, not the default one */
    lt_status (*graph_begin)(uint64_t graph, uint64_t pool);
    lt_status (*graph_end)(uint64_t graph, bool keep);
    lt_status (*graph_replay)(uint64_t graph); /* on the current stream of its device */
    void (*graph_reset)(uint64_t graph);
    uint64_t (*graph_pool)(uint64_t graph); /* 0: it has recorded nothing */
    bool (*graph_recording)(void);          /* whether this thread records one */
    bool simulated;

    /* CPU only: whether it has an instruction set or a library that lt_has names */
    bool (*has)(const char *feature);
} lt_backend;

/* The table for a device type; NULL with the error set when it is not available (no driver, no GPU,
 * no backend library). lt_backend_of never fails for a tensor that exists. */
const lt_backend *lt_backend_get(lt_device_type type);
/* As lt_backend_get, without an error: NULL also when loading has not been tried and fails. */
const lt_backend *lt_backend_probe(lt_device_type type);
/* Why there is no CUDA: a sentence for the user. */
const char *lt_backend_missing_reason(void);

extern const lt_backend *lt_backends[LT_DEVICE_TYPES];
/* Puts a backend in its place there. The CPU's calls it before main. */
void lt_backend_register(lt_device_type type, const lt_backend *backend);
#define lt_backend_of(tensor) (lt_backends[(tensor)->device.type])

/* Fills in index -1 by the current device; errors for devices that do not exist. */
lt_status lt_device_resolve(lt_device *device);

/* Whether float32 products may be computed in TF32, with 10 bits of mantissa; off at first. */
void lt_set_allow_tf32(bool on);
bool lt_allow_tf32(void);
/* The same for what cuDNN does, convolutions and recurrent networks; on at first, as PyTorch's. */
void lt_set_allow_convolution_tf32(bool on);
bool lt_allow_convolution_tf32(void);

/* Whether cuDNN may be asked, where it is; on at first. Our own kernels do the work otherwise. */
void lt_set_cudnn_enabled(bool on);
bool lt_cudnn_enabled(void);

/* The ways of attention that torch.backends.cuda.enable_..._sdp name, by PyTorch's numbers: by
 * products and a softmax; by kernels of our own, which have two names; by cuDNN. All are allowed at
 * first. */
typedef enum lt_attention_algorithm {
    LT_ATTENTION_MATH,
    LT_ATTENTION_FLASH,
    LT_ATTENTION_EFFICIENT,
    LT_ATTENTION_CUDNN
} lt_attention_algorithm;
void lt_set_attention_allowed(lt_attention_algorithm way, bool on);
bool lt_attention_allowed(lt_attention_algorithm way);

/* torch.use_deterministic_algorithms: kernels whose results depend on the order in which threads
 * come give way to ones that keep an order. All there are have such a twin, so that nothing is left
 * to refuse or to warn of. */
void lt_set_deterministic(bool on, bool warn_only);
bool lt_deterministic(void);
bool lt_deterministic_warn_only(void);

/* What a loaded backend may call in core. */
typedef struct lt_core_services {
    lt_status (*error)(lt_status status, const char *format, ...);
    /* "<before>index 10 is out of bounds for dimension 1 with size 3<after>"; both numbers are
     * counted from 0 and shown as the caller counts. */
    lt_status (*index_error)(const char *before, int64_t index, int dim, int64_t size,
                             const char *after);
    bool (*interrupted)(void);
    bool (*reclaim)(void);      /* a Lua collection, when memory runs out; false when none ran */
    lt_status (*stopped)(void); /* sets the error of what `interrupted` is true for */
    /* Device bytes taken (+) or given back (-) by tensors; false: they would pass the limit of the
     * caller, and are not counted. The second sets the error of that. */
    bool (*charge)(int device, int64_t bytes);
    lt_status (*refuse)(int device, int64_t bytes);
    /* before a library is opened; an error when that is not permitted */
    lt_status (*authorize_library)(const char *name);
    /* a synchronization the user did not ask for */
    void (*record_wait)(const char *cause, double seconds);
    /* the op being done, if it takes positions; else NULL (op_name.h) */
    const char *(*op_name)(void);
    bool (*allow_tf32)(void);             /* torch.backends.cuda.matmul.allow_tf32 */
    bool (*allow_convolution_tf32)(void); /* torch.backends.cudnn.allow_tf32 */
    bool (*cudnn_enabled)(void);          /* torch.backends.cudnn.enabled */
    bool (*attention_allowed)(lt_attention_algorithm way);
    bool (*deterministic)(void); /* torch.use_deterministic_algorithms */
    /* where the user's code is: "train.lua:31", or "" */
    void (*origin)(char *buffer, size_t n);
    lt_generator *(*default_generator)(lt_device device);
} lt_core_services;

/* What a backend library exports beside backend_abi.h's data. NULL with a reason in `reason` (n
 * bytes) when unusable. */
typedef const lt_backend *(*lt_backend_open_fn)(const lt_core_services *core, char *reason,
                                                size_t n);
#define LT_BACKEND_OPEN "lt_backend_open"

#endif
