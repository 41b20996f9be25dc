/* sort.cu - stable sort of rows along a dimension; returns values and original indices.
 *
 * Elements become pairs of key and index (sorting.cuh). Short rows: bitonic sort in shared memory,
 * several rows per block. Long rows: radix sort (radix.cu) over the significant key bits of the
 * dtype, or radix select (select.cu) if only a few results are wanted. The last kernel gathers the
 * values by index. */
#include "sorting.cuh"

enum { BLOCK = 256 };

constexpr int64_t worth_selecting = 32768; /* elements; below, the full sort needs fewer launches */

/* Sorts several short rows per block and stores the results. C: type that elements are loaded as.
 */
template <class C, class K>
static __global__ void __launch_bounds__(BLOCK) sort_short(lt_sorting<K> a, int slots)
{
    __shared__ lt_pair<K> shared[LT_SORTED_AT_ONCE];
    const int64_t first = static_cast<int64_t>(blockIdx.x) * (slots / a.padded);
    int64_t offset[3];
    for (int i = static_cast<int>(threadIdx.x); i < slots; i += static_cast<int>(blockDim.x)) {
        const int64_t line = first + i / a.padded, at = i % a.padded;
        lt_pair<K> p = {static_cast<K>(~K{0}), 0xffffffffu};
        if (line < a.lines.count && at < a.lines.length) {
            a.lines.lines.at(line, offset);
            p = lt_pair_at<C>(a, offset, at);
        }
        shared[i] = p;
    }
    lt_bitonic_sort(shared, slots, static_cast<int>(a.padded));
    for (int i = static_cast<int>(threadIdx.x); i < slots; i += static_cast<int>(blockDim.x)) {
        const int64_t line = first + i / a.padded, at = i % a.padded;
        if (line >= a.lines.count || at >= a.wanted) continue;
        a.lines.lines.at(line, offset);
        lt_deliver<C>(a, offset, at, shared[i].index);
    }
}

template <class C, class K>
static __global__ void __launch_bounds__(BLOCK) make_pairs(lt_sorting<K> a)
{
    const int64_t number = lt_thread_number(), n = a.lines.length;
    if (number >= a.lines.count * n) return;
    const int64_t line = a.lines.count == 1 ? 0 : number / n;
    int64_t offset[3];
    a.lines.lines.at(line, offset);
    const lt_pair<K> p = lt_pair_at<C>(a, offset, number - line * n);
    a.pairs[number] = p;
}

template <class C, class K>
static __global__ void __launch_bounds__(BLOCK) deliver_lines(lt_sorting<K> a)
{
    const int64_t number = lt_thread_number();
    if (number >= a.lines.count * a.wanted) return;
    const int64_t line = a.lines.count == 1 ? 0 : number / a.wanted, at = number - line * a.wanted;
    int64_t offset[3];
    a.lines.lines.at(line, offset);
    lt_deliver<C>(a, offset, at, a.pairs[line * a.lines.length + at].index);
}

/* ---- launching ------------------------------------------------------------------------------- */

template <class C, class K>
static lt_status launch_sort(bool descending, const lt_array *values, const lt_array *indices,
                             const lt_array *in, int dim, cudaStream_t stream)
{
    const lt_array *const arrays[] = {in, values, indices};
    lt_cuda_scratch pairs;
    lt_sorting<K> a = {lt_slice_offsets<3>(arrays, dim), descending, 0, 2, 0, nullptr};
    const int64_t n = a.lines.length, count = a.lines.count;
    const lt_array *const out = values != nullptr ? values : indices;
    a.wanted = out->ndim > 0 ? out->sizes[dim] : 1;
    if (count == 0 || a.wanted == 0) return LT_OK;
    if (n >= int64_t{1} << 32)
        return lt_cuda_core->error(LT_ERR_RUNTIME,
                                   "sort: a dimension of %lld elements is too large for a GPU",
                                   static_cast<long long>(n));
    if (n <= LT_SORTED_AT_ONCE) {
        while (a.padded < n) a.padded *= 2;
        int slots = static_cast<int>(a.padded);
        while (slots < LT_SORTED_AT_ONCE && slots / a.padded < count) slots *= 2;
        const int threads = slots / 2 < 32 ? 32 : slots / 2 < BLOCK ? slots / 2 : BLOCK;
        LT_LAUNCH_BARRIER((sort_short<C, K>), lt_blocks(count, static_cast<int>(slots / a.padded)),
                          threads, 0, stream, a, slots);
        return lt_cuda_launched(in->device.index, stream, "sort");
    }
    lt_radix_job<K> job = {in->device.index, stream, count, n, 0, 8 * sizeof(K), nullptr, nullptr};
    switch (in->dtype) { /* range of key bits that can differ */
    case LT_BOOL:        /* integers: 32-bit keys minus the smallest */
    case LT_UINT8: a.least = static_cast<K>(0x80000000u), job.high = 8; break;
    case LT_INT8: a.least = static_cast<K>(0x80000000u - 0x80u), job.high = 8; break;
    case LT_INT16: a.least = static_cast<K>(0x80000000u - 0x8000u), job.high = 16; break;
    case LT_FLOAT16: job.low = 8; break; /* float keys: the lowest 13 bits never decide */
    case LT_BFLOAT16: job.low = 16; break;
    default: break;
    }
    if (a.wanted <= LT_SORTED_AT_ONCE && a.wanted <= n / 2 && count * n >= worth_selecting)
        return lt_select<C>(a, job.low, job.high, in->device.index, stream);
    const size_t bytes = static_cast<size_t>(count * n) * sizeof(lt_pair<K>);
    LT_TRY(pairs.take(in->device.index, 2 * bytes));
    a.pairs = job.pairs = pairs.as<lt_pair<K>>();
    job.other = pairs.as<lt_pair<K>>(bytes);
    LT_LAUNCH((make_pairs<C, K>), lt_blocks(count * n, BLOCK), BLOCK, stream, a);
    LT_TRY(lt_radix_sort(job, &a.pairs));
    LT_LAUNCH((deliver_lines<C, K>), lt_blocks(count * a.wanted, BLOCK), BLOCK, stream, a);
    return lt_cuda_launched(in->device.index, stream, "sort");
}

lt_status lt_cuda_sort(bool descending, const lt_array *values, const lt_array *indices,
                       const lt_array *in, int dim)
{
    cudaStream_t stream;
    LT_TRY(lt_cuda_enter(in->device.index, &stream));
    if (in->dtype == LT_FLOAT64)
        return launch_sort<double, uint64_t>(descending, values, indices, in, dim, stream);
    if (in->dtype == LT_INT64)
        return launch_sort<int64_t, uint64_t>(descending, values, indices, in, dim, stream);
    if (lt_is_floating(in->dtype))
        return launch_sort<float, uint32_t>(descending, values, indices, in, dim, stream);
    return launch_sort<int32_t, uint32_t>(descending, values, indices, in, dim, stream);
}
