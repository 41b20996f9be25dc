/* fused.cu - launches a fused expression (compile/fusion.h) as one kernel, generated and compiled
 * at run time (plan.cuh, source.cu, programs.cuh). Counterpart of cpu/compile/fused.c. */
#include <string.h>

#include "fused.cuh"
#include "cuda.h"
#include "kernels/offsets.cuh"
#include "kernels/split.cuh"
#include "kernels/rows.cuh"
#include "programs.cuh"

const char *lt_cuda_fusion_unavailable(void) { return lt_fused_no_compiler(); }

bool lt_cuda_fuses(int op, lt_dtype compute)
{
    return op == LT_FUSED_COPY ? compute <= LT_FLOAT64
                               : lt_fused_formula_of(op, compute) != nullptr;
}

/* Serializes the plan's lists into the layout of lt_fused_arguments. */
static std::string arguments_of(const lt_fused_plan &plan)
{
    const uint32_t head[] = {static_cast<uint32_t>(plan.numel), plan.aligned, 0, 0};
    const auto put = [](std::string *to, const auto &list) {
        using T = typename std::decay_t<decltype(list)>::value_type;
        to->append(reinterpret_cast<const char *>(list.data()), list.size() * sizeof(T));
        if (list.empty()) to->append(sizeof(T), '\0');
    };
    std::string arguments(reinterpret_cast<const char *>(head), sizeof head);
    put(&arguments, plan.data);
    put(&arguments, plan.numbers);
    put(&arguments, plan.walks);
    arguments.append(8, '\0'); /* tail padding of the struct */
    return arguments;
}

/* Splits the elements into launches with 32-bit indices. Only the pointers of dense values advance;
 * strided values occur only in plans that fit into one launch. */
static lt_status launch_plan(const lt_fused_plan &whole, const void *kernel, cudaStream_t stream)
{
    const uint64_t limit = static_cast<uint64_t>(lt_split_limit());
    const uint64_t most = limit > 4096 ? (limit - 1) / 4096 * 4096 : 1024;
    lt_fused_plan plan = whole;
    for (uint64_t first = 0; first < whole.numel; first += most) {
        plan.numel = whole.numel - first < most ? whole.numel - first : most;
        for (size_t i = 0; i < plan.data.size(); i++)
            plan.data[i] = whole.data[i] + static_cast<int64_t>(first) * plan.step[i];
        std::string arguments = arguments_of(plan);
        void *places[] = {&arguments[0], nullptr};
        lt_record_launch(cudaLaunchKernel(
            kernel, dim3(lt_blocks(static_cast<int64_t>(plan.numel), LT_FUSED_BLOCK * plan.run)),
            dim3(LT_FUSED_BLOCK), places, 0, stream));
    }
    return LT_OK;
}

static lt_status launch_fusion(const lt_fusion *c, bool *done)
{
    lt_fused_plan plan;
    const void *kernel = nullptr;
    cudaStream_t stream;
    if (!plan.make(c)) return LT_OK;
    LT_TRY(lt_cuda_enter(c->device.index, &stream));
    LT_TRY(lt_fused_program(plan, c->device.index, &kernel));
    if (kernel == nullptr) return LT_OK;
    *done = true;
    LT_TRY(launch_plan(plan, kernel, stream));
    return lt_cuda_launched(c->device.index, stream, "fusion");
}

/* Launches the kernel in which `end` consumes the producer's value. head: the arguments of the
 * consumer; threads: total number. */
static lt_status launch_producer(const lt_fused_producer *producer, const lt_fused_end &end,
                                 const void *head, int64_t threads, int64_t block,
                                 cudaStream_t stream)
{
    const lt_fusion *c = producer->fusion;
    lt_fused_plan plan;
    const void *kernel = nullptr;
    if (!plan.make(c, end)) return LT_OK;
    LT_TRY(lt_fused_program(plan, c->device.index, &kernel));
    if (kernel == nullptr) return LT_OK;
    *producer->done = true;
    std::string arguments(static_cast<const char *>(head), end.bytes());
    arguments += arguments_of(plan);
    void *places[] = {&arguments[0], nullptr};
    lt_record_launch(cudaLaunchKernel(kernel, dim3(lt_blocks(threads, static_cast<int>(block))),
                                      dim3(static_cast<unsigned>(block)), places, 0, stream));
    return lt_cuda_launched(c->device.index, stream, "fusion");
}

/* Threads per block. Teams of one warp share a block, because they need no barrier; a larger team
 * is a block of its own. */
static int64_t block_of(int64_t team) { return team == LT_WARP ? int64_t{LT_FUSED_BLOCK} : team; }

template <class F> static lt_status in_room(F f)
{
    try {
        return f();
    } catch (const std::bad_alloc &) {
        return lt_cuda_core->error(LT_ERR_MEMORY, "out of memory for a fusion of elementwise ops");
    }
}

lt_status lt_cuda_run_fusion(const lt_fusion *c, bool *done)
{
    *done = false;
    return in_room([&] { return launch_fusion(c, done); });
}

static lt_status take_lines(const lt_fused_producer *producer, const lt_fused_end &end,
                            const lt_fused_lines &lines, cudaStream_t stream)
{
    return launch_producer(producer, end, &lines, lines.lines * lines.shares * lines.team,
                           block_of(lines.team), stream);
}

lt_status lt_fused_reduce(const lt_fused_producer *producer, const char *step, bool wide,
                          bool light, const char *out, const lt_fused_lines &lines,
                          cudaStream_t stream)
{
    *producer->done = false;
    return in_room([&] {
        return take_lines(producer, lt_fused_end_lines(producer->value, step, wide, light, out),
                          lines, stream);
    });
}

lt_status lt_fused_reduce_held(const lt_fused_producer *producer, const lt_fused_two_steps &steps,
                               bool wide, const char *out, const lt_fused_lines &lines,
                               cudaStream_t stream)
{
    *producer->done = false;
    return in_room([&] {
        return take_lines(producer, lt_fused_end_held_lines(producer->value, steps, wide, out),
                          lines, stream);
    });
}

bool lt_cuda_takes_rows(lt_dtype dtype, int64_t numel, int64_t length)
{
    if (!lt_is_floating(dtype) || lt_fused_no_compiler() != nullptr) return false;
    return length > LT_WARP && length * lt_element_size(dtype) % 16 == 0 &&
           numel < lt_split_limit();
}

lt_status lt_fused_take_rows(const lt_fused_producer *producer, const char *function,
                             lt_dtype dtype, const char *more, const lt_row_team &team,
                             lt_fused_rows rows, cudaStream_t stream)
{
    rows.team = team.block.x;
    *producer->done = false;
    return in_room([&] {
        const lt_fused_end end = lt_fused_end_rows(producer->value, function, dtype, team, more);
        return launch_producer(producer, end, &rows, rows.count * rows.team, block_of(rows.team),
                               stream);
    });
}
