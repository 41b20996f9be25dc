/* backend.h - the backend interface: one table of functions per device type.
 *
 * src/core/cpu provides the table for the host, src/cuda the one for GPUs (real or simulated),
 * which is loaded when a GPU is first used. Core checks shapes, dtypes and devices before a call,
 * so kernels get valid geometry. A kernel runs on the current stream of its device and may return
 * before it has finished. Kernels return LT_OK, LT_ERR_RUNTIME (unsupported dtype: "\"exp\" not
 * implemented for 'Bool'"), LT_ERR_MEMORY or LT_ERR_DEVICE. Backends include this file, iter.h,
 * random.h, formulas.h and ltensor.h, and call core only through lt_core_services. */
#ifndef LT_BACKEND_H
#define LT_BACKEND_H

#include "array.h"
#include "cell.h"
#include "compile/fusion.h"
#include "dtypes/block_format.h"
#include "ltensor.h"
#include "network.h"
#include "nn_args.h"
#include "optim_rules.h"
#include "random/random.h"

typedef struct lt_iter lt_iter; /* iter.h */

/* Values of k for lt_backend's kth that depend on the row: the median of its elements (the lower of
 * two middle ones), nan if one is nan; the median of the elements that are not nan. */
enum { LT_KTH_MEDIAN = -1, LT_KTH_NANMEDIAN = -2 };

typedef enum lt_scan { LT_SCAN_SUM, LT_SCAN_PROD, LT_SCAN_LOGSUMEXP } lt_scan;

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
    /* n elements, added to each row of the product; then beta is 0 and C is not wide. NULL: none.
     * GPUs only. */
    const void *bias;
    /* m elements, of one matrix or of each in the batch; element i is added to row i of the
     * product; then beta is 0. NULL: none. CPU only. */
    const void *row_bias;
    /* Output: m sums of A's rows over k; floating dtypes without a bias. *summed: whether they were
     * computed. NULL: not requested. GPUs only. */
    void *sums;
    bool *summed;
} lt_gemm;

/* searchsorted: for each of `values`, the number of elements of the ascending row of `sorted` that
 * are less (right: or equal); nan is the largest. Dense arrays. */
typedef struct lt_search {
    bool right;
    lt_dtype dtype; /* of sorted and values */
    const void *sorted, *values;
    int64_t lines; /* number of rows */
    int64_t n;     /* elements per row of sorted */
    int64_t count; /* values per row */
    int64_t *out;  /* as many as values */
} lt_search;

/* Sparse matrix (CSR, rows x in_rows, `count` stored values) times dense matrix (in, in_rows x
 * columns, row stride in_step >= columns). Row i of the dense result is the sum of values[k] *
 * in[places[k]] for k in [begins[i], begins[i + 1]). rows, in_rows, columns and count are not 0. */
typedef struct lt_csr_product {
    lt_dtype dtype;
    int64_t rows, in_rows, columns, count, in_step;
    const int64_t *begins, *places;
    const void *values, *in;
    void *out;
    lt_device device;
} lt_csr_product;

/* Consecutive blocks of quantized weights (formulas/blocks.h), with so many elements and bytes each,
 * decoded. dtype of out: float32, or a half type if the backend has half_blocks. */
typedef struct lt_block_decode {
    lt_block_format format;
    lt_dtype dtype;
    lt_device device;
    int64_t blocks, elements, bytes;
    const uint8_t *in;
    void *out;
} lt_block_decode;

/* out (m x rows) = in (m x columns) times the transpose of the quantized weight (rows x columns), of
 * one dtype, as in lt_block_decode. transposed: out (m x columns, float32) = in (m x rows) times the
 * weight. int8_input: the backend may quantize each 32 elements of `in` to bytes (CPU). All dense;
 * m, rows and columns are not 0. */
typedef struct lt_block_product {
    lt_block_format format;
    lt_dtype dtype;
    lt_device device;
    bool transposed, int8_input;
    int64_t m, rows, columns, elements, bytes;
    const uint8_t *weight;
    const void *in;
    void *out;
} lt_block_product;

/* Fourier transforms of `lines` contiguous rows of length n: complex to complex; real to complex
 * (the first n / 2 + 1 results); complex to real (its inverse; ignores the imaginary part of the
 * first element and, for even n, of the last). Results are multiplied by scale. in and out do not
 * overlap; the GPU may overwrite `in` of complex to real. */
typedef enum lt_fft_kind { LT_FFT_COMPLEX, LT_FFT_TO_COMPLEX, LT_FFT_TO_REAL } lt_fft_kind;
typedef struct lt_fft {
    lt_fft_kind kind;
    lt_dtype dtype; /* real dtype: float or double */
    lt_device device;
    bool inverse;     /* LT_FFT_COMPLEX: exponent +2 pi i */
    int64_t n, lines; /* neither is 0 */
    const void *in;
    void *out;
    double scale;
} lt_fft;

/* Operations on a batch of float, double or complex matrices, column-major without gaps, as in
 * LAPACK. Matrices of a are stride_a elements apart, all others are contiguous. n x n unless
 * stated. infos: LAPACK's info of each matrix, on the device; NULL: not requested. */
typedef enum lt_factor_kind {
    LT_FACTOR_LU, /* a becomes its factors; pivots (n per matrix) are 1-based */
    /* b (n x columns) becomes X of A X = b (transposed: A' X = b), from the result of LU */
    LT_FACTOR_SOLVE,
    LT_FACTOR_INVERSE, /* b becomes the inverse, from the result of LU; a is destroyed */
    /* one triangle of a becomes the factor's. info: the order of the minor that is not positive
     * definite */
    LT_FACTOR_CHOLESKY,
    LT_FACTOR_TRIANGULAR, /* b becomes X of A X = b or A' X = b; reads one triangle of a */
    /* a (m x n) becomes R on and above the diagonal, Householder vectors below it; values: their
     * min(m, n) factors (tau) */
    LT_FACTOR_QR,
    /* a (m x columns, with k Householder vectors) becomes the first columns of Q */
    LT_FACTOR_Q,
    /* values (k = min(m, n), real), u (m x k; full: m x m) and v, the adjoint of V (k x n; full: n
     * x n). u NULL: values only. a is destroyed */
    LT_FACTOR_SVD,
    /* values (real), ascending; with `vectors`, a becomes the eigenvectors */
    LT_FACTOR_EIGH,
    /* b (max(m, n) x columns) becomes X, infos the ranks; a (m x n) is destroyed. CPU only */
    LT_FACTOR_LEAST_SQUARES,
    /* values and, unless u is NULL, eigenvectors in u, all complex; a is destroyed. CPU only */
    LT_FACTOR_EIG,
    /* the lower triangle becomes L and D of L D L', pivots as in LAPACK's sytrf. CPU only */
    LT_FACTOR_LDL,
    LT_FACTOR_LDL_SOLVE /* b (n x columns) becomes X of A X = b, from the result of LDL. CPU only */
} lt_factor_kind;

typedef struct lt_factor {
    lt_factor_kind kind;
    lt_dtype dtype;
    lt_device device;
    int64_t batch, stride_a;
    int m, n, k, columns; /* not 0 */
    bool upper, transposed, unit, full, vectors;
    bool hermitian; /* LDL: L D L^H */
    bool v_by_rows; /* SVD, set by the backend: v is V itself, row-major */
    bool robust;    /* SVD, m >= n: use the more robust algorithm */
    /* SVD, set by the backend: it used another algorithm than the robust one */
    bool has_robust;
    double rcond;
    void *a, *b, *u, *v, *values;
    int32_t *pivots, *infos;
} lt_factor;

/* A check of n contiguous elements: each must be in [low, high], or nan if `nan`; or, with
 * `nonzero` (required for int64), not 0. The CPU reports the error at once, a GPU at the next
 * synchronization. text has static storage duration. */
typedef struct lt_value_check {
    lt_dtype dtype; /* LT_INT64, LT_FLOAT32 or LT_FLOAT64 */
    lt_device device;
    const void *data;
    int64_t n;
    double low, high;
    bool nan, nonzero;
    const char *text;
    bool shown; /* append the value to the text */
} lt_value_check;

/* Operands of an index kernel: it->data[0] is the result (get) or the values (put), [1] the indexed
 * tensor with stride 0 along indexed dimensions, [2 .. 1+count] int64 index tensors. The address of
 * an element is data[1] + sum_k wrap(index_k, sizes[k]) * strides[k]. An index outside [-size,
 * size) is an error (lt_core_services' index_error). base: 0 or 1, of the indices. */
typedef struct lt_index_args {
    int count;
    bool distinct; /* no element is indexed twice */
    /* put: the indexed tensor is discarded on failure, so indices need no check before the first
     * write */
    bool fresh;
    int base[LT_MAX_DIMS]; /* 0 or 1 */
    int64_t sizes[LT_MAX_DIMS];
    int64_t strides[LT_MAX_DIMS]; /* bytes */
    int dims[LT_MAX_DIMS];        /* for messages, 0-based */
} lt_index_args;

/* Stands for a 0 in a 1-based index tensor after conversion to base 0: an error. */
#define LT_INDEX_NO_POSITION INT64_MIN

/* Converts an index from the given base to base 0. */
static inline int64_t lt_index_from(int64_t value, int base)
{
    return base == 0 || value < 0 ? value : value > 0 ? value - 1 : LT_INDEX_NO_POSITION;
}

/* A bit that is set in negative indices and in no others. Where counting from the end is not
 * allowed (classes), it is cleared, which makes the index out of range; error messages set it
 * again. */
#define LT_INDEX_FROM_END ((int64_t)1 << 62)

typedef enum lt_scatter_mode {
    LT_SCATTER_SET,
    LT_SCATTER_ADD,
    LT_SCATTER_MUL,
    LT_SCATTER_MAX,
    LT_SCATTER_MIN
} lt_scatter_mode;

/* An optimizer step for n parameters of one floating dtype and device. data: for each parameter,
 * its arrays, dense, numel[i] elements in the same order: the parameter, the gradient (read-only),
 * the state. */
typedef struct lt_optim {
    lt_optim_rule rule;
    lt_dtype dtype;
    lt_device device;
    int arrays;
    int64_t n;
    const int64_t *numel; /* not 0 */
    void *const *data;    /* n * arrays pointers */
    double numbers[LT_OPTIM_NUMBERS];
} lt_optim;

typedef struct lt_device_properties {
    char name[256];
    int major, minor, multi_processor_count;
    size_t total_memory; /* bytes */
} lt_device_properties;

/* Statistics of a caching allocator, for all blocks and for each of its two pools. */
typedef enum lt_memory_kind {
    LT_MEMORY_ALLOCATIONS,    /* blocks in use by tensors */
    LT_MEMORY_SEGMENTS,       /* regions allocated from the device */
    LT_MEMORY_ACTIVE,         /* in use by tensors, or freed but still in use by another stream */
    LT_MEMORY_INACTIVE_SPLIT, /* free parts of segments that are partly in use */
    LT_MEMORY_ALLOCATED_BYTES,
    LT_MEMORY_RESERVED_BYTES,
    LT_MEMORY_ACTIVE_BYTES,
    LT_MEMORY_INACTIVE_SPLIT_BYTES,
    LT_MEMORY_REQUESTED_BYTES, /* before rounding */
    LT_MEMORY_KINDS
} lt_memory_kind;
typedef enum lt_memory_pool { LT_POOL_ALL, LT_POOL_LARGE, LT_POOL_SMALL, LT_POOLS } lt_memory_pool;

typedef struct lt_memory_count {
    int64_t current, peak, allocated, freed; /* allocated, freed: totals since the start */
} lt_memory_count;

typedef struct lt_memory_stats {
    lt_memory_count counts[LT_MEMORY_KINDS][LT_POOLS];
    int64_t retries, out_of_memory;      /* allocations that needed a retry, and that failed */
    int64_t device_allocs, device_frees; /* calls of the device's own allocator */
} lt_memory_stats;

typedef enum lt_copy_mode { LT_COPY_BLOCKING, LT_COPY_NON_BLOCKING } lt_copy_mode;

/* A copy of contiguous memory between a device and the host or a peer; either may be the CPU. */
typedef struct lt_transfer {
    void *dst;
    lt_device dst_device;
    const void *src;
    lt_device src_device;
    size_t nbytes;
    bool pinned; /* the host memory is page-locked */
    lt_copy_mode mode;
} lt_transfer;

typedef struct lt_backend {
    const char *name; /* "cpu", "cuda" */

    /* -- memory. *block: the backend's handle, passed to free ---------------------------------- */
    lt_status (*alloc)(int device, size_t nbytes, void **data, size_t *capacity, void **block);
    void (*free)(int device, void *data, size_t capacity, void *block);
    /* *waited: seconds for which the host was blocked. */
    lt_status (*transfer)(const lt_transfer *t, double *waited);

    /* -- elementwise. op: number in pointwise_ops.h; params: the op's scalars ------------------ */
    lt_status (*copy)(const lt_iter *it);                        /* out <- in, any dtype pair */
    lt_status (*fill)(const lt_iter *it, lt_scalar value);       /* one operand */
    lt_status (*band)(const lt_band *b, void *y, const void *x); /* y may be x */
    /* operands of any dtypes: the kernel converts when it reads and writes */
    lt_status (*pointwise)(int op, const lt_iter *it, lt_dtype compute, const lt_scalar *params);
    /* Fusion is optional, with reduces_fusion and reduce_fusion below. The reason why it is not
     * available now; NULL: it is. */
    const char *(*fusion_unavailable)(void);
    /* Whether the op can be a step of a fusion group: it exists and fails for no values.
     * LT_FUSED_COPY: whether values of this dtype can be converted from and to. */
    bool (*fuses)(int op, lt_dtype compute);
    /* *done false: the caller has to run the steps one by one; nothing was written */
    lt_status (*run_fusion)(const lt_fusion *c, bool *done);

    /* -- reductions ---------------------------------------------------------------------------- */
    /* op: an lt_reduction (reduction.h). Operand 0 is the result, operand 1 the input. Accumulates
     * half types and float in float or double, double in double, integers in int64. Without
     * elements: the identity (core rejects max and min). */
    lt_status (*reduce)(int op, const lt_iter *it, int reduced_dims, double parameter);
    /* Whether reduce_fusion can compute this reduction of operand 1, a value of a fusion group with
     * elements in the order of the iterator's strides. reduce_fusion need not write the value; NULL
     * if the answer is always no. */
    bool (*reduces_fusion)(int op, const lt_iter *it, int reduced_dims);
    lt_status (*reduce_fusion)(const lt_fused_producer *producer, int op, const lt_iter *it,
                               int reduced_dims, double parameter);
    /* Extreme and its index (the first one; nan counts as extreme) along dim. values or indices
     * (int64) may be NULL; both have size 1 in dim. */
    lt_status (*extreme)(bool maximum, const lt_array *values, const lt_array *indices,
                         const lt_array *in, int dim);
    /* Inclusive scan (prefix sums etc.) along dim, computed in double or int64. */
    lt_status (*scan)(lt_scan op, const lt_array *out, const lt_array *in, int dim);
    /* Running extreme and its index (the last one; nan counts as extreme). */
    lt_status (*scan_extreme)(bool maximum, const lt_array *values, const lt_array *indices,
                              const lt_array *in, int dim);
    /* Stable sort along dim, nan last in ascending order. One of values and indices (int64,
     * positions in `in`) may be NULL. If they are shorter than `in` along dim, they get the first
     * elements (top-k). */
    lt_status (*sort)(bool descending, const lt_array *values, const lt_array *indices,
                      const lt_array *in, int dim);
    /* Optional. The k-th smallest element (0-based) of each row and its index, the first of equal
     * ones; values and indices have size 1 in dim. */
    lt_status (*kth)(int64_t k, const lt_array *values, const lt_array *indices, const lt_array *in,
                     int dim);
    /* Optional. searchsorted; the backend may reject the dtype (LT_ERR_TYPE). */
    lt_status (*search)(const lt_search *s);

    /* Whether softmax, its derivative and row_norm can consume rows of `length` elements, numel in
     * all, from a fusion group. NULL on the CPU, which can. */
    bool (*takes_rows)(lt_dtype dtype, int64_t numel, int64_t length);
    /* -- softmax ------------------------------------------------------------------------------- */
    /* Along dim. out and in have the same shape and dtype; accumulates at least in float. If dim is
     * the last one, `in`, or grad, may have a producer. */
    lt_status (*softmax)(bool log, const lt_array *out, const lt_array *in, int dim);
    /* Computes grad_in from grad and the result of the forward pass. */
    lt_status (*softmax_backward)(bool log, const lt_array *grad_in, const lt_array *grad,
                                  const lt_array *result, int dim);

    /* -- normalization ------------------------------------------------------------------------- */
    lt_status (*row_norm)(const lt_row_norm_args *n);
    lt_status (*row_norm_backward)(const lt_row_norm_args *n);
    lt_status (*batch_norm)(const lt_batch_norm_args *n);
    lt_status (*batch_norm_backward)(const lt_batch_norm_args *n);

    lt_status (*attention)(const lt_attention *a);
    lt_status (*attention_backward)(const lt_attention *a);
    /* The dropout factors that the seed determines: dense [batch, heads, queries, keys], of
     * logsumexp's dtype. NULL on the CPU, which implements dropout by other ops. */
    lt_status (*attention_kept)(const lt_attention *a, void *out);

    /* -- products ------------------------------------------------------------------------------ */
    lt_status (*gemm)(const lt_gemm *g);
    /* Optional; float and double. *done false: a library is missing; the caller uses other ops. */
    lt_status (*csr_product)(const lt_csr_product *p, bool *done);
    /* Quantized weights; optional. half_blocks: also with values of half types. */
    lt_status (*decode_blocks)(const lt_block_decode *d);
    lt_status (*block_product)(const lt_block_product *p);
    bool half_blocks;
    lt_status (*factor)(lt_factor *f);
    lt_status (*fft)(const lt_fft *f);

    /* -- convolution and pooling: dense arrays, floating (pooling forward: int64, too) --------- */
    /* Computes one of x, w, y from the others. bias (out_channels elements; NULL: none) is added to
     * y. */
    lt_status (*convolution)(lt_conv_part part, const lt_conv *c, void *x, void *w, void *y,
                             const void *bias);
    /* As convolution, for channels-last arrays: [batch, in..., in_channels], [out_channels,
     * kernel..., in_channels / groups] and [batch, out..., out_channels]. *done: whether it was
     * computed. Optional. */
    lt_status (*convolution_channels_last)(lt_conv_part part, const lt_conv *c, void *x, void *w,
                                           void *y, const void *bias, bool *done);
    /* Exact sums of products of 8-bit integers, without padding: x of c->dtype (uint8 or int8),
     * channels last; w [out_channels, in_channels / groups, kernel...], int8; y int32, channels
     * last. *done: whether it was computed. Optional. */
    lt_status (*int8_convolution)(const lt_conv *c, const void *x, const void *w, void *y,
                                  bool *done);
    /* im2col: copies the windows of x to columns [batch, in_channels * kernel, out]. back (col2im):
     * adds the columns into x. Does not read w. */
    lt_status (*columns)(bool back, const lt_conv *c, void *x, void *columns);
    /* Maxima of windows (nan counts as the largest) and their indices in the plane (int64; may be
     * NULL). */
    lt_status (*max_pool)(const lt_pooling *p, void *out, int64_t *indices, const void *in);
    /* grad_in[i] is the sum of the elements of grad with index i; 0 if there are none. */
    lt_status (*max_pool_backward)(const lt_pooling *p, void *grad_in, const void *grad,
                                   const int64_t *indices);
    lt_status (*avg_pool)(const lt_pooling *p, void *out, const void *in);
    lt_status (*avg_pool_backward)(const lt_pooling *p, void *grad_in, const void *grad);
    lt_status (*pad)(const lt_padding *p, void *y, const void *x); /* optional */
    lt_status (*resample)(const lt_resampling *r, void *y, const void *x);
    /* Resamples the last two dimensions in one pass: `columns` along the last (columns->outer: rows
     * of all planes), `rows` along the one before (rows->outer: planes). Optional. */
    lt_status (*resample_planes)(const lt_resampling *rows, const lt_resampling *columns, void *y,
                                 const void *x);
    lt_status (*sample)(const lt_sampling *s, void *y, const void *x, const void *grid);
    /* The gradients of x (dense) and of grid, each unless NULL. */
    lt_status (*sample_backward)(const lt_sampling *s, void *grad_x, void *grad_grid,
                                 const void *grad, const void *x, const void *grid);

    /* -- indexing ------------------------------------------------------------------------------ */
    lt_status (*index_get)(const lt_iter *it, const lt_index_args *args);
    lt_status (*index_put)(const lt_iter *it, const lt_index_args *args, bool accumulate);
    /* out[..i..] = in[..index[i]..]; out has the sizes of index. */
    lt_status (*gather)(const lt_array *out, const lt_array *in, int dim, const lt_array *index);
    /* out[..index[i]..] (op)= src[..i..]; src NULL: the scalar value. fresh: see lt_index_args. */
    lt_status (*scatter)(lt_scatter_mode mode, const lt_array *out, int dim, const lt_array *index,
                         const lt_array *src, lt_scalar value, bool fresh);
    /* Two calls: the number of non-zero elements; then their coordinates as [count, ndim] int64, in
     * row-major order. The first synchronizes with the device. */
    lt_status (*nonzero_count)(const lt_array *in, int64_t *count);
    lt_status (*nonzero)(const lt_array *in, const lt_array *out);

    /* -- sources ------------------------------------------------------------------------------- */
    lt_status (*check_values)(const lt_value_check *c);
    /* start, start + step, start + 2 step ...; backwards: the last element is start. out is
     * contiguous. */
    lt_status (*range)(const lt_array *out, lt_scalar start, lt_scalar step, bool backwards);
    /* The caller holds the generator's lock (random/generator.h). out is contiguous. */
    lt_status (*random)(lt_distribution what, const lt_array *out, lt_scalar a, lt_scalar b,
                        lt_generator *generator); /* see random.h */
    /* A random number for each element of a (and b, unless NULL): contiguous, of one shape, float
     * or double. */
    lt_status (*draw)(lt_draw what, const lt_array *out, const lt_array *a, const lt_array *b,
                      lt_generator *generator);

    /* -- recurrent layers: the elementwise part of a step, around its matrix products ---------- */
    lt_status (*cell)(const lt_cell_step *step);
    lt_status (*cell_backward)(const lt_cell_step *step);
    /* All layers in one call (network.h). Optional. The other two are called only if network_sizes
     * returned nonzero weights. */
    lt_status (*network_sizes)(const lt_network *network, lt_network_sizes *sizes);
    lt_status (*network)(const lt_network *network, const lt_network_arrays *arrays);
    lt_status (*network_backward)(const lt_network *network, const lt_network_arrays *arrays);

    /* -- optimizers ---------------------------------------------------------------------------- */
    lt_status (*optimize)(const lt_optim *o);

    /* -- devices; NULL on the CPU -------------------------------------------------------------- */
    int (*device_count)(void);
    int (*current_device)(void);
    lt_status (*set_device)(int device);
    lt_status (*properties)(int device, lt_device_properties *out);
    lt_status (*synchronize)(int device); /* -1: the current device; reports asynchronous errors */
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
    /* -- graphs -------------------------------------------------------------------------------- */
    /* Work that a thread queues on a stream between begin and end is recorded, and run by each
     * replay. Memory allocated in between comes from the graph's private pool, which graphs may
     * share (pool 0: a new one). Synchronizing calls are errors while recording. graph_end with
     * keep false discards the recording. */
    uint64_t (*graph_pool_new)(void);
    lt_status (*graph_new)(uint64_t *graph);
    void (*graph_free)(uint64_t graph);
    /* on the current stream, which must not be the default one */
    lt_status (*graph_begin)(uint64_t graph, uint64_t pool);
    lt_status (*graph_end)(uint64_t graph, bool keep);
    lt_status (*graph_replay)(uint64_t graph); /* on the current stream of its device */
    void (*graph_reset)(uint64_t graph);
    uint64_t (*graph_pool)(uint64_t graph); /* 0: nothing was recorded */
    bool (*graph_recording)(void);          /* whether this thread is recording */
    bool simulated;

    /* CPU only: whether an instruction set or library (named as in lt_has) is available */
    bool (*has)(const char *feature);
} lt_backend;

/* The table of a device type; NULL with an error message if it is not available (no driver, no GPU,
 * no backend library). lt_backend_of(t) is never NULL, since t exists. */
const lt_backend *lt_backend_get(lt_device_type type);
/* As lt_backend_get, without an error if it is not available. Loads the backend if necessary. */
const lt_backend *lt_backend_probe(lt_device_type type);
/* The reason why no GPU is available, as a sentence for the user. */
const char *lt_backend_missing_reason(void);

extern const lt_backend *lt_backends[LT_DEVICE_TYPES];
/* Sets the table of a type. The CPU backend calls it before main. */
void lt_backend_register(lt_device_type type, const lt_backend *backend);
#define lt_backend_of(tensor) (lt_backends[(tensor)->device.type])

/* Replaces index -1 by the current device; an error if the device does not exist. */
lt_status lt_device_resolve(lt_device *device);

/* Whether float32 matrix products may use TF32, with a mantissa of 10 bits; initially off. */
void lt_set_allow_tf32(bool on);
bool lt_allow_tf32(void);
/* The same for convolutions and recurrent networks in cuDNN; initially on, as in PyTorch. */
void lt_set_allow_convolution_tf32(bool on);
bool lt_allow_convolution_tf32(void);

/* Whether cuDNN may be used, if available; initially on. Otherwise our own kernels are used. */
void lt_set_cudnn_enabled(bool on);
bool lt_cudnn_enabled(void);

/* Implementations of attention (torch.backends.cuda.enable_..._sdp), with PyTorch's numbers: matrix
 * products and a softmax; our own kernels, under two names; cuDNN. Initially all are allowed. */
typedef enum lt_attention_algorithm {
    LT_ATTENTION_MATH,
    LT_ATTENTION_FLASH,
    LT_ATTENTION_EFFICIENT,
    LT_ATTENTION_CUDNN
} lt_attention_algorithm;
void lt_set_attention_allowed(lt_attention_algorithm way, bool on);
bool lt_attention_allowed(lt_attention_algorithm way);

/* torch.use_deterministic_algorithms: replaces kernels with results that depend on thread order by
 * deterministic ones. Every nondeterministic kernel has a deterministic version, so warn_only never
 * triggers. */
void lt_set_deterministic(bool on, bool warn_only);
bool lt_deterministic(void);
bool lt_deterministic_warn_only(void);

/* Functions of core that a loaded backend may call. */
typedef struct lt_core_services {
    lt_status (*error)(lt_status status, const char *format, ...);
    /* "<before>index 10 is out of bounds for dimension 1 with size 3<after>". index and dim are
     * 0-based; the message shows them in the interpreter's base. */
    lt_status (*index_error)(const char *before, int64_t index, int dim, int64_t size,
                             const char *after);
    bool (*interrupted)(void);
    bool (*reclaim)(void);      /* runs a Lua collection when out of memory; false: none ran */
    lt_status (*stopped)(void); /* sets the error for the reason why `interrupted` is true */
    /* Counts device bytes that tensors allocate (+) or free (-). false: not counted, since the
     * context's limit would be exceeded; `refuse` sets that error. */
    bool (*charge)(int device, int64_t bytes);
    lt_status (*refuse)(int device, int64_t bytes);
    /* call before opening a library; an error if it is not permitted */
    lt_status (*authorize_library)(const char *name);
    /* records a synchronization of a GPU that the user did not request */
    void (*record_wait)(int device, const char *cause, double seconds);
    /* the running op, if it takes indices; else NULL (op_name.h) */
    const char *(*op_name)(void);
    bool (*allow_tf32)(void);             /* torch.backends.cuda.matmul.allow_tf32 */
    bool (*allow_convolution_tf32)(void); /* torch.backends.cudnn.allow_tf32 */
    bool (*cudnn_enabled)(void);          /* torch.backends.cudnn.enabled */
    bool (*attention_allowed)(lt_attention_algorithm way);
    bool (*deterministic)(void); /* torch.use_deterministic_algorithms */
    /* current source line of the script: "train.lua:31", or "" */
    void (*origin)(char *buffer, size_t n);
    lt_generator *(*default_generator)(lt_device device);
} lt_core_services;

/* The function that a backend library exports, beside the data of backend_abi.h. NULL: not usable;
 * the reason is in `reason` (n bytes). */
typedef const lt_backend *(*lt_backend_open_fn)(const lt_core_services *core, char *reason,
                                                size_t n);
#define LT_BACKEND_OPEN "lt_backend_open"

#endif
