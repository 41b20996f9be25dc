/* attention_backward.cu - derivatives of attention. Probabilities are recomputed as exp(scores -
 * saved logsumexp). With p the probabilities after dropout, d = grad value^T after dropout, and
 * delta the row sums of grad * out: the gradient of value is p^T grad; the gradients of query and
 * key are p (d - delta) * scale, times key and times query. One kernel has a block per query tile
 * and loops over keys, the other a block per key tile and loops over queries; so no two blocks add
 * to the same element, and results are deterministic. */
#include "attention.cuh"
#include "kernels/offsets.cuh"

namespace {

enum { LINES = 4, BY_KEY = 1, BY_VALUE = 2 };

/* Minimum blocks per multiprocessor (launch bounds), where the compiler's own choice spills
 * registers; 0: its choice. */
template <class S> constexpr int lt_attention_blocks = sizeof(S) == 8 ? 1 : 0;

template <class S>
__global__ void __launch_bounds__(LINES *LT_WARP) sum_up(lt_attention_job a, int64_t lines)
{
    using C = typename lt_tile<S>::C;
    const int64_t line = static_cast<int64_t>(blockIdx.x) * LINES + threadIdx.x / LT_WARP;
    if (line >= lines) return;
    const int64_t h = line / a.queries, i = line % a.queries;
    const lt_rows<S> grad = lt_head_of<S>(a.grad, h, a.heads, a.value_width),
                     out = lt_head_of<S>(a.out, h, a.heads, a.value_width);
    C sum = 0;
    for (int k = lt_lane(); k < a.value_width; k += LT_WARP)
        sum += lt_as<C>(grad.data[i * grad.stride + k]) * lt_as<C>(out.data[i * out.stride + k]);
    sum = lt_warp_join(sum, [](C x, C y) { return x + y; });
    if (lt_lane() == 0) static_cast<C *>(a.deltas)[line] = sum;
}

/* The terms of queries i and i + 1: logsumexp in base 2, to subtract from the scores, and delta.
 * Missing queries get probability 0. */
template <class C>
__device__ __forceinline__ void load_terms(const lt_attention_job &a, int64_t h, int i,
                                           C (&shift)[2], C (&delta)[2])
{
    LT_UNROLLED
    for (int r = 0; r < 2; r++) {
        const bool is = i + r < a.queries;
        shift[r] = is ? static_cast<const C *>(a.logsumexp)[h * a.queries + i + r] *
                            static_cast<C>(LT_LOG2_E)
                      : static_cast<C>(INFINITY);
        delta[r] = is ? static_cast<const C *>(a.deltas)[h * a.queries + i + r] : C{0};
    }
}

/* Stores a warp's rows of a dense gradient of a head, which begins at row `line`; NULL: not needed.
 * tile: of the block; its rows are overwritten. */
template <class S, int D, class C>
__device__ __forceinline__ void store_gradient(S *tile, const C (&acc)[1][D / 8][4], void *gradient,
                                               int64_t line, int width, int own, int end)
{
    if (gradient == nullptr) return;
    const lt_rows<S> rows = {static_cast<S *>(gradient) + line * width, width, width,
                             width % lt_per_access<S> == 0};
    lt_store_result<S, D>(lt_own_rows<S, D>(tile, 16), acc, rows, own, end);
}

/* ---- gradient of query ----------------------------------------------------------------------- */

template <class S, int D>
__global__ void __launch_bounds__((lt_attention_shape<S, D>::THREADS), lt_attention_blocks<S>)
    by_query(lt_attention_job a)
{
    using shape = lt_attention_shape<S, D>;
    using tile = lt_tile<S>;
    using C = typename tile::C;
    constexpr int NT = shape::BACK / 8, P = lt_pitch<S, D>, THREADS = shape::THREADS;
    LT_DYNAMIC_SHARED(S, queries);
    S *const grads = queries + shape::OWN * P, *const keys = grads + shape::OWN * P,
             *const values = keys + shape::BACK * P;

    const int tiles = (a.queries + shape::OWN - 1) / shape::OWN,
              shared_heads = a.heads / a.shared_by;
    const int64_t h = blockIdx.x % a.all,
                  shared_head = h / a.heads * shared_heads + h % a.heads / a.shared_by;
    const int first = (tiles - 1 - static_cast<int>(blockIdx.x / a.all)) * shape::OWN;
    const int end = a.causal ? min(a.keys, first + shape::OWN) : a.keys;
    const int own = first + static_cast<int>(threadIdx.x) / LT_WARP * 16, g = lt_lane() / 4,
              t = lt_lane() % 4;
    const lt_rows<S> key = lt_head_of<S>(a.key, shared_head, shared_heads, a.width),
                     value = lt_head_of<S>(a.value, shared_head, shared_heads, a.value_width);
    const lt_score_mask<S, C> mask(a, h);
    const C scale = static_cast<C>(a.scale), steep = static_cast<C>(a.scale * LT_LOG2_E);
    lt_load_tile<true, shape::OWN, D, THREADS>(queries, lt_head_of<S>(a.query, h, a.heads, a.width),
                                               first, a.queries);
    lt_load_tile<true, shape::OWN, D, THREADS>(
        grads, lt_head_of<S>(a.grad, h, a.heads, a.value_width), first, a.queries);

    C shift[2], delta[2], out[1][D / 8][4] = {};
    load_terms(a, h, own + 2 * g, shift, delta);
    for (int j0 = 0; j0 < end; j0 += shape::BACK) {
        __syncthreads();
        lt_load_tile<false, shape::BACK, D, THREADS>(keys, key, j0, a.keys);
        lt_load_tile<false, shape::BACK, D, THREADS>(values, value, j0, a.keys);
        __syncthreads();
        const int until = min(shape::BACK, (a.causal ? min(a.keys, own + 16) : a.keys) - j0);
        if (own >= a.queries || until <= 0) continue;

        C s[1][NT][4] = {}, d[1][NT][4] = {};
        tile::template scores<D>(s, lt_own_rows<S, D>(queries, 16), keys, until, a.width);
        tile::template scores<D>(d, lt_own_rows<S, D>(grads, 16), values, until, a.value_width);
        const bool changes = mask.changes(own, j0 + shape::BACK);
        LT_UNROLLED
        for (int n = 0; n < NT; n++) {
            const int i0 = own + 2 * g, j = j0 + n * 8 + 2 * t;
            lt_words w = {};
            if (a.seed != nullptr) w = lt_attention_dropout(a, h).words(i0, j);
            LT_UNROLLED
            for (int i = 0; i < 4; i++) {
                C x = s[0][n][i] * steep, slope = d[0][n][i];
                if (changes) x = mask.of(x, i0 + i / 2, j + i % 2);
                if (a.seed != nullptr)
                    slope *= w.w[i] >= a.drop_below ? static_cast<C>(a.kept) : C{0};
                s[0][n][i] = lt_power_of_2(x - shift[i / 2]) * scale * (slope - delta[i / 2]);
            }
        }
        tile::template weigh<D>(out, s, keys, until, a.width);
    }
    if (own >= a.queries) return;
    store_gradient<S, D>(queries, out, a.grad_query, h * a.queries, a.width, own, a.queries);
}

/* ---- gradients of key and value -------------------------------------------------------------- */

/* Scores are transposed: a warp's rows are keys, columns are queries. WANTS: which of the two
 * gradients are computed. */
template <class S, int D, int WANTS>
__global__ void __launch_bounds__((lt_attention_shape<S, D>::THREADS), lt_attention_blocks<S>)
    by_key(lt_attention_job a)
{
    using shape = lt_attention_shape<S, D>;
    using tile = lt_tile<S>;
    using C = typename tile::C;
    constexpr int NT = shape::BACK / 8, P = lt_pitch<S, D>, THREADS = shape::THREADS;
    constexpr bool K = (WANTS & BY_KEY) != 0, V = (WANTS & BY_VALUE) != 0;
    LT_DYNAMIC_SHARED(S, keys);
    S *const values = keys + shape::OWN * P, *const queries = values + shape::OWN * P,
             *const grads = queries + shape::BACK * P;

    const int shared_heads = a.heads / a.shared_by;
    const int64_t all = a.all / a.shared_by, shared_head = blockIdx.x % all;
    const int first = static_cast<int>(blockIdx.x / all) * shape::OWN,
              begin = a.causal ? first / shape::BACK * shape::BACK : 0;
    const int own = first + static_cast<int>(threadIdx.x) / LT_WARP * 16, g = lt_lane() / 4,
              t = lt_lane() % 4;
    const C scale = static_cast<C>(a.scale), steep = static_cast<C>(a.scale * LT_LOG2_E);
    lt_load_tile<true, shape::OWN, D, THREADS>(
        keys, lt_head_of<S>(a.key, shared_head, shared_heads, a.width), first, a.keys);
    if (K)
        lt_load_tile<true, shape::OWN, D, THREADS>(
            values, lt_head_of<S>(a.value, shared_head, shared_heads, a.value_width), first,
            a.keys);

    C of_key[1][K ? D / 8 : 1][4] = {}, of_value[1][V ? D / 8 : 1][4] = {};
    for (int member = 0; member < a.shared_by; member++) {
        const int64_t h = shared_head / shared_heads * a.heads +
                          shared_head % shared_heads * a.shared_by + member;
        const lt_rows<S> query = lt_head_of<S>(a.query, h, a.heads, a.width),
                         grad = lt_head_of<S>(a.grad, h, a.heads, a.value_width);
        const lt_score_mask<S, C> mask(a, h);
        for (int i0 = begin; i0 < a.queries; i0 += shape::BACK) {
            __syncthreads();
            lt_load_tile<false, shape::BACK, D, THREADS>(queries, query, i0, a.queries);
            lt_load_tile<false, shape::BACK, D, THREADS>(grads, grad, i0, a.queries);
            __syncthreads();
            const int until = min(shape::BACK, a.queries - i0);
            if (own >= a.keys || (a.causal && i0 + shape::BACK <= own)) continue;

            C s[1][NT][4] = {}, d[1][NT][4] = {};
            tile::template scores<D>(s, lt_own_rows<S, D>(keys, 16), queries, until, a.width);
            if (K)
                tile::template scores<D>(d, lt_own_rows<S, D>(values, 16), grads, until,
                                         a.value_width);
            const bool changes = mask.changes(i0, own + 16);
            LT_UNROLLED
            for (int n = 0; n < NT; n++) {
                const int q = i0 + n * 8 + 2 * t, j0 = own + 2 * g;
                lt_words w = {};
                if (a.seed != nullptr) w = lt_attention_dropout(a, h).words(q, j0);
                C shift[2], delta[2];
                load_terms(a, h, q, shift, delta);
                LT_UNROLLED
                for (int i = 0; i < 4; i++) {
                    C x = s[0][n][i] * steep;
                    if (changes) x = mask.of(x, q + i % 2, j0 + i / 2);
                    const C p = lt_power_of_2(x - shift[i % 2]),
                            kept = a.seed == nullptr                        ? C{1}
                                   : w.w[i % 2 * 2 + i / 2] >= a.drop_below ? static_cast<C>(a.kept)
                                                                            : C{0};
                    if (K) d[0][n][i] = p * scale * (d[0][n][i] * kept - delta[i % 2]);
                    if (V) s[0][n][i] = p * kept;
                }
            }
            if constexpr (V) tile::template weigh<D>(of_value, s, grads, until, a.value_width);
            if constexpr (K) tile::template weigh<D>(of_key, d, queries, until, a.width);
        }
    }
    /* barrier after the tile loads, if no query uses these keys */
    __syncthreads();
    if (own >= a.keys) return;
    const int64_t line = shared_head * a.keys;
    if constexpr (V)
        store_gradient<S, D>(keys, of_value, a.grad_value, line, a.value_width, own, a.keys);
    if constexpr (K) store_gradient<S, D>(keys, of_key, a.grad_key, line, a.width, own, a.keys);
}

/* ---- dropout --------------------------------------------------------------------------------- */

enum { KEPT_BLOCK = 256 };

template <class C>
__global__ void __launch_bounds__(KEPT_BLOCK) write_kept(lt_attention_job a, C *out, int64_t n)
{
    const int64_t at = static_cast<int64_t>(blockIdx.x) * KEPT_BLOCK + threadIdx.x;
    if (at >= n) return;
    const int64_t h = at / a.keys / a.queries;
    const int i = static_cast<int>(at / a.keys % a.queries), j = static_cast<int>(at % a.keys);
    const lt_attention_dropout dropout(a, h);
    out[at] = dropout.keeps(dropout.words(i, j), i, j) ? static_cast<C>(a.kept) : C{0};
}

template <class S, int D> size_t shared_bytes()
{
    using shape = lt_attention_shape<S, D>;
    return static_cast<size_t>(2 * (shape::OWN + shape::BACK) * lt_pitch<S, D>) * sizeof(S);
}

/* For wide heads, and double, the registers hold only one of the two gradients at a time. */
template <class S, int D> void launch_by_key(const lt_attention_job &a, cudaStream_t stream)
{
    using shape = lt_attention_shape<S, D>;
    const unsigned blocks =
        static_cast<unsigned>((a.keys + shape::OWN - 1) / shape::OWN * (a.all / a.shared_by));
    const size_t bytes = shared_bytes<S, D>();
    if constexpr (D <= 128 && sizeof(S) < 8) {
        LT_ATTENTION_LAUNCH((by_key<S, D, BY_KEY | BY_VALUE>), blocks, shape::THREADS, bytes,
                            stream, a);
    } else {
        if (a.grad_key != nullptr)
            LT_ATTENTION_LAUNCH((by_key<S, D, BY_KEY>), blocks, shape::THREADS, bytes, stream, a);
        if (a.grad_value != nullptr)
            LT_ATTENTION_LAUNCH((by_key<S, D, BY_VALUE>), blocks, shape::THREADS, bytes, stream, a);
    }
}

template <class S, int D> void launch(const lt_attention_job &a, cudaStream_t stream)
{
    using shape = lt_attention_shape<S, D>;
    const int64_t lines = a.all * a.queries;
    const size_t bytes = shared_bytes<S, D>();
    LT_LAUNCH_BARRIER(sum_up<S>, static_cast<unsigned>((lines + LINES - 1) / LINES),
                      LINES * LT_WARP, 0, stream, a, lines);
    if (a.grad_query != nullptr)
        LT_ATTENTION_LAUNCH(
            (by_query<S, D>),
            static_cast<unsigned>((a.queries + shape::OWN - 1) / shape::OWN * a.all),
            shape::THREADS, bytes, stream, a);
    if (a.grad_key != nullptr || a.grad_value != nullptr) launch_by_key<S, D>(a, stream);
}

} // namespace

void lt_attention_backward(lt_dtype dtype, const lt_attention_job &a, cudaStream_t stream)
{
    const int width = a.width > a.value_width ? a.width : a.value_width;
#define LAUNCH(S, D) launch<S, D>(a, stream)
    LT_ATTENTION_CASES(dtype, width, LAUNCH)
#undef LAUNCH
}

size_t lt_attention_backward_shared(lt_dtype dtype, int width)
{
    size_t bytes = 0;
#define BYTES(S, D) bytes = shared_bytes<S, D>()
    LT_ATTENTION_CASES(dtype, width, BYTES)
#undef BYTES
    return bytes;
}

void lt_attention_kept(lt_dtype dtype, const lt_attention_job &a, void *out, cudaStream_t stream)
{
    const int64_t n = a.all * a.queries * a.keys;
    if (dtype == LT_FLOAT64)
        LT_LAUNCH(write_kept<double>, lt_blocks(n, KEPT_BLOCK), KEPT_BLOCK, stream, a,
                  static_cast<double *>(out), n);
    else
        LT_LAUNCH(write_kept<float>, lt_blocks(n, KEPT_BLOCK), KEPT_BLOCK, stream, a,
                  static_cast<float *>(out), n);
}
