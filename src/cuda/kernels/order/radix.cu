/* radix.cu - stable least-significant-digit radix sort of key-index pairs ("Onesweep": A. Adinets,
 * D. Merrill 2022). One kernel computes the histograms of all digits; then one kernel per digit
 * reads each pair once and writes it to its destination. A block has one tile of a row: it ranks
 * its pairs per warp, gets the digit counts of earlier tiles by decoupled look-back (lookback.cuh),
 * sorts the tile by digit in shared memory and writes it, so that writes are coalesced. */
#include "radix.cuh"

#include "kernels/block.cuh"
#include "kernels/launch.cuh"
#include "kernels/lookback.cuh"
#include "kernels/offsets.cuh"

enum {
    BLOCK = 256,
    WARPS = BLOCK / LT_WARP,
    DIGIT_BITS = 8,
    DIGITS = 1 << DIGIT_BITS, /* one thread for each */
    MOST_PASSES = 8,
    COUNTED = 16 * BLOCK, /* pairs per block of count_digits */
    TILE_BYTES = 32768,
};
static_assert(DIGITS == BLOCK, "a thread for each digit");

template <class K> struct radix {
    const lt_pair<K> *from;
    lt_pair<K> *to;
    uint32_t n; /* pairs of a row */
    int low, passes, pass;
    uint32_t tiles;   /* per row */
    uint32_t *counts; /* [lines][passes][DIGITS]: histogram, then its prefix sums */
    /* [lines][tiles][DIGITS] of this pass: published digit counts of tiles; the upper 2 bits are
     * the status. */
    uint64_t *said;
    unsigned *started; /* counter of started blocks in this pass */
};

template <class K> constexpr int tile_pairs = TILE_BYTES / static_cast<int>(sizeof(lt_pair<K>));

template <class K> static __device__ __forceinline__ unsigned digit_of(K key, int shift)
{
    return static_cast<unsigned>(key >> shift) & (DIGITS - 1);
}

template <class K> static __global__ void __launch_bounds__(BLOCK) count_digits(radix<K> a)
{
    __shared__ unsigned found[MOST_PASSES * DIGITS];
    const uint32_t parts = (a.n + COUNTED - 1) / COUNTED, line = blockIdx.x / parts,
                   first = blockIdx.x % parts * COUNTED;
    const uint32_t to = a.n - first < COUNTED ? a.n : first + COUNTED;
    const lt_pair<K> *const pairs = a.from + static_cast<int64_t>(line) * a.n;
    for (int pass = 0; pass < a.passes; pass++) found[pass * DIGITS + threadIdx.x] = 0;
    __syncthreads();
    for (uint32_t i = first + threadIdx.x; i < to; i += BLOCK) {
        const K key = pairs[i].key;
        for (int pass = 0; pass < a.passes; pass++)
            atomicAdd(&found[pass * DIGITS + digit_of(key, a.low + pass * DIGIT_BITS)], 1u);
    }
    __syncthreads();
    for (int pass = 0; pass < a.passes; pass++) {
        const unsigned number = found[pass * DIGITS + threadIdx.x];
        if (number > 0)
            atomicAdd(
                &a.counts[(static_cast<int64_t>(line) * a.passes + pass) * DIGITS + threadIdx.x],
                number);
    }
}

/* Turns each histogram into the start index of each digit (exclusive prefix sum). */
static __global__ void __launch_bounds__(BLOCK) start_digits(uint32_t *counts)
{
    __shared__ unsigned shared[WARPS];
    uint32_t *const own = counts + static_cast<int64_t>(blockIdx.x) * DIGITS + threadIdx.x;
    *own = lt_sum_before(*own, shared);
}

/* Returns the lanes of `lanes`, which have a pair, with the same digit as this lane. */
static __device__ __forceinline__ unsigned same_digit(unsigned digit, unsigned lanes)
{
    LT_UNROLLED
    for (int bit = 0; bit < DIGIT_BITS; bit++) {
        const bool set = (digit & 1u << bit) != 0;
        lanes &= __ballot_sync(0xffffffffu, set) ^ (set ? 0u : 0xffffffffu);
    }
    return lanes;
}

/* Decoupled look-back: the number of pairs with this thread's digit in earlier tiles of the row.
 * own: the number in this tile, which is published. */
static __device__ __forceinline__ unsigned digits_before(uint64_t *said, uint32_t tile,
                                                         unsigned own)
{
    constexpr int SHIFT = 62;
    constexpr uint64_t NUMBER = (uint64_t{1} << SHIFT) - 1;
    uint64_t *const mine = said + static_cast<int64_t>(tile) * DIGITS + threadIdx.x;
    unsigned before = 0;
    if (tile > 0) {
        lt_store_release(mine, LT_TILE_OWN << SHIFT | own);
        for (const uint64_t *other = mine - DIGITS;; other -= DIGITS) {
            uint64_t word = lt_load_acquire(other);
            while (word >> SHIFT == LT_TILE_SILENT) {
                __nanosleep(40);
                word = lt_load_acquire(other);
            }
            before += static_cast<unsigned>(word & NUMBER);
            if (word >> SHIFT == LT_TILE_ALL) break;
        }
    }
    lt_store_release(mine, LT_TILE_ALL << SHIFT | (before + own));
    return before;
}

template <class K> struct tile_of_pairs {
    lt_pair<K> sorted[tile_pairs<K>];
    /* counts per digit and warp; then the start index in the tile */
    unsigned ranks[WARPS][DIGITS];
    uint32_t moves[DIGITS]; /* index in the row minus index in the tile */
    unsigned shared[WARPS];
};

/* WHOLE: the tile is full, as all but the last tile of a row are. */
template <class K, bool WHOLE>
static __device__ __forceinline__ void move_tile(const radix<K> &a, tile_of_pairs<K> &mine,
                                                 uint32_t line, uint32_t tile)
{
    constexpr int TILE = tile_pairs<K>, ITEMS = TILE / BLOCK;
    auto &sorted = mine.sorted;
    auto &ranks = mine.ranks;
    auto &moves = mine.moves;
    const unsigned lane = threadIdx.x % LT_WARP, warp = threadIdx.x / LT_WARP;
    const uint32_t first = tile * TILE, count = WHOLE ? static_cast<uint32_t>(TILE) : a.n - first;
    const int shift = a.low + a.pass * DIGIT_BITS;
    const lt_pair<K> *const from = a.from + static_cast<int64_t>(line) * a.n + first;
    lt_pair<K> own[ITEMS];
    unsigned rank[ITEMS];
    for (int w = 0; w < WARPS; w++) ranks[w][threadIdx.x] = 0;
    LT_UNROLLED
    for (int j = 0; j < ITEMS; j++) {
        const uint32_t at = (warp * ITEMS + j) * LT_WARP + lane;
        own[j] = WHOLE || at < count ? from[at] : lt_pair<K>{0, 0};
    }
    __syncthreads();
    LT_UNROLLED
    for (int j = 0; j < ITEMS; j++) {
        const bool present = WHOLE || (warp * ITEMS + j) * LT_WARP + lane < count;
        const unsigned digit = digit_of(own[j].key, shift),
                       lanes = same_digit(digit, WHOLE ? 0xffffffffu
                                                       : __ballot_sync(0xffffffffu, present));
        rank[j] = ranks[warp][digit] + __popc(lanes & ((1u << lane) - 1));
        __syncwarp();
        if (present && (lanes >> lane) == 1u) ranks[warp][digit] = rank[j] + 1;
        __syncwarp();
    }
    __syncthreads();
    unsigned total = 0, of_warp[WARPS];
    LT_UNROLLED
    for (int w = 0; w < WARPS; w++) total += of_warp[w] = ranks[w][threadIdx.x];
    const unsigned begin = lt_sum_before(total, mine.shared);
    const uint32_t start =
        a.counts[(static_cast<int64_t>(line) * a.passes + a.pass) * DIGITS + threadIdx.x];
    unsigned place = begin;
    LT_UNROLLED
    for (int w = 0; w < WARPS; w++) {
        ranks[w][threadIdx.x] = place;
        place += of_warp[w];
    }
    moves[threadIdx.x] =
        start + digits_before(a.said + static_cast<int64_t>(line) * a.tiles * DIGITS, tile, total) -
        begin;
    __syncthreads();
    LT_UNROLLED
    for (int j = 0; j < ITEMS; j++) {
        if (!WHOLE && (warp * ITEMS + j) * LT_WARP + lane >= count) continue;
        const unsigned digit = digit_of(own[j].key, shift);
        sorted[ranks[warp][digit] + rank[j]] = own[j];
    }
    __syncthreads();
    lt_pair<K> *const to = a.to + static_cast<int64_t>(line) * a.n;
    LT_UNROLLED
    for (int j = 0; j < ITEMS; j++) {
        const uint32_t i = static_cast<uint32_t>(j * BLOCK) + threadIdx.x;
        if (!WHOLE && i >= count) break;
        const lt_pair<K> pair = sorted[i];
        to[i + moves[digit_of(pair.key, shift)]] = pair;
    }
}

template <class K> static __global__ void __launch_bounds__(BLOCK, 3) move_digits(radix<K> a)
{
    __shared__ tile_of_pairs<K> mine;
    __shared__ unsigned number;
    const unsigned block = lt_block_started(a.started, &number), line = block / a.tiles,
                   tile = block % a.tiles;
    if (a.n - tile * tile_pairs<K> >= static_cast<uint32_t>(tile_pairs<K>))
        move_tile<K, true>(a, mine, line, tile);
    else
        move_tile<K, false>(a, mine, line, tile);
}

template <class K>
static lt_status launch_radix_sort(const lt_radix_job<K> &job, lt_pair<K> **sorted)
{
    lt_cuda_scratch scratch;
    radix<K> a = {};
    a.n = static_cast<uint32_t>(job.n);
    a.low = job.low;
    a.passes = (job.high - job.low + DIGIT_BITS - 1) / DIGIT_BITS;
    a.tiles = static_cast<uint32_t>((job.n + tile_pairs<K> - 1) / tile_pairs<K>);
    a.from = *sorted = job.pairs;
    a.to = job.other;
    const int64_t tiles = job.lines * a.tiles, words = tiles * DIGITS * a.passes,
                  counts = job.lines * a.passes * DIGITS;
    const size_t bytes = static_cast<size_t>(words) * sizeof(uint64_t) +
                         static_cast<size_t>(counts) * sizeof(uint32_t) +
                         MOST_PASSES * sizeof(unsigned);
    LT_TRY(scratch.take(job.device, bytes));
    CUDA_TRY(cudaMemsetAsync(scratch.as<void>(), 0, bytes, job.stream));
    a.said = scratch.as<uint64_t>();
    a.counts = reinterpret_cast<uint32_t *>(a.said + words);
    a.started = a.counts + counts;
    LT_LAUNCH_BARRIER(count_digits<K>, static_cast<unsigned>(job.lines * lt_blocks(job.n, COUNTED)),
                      BLOCK, 0, job.stream, a);
    LT_LAUNCH_BARRIER(start_digits, static_cast<unsigned>(job.lines * a.passes), BLOCK, 0,
                      job.stream, a.counts);
    for (a.pass = 0; a.pass < a.passes; a.pass++) {
        LT_LAUNCH_BARRIER(move_digits<K>, static_cast<unsigned>(tiles), BLOCK, 0, job.stream, a);
        *sorted = a.to;
        a.to = const_cast<lt_pair<K> *>(a.from);
        a.from = *sorted;
        a.said += tiles * DIGITS;
        a.started++;
    }
    return lt_cuda_launched(job.device, job.stream, "sort");
}

lt_status lt_radix_sort(const lt_radix_job<uint32_t> &job, lt_pair<uint32_t> **sorted)
{
    return launch_radix_sort(job, sorted);
}
lt_status lt_radix_sort(const lt_radix_job<uint64_t> &job, lt_pair<uint64_t> **sorted)
{
    return launch_radix_sort(job, sorted);
}
