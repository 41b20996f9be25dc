/* reduce.cu - reductions: sum, mean, prod, max, min, any, all, norm, variance, logsumexp.
 *
 * Elements are loaded as float (half types too), double, int64_t or bool and accumulated in that
 * type. If the reduced dimension is the dense one, a team of threads (a warp or a block) computes
 * each result; if a kept dimension is, one thread does, so that accesses are coalesced. Either way
 * the elements of a result may be split into shares (chunks); partial results are joined in order,
 * by the last team to finish, or by a second kernel for threads.
 *
 * Results are deterministic: the partition depends on sizes only, and there are no atomic
 * additions. Shares are short enough that a float sum is as accurate as PyTorch's. Variance and
 * logsumexp take two steps; the results of the first are parameters of the second. Contiguous
 * elements that fit into a team's registers are read once for both; a variance of more of them joins
 * moments in one pass; others are read in two passes. */
#include <math.h>
#include <stdlib.h>

#include <limits>
#include <type_traits>

#include "cuda.h"
#include "devices/reduction.h"
#include "formulas/formulas.h"
#include "kernels/block.cuh"
#include "kernels/compile/fused.cuh"
#include "kernels/compile/programs.cuh"
#include "kernels/element.cuh"
#include "kernels/offsets.cuh"
#include "kernels/split.cuh"
#include "moments.cuh"
#include "steps.cuh"

enum {
    BLOCK = 256,
    ITEMS = LT_REDUCE_ITEMS,
    ROW = LT_REDUCE_ROW,
    MOST_PER_THREAD = 1 << 13, /* elements */
    LEAST_PER_THREAD = 64,
};

/* ---- identity elements ----------------------------------------------------------------------- */

template <class C> static C identity_of(lt_identity identity)
{
    using limits = std::numeric_limits<C>;
    switch (identity) {
    case LT_ZERO: return 0;
    case LT_ONE: return 1;
    case LT_LEAST: return limits::has_infinity ? -limits::infinity() : limits::min();
    default: return limits::has_infinity ? limits::infinity() : limits::max();
    }
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* plan sets members without a value; the dimensions are too large to be cleared first. */
template <class C> struct reduction {
    char *out;
    const char *in;
    lt_dtype out_dtype, in_dtype;
    lt_offsets<1> reduced;                 /* dimensions of the input */
    lt_offsets<2> kept;                    /* of the output and the input */
    int64_t count, results, shares, share; /* share: elements per share */
    C identity, parameter, divisor;
    C root = 0;                          /* 0 for none */
    C *parts = nullptr;                  /* [shares][results], if several shares */
    unsigned *counter = nullptr;         /* of teams that stored theirs (lt_is_last) */
    bool logarithm;                      /* the first pass belongs to logsumexp */
    C *first = nullptr;                  /* output of a first pass, else null */
    C *parameters = nullptr;             /* input of a second pass: one per result */
    bool dense = false, aligned = false; /* elements of a result are contiguous; shares aligned */
};

template <class C>
static __device__ __forceinline__ C parameter_of(const reduction<C> &a, int64_t result)
{
    return a.parameters != nullptr ? a.parameters[result] : a.parameter;
}

template <class Step, class C>
static __device__ void write_result(const reduction<C> &a, int64_t result, C total, C parameter)
{
    int64_t offset[2];
    a.kept.at(result, offset);
    if constexpr (std::is_floating_point_v<C>) {
        if (a.first != nullptr) {
            a.first[result] = lt_second_parameter(total, a.divisor, a.logarithm);
            return;
        }
        total = Step::end(total / a.divisor, parameter, a.root);
    }
    lt_store<C>(a.out_dtype, a.out + offset[0], total);
}

/* Loads N contiguous elements, of a dtype that is computed in C. */
template <class C, int N>
static __device__ __forceinline__ void load_row(lt_dtype dtype, const char *p, C *x, int n,
                                                bool aligned)
{
    if constexpr (std::is_floating_point_v<C>)
        lt_load_float_row<C, N>(dtype, p, x, n, aligned);
    else
        lt_load_row<C, N>(dtype, p, x, n, aligned);
}

/* Accumulates a thread's contiguous elements of one share of a result. */
template <class Step, class C>
static __device__ __forceinline__ C accumulate_dense(const reduction<C> &a, int64_t result,
                                                     int64_t share, int64_t first, int64_t step)
{
    const int64_t from = share * a.share, to = from + a.share < a.count ? from + a.share : a.count;
    const int64_t size = lt_element_size(a.in_dtype);
    int64_t offset[2];
    a.kept.at(result, offset);
    const char *in = a.in + offset[1];
    return lt_accumulate_rows<Step>(
        from, to, first, step, a.identity, parameter_of(a, result), [&](int64_t i, int n, C *x) {
            load_row<C, LT_REDUCE_ROW>(a.in_dtype, in + i * size, x, n, a.aligned);
        });
}

/* Accumulates elements first, first + step, ... of one share of a result. */
template <class Step, class C>
static __device__ __forceinline__ C accumulate_share(const reduction<C> &a, int64_t result,
                                                     int64_t share, int64_t first, int64_t step)
{
    const int64_t from = share * a.share, to = from + a.share < a.count ? from + a.share : a.count;
    int64_t offset[2];
    a.kept.at(result, offset);
    const char *in = a.in + offset[1];
    const C parameter = parameter_of(a, result);
    /* the result's first element */
    const C shift = Step::from_first && from < to ? lt_load<C>(a.in_dtype, in) : C{0};
    C totals[ITEMS];
    for (int j = 0; j < ITEMS; j++) totals[j] = a.identity;
    LT_NOT_UNROLLED
    for (int64_t i = from + first; i < to; i += ITEMS * step) {
        const char *at[ITEMS];
        C x[ITEMS];
        for (int j = 0; j < ITEMS; j++) {
            int64_t element;
            a.reduced.at(i + j * step < to ? i + j * step : i, &element);
            at[j] = in + element;
        }
        lt_load_many<C, ITEMS>(a.in_dtype, at, x);
        for (int j = 0; j < ITEMS; j++)
            if (i + j * step < to)
                totals[j] = Step::of(totals[j], static_cast<C>(x[j] - shift), parameter);
    }
    return Step::join(Step::join(totals[0], totals[1]), Step::join(totals[2], totals[3]));
}

template <class Step, class C>
static __device__ void deliver_total(const reduction<C> &a, int64_t result, int64_t share, C total)
{
    if (a.shares > 1)
        lt_leave(a.parts + share * a.results + result, total);
    else
        write_result<Step>(a, result, total, parameter_of(a, result));
}

/* One thread per share of each result. */
template <class Step, class C>
static __global__ void __launch_bounds__(BLOCK) reduce_by_thread(reduction<C> a)
{
    const int64_t number = lt_thread_number();
    if (number >= a.results * a.shares) return;
    const int64_t share = number / a.results, result = number % a.results;
    deliver_total<Step>(a, result, share, accumulate_share<Step>(a, result, share, 0, 1));
}

/* One team per result and share: the threads along x of a block. A block has several one-warp
 * teams, or one larger team; with several shares (blockIdx.y) always one. */
template <class Step, class C>
static __global__ void
__launch_bounds__(BLOCK, Step::light ? LT_RESIDENT / BLOCK *static_cast<int>(lt_enough_blocks<C>) /
                                           static_cast<int>(lt_enough_blocks<float>)
                                     : 0) reduce_by_team(reduction<C> a)
{
    __shared__ C shared[lt_shared_for(BLOCK)];
    const int64_t result = static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y,
                  share = blockIdx.y;
    if (result >= a.results) return;
    C total = a.dense ? accumulate_dense<Step>(a, result, share, threadIdx.x, blockDim.x)
                      : accumulate_share<Step>(a, result, share, threadIdx.x, blockDim.x);
    total = lt_block_join(total, shared, [](C x, C y) { return Step::join(x, y); });
    if (threadIdx.x == 0) deliver_total<Step>(a, result, share, total);
    if (a.shares == 1) return;
    const lt_thread_group<C> team = {shared, static_cast<int>(threadIdx.x),
                                     static_cast<int>(blockDim.x)};
    if (team.last(a.counter, gridDim.x * gridDim.y))
        lt_join_shares<Step>(team, a.parts, a.results, a.shares, [&](int64_t i, C joined) {
            write_result<Step>(a, i, joined, parameter_of(a, i));
        });
}

/* Both steps in one kernel: a team per result, which holds its elements in registers
 * (lt_reduce_held). */
template <class First, class Second, int RUNS, class C>
static __global__ void __launch_bounds__(BLOCK) reduce_held(reduction<C> a, lt_two_steps<C> steps)
{
    __shared__ C shared[lt_shared_for(BLOCK)];
    const int64_t result = static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y,
                  size = lt_element_size(a.in_dtype);
    if (result >= a.results) return;
    int64_t offset[2];
    a.kept.at(result, offset);
    const char *in = a.in + offset[1];
    const lt_thread_group<C> team = {shared, static_cast<int>(threadIdx.x),
                                     static_cast<int>(blockDim.x)};
    C parameter;
    const C total = lt_reduce_held<First, Second, RUNS>(
        team, static_cast<int>(a.count), steps, &parameter, [&](int64_t i, int n, C *x) {
            load_row<C, LT_REDUCE_ROW>(a.in_dtype, in + i * size, x, n, a.aligned);
        });
    if (team.leads()) write_result<Second>(a, result, total, parameter);
}

/* Variance of contiguous elements: a block per result and share. */
template <class C> static __global__ void __launch_bounds__(BLOCK) reduce_moments(reduction<C> a)
{
    __shared__ lt_wide_moments shared[lt_shared_for(BLOCK)];
    const lt_thread_group<lt_wide_moments> team = {shared, static_cast<int>(threadIdx.x), BLOCK};
    const int64_t result = blockIdx.x, from = blockIdx.y * a.share,
                  to = from + a.share < a.count ? from + a.share : a.count;
    const int64_t size = lt_element_size(a.in_dtype);
    int64_t offset[2];
    a.kept.at(result, offset);
    const char *in = a.in + offset[1];
    const lt_wide_moments own = lt_accumulate_moments<C>(
        from, to, static_cast<int64_t>(threadIdx.x), int64_t{BLOCK}, [&](int64_t i, int n, C *x) {
            load_row<C, ROW>(a.in_dtype, in + i * size, x, n, a.aligned);
        });
    const lt_wide_moments total = lt_block_join(
        own, shared, [](lt_wide_moments x, lt_wide_moments y) { return lt_join_moments(x, y); });
    const auto finish = [&](int64_t i, lt_wide_moments m) {
        write_result<sum_square_off_step>(a, i, static_cast<C>(m.squares), C{0});
    };
    if (a.shares == 1) {
        if (team.leads()) finish(result, total);
        return;
    }
    lt_wide_moments *parts = reinterpret_cast<lt_wide_moments *>(a.parts);
    if (team.leads()) lt_leave(parts + blockIdx.y * a.results + result, total);
    if (team.last(a.counter, gridDim.x * gridDim.y))
        lt_join_shares<moments_step>(team, parts, a.results, a.shares, finish);
}

template <class Step, class C>
static __global__ void __launch_bounds__(BLOCK) join_parts(reduction<C> a)
{
    const int64_t result = lt_thread_number();
    if (result >= a.results) return;
    write_result<Step>(a, result, lt_parts_joined<Step>(a.parts + result, a.results, a.shares),
                       parameter_of(a, result));
}

/* join_parts with one warp per result, for at least LT_WARP shares: lane i joins shares i, i + 32,
 * ... A single thread would wait for memory after every few shares. */
template <class Step, class C>
static __global__ void __launch_bounds__(BLOCK) join_parts_by_warp(reduction<C> a)
{
    const int64_t result = lt_thread_number() / LT_WARP;
    const int64_t lane = threadIdx.x % LT_WARP;
    if (result >= a.results) return;
    C total = lt_parts_of_lane<Step>(a.parts + result, a.results, a.shares, lane);
    total = lt_warp_join(total, [](C x, C y) { return Step::join(x, y); });
    if (lane == 0) write_result<Step>(a, result, total, parameter_of(a, result));
}

/* With many results, one thread per result is enough to fill a GPU. */
template <class Step, class C> static void launch_join(const reduction<C> &a, cudaStream_t stream)
{
    if (a.shares >= LT_WARP && a.results * LT_WARP <= LT_ENOUGH_THREADS)
        LT_LAUNCH_BARRIER((join_parts_by_warp<Step, C>), lt_blocks(a.results * LT_WARP, BLOCK),
                          BLOCK, 0, stream, a);
    else
        LT_LAUNCH((join_parts<Step, C>), lt_blocks(a.results, BLOCK), BLOCK, stream, a);
}

/* ---- planning -------------------------------------------------------------------------------- */

struct reduce_call {
    const lt_fused_producer *producer; /* a fused input, or null if it is in memory */
    lt_reduction op;
    const lt_iter *it;
    int reduced_dims;
    double parameter;
    cudaStream_t stream;
};

static int64_t at_most(int64_t n, int64_t most) { return n < most ? n : most; }
static int64_t at_least(int64_t n, int64_t least) { return n > least ? n : least; }

/* Whether adjacent results are closer together in the input than adjacent elements of one result.
 */
static bool by_thread(const reduce_call &c, int64_t count)
{
    if (count <= LT_WARP) return true;
    if (c.reduced_dims == c.it->ndim) return false;
    return llabs(c.it->strides[1][c.reduced_dims]) < llabs(c.it->strides[1][0]);
}

template <class C> static void cut(reduction<C> *a, int64_t wanted, int64_t threads)
{
    const int64_t needed = (a->count + MOST_PER_THREAD * threads - 1) / (MOST_PER_THREAD * threads);
    a->shares = at_least(at_most(wanted, a->count / (LEAST_PER_THREAD * threads)), needed);
    a->shares = at_most(at_least(a->shares, 1), 65535);
    a->share = (a->count + a->shares - 1) / a->shares;
}

/* Whether the elements of a result are contiguous, in a dtype that is computed in C. */
template <class C> static bool lies_together(const reduce_call &c, const reduction<C> &a)
{
    const bool own =
        lt_is_floating(a.in_dtype) && (a.in_dtype == LT_FLOAT64) == std::is_same_v<C, double>;
    if (std::is_floating_point_v<C> && !own) return false;
    return a.reduced.ndim == 0 ||
           (a.reduced.ndim == 1 && c.it->strides[1][0] == lt_element_size(a.in_dtype));
}

static void set(lt_fused_number *number, float value) { number->f = value; }
static void set(lt_fused_number *number, double value) { number->d = value; }

/* The arguments of a generated kernel. */
template <class C> static lt_fused_lines lines_of(const reduction<C> &a, int64_t team)
{
    lt_fused_lines lines = {};
    lines.count = a.count, lines.share = a.share;
    lines.lines = a.results, lines.shares = a.shares;
    lines.team = team;
    lines.parts = a.parts, lines.counter = a.counter, lines.parameters = a.parameters;
    lines.out = a.out, lines.step = a.kept.ndim > 0 ? a.kept.strides[0][0] : 0;
    if (a.first != nullptr) lines.out = reinterpret_cast<char *>(a.first);
    lines.logarithm = a.logarithm;
    set(&lines.identity, a.identity);
    set(&lines.parameter, a.parameter);
    set(&lines.divisor, a.divisor);
    set(&lines.root, a.root);
    return lines;
}

/* Reduces the value of a fused expression. */
template <class Step, class C>
static lt_status launch_fused_reduce(const reduce_call &c, const reduction<C> &a, int64_t team)
{
    if constexpr (std::is_floating_point_v<C>)
        return lt_fused_reduce(c.producer, Step::name, sizeof(C) == sizeof(double), Step::light,
                               a.first != nullptr ? "void" : lt_fused_element(a.out_dtype),
                               lines_of(a, team), c.stream);
    return LT_OK;
}

/* The divisor of the first step's total. */
template <class C> static C first_divisor(const reduce_call &c, int64_t count)
{
    return static_cast<C>(c.op == LT_REDUCE_LOGSUMEXP ? 1 : count);
}

/* Block dimensions: several one-warp teams, or one larger team. */
static dim3 block_of(int64_t team)
{
    return dim3(static_cast<unsigned>(team), team == LT_WARP ? BLOCK / LT_WARP : 1);
}
template <class C> static dim3 grid_of(const reduction<C> &a, dim3 block)
{
    return dim3(lt_blocks(a.results, static_cast<int>(block.y)), static_cast<unsigned>(a.shares));
}

/* Fills in the arguments of the eager kernels, except `first` and `parameters`. Returns the threads
 * per team; 1 means that each thread reduces a share alone. */
template <class Step, class C> static int64_t plan(const reduce_call &c, reduction<C> *whole)
{
    const lt_iter *it = c.it;
    reduction<C> &a = *whole;
    a.out = it->data[0];
    a.in = it->data[1];
    a.out_dtype = it->dtype[0];
    a.in_dtype = it->dtype[1];
    for (int d = 0; d < c.reduced_dims; d++) a.reduced.add(it->sizes[d], &it->strides[1][d]);
    a.reduced.finish();
    a.kept.of(it, c.reduced_dims, it->ndim);
    a.count = a.reduced.numel;
    a.results = a.kept.numel;
    a.identity = identity_of<C>(Step::identity);
    a.parameter = static_cast<C>(c.parameter);
    const bool varies = c.op == LT_REDUCE_VAR || c.op == LT_REDUCE_STD;
    a.divisor = c.op == LT_REDUCE_MEAN ? static_cast<C>(a.count)
                : varies               ? a.parameter
                                       : static_cast<C>(1);
    a.logarithm = c.op == LT_REDUCE_LOGSUMEXP;
    if (c.op == LT_REDUCE_STD) a.root = 2;
    if (c.op == LT_REDUCE_NORM) a.root = a.parameter;
    if (a.results == 0) return 1;

    const bool threads = by_thread(c, a.count);
    /* With enough results, a warp holds a row, without barriers. */
    const int each = a.results * LT_WARP >= LT_ENOUGH_THREADS ? ROW * lt_max_runs<C> : 2 * ITEMS;
    const int64_t team = threads ? 1 : lt_threads_for(a.count, each, BLOCK);
    cut(&a,
        threads ? LT_ENOUGH_THREADS / a.results
                : lt_enough_blocks<C> * block_of(team).y / a.results,
        team);
    if (!threads && lies_together(c, a)) {
        a.dense = true;
        a.share = (a.share + ROW * 2 - 1) / (ROW * 2) * (ROW * 2);
        a.shares = (a.count + a.share - 1) / a.share;
        a.aligned = lt_is_aligned(a.in);
        for (int d = 0; d < a.kept.ndim; d++)
            if (a.kept.strides[d][1] % 16 != 0) a.aligned = false;
    }
    return team;
}

/* Takes the memory of the parts, of `size` bytes, and for teams of threads a counter. */
template <class C>
static lt_status take_parts(const reduce_call &c, int64_t team, size_t size, reduction<C> *a,
                            lt_cuda_scratch *parts)
{
    const int device = c.it->device.index;
    if (a->shares == 1) return LT_OK;
    const size_t bytes = (static_cast<size_t>(a->shares * a->results) * size + 3) / 4 * 4;
    LT_TRY(parts->take(device, bytes + sizeof(unsigned)));
    a->parts = parts->as<C>();
    return team == 1 ? LT_OK
                     : lt_cuda_counter(device, c.stream, parts->as<unsigned>(bytes), &a->counter);
}

/* first: output of a first pass; parameters: input of a second one. */
template <class Step, class C>
static lt_status launch_reduce(const reduce_call &c, C *first = nullptr, C *parameters = nullptr)
{
    const int device = c.it->device.index;
    reduction<C> a;
    lt_cuda_scratch parts;
    const int64_t team = plan<Step>(c, &a);
    if (a.results == 0) return LT_OK;
    a.first = first;
    a.parameters = parameters;
    if (first != nullptr) a.divisor = first_divisor<C>(c, a.count);
    LT_TRY(take_parts(c, team, sizeof(C), &a, &parts));
    if (c.producer != nullptr) return launch_fused_reduce<Step>(c, a, team);
    const dim3 block = block_of(team);
    if (team > 1) {
        LT_LAUNCH_BARRIER((reduce_by_team<Step, C>), grid_of(a, block), block, 0, c.stream, a);
    } else {
        LT_LAUNCH((reduce_by_thread<Step, C>), lt_blocks(a.results * a.shares, BLOCK), BLOCK,
                  c.stream, a);
        if (a.shares > 1) launch_join<Step>(a, c.stream);
    }
    return lt_cuda_launched(device, c.stream, "reduce");
}

template <class First, class Second, int RUNS, class C>
static lt_status run_held(const reduce_call &c, reduction<C> *a, int64_t team)
{
    const lt_two_steps<C> steps = {identity_of<C>(First::identity), a->identity,
                                   first_divisor<C>(c, a->count), a->logarithm};
    const dim3 block = block_of(team);
    if (c.producer != nullptr) {
        lt_fused_lines lines = lines_of(*a, team);
        set(&lines.first, steps.first);
        set(&lines.first_divisor, steps.divisor);
        return lt_fused_reduce_held(c.producer, {First::name, Second::name, RUNS},
                                    sizeof(C) == sizeof(double), lt_fused_element(a->out_dtype),
                                    lines, c.stream);
    }
    LT_LAUNCH_BARRIER((reduce_held<First, Second, RUNS, C>), grid_of(*a, block), block, 0, c.stream,
                      *a, steps);
    return lt_cuda_launched(c.it->device.index, c.stream, "reduce");
}

template <class C> static lt_status run_moments(const reduce_call &c, reduction<C> *a)
{
    lt_cuda_scratch parts;
    LT_TRY(take_parts(c, BLOCK, sizeof(lt_wide_moments), a, &parts));
    if (c.producer != nullptr) return launch_fused_reduce<moments_step>(c, *a, BLOCK);
    LT_LAUNCH_BARRIER(reduce_moments<C>, grid_of(*a, BLOCK), BLOCK, 0, c.stream, *a);
    return lt_cuda_launched(c.it->device.index, c.stream, "reduce");
}

/* ---- entry ----------------------------------------------------------------------------------- */

template <class C> static lt_status run_norm(const reduce_call &c)
{
    const double p = c.parameter;
    if (p == 2) return launch_reduce<sum_square_step, C>(c);
    if (p == 1) return launch_reduce<sum_abs_step, C>(c);
    if (p == 0) return launch_reduce<count_step, C>(c);
    if (isinf(p))
        return p > 0 ? launch_reduce<max_abs_step, C>(c) : launch_reduce<min_abs_step, C>(c);
    return launch_reduce<sum_power_step, C>(c);
}

template <class First, class Second, class C> static lt_status run_two(const reduce_call &c)
{
    lt_cuda_scratch scratch;
    reduction<C> a;
    const int64_t team = plan<Second>(c, &a);
    if (a.results == 0) return LT_OK;
    if (a.dense && a.shares == 1) {
        if (a.count <= team * ROW) return run_held<First, Second, 1>(c, &a, team);
        if (a.count <= team * ROW * lt_max_runs<C>)
            return run_held<First, Second, lt_max_runs<C>>(c, &a, team);
    }
    if (std::is_same_v<Second, sum_square_off_step> && a.dense && team == BLOCK)
        return run_moments(c, &a);
    LT_TRY(scratch.take(c.it->device.index, static_cast<size_t>(a.results) * sizeof(C)));
    LT_TRY((launch_reduce<First, C>(c, scratch.as<C>())));
    if (c.producer != nullptr && !*c.producer->done) return LT_OK;
    return launch_reduce<Second, C>(c, nullptr, scratch.as<C>());
}

template <class C> static lt_status run_numbers(const reduce_call &c)
{
    switch (c.op) {
    case LT_REDUCE_PROD: return launch_reduce<prod_step, C>(c);
    case LT_REDUCE_MAX: return launch_reduce<max_step, C>(c);
    case LT_REDUCE_MIN: return launch_reduce<min_step, C>(c);
    case LT_REDUCE_COUNT: return launch_reduce<count_step, C>(c);
    default: return launch_reduce<sum_step, C>(c);
    }
}

template <class C> static lt_status run_floats(const reduce_call &c)
{
    switch (c.op) {
    case LT_REDUCE_NORM: return run_norm<C>(c);
    case LT_REDUCE_SUM_NUMBERS: return launch_reduce<sum_numbers_step, C>(c);
    case LT_REDUCE_VAR:
    case LT_REDUCE_STD: return run_two<sum_off_step, sum_square_off_step, C>(c);
    case LT_REDUCE_LOGSUMEXP: return run_two<max_step, sum_exp_step, C>(c);
    default: return run_numbers<C>(c);
    }
}

/* The dtype that determines the accumulation type. */
static lt_dtype decisive(lt_reduction op, const lt_iter *it)
{
    const bool by_input = op == LT_REDUCE_MAX || op == LT_REDUCE_MIN || op == LT_REDUCE_COUNT;
    return by_input ? it->dtype[1] : it->dtype[0];
}

static lt_status reduce_dispatch(reduce_call c)
{
    const lt_iter *it = c.it;
    const lt_reduction op = c.op;
    LT_TRY(lt_cuda_enter(it->device.index, &c.stream));
    if (op == LT_REDUCE_ANY) return launch_reduce<any_step, bool>(c);
    if (op == LT_REDUCE_ALL) return launch_reduce<all_step, bool>(c);
    const lt_dtype decides = decisive(op, it);
    if (!lt_is_floating(decides)) {
        if (op == LT_REDUCE_MEAN || op == LT_REDUCE_NORM)
            return lt_cuda_unsupported(op == LT_REDUCE_MEAN ? "mean" : "norm", it->dtype[1]);
        return run_numbers<int64_t>(c);
    }
    return decides == LT_FLOAT64 ? run_floats<double>(c) : run_floats<float>(c);
}

lt_status lt_cuda_reduce(int op, const lt_iter *it, int reduced_dims, double parameter)
{
    return reduce_dispatch(
        {nullptr, static_cast<lt_reduction>(op), it, reduced_dims, parameter, nullptr});
}

/* Supported: fewer than 2^31 elements in contiguous rows of floats, long enough for a team, in the
 * accumulation type or a half type. Each row must begin at a multiple of ROW. */
bool lt_cuda_reduces_fusion(int op, const lt_iter *it, int reduced_dims)
{
    if (op == LT_REDUCE_ANY || op == LT_REDUCE_ALL || lt_fused_no_compiler() != nullptr)
        return false;
    if (reduced_dims != 1 || it->ndim > 2 || !lt_is_floating(it->dtype[1])) return false;
    const lt_dtype decides = decisive(static_cast<lt_reduction>(op), it);
    if (!lt_is_floating(decides) || (decides == LT_FLOAT64) != (it->dtype[1] == LT_FLOAT64))
        return false;
    const int64_t count = it->sizes[0], size = lt_element_size(it->dtype[1]),
                  lines = it->ndim == 2 ? it->sizes[1] : 1;
    if (it->strides[1][0] != size || (lines > 1 && it->strides[1][1] != count * size)) return false;
    return count > LT_WARP && (lines == 1 || count % ROW == 0) && count * lines < lt_split_limit();
}

lt_status lt_cuda_reduce_fusion(const lt_fused_producer *producer, int op, const lt_iter *it,
                                int reduced_dims, double parameter)
{
    if (producer->fusion->n_steps > 0)
        return reduce_dispatch(
            {producer, static_cast<lt_reduction>(op), it, reduced_dims, parameter, nullptr});
    lt_iter written = *it;
    written.data[1] = producer->fusion->values[producer->value].data;
    return lt_cuda_reduce(op, &written, reduced_dims, parameter);
}
