/* select.cu - first elements of sorted rows (topk) without a full sort, by radix select (T. Alabi
 * and others 2012). Digit by digit, from the highest, a histogram determines the last pair of key
 * and index that belongs to the result; all pairs up to it are gathered in any order, and one block
 * per row sorts them.
 *
 * Digits of indices follow the digits of keys; they matter only if equal keys cross the end of the
 * result. Kernels skip rows that are already done. */
#include "sorting.cuh"

enum {
    BLOCK = 256,
    DIGIT_BITS = 8,
    DIGITS = 1 << DIGIT_BITS, /* one thread for each */
    LOOKED_AT = 16 * BLOCK,   /* elements of a row per block */
};
static_assert(DIGITS == BLOCK, "a thread for each digit");

/* State of a row: the last wanted pair, as far as its digits are known; unknown digits are 0. */
template <class K> struct last_pair {
    K key;
    uint32_t index;
    uint32_t left; /* number of pairs with these digits that are wanted */
    K done;        /* bool: all of them are; of type K, so that there is no padding */
};

template <class K> struct selection {
    lt_sorting<K> of; /* its pairs: [lines][wanted] */
    K differ;         /* mask of the key bits that can differ */
    last_pair<K> *last;
    uint32_t
        /* [lines][DIGITS] histograms; gather_pairs uses the first entry of each row as its output
         * counter */
        *counts;
};

template <class K> static __global__ void __launch_bounds__(BLOCK) begin_lines(selection<K> a)
{
    const int64_t number = lt_thread_number();
    if (number < a.of.lines.count * DIGITS) a.counts[number] = 0;
    if (number < a.of.lines.count) a.last[number] = {0, 0, static_cast<uint32_t>(a.of.wanted), 0};
}

/* The part of a row that one block reads. */
template <class K> struct part_of_line {
    int64_t line, offset[3], from, to;
    __device__ explicit part_of_line(const selection<K> &a)
    {
        const int64_t n = a.of.lines.length, parts = (n + LOOKED_AT - 1) / LOOKED_AT;
        line = blockIdx.x / parts;
        from = blockIdx.x % parts * LOOKED_AT;
        to = n - from < LOOKED_AT ? n : from + LOOKED_AT;
        a.of.lines.lines.at(line, offset);
    }
};

/* Histogram of the digit at `shift` (of keys, or of indices) over the pairs that equal the last
 * wanted pair in all higher digits. */
template <class C, class K, bool POSITIONS>
static __global__ void __launch_bounds__(BLOCK) count_digits(selection<K> a, int shift)
{
    __shared__ unsigned found[DIGITS];
    const part_of_line<K> part(a);
    const last_pair<K> last = a.last[part.line];
    if (last.done) return;
    found[threadIdx.x] = 0;
    __syncthreads();
    for (int64_t i = part.from + threadIdx.x; i < part.to; i += BLOCK) {
        const lt_pair<K> p = lt_pair_at<C>(a.of, part.offset, i);
        if (POSITIONS) {
            const auto index = static_cast<uint32_t>(p.index);
            if ((p.key & a.differ) == last.key && (index ^ last.index) >> shift < DIGITS)
                atomicAdd(&found[index >> shift & (DIGITS - 1)], 1u);
        } else if (((p.key & a.differ) ^ last.key) >> shift < DIGITS) {
            atomicAdd(&found[static_cast<unsigned>(p.key >> shift) & (DIGITS - 1)], 1u);
        }
    }
    __syncthreads();
    if (found[threadIdx.x] > 0)
        atomicAdd(&a.counts[part.line * DIGITS + threadIdx.x], found[threadIdx.x]);
}

/* One block per row: chooses the digit of the last wanted pair and resets the histogram. */
template <class K, bool POSITIONS>
static __global__ void __launch_bounds__(BLOCK) choose_digit(selection<K> a, int shift)
{
    __shared__ unsigned shared[BLOCK / LT_WARP];
    const int64_t line = blockIdx.x;
    last_pair<K> last = a.last[line];
    if (last.done) return;
    const unsigned own = a.counts[line * DIGITS + threadIdx.x], before = lt_sum_before(own, shared);
    a.counts[line * DIGITS + threadIdx.x] = 0;
    if (before >= last.left || before + own < last.left) return;
    last.left -= before;
    last.done = own == last.left;
    if (POSITIONS) {
        last.index |= threadIdx.x << shift;
    } else {
        last.key |= static_cast<K>(threadIdx.x) << shift;
        if (last.done) last.index = 0xffffffffu;
    }
    if (last.done) { /* the lower digits do not matter */
        if (POSITIONS)
            last.index |= (1u << shift) - 1;
        else
            last.key |= (K{1} << shift) - 1;
    }
    a.last[line] = last;
}

template <class C, class K>
static __global__ void __launch_bounds__(BLOCK) gather_pairs(selection<K> a)
{
    const part_of_line<K> part(a);
    const last_pair<K> last = a.last[part.line];
    lt_pair<K> *const to = a.of.pairs + part.line * a.of.wanted;
    for (int64_t i = part.from + threadIdx.x; i < part.to; i += BLOCK) {
        const lt_pair<K> p = lt_pair_at<C>(a.of, part.offset, i);
        const K key = p.key & a.differ;
        if (key < last.key || (key == last.key && p.index <= last.index))
            to[atomicAdd(&a.counts[part.line * DIGITS], 1u)] = p;
    }
}

/* One block per row. */
template <class C, class K>
static __global__ void __launch_bounds__(BLOCK) sort_gathered(lt_sorting<K> a)
{
    __shared__ lt_pair<K> shared[LT_SORTED_AT_ONCE];
    const int64_t line = blockIdx.x;
    const int slots = static_cast<int>(a.padded), threads = static_cast<int>(blockDim.x);
    int64_t offset[3];
    for (int i = static_cast<int>(threadIdx.x); i < slots; i += threads)
        shared[i] = i < a.wanted ? a.pairs[line * a.wanted + i]
                                 : lt_pair<K>{static_cast<K>(~K{0}), 0xffffffffu};
    lt_bitonic_sort(shared, slots, slots);
    a.lines.lines.at(line, offset);
    for (int i = static_cast<int>(threadIdx.x); i < a.wanted; i += threads)
        lt_deliver<C>(a, offset, i, static_cast<uint32_t>(shared[i].index));
}

template <class C, class K>
lt_status lt_select(const lt_sorting<K> &of, int low, int high, int device, cudaStream_t stream)
{
    lt_cuda_scratch scratch;
    const int64_t lines = of.lines.count, n = of.lines.length;
    const size_t pairs = static_cast<size_t>(lines * of.wanted) * sizeof(lt_pair<K>),
                 last = static_cast<size_t>(lines) * sizeof(last_pair<K>);
    LT_TRY(scratch.take(device, pairs + last + static_cast<size_t>(lines) * DIGITS * 4));
    const K differ =
        static_cast<K>(~K{0}) >> (8 * static_cast<int>(sizeof(K)) - high) >> low << low;
    selection<K> a = {of, differ, scratch.as<last_pair<K>>(pairs),
                      scratch.as<uint32_t>(pairs + last)};
    a.of.pairs = scratch.as<lt_pair<K>>();
    a.of.padded = 2;
    while (a.of.padded < of.wanted) a.of.padded *= 2;
    const unsigned parts = static_cast<unsigned>(lines * lt_blocks(n, LOOKED_AT)),
                   each = static_cast<unsigned>(lines);
    LT_LAUNCH(begin_lines<K>, lt_blocks(lines * DIGITS, BLOCK), BLOCK, stream, a);
    for (int shift = high - DIGIT_BITS; shift >= low; shift -= DIGIT_BITS) {
        LT_LAUNCH_BARRIER((count_digits<C, K, false>), parts, BLOCK, 0, stream, a, shift);
        LT_LAUNCH_BARRIER((choose_digit<K, false>), each, BLOCK, 0, stream, a, shift);
    }
    int shift = 0;
    while (shift < 32 - DIGIT_BITS && (n - 1) >> (shift + DIGIT_BITS) > 0) shift += DIGIT_BITS;
    for (; shift >= 0; shift -= DIGIT_BITS) {
        LT_LAUNCH_BARRIER((count_digits<C, K, true>), parts, BLOCK, 0, stream, a, shift);
        LT_LAUNCH_BARRIER((choose_digit<K, true>), each, BLOCK, 0, stream, a, shift);
    }
    LT_LAUNCH((gather_pairs<C, K>), parts, BLOCK, stream, a);
    const int half = static_cast<int>(a.of.padded / 2);
    LT_LAUNCH_BARRIER((sort_gathered<C, K>), each,
                      half < LT_WARP ? LT_WARP
                      : half < BLOCK ? half
                                     : BLOCK,
                      0, stream, a.of);
    return lt_cuda_launched(device, stream, "sort");
}

template lt_status lt_select<float>(const lt_sorting<uint32_t> &, int, int, int, cudaStream_t);
template lt_status lt_select<double>(const lt_sorting<uint64_t> &, int, int, int, cudaStream_t);
template lt_status lt_select<int32_t>(const lt_sorting<uint32_t> &, int, int, int, cudaStream_t);
template lt_status lt_select<int64_t>(const lt_sorting<uint64_t> &, int, int, int, cudaStream_t);
