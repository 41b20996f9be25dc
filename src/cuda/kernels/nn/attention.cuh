/* attention.cuh - shared by the attention kernels: arguments, tile sizes, masks, dropout.
 * attention.cu selects between the fused kernels and attention_buffered.cu. */
#ifndef LT_CUDA_ATTENTION_CUH
#define LT_CUDA_ATTENTION_CUH

#include "cuda.h"
#include "kernels/random/philox.cuh"
#include "kernels/tiles.cuh"

/* A tensor [batch, heads, rows, width]; strides in elements. */
struct lt_attention_rows {
    const void *data;
    int64_t batch, head, row;
    bool aligned;
};

struct lt_attention_job {
    lt_attention_rows query, key, value, out, grad;
    const char *mask; /* null: none */
    int64_t mask_strides[4];
    bool mask_adds, causal;
    int heads, shared_by; /* query heads; how many share a key and value head */
    int queries, keys, width, value_width;
    double scale;
    const int64_t *seed; /* of dropout; null: no dropout */
    uint32_t drop_below; /* drop if a random word is less */
    double kept;         /* factor of the other probabilities */
    void *logsumexp, *deltas, *grad_query, *grad_key, *grad_value;
    int64_t all; /* query heads of the whole batch */
};

/* Tile sizes for elements S and heads up to D wide. A block has WARPS warps, with MT * 16 rows each
 * (16 in backward). The tiles that it loops over have OTHERS rows in forward, BACK rows in
 * backward. */
template <class S, int D> struct lt_attention_shape;
#define LT_ATTENTION_SHAPE(S, D, WARPS_, MT_, OTHERS_, BACK_)                                      \
    template <> struct lt_attention_shape<S, D> {                                                  \
        static constexpr int WARPS = WARPS_, MT = MT_, OTHERS = OTHERS_, BACK = BACK_;             \
        static constexpr int THREADS = WARPS * LT_WARP, ROWS = WARPS * MT * 16, OWN = WARPS * 16;  \
    }
LT_ATTENTION_SHAPE(__half, 64, 4, 2, 32, 32);
LT_ATTENTION_SHAPE(__half, 128, 4, 2, 32, 32);
LT_ATTENTION_SHAPE(__half, 256, 4, 1, 32, 16);
LT_ATTENTION_SHAPE(__nv_bfloat16, 64, 4, 2, 32, 32);
LT_ATTENTION_SHAPE(__nv_bfloat16, 128, 4, 2, 32, 32);
LT_ATTENTION_SHAPE(__nv_bfloat16, 256, 4, 1, 32, 16);
LT_ATTENTION_SHAPE(float, 64, 4, 1, 32, 16);
LT_ATTENTION_SHAPE(float, 128, 4, 1, 32, 16);
LT_ATTENTION_SHAPE(float, 256, 2, 1, 16, 16);
LT_ATTENTION_SHAPE(double, 64, 2, 1, 16, 8);
#undef LT_ATTENTION_SHAPE

/* Maximum head width of the fused kernels; attention_buffered.cu supports wider heads. */
static inline int lt_attention_widest(lt_dtype dtype) { return dtype == LT_FLOAT64 ? 64 : 256; }

/* attention_forward.cu, attention_backward.cu. _shared: bytes of shared memory per block. */
size_t lt_attention_forward_shared(lt_dtype dtype, int width);
size_t lt_attention_backward_shared(lt_dtype dtype, int width);
void lt_attention_forward(lt_dtype dtype, const lt_attention_job &a, cudaStream_t stream);
void lt_attention_backward(lt_dtype dtype, const lt_attention_job &a, cudaStream_t stream);
/* Stores the factors that dropout applies to probabilities, [all, queries, keys], in float, or
 * double if dtype is. */
void lt_attention_kept(lt_dtype dtype, const lt_attention_job &a, void *out, cudaStream_t stream);
/* attention_buffered.cu */
lt_status lt_attention_buffered(const lt_attention *a, const lt_attention_job &job,
                                cudaStream_t stream);
lt_status lt_attention_buffered_backward(const lt_attention *a, const lt_attention_job &job,
                                         cudaStream_t stream);

/* Instantiates CALL(element type, maximum width) for a dtype and width. */
#define LT_ATTENTION_CASES_OF(S, width, CALL)                                                      \
    if (width <= 64)                                                                               \
        CALL(S, 64);                                                                               \
    else if (width <= 128)                                                                         \
        CALL(S, 128);                                                                              \
    else                                                                                           \
        CALL(S, 256);
#define LT_ATTENTION_CASES(dtype, width, CALL)                                                     \
    switch (dtype) {                                                                               \
    case LT_FLOAT16: LT_ATTENTION_CASES_OF(__half, width, CALL) break;                             \
    case LT_BFLOAT16: LT_ATTENTION_CASES_OF(__nv_bfloat16, width, CALL) break;                     \
    case LT_FLOAT32: LT_ATTENTION_CASES_OF(float, width, CALL) break;                              \
    default: CALL(double, 64); break;                                                              \
    }

/* Uses LT_LAUNCH_WIDE if a block needs more than the default limit of shared memory. */
#define LT_ATTENTION_LAUNCH(kernel, blocks, threads, bytes, stream, ...)                           \
    do {                                                                                           \
        if ((bytes) > 48 * 1024)                                                                   \
            LT_LAUNCH_WIDE(kernel, blocks, threads, bytes, stream, __VA_ARGS__);                   \
        else                                                                                       \
            LT_LAUNCH_BARRIER(kernel, blocks, threads, bytes, stream, __VA_ARGS__);                \
    } while (0)

constexpr double LT_LOG2_E = 1.4426950408889634, LT_LN_2 = 0.6931471805599453;

static __device__ __forceinline__ float lt_power_of_2(float x) { return exp2f(x); }
static __device__ __forceinline__ double lt_power_of_2(double x) { return exp2(x); }

/* Query head h, or key head h, of the batch. */
template <class S>
static __device__ __forceinline__ lt_rows<S> lt_head_of(const lt_attention_rows &r, int64_t h,
                                                        int heads, int width)
{
    return {static_cast<const S *>(r.data) + h / heads * r.batch + h % heads * r.head, r.row, width,
            r.aligned};
}

/* The first row in a tile of this thread's warp. */
template <class S, int D> static __device__ __forceinline__ S *lt_own_rows(S *tile, int rows)
{
    return tile + static_cast<int>(threadIdx.x) / LT_WARP * rows * lt_pitch<S, D>;
}

/* Applies masks to the scores of a head. */
template <class S, class C> struct lt_score_mask {
    const lt_attention_job &a;
    const char *mask;

    __device__ __forceinline__ lt_score_mask(const lt_attention_job &job, int64_t h)
        : a(job), mask(job.mask == nullptr ? nullptr
                                           : job.mask + (h / job.heads * job.mask_strides[0] +
                                                         h % job.heads * job.mask_strides[1]) *
                                                            (job.mask_adds ? sizeof(S) : 1))
    {}
    /* Whether a mask affects any score of queries from i on and keys before `end`. */
    __device__ __forceinline__ bool changes(int i, int end) const
    {
        return mask != nullptr || end > a.keys || (a.causal && end > i + 1);
    }
    /* The masked score, in base 2: x has been multiplied by log2 e. */
    __device__ __forceinline__ C of(C x, int i, int j) const
    {
        if (j >= a.keys || i >= a.queries || (a.causal && j > i)) return static_cast<C>(-INFINITY);
        if (mask == nullptr) return x;
        const int64_t at = i * a.mask_strides[2] + j * a.mask_strides[3];
        if (!a.mask_adds) return mask[at] != 0 ? x : static_cast<C>(-INFINITY);
        return x + lt_as<C>(reinterpret_cast<const S *>(mask)[at]) * static_cast<C>(LT_LOG2_E);
    }
};

/* Decides which probabilities are kept: one Philox counter serves two queries and two keys. */
struct lt_attention_dropout {
    lt_philox philox;
    uint64_t first, across;
    uint32_t below;

    __device__ __forceinline__ lt_attention_dropout(const lt_attention_job &a, int64_t h)
        : philox{static_cast<uint64_t>(a.seed[0]), static_cast<uint64_t>(a.seed[1]), nullptr},
          first(static_cast<uint64_t>(h) * static_cast<uint64_t>((a.queries + 1) / 2) *
                static_cast<uint64_t>((a.keys + 1) / 2)),
          across(static_cast<uint64_t>((a.keys + 1) / 2)), below(a.drop_below)
    {}
    __device__ __forceinline__ lt_words words(int i, int j) const
    {
        return lt_philox_words(philox, first + static_cast<uint64_t>(i / 2) * across +
                                           static_cast<uint64_t>(j / 2));
    }
    __device__ __forceinline__ bool keeps(const lt_words &w, int i, int j) const
    {
        return w.w[i % 2 * 2 + j % 2] >= below;
    }
};

/* Stores a warp's rows first, first + 1, ... (before `end`) of a result to `rows`, rounded. Goes
 * through the warp's own rows of a tile in shared memory, so that stores are vectorized. */
template <class S, int D, int MT, class C>
static __device__ __forceinline__ void lt_store_result(S *tile, const C (&acc)[MT][D / 8][4],
                                                       const lt_rows<S> &rows, int first, int end)
{
    S *const to = const_cast<S *>(rows.data);
    const int64_t stride = rows.stride;
    const int width = rows.width;
    constexpr int P = lt_pitch<S, D>, V = lt_per_access<S>, ACROSS = D / V;
    const int l = lt_lane();
    __syncwarp();
    LT_UNROLLED
    for (int m = 0; m < MT; m++) LT_UNROLLED
    for (int n = 0; n < D / 8; n++) LT_UNROLLED
    for (int i = 0; i < 4; i++)
        tile[(m * 16 + l / 4 * 2 + lt_tile<S>::row(n, i)) * P + lt_tile<S>::column(n, i)] =
            lt_stored<S, C>::of(acc[m][n][i]);
    __syncwarp();
    for (int i = l; i < MT * 16 * ACROSS; i += LT_WARP) {
        const int r = i / ACROSS, column = i % ACROSS * V;
        if (first + r >= end || column >= width) continue;
        S *p = to + (first + r) * stride + column;
        const auto v = *reinterpret_cast<const lt_vector<S, V> *>(tile + r * P + column);
        if (rows.aligned && column + V <= width)
            *reinterpret_cast<lt_vector<S, V> *>(p) = v;
        else
            LT_UNROLLED
        for (int e = 0; e < V; e++)
            if (column + e < width) p[e] = v.v[e];
    }
}

#endif
