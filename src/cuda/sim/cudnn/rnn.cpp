/* rnn.cpp - cuDNN's recurrent networks for simulated GPUs: implements cudnn_rnn_api.h with the
 * documented rules for arguments. rnn_network.h computes the results. */
#include "rnn_network.h"

using namespace lt_sim;

struct cudnnDropoutStruct {
    bool set = false;
};

namespace {

constexpr size_t work_size = 1024;

/* ---- descriptors ----------------------------------------------------------------------------- */

cudnnStatus_t dropout_set(cudnnDropoutDescriptor_t dropout, cudnnHandle_t handle, float p, void *,
                          size_t bytes, unsigned long long)
{
    BEGIN(handle);
    NEED(p >= 0 && p <= 1, CUDNN_STATUS_BAD_PARAM);
    /* the backend applies dropout between the calls */
    NEED(p == 0 && bytes == 0, CUDNN_STATUS_NOT_SUPPORTED);
    dropout->set = true;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t network_set(cudnnRNNDescriptor_t network, cudnnRNNAlgo_t algorithm,
                          cudnnRNNMode_t cell, cudnnRNNBiasMode_t bias,
                          cudnnDirectionMode_t direction, cudnnRNNInputMode_t, cudnnDataType_t type,
                          cudnnDataType_t compute, cudnnMathType_t math, int32_t input,
                          int32_t hidden, int32_t projection, int32_t layers,
                          cudnnDropoutDescriptor_t dropout, uint32_t flags)
{
    const bool half = type == CUDNN_DATA_HALF || type == CUDNN_DATA_BFLOAT16;
    NEED(network != nullptr && dropout != nullptr && dropout->set, CUDNN_STATUS_BAD_PARAM);
    NEED(known(type) && input > 0 && hidden > 0 && layers > 0, CUDNN_STATUS_BAD_PARAM);
    NEED(projection > 0 && projection <= hidden, CUDNN_STATUS_BAD_PARAM);
    NEED(projection == hidden, CUDNN_STATUS_NOT_SUPPORTED);
    /* the standard algorithm also supports the shapes that the persistent one rejects */
    NEED(algorithm == CUDNN_RNN_ALGO_STANDARD ||
             (type != CUDNN_DATA_DOUBLE && hidden <= 384 && hidden % 2 == 0),
         CUDNN_STATUS_NOT_SUPPORTED);
    NEED(compute == (type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT),
         CUDNN_STATUS_NOT_SUPPORTED);
    NEED(half || math != CUDNN_TENSOR_OP_MATH, CUDNN_STATUS_NOT_SUPPORTED);
    NEED(type == CUDNN_DATA_FLOAT || math != CUDNN_FMA_MATH, CUDNN_STATUS_NOT_SUPPORTED);
    network->cell = cell;
    network->bias = bias == CUDNN_RNN_DOUBLE_BIAS;
    network->two_ways = direction == CUDNN_BIDIRECTIONAL;
    network->padded = flags == LT_CUDNN_RNN_PADDED;
    network->type = type;
    network->math = math;
    network->input = input;
    network->hidden = hidden;
    network->layers = layers;
    network->set = true;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t data_set(cudnnRNNDataDescriptor_t data, cudnnDataType_t type, cudnnRNNDataLayout_t,
                       int steps, int batch, int size, const int *lengths, void *)
{
    NEED(data != nullptr && lengths != nullptr, CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
    NEED(known(type) && steps > 0 && batch > 0 && size > 0, CUDNN_STATUS_BAD_PARAM);
    data->equal = true;
    for (int i = 0; i < batch; i++) {
        NEED(lengths[i] >= 0 && lengths[i] <= steps, CUDNN_STATUS_BAD_PARAM);
        data->equal = data->equal && lengths[i] == steps;
    }
    data->type = type;
    data->steps = steps;
    data->batch = batch;
    data->size = size;
    return CUDNN_STATUS_SUCCESS;
}

/* ---- sizes and offsets of weights ------------------------------------------------------------ */

cudnnStatus_t weight_bytes(cudnnHandle_t handle, cudnnRNNDescriptor_t network, size_t *bytes)
{
    BEGIN(handle);
    NEED(network != nullptr && network->set && bytes != nullptr, CUDNN_STATUS_BAD_PARAM);
    *bytes = Layout(network).weight_bytes();
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t work_bytes(cudnnHandle_t handle, cudnnRNNDescriptor_t network,
                         cudnnForwardMode_t mode, cudnnRNNDataDescriptor_t x, size_t *work,
                         size_t *reserve)
{
    BEGIN(handle);
    NEED(network != nullptr && network->set && x != nullptr && x->steps > 0,
         CUDNN_STATUS_BAD_PARAM);
    NEED(x->type == network->type && x->size == network->input, CUDNN_STATUS_BAD_PARAM);
    *work = work_size;
    *reserve = mode == CUDNN_FWD_MODE_TRAINING ? Layout(network, x).kept_bytes() : 0;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t weight_place(cudnnHandle_t handle, cudnnRNNDescriptor_t network, int32_t layer,
                           size_t bytes, const void *weights, int32_t product,
                           cudnnTensorDescriptor_t of_matrix, void **matrix,
                           cudnnTensorDescriptor_t of_bias, void **bias)
{
    BEGIN(handle);
    NEED(network != nullptr && network->set && of_matrix != nullptr && of_bias != nullptr &&
             matrix != nullptr && bias != nullptr,
         CUDNN_STATUS_BAD_PARAM);
    const Layout l(network);
    NEED(layer >= 0 && layer < l.layers * l.ways && product >= 0 && product < 2 * l.gates,
         CUDNN_STATUS_BAD_PARAM);
    NEED(bytes >= l.weight_bytes(), CUDNN_STATUS_BAD_PARAM);
    char *base = static_cast<char *>(const_cast<void *>(weights));
    *matrix = base + bytes_of(l.matrix(layer, product), l.type);
    *bias = l.bias ? base + bytes_of(l.of_bias(layer, product), l.type) : nullptr;
    return CUDNN_STATUS_SUCCESS;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Checks that the descriptors of a call match. */
cudnnStatus_t relate(const cudnnRNNStruct *n, const int32_t *lengths, const cudnnRNNDataStruct *x,
                     const cudnnRNNDataStruct *y, const cudnnTensorStruct *h,
                     const cudnnTensorStruct *c)
{
    NEED(n != nullptr && x != nullptr && y != nullptr && h != nullptr,
         CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
    NEED(n->set && n->padded && x->equal && y->equal, CUDNN_STATUS_NOT_SUPPORTED);
    NEED(lengths == nullptr, CUDNN_STATUS_BAD_PARAM); /* cuDNN 9 takes them from the descriptors */
    NEED(x->type == n->type && y->type == n->type && h->type == n->type, CUDNN_STATUS_BAD_PARAM);
    const Layout l(n, x);
    NEED(x->size == l.input && y->size == l.ways * l.hidden && y->steps == x->steps &&
             y->batch == x->batch,
         CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
    for (const cudnnTensorStruct *s : {h, n->cell == CUDNN_LSTM && c != nullptr ? c : h})
        NEED(s->n == 3 && s->sizes[0] == l.layers * l.ways && s->sizes[1] == l.batch &&
                 s->sizes[2] == l.hidden && dense(const_cast<cudnnTensorStruct *>(s)),
             CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
    NEED(n->cell != CUDNN_LSTM || c != nullptr, CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
    return CUDNN_STATUS_SUCCESS;
}

#define RELATE(...)                                                                                \
    do {                                                                                           \
        cudnnStatus_t related_ = relate(__VA_ARGS__);                                              \
        if (related_ != CUDNN_STATUS_SUCCESS) return related_;                                     \
    } while (0)

/* Checks the buffers of a call: device memory, aligned, at least as large as reported. */
cudnnStatus_t check_buffers(int device, const Layout &l, size_t weight_bytes, const void *weights,
                            size_t work_bytes, const void *work, bool keeps, size_t reserve_bytes,
                            const void *reserve)
{
    NEED(weight_bytes >= l.weight_bytes() && work_bytes >= work_size &&
             (!keeps || reserve_bytes >= l.kept_bytes()),
         CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT);
    NEED(on_device(device, static_cast<const char *>(weights), (int64_t)weight_bytes) &&
             on_device(device, static_cast<const char *>(work), (int64_t)work_bytes) &&
             (!keeps ||
              on_device(device, static_cast<const char *>(reserve), (int64_t)reserve_bytes)),
         CUDNN_STATUS_BAD_PARAM);
    NEED((uintptr_t)weights % 16 == 0 && (uintptr_t)work % 16 == 0 && (uintptr_t)reserve % 16 == 0,
         CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER);
    return CUDNN_STATUS_SUCCESS;
}

/* Whether the arrays, with their element counts, are device memory; optional ones may be null. */
bool all_lie(int device, cudnnDataType_t type,
             std::initializer_list<std::pair<const void *, int64_t>> needed,
             std::initializer_list<std::pair<const void *, int64_t>> optional)
{
    for (const auto &a : needed)
        if (!lies(device, a.first, a.second, type)) return false;
    for (const auto &a : optional)
        if (a.first != nullptr && !lies(device, a.first, a.second, type)) return false;
    return true;
}

void tell_all(const Uses &uses, cudnnDataType_t type, bool written,
              std::initializer_list<std::pair<const void *, int64_t>> arrays)
{
    for (const auto &a : arrays)
        if (a.first != nullptr) tell(uses, a.first, a.second, type, written, 0);
}

/* Reports the weights to the monitor, without the gaps between them. */
void tell_weights(const Uses &uses, const Layout &l, const void *weights, bool written)
{
    const char *base = static_cast<const char *>(weights);
    for (int64_t at = 0; at < l.layers * l.ways; at++)
        tell(uses, base + bytes_of(l.first(at), l.type), l.own(at / l.ways) - (int64_t)gap, l.type,
             written, written ? 1 : 0);
}

#define TRY(call)                                                                                  \
    do {                                                                                           \
        cudnnStatus_t status_ = (call);                                                            \
        if (status_ != CUDNN_STATUS_SUCCESS) return status_;                                       \
    } while (0)

cudnnStatus_t forward(cudnnHandle_t handle, cudnnRNNDescriptor_t network, cudnnForwardMode_t mode,
                      const int32_t *lengths, cudnnRNNDataDescriptor_t of_x, const void *x,
                      cudnnRNNDataDescriptor_t of_y, void *y, cudnnTensorDescriptor_t of_h,
                      const void *hx, void *hy, cudnnTensorDescriptor_t of_c, const void *cx,
                      void *cy, size_t weight_bytes, const void *weights, size_t work_bytes,
                      void *work, size_t reserve_bytes, void *reserve)
{
    BEGIN(handle);
    RELATE(network, lengths, of_x, of_y, of_h, of_c);
    const Layout l(network, of_x);
    const bool keeps = mode == CUDNN_FWD_MODE_TRAINING;
    TRY(check_buffers(handle->device, l, weight_bytes, weights, work_bytes, work, keeps,
                      reserve_bytes, reserve));
    NEED(all_lie(handle->device, l.type, {{x, l.rows() * l.input}, {y, l.outputs()}},
                 {{hx, l.state()}, {hy, l.state()}, {cx, l.state()}, {cy, l.state()}}),
         CUDNN_STATUS_BAD_PARAM);
    return status_of(queue(handle, "cudnnRNNForward", [=](const Uses &uses) {
        tell_all(uses, l.type, false, {{x, l.rows() * l.input}, {hx, l.state()}, {cx, l.state()}});
        tell_all(uses, l.type, true, {{y, l.outputs()}, {hy, l.state()}, {cy, l.state()}});
        tell_weights(uses, l, weights, false);
        if (keeps) uses.writes(static_cast<char *>(reserve), (int64_t)l.kept_bytes());
        if (l.type == CUDNN_DATA_DOUBLE)
            Network<double>(l, weights)
                .forward(x, y, hx, hy, cx, cy, keeps ? static_cast<double *>(reserve) : nullptr);
        else
            Network<float>(l, weights)
                .forward(x, y, hx, hy, cx, cy, keeps ? static_cast<float *>(reserve) : nullptr);
        return cudaSuccess;
    }));
}

/* Whether the reserve space was filled by the call that must precede this one. */
bool marked(const Layout &l, const void *reserve, double mark)
{
    return (l.type == CUDNN_DATA_DOUBLE ? *static_cast<const double *>(reserve)
                                        : (double)*static_cast<const float *>(reserve)) == mark;
}

cudnnStatus_t backward_data(cudnnHandle_t handle, cudnnRNNDescriptor_t network,
                            const int32_t *lengths, cudnnRNNDataDescriptor_t of_y, const void *y,
                            const void *dy, cudnnRNNDataDescriptor_t of_x, void *dx,
                            cudnnTensorDescriptor_t of_h, const void *hx, const void *dhy,
                            void *dhx, cudnnTensorDescriptor_t of_c, const void *cx,
                            const void *dcy, void *dcx, size_t weight_bytes, const void *weights,
                            size_t work_bytes, void *work, size_t reserve_bytes, void *reserve)
{
    BEGIN(handle);
    RELATE(network, lengths, of_x, of_y, of_h, of_c);
    const Layout l(network, of_x);
    TRY(check_buffers(handle->device, l, weight_bytes, weights, work_bytes, work, true,
                      reserve_bytes, reserve));
    NEED(all_lie(handle->device, l.type,
                 {{y, l.outputs()}, {dy, l.outputs()}, {dx, l.rows() * l.input}},
                 {{hx, l.state()},
                  {dhy, l.state()},
                  {dhx, l.state()},
                  {cx, l.state()},
                  {dcy, l.state()},
                  {dcx, l.state()}}),
         CUDNN_STATUS_BAD_PARAM);
    return status_of(queue(handle, "cudnnRNNBackwardData_v8", [=](const Uses &uses) {
        tell_all(uses, l.type, false,
                 {{y, l.outputs()},
                  {dy, l.outputs()},
                  {hx, l.state()},
                  {dhy, l.state()},
                  {cx, l.state()},
                  {dcy, l.state()}});
        tell_all(uses, l.type, true,
                 {{dx, l.rows() * l.input}, {dhx, l.state()}, {dcx, l.state()}});
        tell_weights(uses, l, weights, false);
        uses.reads(static_cast<const char *>(reserve), (int64_t)l.kept_bytes());
        uses.writes(static_cast<char *>(reserve), (int64_t)l.kept_bytes());
        if (!marked(l, reserve, forward_mark)) return cudaErrorLaunchFailure;
        if (l.type == CUDNN_DATA_DOUBLE)
            Network<double>(l, weights)
                .backward_data(dy, dx, hx, dhy, dhx, cx, dcy, dcx, static_cast<double *>(reserve));
        else
            Network<float>(l, weights)
                .backward_data(dy, dx, hx, dhy, dhx, cx, dcy, dcx, static_cast<float *>(reserve));
        return cudaSuccess;
    }));
}

cudnnStatus_t backward_weights(cudnnHandle_t handle, cudnnRNNDescriptor_t network, cudnnWgradMode_t,
                               const int32_t *lengths, cudnnRNNDataDescriptor_t of_x, const void *x,
                               cudnnTensorDescriptor_t of_h, const void *hx,
                               cudnnRNNDataDescriptor_t of_y, const void *y, size_t weight_bytes,
                               void *weights, size_t work_bytes, void *work, size_t reserve_bytes,
                               void *reserve)
{
    BEGIN(handle);
    RELATE(network, lengths, of_x, of_y, of_h, of_h);
    const Layout l(network, of_x);
    TRY(check_buffers(handle->device, l, weight_bytes, weights, work_bytes, work, true,
                      reserve_bytes, reserve));
    NEED(all_lie(handle->device, l.type, {{x, l.rows() * l.input}, {y, l.outputs()}},
                 {{hx, l.state()}}),
         CUDNN_STATUS_BAD_PARAM);
    return status_of(queue(handle, "cudnnRNNBackwardWeights_v8", [=](const Uses &uses) {
        tell_all(uses, l.type, false, {{x, l.rows() * l.input}, {y, l.outputs()}, {hx, l.state()}});
        tell_weights(uses, l, weights, true);
        uses.reads(static_cast<const char *>(reserve), (int64_t)l.kept_bytes());
        if (!marked(l, reserve, data_mark)) return cudaErrorLaunchFailure;
        if (l.type == CUDNN_DATA_DOUBLE)
            Network<double>(l, weights)
                .backward_weights(x, hx, weights, static_cast<double *>(reserve));
        else
            Network<float>(l, weights)
                .backward_weights(x, hx, weights, static_cast<float *>(reserve));
        return cudaSuccess;
    }));
}

} // namespace

lt_status lt_cudnn_rnn_get(const lt_cudnn_rnn **table)
{
    static const lt_cudnn_rnn functions = {
        make,       dropout_set,  destroy,  make,          network_set,
        destroy,    make,         data_set, destroy,       weight_bytes,
        work_bytes, weight_place, forward,  backward_data, backward_weights};
    *table = &functions;
    return LT_OK;
}
