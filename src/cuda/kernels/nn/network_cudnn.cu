/* network_cudnn.cu - multi-layer RNN, GRU or LSTM by cuDNN, which overlaps layers and directions
 * and fuses the gates of a step (core/devices/network.h).
 *
 * cuDNN requires all weights in one buffer of its own layout: they are copied there first, and
 * their gradients from there at the end. Each thread caches descriptors, sizes and offsets by
 * shape. The workspace is allocated by our allocator per call. cuDNN does not guarantee
 * deterministic results: under torch.use_deterministic_algorithms our own kernels are used.
 * Products of floats may be rounded to TF32, as in convolutions. An LSTM or GRU with few hidden
 * units runs all steps in one persistent kernel (CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H), in the
 * cases where PyTorch does so; otherwise each step needs at least one launch. */
#include <limits.h>
#include <vector>

#include "cuda.h"
#include "libraries/cudnn_rnn_api.h"
#include "libraries/dnn.cuh"
#include "libraries/plans.cuh"

namespace {

constexpr uintptr_t alignment = 16; /* bytes; cuDNN's kernels require it */

/* Key of the plan cache (plans.cuh). */
struct network_shape {
    int64_t steps, batch, input, hidden, layers;
    int32_t cell, dtype, device, directions, bias, keeps, tf32, unused;
};

/* A run of elements that is contiguous both in one of our weights and in cuDNN's buffer. */
struct network_run {
    int64_t weight;       /* its index (network.h) */
    size_t at, to, bytes; /* offset in the weight; in the buffer */
};

class plan {
  public:
    plan() = default;
    plan(const plan &) = delete;
    plan &operator=(const plan &) = delete;
    ~plan() { forget(); }
    lt_status make(cudnnHandle_t handle, const lt_network *n, bool tf32);

    const lt_cudnn *dnn = nullptr;
    const lt_cudnn_rnn *rnn = nullptr;
    cudnnRNNDescriptor_t network = nullptr;
    cudnnDropoutDescriptor_t dropout = nullptr;
    cudnnRNNDataDescriptor_t x = nullptr, y = nullptr;
    cudnnTensorDescriptor_t state = nullptr, matrix = nullptr, bias = nullptr;
    size_t weights = 0, work = 0, kept = 0;
    std::vector<network_run> runs;
    bool refused = false; /* not supported by cuDNN: the sizes are 0 */

  private:
    lt_status describe(cudnnHandle_t handle, const lt_network *n, bool tf32,
                       cudnnRNNAlgo_t algorithm);
    lt_status measure(cudnnHandle_t handle, const lt_network *n);
    lt_status make_by(cudnnHandle_t handle, const lt_network *n, bool tf32,
                      cudnnRNNAlgo_t algorithm);
    void forget();
    lt_status describe_data(const lt_network *n, cudnnRNNDataDescriptor_t *data, int64_t size,
                            const int *lengths);
    lt_status find_runs(cudnnHandle_t handle, const lt_network *n);
    void add_run(const network_run &next);
};

cudnnRNNMode_t cell_of(lt_cell cell)
{
    switch (cell) {
    case LT_CELL_LSTM: return CUDNN_LSTM;
    case LT_CELL_GRU: return CUDNN_GRU;
    case LT_CELL_RELU: return CUDNN_RNN_RELU;
    default: return CUDNN_RNN_TANH;
    }
}

size_t size_of(lt_dtype dtype) { return dtype == LT_FLOAT64 ? 8 : dtype == LT_FLOAT32 ? 4 : 2; }

void plan::forget()
{
    for (cudnnTensorDescriptor_t tensor : {state, matrix, bias})
        if (tensor != nullptr) (void)dnn->tensor_destroy(tensor);
    for (cudnnRNNDataDescriptor_t data : {x, y})
        if (data != nullptr) (void)rnn->data_destroy(data);
    if (network != nullptr) (void)rnn->network_destroy(network);
    if (dropout != nullptr) (void)rnn->dropout_destroy(dropout);
    state = matrix = bias = nullptr, x = y = nullptr, network = nullptr, dropout = nullptr;
    weights = work = kept = 0;
}

lt_status plan::describe_data(const lt_network *n, cudnnRNNDataDescriptor_t *data, int64_t size,
                              const int *lengths)
{
    LT_CUDNN_TRY(rnn->data_create(data));
    LT_CUDNN_TRY(rnn->data_set(*data, lt_cudnn_type(n->dtype),
                               CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, (int)n->steps,
                               (int)n->batch, (int)size, lengths, nullptr));
    return LT_OK;
}

/* Dropout is applied by our kernels between single layers, because its random numbers come from our
 * generators. */
lt_status plan::describe(cudnnHandle_t handle, const lt_network *n, bool tf32,
                         cudnnRNNAlgo_t algorithm)
{
    const int states[] = {(int)(n->layers * n->directions), (int)n->batch, (int)n->hidden};
    const int strides[] = {states[1] * states[2], states[2], 1};
    const std::vector<int> lengths((size_t)n->batch, (int)n->steps);
    LT_CUDNN_TRY(rnn->dropout_create(&dropout));
    LT_CUDNN_TRY(rnn->dropout_set(dropout, handle, 0, nullptr, 0, 0));
    LT_CUDNN_TRY(rnn->network_create(&network));
    const cudnnStatus_t status = rnn->network_set(
        network, algorithm, cell_of(n->cell), n->bias ? CUDNN_RNN_DOUBLE_BIAS : CUDNN_RNN_NO_BIAS,
        n->directions == 2 ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT,
        lt_cudnn_type(n->dtype), n->dtype == LT_FLOAT64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT,
        lt_cudnn_math(n->dtype, tf32), (int)n->input, (int)n->hidden, (int)n->hidden,
        (int)n->layers, dropout, LT_CUDNN_RNN_PADDED);
    refused = lt_cudnn_unsupported(status);
    if (refused) return LT_OK;
    LT_CUDNN_TRY(status);
    LT_TRY(describe_data(n, &x, n->input, lengths.data()));
    LT_TRY(describe_data(n, &y, n->directions * n->hidden, lengths.data()));
    for (cudnnTensorDescriptor_t *tensor : {&state, &matrix, &bias})
        LT_CUDNN_TRY(dnn->tensor_create(tensor));
    LT_CUDNN_TRY(dnn->tensor_set(state, lt_cudnn_type(n->dtype), 3, states, strides));
    return LT_OK;
}

void plan::add_run(const network_run &next)
{
    if (!runs.empty()) {
        network_run &last = runs.back();
        if (last.weight == next.weight && last.at + last.bytes == next.at &&
            last.to + last.bytes == next.to) {
            last.bytes += next.bytes;
            return;
        }
    }
    runs.push_back(next);
}

/* Order of a layer's matrices in cuDNN: the gates' input weights, then the gates' state weights.
 * Its order of gates is ours. */
lt_status plan::find_runs(cudnnHandle_t handle, const lt_network *n)
{
    const int gates = lt_cell_gates(n->cell);
    const int64_t parts = lt_network_parts(n);
    lt_cuda_scratch buffer; /* only its addresses are used; nothing is written */
    LT_TRY(buffer.take(n->device.index, weights));
    for (int64_t number = 0; number < lt_network_weights(n); number++) {
        const int64_t part = number % parts;
        int64_t rows, columns;
        lt_network_shape(n, number, &rows, &columns);
        const size_t bytes = (size_t)(rows / gates * columns) * size_of(n->dtype);
        for (int gate = 0; gate < gates; gate++) {
            void *of_matrix = nullptr, *of_bias = nullptr;
            LT_CUDNN_TRY(rnn->weight_place(handle, network, (int32_t)(number / parts), weights,
                                           buffer.as<void>(), gate + (part % 2 == 1 ? gates : 0),
                                           matrix, &of_matrix, bias, &of_bias));
            const char *place = static_cast<const char *>(part < 2 ? of_matrix : of_bias);
            add_run({number, (size_t)gate * bytes, (size_t)(place - buffer.as<char>()), bytes});
        }
    }
    return LT_OK;
}

lt_status plan::measure(cudnnHandle_t handle, const lt_network *n)
{
    cudnnStatus_t status = rnn->weight_bytes(handle, network, &weights);
    if (status == CUDNN_STATUS_SUCCESS)
        status = rnn->work_bytes(handle, network,
                                 n->keeps ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE, x,
                                 &work, &kept);
    refused = lt_cudnn_unsupported(status);
    if (!refused) LT_CUDNN_TRY(status);
    return LT_OK;
}

lt_status plan::make_by(cudnnHandle_t handle, const lt_network *n, bool tf32,
                        cudnnRNNAlgo_t algorithm)
{
    forget();
    LT_TRY(describe(handle, n, tf32, algorithm));
    return refused ? LT_OK : measure(handle, n);
}

/* PyTorch's bounds; the lower one applies if backward must use the same algorithm. Not for plain
 * cells: their results and gradients would be off by about 1e-4 (cuDNN 9.19, H200). */
bool is_small(const lt_network *n)
{
    const bool gated = n->cell == LT_CELL_LSTM || n->cell == LT_CELL_GRU;
    return gated && n->dtype != LT_FLOAT64 && n->hidden <= (n->keeps ? 128 : 192);
}

lt_status plan::make(cudnnHandle_t handle, const lt_network *n, bool tf32)
{
    dnn = lt_cuda_dnn_functions();
    LT_TRY(lt_cudnn_rnn_get(&rnn));
    refused = true;
    if (is_small(n)) LT_TRY(make_by(handle, n, tf32, CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H));
    if (refused) LT_TRY(make_by(handle, n, tf32, CUDNN_RNN_ALGO_STANDARD));
    return refused ? LT_OK : find_runs(handle, n);
}

/* Whether sizes fit into cuDNN's int. */
bool suits(const lt_network *n)
{
    const int64_t states = n->layers * n->directions;
    for (int64_t size : {n->steps, n->batch, n->input, n->directions * n->hidden, states})
        if (size > INT_MAX) return false;
    return n->steps * n->batch <= INT_MAX && n->batch * n->hidden <= INT_MAX / states &&
           4 * n->hidden <= INT_MAX;
}

lt_status plan_of(const lt_network *n, cudnnHandle_t handle, plan **p)
{
    static thread_local lt_cuda_plans<network_shape, plan> known;
    const bool tf32 = lt_cuda_core->allow_convolution_tf32();
    const network_shape s = {n->steps,
                             n->batch,
                             n->input,
                             n->hidden,
                             n->layers,
                             n->cell,
                             n->dtype,
                             n->device.index,
                             (int32_t)n->directions,
                             n->bias ? 1 : 0,
                             n->keeps ? 1 : 0,
                             tf32 ? 1 : 0,
                             0};
    return known.find(
        s, [&](plan *fresh) { return fresh->make(handle, n, tf32); }, p);
}

/* The device, the handle and the plan of one call. */
struct cudnn_call {
    cudaStream_t stream = nullptr;
    lt_cuda_dnn dnn;
    plan *p = nullptr;
    lt_cuda_scratch work;

    lt_status open(const lt_network *n)
    {
        LT_TRY(lt_cuda_enter(n->device.index, &stream));
        LT_TRY(dnn.open(n->device.index, stream));
        return plan_of(n, dnn.handle, &p);
    }
    /* Opens the call and allocates its workspace. If settings changed after the forward pass, the
     * plan's sizes may differ from the forward's, which is an error. */
    lt_status begin(const lt_network *n, const lt_network_sizes &sizes)
    {
        LT_TRY(open(n));
        if (p->weights > (size_t)sizes.weights || p->kept > (size_t)sizes.kept)
            return lt_cuda_core->error(
                LT_ERR_RUNTIME,
                "a recurrent network's derivative cannot be computed: "
                "torch.backends.cudnn.allow_tf32 was changed since its forward pass");
        return p->work > 0 ? work.take(n->device.index, p->work) : LT_OK;
    }
};

/* An input array at an address that is aligned for cuDNN's widest accesses: the caller's, or a
 * copy. */
class operand {
  public:
    lt_status take(const void *from, int64_t count, const lt_network *n, cudaStream_t stream)
    {
        data = from;
        if ((uintptr_t)from % alignment == 0) return LT_OK; /* also if null */
        const size_t bytes = (size_t)count * size_of(n->dtype);
        LT_TRY(copy.take(n->device.index, bytes));
        data = copy.as<void>();
        CUDA_TRY(cudaMemcpyAsync(copy.as<void>(), from, bytes, cudaMemcpyDeviceToDevice, stream));
        return LT_OK;
    }
    const void *data = nullptr;

  private:
    lt_cuda_scratch copy;
};

/* Inputs of both passes. */
struct network_operands {
    operand x, h, c;
    lt_status take(const lt_network *n, const lt_network_arrays *a, cudaStream_t stream)
    {
        const int64_t state = n->layers * n->directions * n->batch * n->hidden;
        LT_TRY(x.take(a->x, n->steps * n->batch * n->input, n, stream));
        LT_TRY(h.take(a->h0, state, n, stream));
        return c.take(a->c0, state, n, stream);
    }
};

} // namespace

lt_status lt_cuda_network_sizes(const lt_network *n, lt_network_sizes *sizes)
{
    cudnn_call now;
    *sizes = {0, 0};
    if (!lt_cuda_core->cudnn_enabled() || lt_cuda_dnn_functions() == nullptr ||
        lt_cuda_core->deterministic() || !suits(n))
        return LT_OK;
    LT_TRY(now.open(n));
    *sizes = {(int64_t)now.p->weights, (int64_t)now.p->kept};
    return LT_OK;
}

lt_status lt_cuda_network(const lt_network *n, const lt_network_arrays *a)
{
    cudnn_call now;
    network_operands given;
    LT_TRY(now.begin(n, a->sizes));
    LT_TRY(given.take(n, a, now.stream));
    const plan *p = now.p;
    for (const network_run &r : p->runs)
        CUDA_TRY(cudaMemcpyAsync(static_cast<char *>(a->own_weights) + r.to,
                                 static_cast<const char *>(a->weights[r.weight]) + r.at, r.bytes,
                                 cudaMemcpyDeviceToDevice, now.stream));
    LT_CUDNN_TRY(p->rnn->forward(now.dnn.handle, p->network,
                                 n->keeps ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE,
                                 nullptr, p->x, given.x.data, p->y, a->y, p->state, given.h.data,
                                 a->h_last, p->state, given.c.data, a->c_last, p->weights,
                                 a->own_weights, p->work, now.work.as<void>(), p->kept, a->kept));
    return LT_OK;
}

lt_status lt_cuda_network_backward(const lt_network *n, const lt_network_arrays *a)
{
    cudnn_call now;
    network_operands given;
    operand y, grad_y, grad_h, grad_c;
    lt_cuda_scratch gradients;
    LT_TRY(now.begin(n, a->sizes));
    LT_TRY(given.take(n, a, now.stream));
    const plan *p = now.p;
    const int64_t state = n->layers * n->directions * n->batch * n->hidden,
                  outputs = n->steps * n->batch * n->directions * n->hidden;
    LT_TRY(y.take(a->y, outputs, n, now.stream));
    LT_TRY(grad_y.take(a->grad_y, outputs, n, now.stream));
    LT_TRY(grad_h.take(a->grad_h_last, state, n, now.stream));
    LT_TRY(grad_c.take(a->grad_c_last, state, n, now.stream));
    LT_CUDNN_TRY(p->rnn->backward_data(
        now.dnn.handle, p->network, nullptr, p->y, y.data, grad_y.data, p->x, a->grad_x, p->state,
        given.h.data, grad_h.data, a->grad_h0, p->state, given.c.data, grad_c.data, a->grad_c0,
        p->weights, a->own_weights, p->work, now.work.as<void>(), p->kept, a->kept));
    if (a->grad_weights == nullptr) return LT_OK;
    LT_TRY(gradients.take(n->device.index, p->weights));
    /* accumulated into */
    CUDA_TRY(cudaMemsetAsync(gradients.as<void>(), 0, p->weights, now.stream));
    LT_CUDNN_TRY(p->rnn->backward_weights(now.dnn.handle, p->network, CUDNN_WGRAD_MODE_ADD, nullptr,
                                          p->x, given.x.data, p->state, given.h.data, p->y, y.data,
                                          p->weights, gradients.as<void>(), p->work,
                                          now.work.as<void>(), p->kept, a->kept));
    for (const network_run &r : p->runs)
        CUDA_TRY(cudaMemcpyAsync(static_cast<char *>(a->grad_weights[r.weight]) + r.at,
                                 gradients.as<char>() + r.to, r.bytes, cudaMemcpyDeviceToDevice,
                                 now.stream));
    return LT_OK;
}
