/* attention_forward.cu - fused attention with online softmax: scores stay in a warp's registers. A
 * block has some queries of a head and loops over tiles of keys, with the running maximum and the
 * running sum of exponentials (M. Milakov, N. Gimelshein: Online normalizer calculation for
 * softmax, 2018; T. Dao: FlashAttention-2, 2023). Tiles that the causal mask excludes are skipped.
 */
#include "attention.cuh"
#include "formulas/formulas.h"

namespace {

/* The rows of a warp: running maximum of the scores (base 2), running sum of the exponentials, and
 * the sum of values weighted by them. */
template <class S, int D> struct online_softmax {
    using shape = lt_attention_shape<S, D>;
    using tile = lt_tile<S>;
    using C = typename tile::C;
    static constexpr int MT = shape::MT, NT = shape::OTHERS / 8;
    C out[MT][D / 8][4] = {}, most[MT][2], sum[MT][2] = {};

    __device__ __forceinline__ online_softmax()
    {
        LT_UNROLLED
        for (int m = 0; m < MT; m++) most[m][0] = most[m][1] = static_cast<C>(-INFINITY);
    }

    /* Replaces the products of queries from `own` on and keys from j0 on by exponentials. */
    __device__ __forceinline__ void take(C (&s)[MT][NT][4], const lt_score_mask<S, C> &mask,
                                         C scale, int own, int j0, int g, int t)
    {
        const bool changes = mask.changes(own, j0 + shape::OTHERS);
        LT_UNROLLED
        for (int m = 0; m < MT; m++) {
            C top[2] = {most[m][0], most[m][1]};
            LT_UNROLLED
            for (int n = 0; n < NT; n++) LT_UNROLLED
            for (int i = 0; i < 4; i++) {
                C &x = s[m][n][i];
                x *= scale;
                if (changes)
                    x = mask.of(x, own + m * 16 + 2 * g + i / 2, j0 + n * 8 + 2 * t + i % 2);
                top[i / 2] = x > top[i / 2] ? x : top[i / 2];
            }
            LT_UNROLLED
            for (int r = 0; r < 2; r++) top[r] = raise_maximum(m, r, top[r]);
            LT_UNROLLED
            for (int n = 0; n < NT; n++) LT_UNROLLED
            for (int i = 0; i < 4; i++) {
                s[m][n][i] = lt_power_of_2(s[m][n][i] - top[i / 2]);
                sum[m][i / 2] += s[m][n][i];
            }
        }
    }

    /* Scales the sums of a row to a new maximum; `top` is this lane's. Returns the number to
     * subtract from scores: the maximum, or 0 if all scores are -infinity. */
    __device__ __forceinline__ C raise_maximum(int m, int r, C top)
    {
        LT_UNROLLED
        for (int lanes = 1; lanes < 4; lanes *= 2) {
            const C other = __shfl_xor_sync(0xffffffffu, top, lanes);
            top = other > top ? other : top;
        }
        const C shift = top == static_cast<C>(-INFINITY) ? C{0} : top,
                factor = lt_power_of_2(most[m][r] - shift);
        most[m][r] = top;
        sum[m][r] *= factor;
        LT_UNROLLED
        for (int n = 0; n < D / 8; n++) LT_UNROLLED
        for (int i = 0; i < 4; i++)
            if (tile::row(n, i) == r) out[m][n][i] *= factor;
        return shift;
    }

    /* Divides by the sums and stores the logarithms of the rows from `own` on. */
    __device__ __forceinline__ void finish(C *logsumexp, int own, int queries)
    {
        const int g = lt_lane() / 4, t = lt_lane() % 4;
        LT_UNROLLED
        for (int m = 0; m < MT; m++) LT_UNROLLED
        for (int r = 0; r < 2; r++) {
            C total = sum[m][r];
            LT_UNROLLED
            for (int lanes = 1; lanes < 4; lanes *= 2)
                total += __shfl_xor_sync(0xffffffffu, total, lanes);
            const C factor = total == 0 ? C{0} : 1 / total;
            LT_UNROLLED
            for (int n = 0; n < D / 8; n++) LT_UNROLLED
            for (int i = 0; i < 4; i++)
                if (tile::row(n, i) == r) out[m][n][i] *= factor;
            const int query = own + m * 16 + 2 * g + r;
            if (t == 0 && query < queries)
                logsumexp[query] = total == 0
                                       ? static_cast<C>(INFINITY)
                                       : most[m][r] * static_cast<C>(LT_LN_2) + lt_log(total);
        }
    }
};

/* Applies dropout to probabilities of head h. */
template <int MT, int NT, class C>
__device__ __forceinline__ void drop(C (&s)[MT][NT][4], const lt_attention_job &a, int64_t h,
                                     int own, int j0)
{
    const int g = lt_lane() / 4, t = lt_lane() % 4;
    const lt_attention_dropout dropout(a, h);
    LT_UNROLLED
    for (int m = 0; m < MT; m++) LT_UNROLLED
    for (int n = 0; n < NT; n++) {
        const int i0 = own + m * 16 + 2 * g, j = j0 + n * 8 + 2 * t;
        const lt_words w = dropout.words(i0, j);
        LT_UNROLLED
        for (int i = 0; i < 4; i++)
            s[m][n][i] *= dropout.keeps(w, i / 2, i % 2) ? static_cast<C>(a.kept) : C{0};
    }
}

template <class S, int D>
__global__ void __launch_bounds__((lt_attention_shape<S, D>::THREADS)) attend(lt_attention_job a)
{
    using shape = lt_attention_shape<S, D>;
    using tile = lt_tile<S>;
    using C = typename tile::C;
    constexpr int MT = shape::MT, NT = shape::OTHERS / 8, P = lt_pitch<S, D>,
                  THREADS = shape::THREADS;
    LT_DYNAMIC_SHARED(S, queries);
    S *const keys = queries + shape::ROWS * P, *const values = keys + shape::OTHERS * P;

    /* With a causal mask, the last query tiles have the most keys: start them first. */
    const int tiles = (a.queries + shape::ROWS - 1) / shape::ROWS;
    const int64_t h = blockIdx.x % a.all,
                  shared_head = h / a.heads * (a.heads / a.shared_by) + h % a.heads / a.shared_by;
    const int first = (tiles - 1 - static_cast<int>(blockIdx.x / a.all)) * shape::ROWS;
    const int end = a.causal ? min(a.keys, first + shape::ROWS) : a.keys;
    const int own = first + static_cast<int>(threadIdx.x) / LT_WARP * MT * 16;
    const lt_rows<S> key = lt_head_of<S>(a.key, shared_head, a.heads / a.shared_by, a.width),
                     value =
                         lt_head_of<S>(a.value, shared_head, a.heads / a.shared_by, a.value_width);
    const lt_score_mask<S, C> mask(a, h);
    const S *const own_queries = lt_own_rows<S, D>(queries, MT * 16);
    lt_load_tile<true, shape::ROWS, D, THREADS>(
        queries, lt_head_of<S>(a.query, h, a.heads, a.width), first, a.queries);

    const C scale = static_cast<C>(a.scale * LT_LOG2_E);
    const int g = lt_lane() / 4, t = lt_lane() % 4;
    online_softmax<S, D> rows;
    for (int j0 = 0; j0 < end; j0 += shape::OTHERS) {
        __syncthreads();
        lt_load_tile<false, shape::OTHERS, D, THREADS>(keys, key, j0, a.keys);
        lt_load_tile<false, shape::OTHERS, D, THREADS>(values, value, j0, a.keys);
        __syncthreads();
        /* Number of keys of this tile that this warp's rows may use. */
        const int last = own + MT * 16,
                  until = min(shape::OTHERS, (a.causal ? min(a.keys, last) : a.keys) - j0);
        if (own >= a.queries || until <= 0) continue;

        C s[MT][NT][4] = {};
        tile::template scores<D>(s, own_queries, keys, until, a.width);
        rows.take(s, mask, scale, own, j0, g, t);
        if (a.seed != nullptr) drop(s, a, h, own, j0);
        tile::template weigh<D>(rows.out, s, values, until, a.value_width);
    }

    if (own >= a.queries) return;
    rows.finish(static_cast<C *>(a.logsumexp) + h * a.queries, own, a.queries);
    const lt_rows<S> to = lt_head_of<S>(a.out, h, a.heads, a.value_width);
    lt_store_result<S, D>(lt_own_rows<S, D>(queries, MT * 16), rows.out, to, own, a.queries);
}

template <class S, int D> size_t shared_bytes()
{
    using shape = lt_attention_shape<S, D>;
    return static_cast<size_t>((shape::ROWS + 2 * shape::OTHERS) * lt_pitch<S, D>) * sizeof(S);
}

template <class S, int D> void launch(const lt_attention_job &a, cudaStream_t stream)
{
    using shape = lt_attention_shape<S, D>;
    const int64_t blocks = (a.queries + shape::ROWS - 1) / shape::ROWS * a.all;
    const size_t bytes = shared_bytes<S, D>();
    LT_ATTENTION_LAUNCH((attend<S, D>), static_cast<unsigned>(blocks), shape::THREADS, bytes,
                        stream, a);
}

} // namespace

void lt_attention_forward(lt_dtype dtype, const lt_attention_job &a, cudaStream_t stream)
{
    const int width = a.width > a.value_width ? a.width : a.value_width;
#define LAUNCH(S, D) launch<S, D>(a, stream)
    LT_ATTENTION_CASES(dtype, width, LAUNCH)
#undef LAUNCH
}

size_t lt_attention_forward_shared(lt_dtype dtype, int width)
{
    size_t bytes = 0;
#define BYTES(S, D) bytes = shared_bytes<S, D>()
    LT_ATTENTION_CASES(dtype, width, BYTES)
#undef BYTES
    return bytes;
}
