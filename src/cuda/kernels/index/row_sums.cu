/* row_sums.cu - adds whole rows to rows of a matrix by index, deterministically: embedding's
 * gradient, index_add. The indices are sorted (radix.cu), so that rows with the same destination
 * are consecutive; they are summed in that order, half types in float, and rounded once. No atomic
 * additions.
 *
 * A thread sums a few adjacent columns over a tile of sorted rows. A destination with all rows in
 * one tile is added at once. If its rows cross a tile boundary, each tile stores a partial sum, and
 * the second kernel joins these, in the thread of the tile where the destination begins. */
#include "index.cuh"
#include "kernels/element.cuh"
#include "kernels/launch.cuh"
#include "kernels/offsets.cuh"
#include "kernels/order/radix.cuh"

enum { BLOCK = 256, TILE = 32, TOGETHER = 4, ENOUGH = 4096 /* elements */, ENOUGH_COLUMNS = 8 };

struct row_sums {
    const char *in, *index;
    char *out;
    int64_t rows, columns, in_step, index_step, out_step, out_rows; /* *_step: bytes between rows */
    int base, dim;
    int64_t tiles, vectors; /* threads per row */
    bool aligned;
    lt_pair<uint32_t> *pairs; /* destination and row; out_rows if the index is wrong: sorted last */
    void *parts; /* [tiles][2][columns] partial sums: of the first, of the last destination */
    lt_cuda_report *report;
    const char *op;
};

static __global__ void __launch_bounds__(BLOCK) name_places(row_sums a)
{
    const int64_t row = lt_thread_number();
    if (row >= a.rows) return;
    int64_t place =
        lt_index_counted(*reinterpret_cast<const int64_t *>(a.index + row * a.index_step), a.base);
    if (place < -a.out_rows || place >= a.out_rows) {
        lt_report_index(a.report, a.op, place, a.out_rows, a.dim);
        place = a.out_rows;
    } else if (place < 0) {
        place += a.out_rows;
    }
    a.pairs[row] = {static_cast<uint32_t>(place), static_cast<uint32_t>(row)};
}

/* Columns per thread: at most 16 bytes of elements. */
template <class S> constexpr int columns_of = sizeof(S) == 8 ? 2 : 4;

template <class S, class C> struct columns {
    static constexpr int N = columns_of<S>;
    int64_t tile, column, first, last; /* sorted rows [first, last) */
    int m;                             /* columns that exist */

    __device__ __forceinline__ explicit columns(const row_sums &a)
    {
        const int64_t number = lt_thread_number();
        tile = number / a.vectors;
        column = (number - tile * a.vectors) * N;
        first = tile * TILE;
        last = first + TILE < a.rows ? first + TILE : a.rows;
        m = a.columns - column < N ? static_cast<int>(a.columns - column) : N;
    }
    __device__ __forceinline__ C *part(const row_sums &a, int64_t of, bool at_end) const
    {
        return static_cast<C *>(a.parts) + (2 * of + at_end) * a.columns + column;
    }
    __device__ __forceinline__ void add(const row_sums &a, uint32_t place, const C *total) const
    {
        S *const out = reinterpret_cast<S *>(a.out + place * a.out_step) + column;
        C sum[N];
        lt_load_row_as<S, C, N>(out, sum, m, a.aligned);
        LT_UNROLLED
        for (int j = 0; j < N; j++) sum[j] += total[j];
        lt_store_row_as<S, C, N>(out, sum, m, a.aligned);
    }
};

template <class S, class C> static __global__ void __launch_bounds__(BLOCK) add_tiles(row_sums a)
{
    constexpr int N = columns_of<S>;
    const columns<S, C> own(a);
    if (own.tile >= a.tiles) return;
    C total[N] = {};
    uint32_t place = a.pairs[own.first].key;
    bool begins =
        own.first == 0 || a.pairs[own.first - 1].key != place; /* no earlier tile has its rows */
    const auto leave = [&](bool ends) {
        if (begins && ends) {
            own.add(a, place, total);
            return;
        }
        C *const part = own.part(a, own.tile, begins);
        LT_UNROLLED
        for (int j = 0; j < N; j++)
            if (j < own.m) part[j] = total[j];
    };
    LT_NOT_UNROLLED
    for (int64_t i = own.first; i < own.last; i += TOGETHER) {
        lt_pair<uint32_t> pairs[TOGETHER];
        C x[TOGETHER][N];
        LT_UNROLLED
        for (int k = 0; k < TOGETHER; k++) {
            pairs[k] = a.pairs[i + k < own.last ? i + k : i];
            lt_load_row_as<S, C, N>(reinterpret_cast<const S *>(a.in + pairs[k].index * a.in_step) +
                                        own.column,
                                    x[k], own.m, a.aligned);
        }
        LT_UNROLLED
        for (int k = 0; k < TOGETHER; k++) {
            if (i + k >= own.last) break;
            if (pairs[k].key != place) {
                leave(true);
                place = pairs[k].key;
                begins = true;
                LT_UNROLLED
                for (int j = 0; j < N; j++) total[j] = 0;
            }
            if (place == a.out_rows) return;
            LT_UNROLLED
            for (int j = 0; j < N; j++) total[j] += x[k][j];
        }
    }
    leave(own.last == a.rows || a.pairs[own.last].key != place);
}

template <class S, class C> static __global__ void __launch_bounds__(BLOCK) join_tiles(row_sums a)
{
    constexpr int N = columns_of<S>;
    const columns<S, C> own(a);
    if (own.tile >= a.tiles || own.last == a.rows) return;
    const uint32_t place = a.pairs[own.last].key;
    if (place == a.out_rows || a.pairs[own.last - 1].key != place ||
        (own.first > 0 && a.pairs[own.first - 1].key == place))
        return; /* no destination begins here and continues in the next tile */
    C total[N] = {};
    const C *part = own.part(a, own.tile, true);
    for (int64_t tile = own.tile;;) {
        LT_UNROLLED
        for (int j = 0; j < N; j++)
            if (j < own.m) total[j] += part[j];
        const int64_t next = (tile + 1) * TILE;
        if (next >= a.rows || a.pairs[next].key != place) break;
        tile++;
        part = own.part(a, tile, false);
    }
    own.add(a, place, total);
}

/* ---- launching ------------------------------------------------------------------------------- */

bool lt_cuda_adds_rows(const lt_iter *it, const lt_index_args *args)
{
    const lt_dtype dtype = it->dtype[1];
    const int64_t size = lt_element_size(dtype), columns = it->sizes[0];
    if (!lt_is_floating(dtype) || args->count != 1 || it->ndim != 2) return false;
    if (it->strides[0][0] != size || it->strides[1][0] != size || it->strides[2][0] != 0 ||
        it->strides[1][1] != 0)
        return false;
    if (it->sizes[1] >= INT32_MAX || args->sizes[0] >= INT32_MAX) return false;
    /* Small sums take one launch by atomics instead; for half types these would round after each
     * addition. */
    return lt_cuda_core->deterministic() ||
           (columns >= ENOUGH_COLUMNS && (it->numel >= ENOUGH || size == 2));
}

template <class S, class C>
static lt_status launch_row_sums(row_sums a, int device, cudaStream_t stream)
{
    constexpr int N = columns_of<S>;
    lt_cuda_scratch scratch;
    a.vectors = (a.columns + N - 1) / N;
    a.tiles = (a.rows + TILE - 1) / TILE;
    a.aligned =
        lt_is_aligned(a.in) && lt_is_aligned(a.out) && a.in_step % 16 == 0 && a.out_step % 16 == 0;
    const size_t pairs = (static_cast<size_t>(a.rows) * sizeof *a.pairs + 15) / 16 * 16;
    LT_TRY(
        scratch.take(device, 2 * pairs + static_cast<size_t>(2 * a.tiles * a.columns) * sizeof(C)));
    a.pairs = scratch.as<lt_pair<uint32_t>>();
    a.parts = scratch.as<C>(2 * pairs);
    LT_LAUNCH(name_places, lt_blocks(a.rows, BLOCK), BLOCK, stream, a);
    lt_radix_job<uint32_t> job = {device, stream, 1,       a.rows,
                                  0,      1,      a.pairs, scratch.as<lt_pair<uint32_t>>(pairs)};
    while (a.out_rows >> job.high > 0) job.high++;
    LT_TRY(lt_radix_sort(job, &a.pairs));
    const unsigned blocks = lt_blocks(a.tiles * a.vectors, BLOCK);
    LT_LAUNCH((add_tiles<S, C>), blocks, BLOCK, stream, a);
    if (a.tiles > 1) LT_LAUNCH((join_tiles<S, C>), blocks, BLOCK, stream, a);
    return lt_cuda_launched(device, stream, "index_add");
}

lt_status lt_cuda_add_rows(const lt_iter *it, const lt_index_args *args, lt_cuda_report *report,
                           const char *op, cudaStream_t stream)
{
    row_sums a = {};
    a.in = it->data[0], a.out = it->data[1], a.index = it->data[2];
    a.rows = it->sizes[1], a.columns = it->sizes[0];
    a.in_step = it->strides[0][1], a.index_step = it->strides[2][1];
    a.out_step = args->strides[0], a.out_rows = args->sizes[0];
    a.base = args->base[0], a.dim = args->dims[0];
    a.report = report, a.op = op;
    switch (it->dtype[1]) {
    case LT_FLOAT16: return launch_row_sums<__half, float>(a, it->device.index, stream);
    case LT_BFLOAT16: return launch_row_sums<__nv_bfloat16, float>(a, it->device.index, stream);
    case LT_FLOAT32: return launch_row_sums<float, float>(a, it->device.index, stream);
    default: return launch_row_sums<double, double>(a, it->device.index, stream);
    }
}
