/* chain.cu - a chain of elementwise ops (devices/chain.h) as one kernel, which is generated for it (plan.cuh, source.cu, programs.cuh). The twin of
 * cpu/pointwise/chain.c. */
#include <string.h>

#include "chain.cuh"
#include "cuda.h"
#include "kernels/join.cuh"
#include "kernels/offsets.cuh"
#include "kernels/pieces.cuh"
#include "programs.cuh"

const char *lt_cuda_chains_nothing(void) { return lt_chain_no_compiler(); }

bool lt_cuda_chains(int op, lt_dtype compute)
{
    return op == LT_CHAIN_COPY ? compute <= LT_FLOAT64
                               : lt_chain_formula_of(op, compute) != nullptr;
}

/* The plan's lists as an lt_chain_arguments. */
static std::string arguments_of(const lt_chain_plan &plan)
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
    arguments.append(8, '\0'); /* what a struct ends with */
    return arguments;
}

/* As many elements as places count, those of dense values; others begin where they began. */
static lt_status launch(const lt_chain_plan &whole, const void *kernel, cudaStream_t stream)
{
    const uint64_t limit = static_cast<uint64_t>(lt_piece_limit());
    const uint64_t most = limit > 4096 ? (limit - 1) / 4096 * 4096 : 1024;
    lt_chain_plan plan = whole;
    for (uint64_t first = 0; first < whole.numel; first += most) {
        plan.numel = whole.numel - first < most ? whole.numel - first : most;
        for (size_t i = 0; i < plan.data.size(); i++)
            plan.data[i] = whole.data[i] + static_cast<int64_t>(first) * plan.step[i];
        std::string arguments = arguments_of(plan);
        void *places[] = {&arguments[0], nullptr};
        lt_note_launch(cudaLaunchKernel(
            kernel, dim3(lt_blocks(static_cast<int64_t>(plan.numel), LT_CHAIN_BLOCK * plan.run)),
            dim3(LT_CHAIN_BLOCK), places, 0, stream));
    }
    return LT_OK;
}

static lt_status run(const lt_chain *c, bool *done)
{
    lt_chain_plan plan;
    const void *kernel = nullptr;
    cudaStream_t stream;
    if (!plan.make(c)) return LT_OK;
    LT_TRY(lt_cuda_enter(c->device.index, &stream));
    LT_TRY(lt_chain_program(plan, c->device.index, &kernel));
    if (kernel == nullptr) return LT_OK;
    *done = true;
    LT_TRY(launch(plan, kernel, stream));
    return lt_cuda_launched(c->device.index, stream, "chain");
}

static lt_status reduce(const lt_chain *c, const lt_chain_end &end, const lt_chain_lines &lines, cudaStream_t stream, bool *done)
{
    lt_chain_plan plan;
    const void *kernel = nullptr;
    if (!plan.make(c, end)) return LT_OK;
    LT_TRY(lt_chain_program(plan, c->device.index, &kernel));
    if (kernel == nullptr) return LT_OK;
    *done = true;
    std::string arguments(reinterpret_cast<const char *>(&lines), sizeof lines);
    arguments += arguments_of(plan);
    void *places[] = {&arguments[0], nullptr};
    const int block = lines.team == LT_WARP ? LT_CHAIN_BLOCK : static_cast<int>(lines.team); /* several teams do not wait for each other */
    lt_note_launch(cudaLaunchKernel(kernel, dim3(lt_blocks(lines.lines * lines.shares * lines.team, block)),
                                    dim3(static_cast<unsigned>(block)), places, 0, stream));
    return lt_cuda_launched(c->device.index, stream, "chain");
}

template <class F> static lt_status in_room(F f)
{
    try {
        return f();
    } catch (const std::bad_alloc &) {
        return lt_cuda_core->error(LT_ERR_MEMORY, "out of memory for a chain of elementwise ops");
    }
}

lt_status lt_cuda_chain(const lt_chain *c, bool *done)
{
    *done = false;
    return in_room([&] { return run(c, done); });
}

lt_status lt_chain_reduce(const lt_chain *c, const lt_chain_end &end, const lt_chain_lines &lines, cudaStream_t stream, bool *done)
{
    *done = false;
    return in_room([&] { return reduce(c, end, lines, stream, done); });
}
