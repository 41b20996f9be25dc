/* softmax.cu - softmax and log_softmax over a dimension, forward and backward, in float (half types
 * too) or double. The maximum is subtracted first, so that no exponential overflows. A row that has
 * a NaN or +infinity, or only -infinity, becomes NaN. Short rows: one thread per row. Longer dense
 * rows: one team of threads per row (rows.cuh). Other rows: one block for several adjacent rows. */
#include "cuda.h"
#include "formulas/formulas.h"
#include "kernels/compile/fused.cuh"
#include "kernels/block.cuh"
#include "kernels/element.cuh"
#include "kernels/offsets.cuh"
#include "kernels/rows.cuh"
#include "softmax_rows.cuh"

enum { BLOCK = 256, ITEMS = 4, COLUMNS = 32, ROWS = 16 };

/* Tensors. Forward: 0 is the input, 1 the output. Backward: 0 is grad, 1 grad_in, 2 the forward
 * result. */
struct softmax {
    lt_slice_offsets<3> lines;
    bool log;
};

/* Reduction over the threads of a row: here a single thread. */
struct alone {
    template <class C, class Join> __device__ __forceinline__ C operator()(C value, Join) const
    {
        return value;
    }
};

/* Reduction over a column of the block's threads, which have one row of the tensor. */
struct in_column {
    void *shared; /* ROWS x COLUMNS elements */
    template <class C, class Join> __device__ __forceinline__ C operator()(C value, Join join) const
    {
        C *values = static_cast<C *>(shared) + threadIdx.x;
        values[threadIdx.y * COLUMNS] = value;
        __syncthreads();
        value = values[0];
        for (int row = 1; row < ROWS; row++) value = join(value, values[row * COLUMNS]);
        __syncthreads();
        return value;
    }
};

/* Calls f(i, x) for elements first, first + step, ... of a row of tensor k; x is of type C. */
template <class C, class F>
static __device__ __forceinline__ void for_elements(const softmax &a, int k, const char *line,
                                                    int64_t first, int64_t step, F f)
{
    const int64_t n = a.lines.length;
    for (int64_t i = first; i < n; i += ITEMS * step) {
        const char *at[ITEMS];
        C x[ITEMS];
        for (int j = 0; j < ITEMS; j++)
            at[j] = line + (i + j * step < n ? i + j * step : i) * a.lines.step[k];
        lt_load_many<C, ITEMS>(a.lines.dtype[k], at, x);
        for (int j = 0; j < ITEMS; j++)
            if (i + j * step < n) f(i + j * step, x[j]);
    }
}

template <class C, class Together>
static __device__ __forceinline__ void forward_line(const softmax &a, int64_t line, int64_t first,
                                                    int64_t step, Together together)
{
    int64_t offset[3];
    a.lines.lines.at(line, offset);
    const char *in = a.lines.data[0] + offset[0];
    char *out = a.lines.data[1] + offset[1];
    C most = static_cast<C>(-INFINITY), sum = 0;
    for_elements<C>(a, 0, in, first, step, [&](int64_t, C x) { most = x > most ? x : most; });
    most = together(most, [](C x, C y) { return x > y ? x : y; });
    for_elements<C>(a, 0, in, first, step, [&](int64_t, C x) { sum += lt_exp(x - most); });
    sum = together(sum, [](C x, C y) { return x + y; });
    const C shift = a.log ? lt_log(sum) : 0;
    for_elements<C>(a, 0, in, first, step, [&](int64_t i, C x) {
        const C y = a.log ? x - most - shift : lt_exp(x - most) / sum;
        lt_store<C>(a.lines.dtype[1], out + i * a.lines.step[1], y);
    });
}

template <class C, class Together>
static __device__ __forceinline__ void backward_line(const softmax &a, int64_t line, int64_t first,
                                                     int64_t step, Together together)
{
    int64_t offset[3];
    a.lines.lines.at(line, offset);
    const char *grad = a.lines.data[0] + offset[0], *result = a.lines.data[2] + offset[2];
    char *out = a.lines.data[1] + offset[1];
    const auto result_at = [&](int64_t i) {
        return lt_load<C>(a.lines.dtype[2], result + i * a.lines.step[2]);
    };
    C sum = 0;
    for_elements<C>(a, 0, grad, first, step,
                    [&](int64_t i, C g) { sum += a.log ? g : g * result_at(i); });
    sum = together(sum, [](C x, C y) { return x + y; });
    for_elements<C>(a, 0, grad, first, step, [&](int64_t i, C g) {
        const C y = result_at(i), d = a.log ? g - lt_exp(y) * sum : (g - sum) * y;
        lt_store<C>(a.lines.dtype[1], out + i * a.lines.step[1], d);
    });
}

template <class C> static __global__ void __launch_bounds__(BLOCK) forward_by_thread(softmax a)
{
    const int64_t line = lt_thread_number();
    if (line < a.lines.count) forward_line<C>(a, line, 0, 1, alone{});
}

/* Threads beyond the last row have no elements, but must reach the barriers. */
template <class C>
static __global__ void __launch_bounds__(COLUMNS *ROWS) forward_by_columns(softmax a)
{
    __shared__ C shared[ROWS * COLUMNS];
    const int64_t line = static_cast<int64_t>(blockIdx.x) * COLUMNS + threadIdx.x;
    const bool present = line < a.lines.count;
    forward_line<C>(a, present ? line : 0, present ? threadIdx.y : a.lines.length, ROWS,
                    in_column{shared});
}

template <class C> static __global__ void __launch_bounds__(BLOCK) backward_by_thread(softmax a)
{
    const int64_t line = lt_thread_number();
    if (line < a.lines.count) backward_line<C>(a, line, 0, 1, alone{});
}

/* Threads beyond the last row have no elements, but must reach the barriers. */
template <class C>
static __global__ void __launch_bounds__(COLUMNS *ROWS) backward_by_columns(softmax a)
{
    __shared__ C shared[ROWS * COLUMNS];
    const int64_t line = static_cast<int64_t>(blockIdx.x) * COLUMNS + threadIdx.x;
    const bool present = line < a.lines.count;
    backward_line<C>(a, present ? line : 0, present ? threadIdx.y : a.lines.length, ROWS,
                     in_column{shared});
}

/* ---- dense rows ------------------------------------------------------------------------------ */

/* Rows are contiguous elements S. aligned: vector accesses are possible. */
struct softmax_rows {
    softmax call;
    bool aligned;
};

template <class S, class C, bool HELD, int VECTORS>
static __global__ void __launch_bounds__(LT_ROW_THREADS) forward_rows(softmax_rows a)
{
    __shared__ C shared[lt_shared_for(LT_ROW_THREADS)];
    const lt_slice_offsets<3> &lines = a.call.lines;
    const int64_t line = lt_row_number();
    int64_t offset[3];
    if (line >= lines.count) return;
    lines.lines.at(line, offset);
    lt_softmax_row<HELD>(lt_row<S, C, VECTORS>(lines.data[0] + offset[0], a.aligned),
                         reinterpret_cast<S *>(lines.data[1] + offset[1]), lines.length, a.call.log,
                         a.aligned, lt_row_threads(shared));
}

template <class S, class C, bool HELD, int VECTORS>
static __global__ void __launch_bounds__(LT_ROW_THREADS) backward_rows(softmax_rows a)
{
    __shared__ C shared[lt_shared_for(LT_ROW_THREADS)];
    const lt_slice_offsets<3> &lines = a.call.lines;
    const int64_t line = lt_row_number();
    int64_t offset[3];
    if (line >= lines.count) return;
    lines.lines.at(line, offset);
    lt_softmax_row_backward<HELD>(lt_row<S, C, VECTORS>(lines.data[0] + offset[0], a.aligned),
                                  lt_row<S, C, VECTORS>(lines.data[2] + offset[2], a.aligned),
                                  reinterpret_cast<S *>(lines.data[1] + offset[1]), lines.length,
                                  a.call.log, a.aligned, lt_row_threads(shared));
}

/* ---- launching ------------------------------------------------------------------------------- */

/* Whether the rows of all tensors are contiguous and of one dtype. *aligned: whether vector
 * accesses are possible. */
static bool are_rows(const lt_slice_offsets<3> &lines, bool *aligned)
{
    const int64_t size = lt_element_size(lines.dtype[0]);
    *aligned = lines.length * size % 16 == 0;
    for (int k = 0; k < 3; k++) {
        if (lines.data[k] == nullptr) continue;
        if (lines.dtype[k] != lines.dtype[0] || lines.step[k] != size) return false;
        if (!lt_is_aligned(lines.data[k])) *aligned = false;
        for (int d = 0; d < lines.lines.ndim; d++)
            if (lines.lines.strides[d][k] % 16 != 0) *aligned = false;
    }
    return true;
}

template <class S, class C, bool HELD, int VECTORS>
static void launch_team(const softmax_rows &a, bool backward, const lt_row_team &team,
                        cudaStream_t stream)
{
    const unsigned blocks = lt_row_blocks(a.call.lines.count, team);
    if (backward)
        LT_LAUNCH_BARRIER((backward_rows<S, C, HELD, VECTORS>), blocks, team.block, 0, stream, a);
    else
        LT_LAUNCH_BARRIER((forward_rows<S, C, HELD, VECTORS>), blocks, team.block, 0, stream, a);
}

template <class S, class C>
static void launch_rows(const softmax_rows &a, bool backward, cudaStream_t stream)
{
    const lt_row_team team = lt_row_team_of_many<S, C>(a.call.lines.count, a.call.lines.length);
    if (team.vectors != LT_ROW_VECTORS)
        launch_team<S, C, true, lt_warp_vectors<S, C>>(a, backward, team, stream);
    else if (team.held)
        launch_team<S, C, true, LT_ROW_VECTORS>(a, backward, team, stream);
    else
        launch_team<S, C, false, LT_ROW_VECTORS>(a, backward, team, stream);
}

template <class C>
static void launch_softmax_rows(const softmax &a, bool backward, cudaStream_t stream)
{
    const lt_slice_offsets<3> &lines = a.lines;
    softmax_rows rows = {a, false};
    if (lines.length <= LT_WARP) {
        const unsigned blocks = lt_blocks(lines.count, BLOCK);
        if (backward)
            LT_LAUNCH(backward_by_thread<C>, blocks, BLOCK, stream, a);
        else
            LT_LAUNCH(forward_by_thread<C>, blocks, BLOCK, stream, a);
    } else if (are_rows(lines, &rows.aligned)) {
#define RUN(S, COMPUTED)                                                                           \
    if constexpr (std::is_same_v<C, COMPUTED>) launch_rows<S, COMPUTED>(rows, backward, stream)
        LT_ROW_DTYPES(lines.dtype[0], RUN)
#undef RUN
    } else {
        const dim3 blocks(lt_blocks(lines.count, COLUMNS)), threads(COLUMNS, ROWS);
        if (backward)
            LT_LAUNCH_BARRIER(backward_by_columns<C>, blocks, threads, 0, stream, a);
        else
            LT_LAUNCH_BARRIER(forward_by_columns<C>, blocks, threads, 0, stream, a);
    }
}

/* Applies softmax to the rows of a fused expression. Supported if the other arrays are dense. */
static lt_status launch_fused_softmax(const softmax &a, bool backward,
                                      const lt_fused_producer *producer, cudaStream_t stream)
{
    const lt_slice_offsets<3> &lines = a.lines;
    bool aligned;
    *producer->done = are_rows(lines, &aligned);
    for (int k = 1; k < 3; k++)
        if (lines.data[k] != nullptr && lines.lines.ndim > 0 &&
            (lines.lines.ndim > 1 ||
             lines.lines.strides[0][k] != lines.length * lt_element_size(lines.dtype[k])))
            *producer->done = false;
    if (!*producer->done) return LT_OK;
    lt_fused_rows rows = {};
    rows.count = lines.count, rows.length = lines.length;
    rows.out = lines.data[1], rows.result = lines.data[2];
    rows.log = a.log, rows.aligned = aligned;
    lt_row_team team;
#define TEAM(S, C) team = lt_row_team_of_many<S, C>(lines.count, lines.length)
    LT_ROW_DTYPES(lines.dtype[0], TEAM)
#undef TEAM
    return lt_fused_take_rows(producer, backward ? "lt_softmax_rows_backward" : "lt_softmax_rows",
                              lines.dtype[0], nullptr, team, rows, stream);
}

static lt_status launch_softmax(bool log, bool backward, const lt_array *const *arrays, int dim)
{
    const int device = arrays[0]->device.index;
    const lt_fused_producer *const producer = arrays[0]->producer;
    softmax a = {lt_slice_offsets<3>(arrays, dim), log};
    cudaStream_t stream;
    if (a.lines.count == 0 || a.lines.length == 0) return LT_OK;
    LT_TRY(lt_cuda_enter(device, &stream));
    if (producer != nullptr && producer->fusion->n_steps > 0)
        return launch_fused_softmax(a, backward, producer, stream);
    if (producer != nullptr) a.lines.data[0] = producer->fusion->values[producer->value].data;
    if (arrays[0]->dtype == LT_FLOAT64)
        launch_softmax_rows<double>(a, backward, stream);
    else
        launch_softmax_rows<float>(a, backward, stream);
    return lt_cuda_launched(device, stream, log ? "log_softmax" : "softmax");
}

lt_status lt_cuda_softmax(bool log, const lt_array *out, const lt_array *in, int dim)
{
    const lt_array *const arrays[] = {in, out, nullptr};
    return launch_softmax(log, false, arrays, dim);
}

lt_status lt_cuda_softmax_backward(bool log, const lt_array *grad_in, const lt_array *grad,
                                   const lt_array *result, int dim)
{
    const lt_array *const arrays[] = {grad, grad_in, result};
    return launch_softmax(log, true, arrays, dim);
}
