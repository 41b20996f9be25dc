/* sim_cudnn_test.cpp - the simulation's stand-in for cuDNN refuses what its documentation forbids,
 * as sim_libraries_test.cpp has it of the other libraries. */
#include "libraries/cudnn_api.h"
#include "libraries/cudnn_graph_api.h"
#include "libraries/cudnn_rnn_api.h"
#include "sim_device.h"

#include <cuda_fp16.h>

namespace {

void test_convolutions(void **)
{
    const lt_cudnn *f;
    static cudnnHandle_t handle; /* as in the backend, never destroyed */
    cudnnTensorDescriptor_t x, y;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t convolution;
    cudnnConvolutionFwdAlgoPerf_t results[4];
    const int of_x[] = {1, 1, 2, 2}, of_y[] = {1, 1, 1, 2}, of_w[] = {1, 1, 2, 1},
              steps[] = {4, 4, 2, 1}, steps_y[] = {2, 2, 2, 1};
    const int none[] = {0, 0}, ones[] = {1, 1};
    float one = 1, zero = 0, *image = device_new<float>({1, 2, 3, 4}),
          *weight = device_new<float>({1, 10}), *out = device_new<float>({0, 0});
    char *workspace = device_new<char>(std::vector<char>(1 << 16));
    int found = 0;
    assert_int_equal(lt_cudnn_get(&f), LT_OK);
    assert_int_equal(f->create(&handle), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->tensor_create(&x), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->tensor_create(&y), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->filter_create(&w), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->convolution_create(&convolution), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->tensor_set(x, CUDNN_DATA_FLOAT, 2, of_x, steps),
                     CUDNN_STATUS_NOT_SUPPORTED);
    assert_int_equal(f->tensor_set(x, CUDNN_DATA_FLOAT, 4, of_x, steps), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->tensor_set(y, CUDNN_DATA_FLOAT, 4, of_x, steps), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->filter_set(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 4, of_w),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->convolution_set(convolution, 2, none, none, ones, CUDNN_CROSS_CORRELATION,
                                        CUDNN_DATA_FLOAT),
                     CUDNN_STATUS_BAD_PARAM); /* no stride is 0 */
    assert_int_equal(f->convolution_set(convolution, 2, none, ones, ones, CUDNN_CROSS_CORRELATION,
                                        CUDNN_DATA_FLOAT),
                     CUDNN_STATUS_SUCCESS);
    const auto rank = [&] {
        return f->rank_forward(handle, x, w, convolution, y, 4, &found, results);
    };
    assert_int_equal(rank(), CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
    assert_int_equal(f->tensor_set(y, CUDNN_DATA_FLOAT, 4, of_y, steps_y), CUDNN_STATUS_SUCCESS);
    assert_int_equal(rank(), CUDNN_STATUS_SUCCESS);
    assert_int_equal(found, 2);
    const auto forward = [&](const float *from, void *work, size_t bytes) {
        return f->forward(handle, &one, x, from, w, weight, convolution, results[0].algo, work,
                          bytes, &zero, y, out);
    };
    assert_int_equal(forward(image, workspace, results[0].memory - 1),
                     CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT);
    assert_int_equal(forward(image, nullptr, results[0].memory), CUDNN_STATUS_BAD_PARAM);
    assert_int_equal(forward(image + 1, workspace, results[0].memory),
                     CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER);
    assert_int_equal(forward(image, workspace, results[0].memory), CUDNN_STATUS_SUCCESS);
    assert_true((host(out, 2) == std::vector<float>{31, 42}));
    /* Channels last: of all three or of none. */
    const int two[] = {1, 2, 1, 2}, behind[] = {4, 1, 4, 2}, of_w2[] = {1, 2, 1, 2},
              one_place[] = {1, 1, 1, 1};
    assert_int_equal(f->tensor_set(x, CUDNN_DATA_FLOAT, 4, two, behind), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->tensor_set(y, CUDNN_DATA_FLOAT, 4, one_place, one_place),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->filter_set(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 4, of_w2),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(rank(), CUDNN_STATUS_NOT_SUPPORTED);
    assert_int_equal(f->filter_set(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NHWC, 4, of_w2),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(rank(), CUDNN_STATUS_SUCCESS);
    weight = device_new<float>({1, 10, 100, 1000});
    assert_int_equal(forward(image, workspace, results[0].memory), CUDNN_STATUS_SUCCESS);
    assert_true((host(out, 1) == std::vector<float>{4321}));
    assert_int_equal(f->tensor_destroy(x), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->tensor_destroy(y), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->filter_destroy(w), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->convolution_destroy(convolution), CUDNN_STATUS_SUCCESS);
}

/* A tensor of [1, 1, rows, width], in order. */
cudnnBackendDescriptor_t graph_tensor(const lt_cudnn_graph *f, int64_t uid, int64_t rows,
                                      int64_t width, cudnnDataType_t type, bool by_value)
{
    cudnnBackendDescriptor_t t;
    const int64_t sizes[] = {1, 1, rows, width}, strides[] = {rows * width, rows * width, width, 1},
                  alignment = 16;
    assert_int_equal(f->create(CUDNN_BACKEND_TENSOR_DESCRIPTOR, &t), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->set(t, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &uid),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->set(t, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_INT64, 1, &type),
                     CUDNN_STATUS_BAD_PARAM);
    assert_int_equal(f->set(t, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->set(t, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->set(t, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, sizes),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->finalize(t), CUDNN_STATUS_BAD_PARAM); /* without strides */
    assert_int_equal(f->set(t, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->set(t, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &by_value),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->finalize(t), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->set(t, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &uid),
                     CUDNN_STATUS_NOT_INITIALIZED);
    return t;
}

/* Two queries, two keys, heads 8 wide. */
void test_graphs(void **)
{
    const lt_cudnn *dnn;
    const lt_cudnn_graph *f;
    static cudnnHandle_t handle; /* as in the backend, never destroyed */
    cudnnBackendDescriptor_t attention, graph, heuristics, engines[2], plan, pack;
    const cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
    assert_int_equal(lt_cudnn_get(&dnn), LT_OK);
    assert_int_equal(lt_cudnn_graph_get(&f), LT_OK);
    assert_int_equal(dnn->create(&handle), CUDNN_STATUS_SUCCESS);
    const auto create = [&](cudnnBackendDescriptorType_t type) {
        cudnnBackendDescriptor_t made;
        assert_int_equal(f->create(type, &made), CUDNN_STATUS_SUCCESS);
        return made;
    };
    const auto link = [&](cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name,
                          cudnnBackendDescriptor_t other) {
        assert_int_equal(f->set(of, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other),
                         CUDNN_STATUS_SUCCESS);
    };
    attention = create(CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR);
    link(attention, CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC,
         graph_tensor(f, 1, 2, 8, CUDNN_DATA_HALF, false));
    link(attention, CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC,
         graph_tensor(f, 2, 2, 8, CUDNN_DATA_HALF, false));
    link(attention, CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC,
         graph_tensor(f, 3, 2, 8, CUDNN_DATA_HALF, false));
    link(attention, CUDNN_ATTR_OPERATION_SDPA_FWD_STATSDESC,
         graph_tensor(f, 5, 2, 1, CUDNN_DATA_FLOAT, false));
    link(attention, CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC,
         graph_tensor(f, 6, 1, 1, CUDNN_DATA_FLOAT, true));
    assert_int_equal(f->finalize(attention), CUDNN_STATUS_BAD_PARAM); /* without a result */
    link(attention, CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC,
         graph_tensor(f, 4, 3, 8, CUDNN_DATA_HALF, false));
    assert_int_equal(f->finalize(attention), CUDNN_STATUS_BAD_PARAM); /* with one of three rows */
    link(attention, CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC,
         graph_tensor(f, 4, 2, 8, CUDNN_DATA_HALF, false));
    graph = create(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    assert_int_equal(
        f->set(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &attention),
        CUDNN_STATUS_BAD_PARAM); /* not finalized */
    assert_int_equal(f->finalize(attention), CUDNN_STATUS_SUCCESS);
    link(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, attention);
    assert_int_equal(f->set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle),
                     CUDNN_STATUS_SUCCESS);
    heuristics = create(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    link(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    assert_int_equal(f->set(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode),
                     CUDNN_STATUS_SUCCESS);
    /* of a graph that is not finalized */
    assert_int_equal(f->finalize(heuristics), CUDNN_STATUS_BAD_PARAM);
    assert_int_equal(f->finalize(graph), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->finalize(heuristics), CUDNN_STATUS_SUCCESS);
    int64_t count = 0, bytes = -1;
    for (cudnnBackendDescriptor_t &engine : engines)
        engine = create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    assert_int_equal(f->get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                            CUDNN_TYPE_BACKEND_DESCRIPTOR, 2, &count, engines),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(count, 2);
    const auto plan_of = [&](cudnnBackendDescriptor_t engine) {
        plan = create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
        assert_int_equal(
            f->set(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle),
            CUDNN_STATUS_SUCCESS);
        link(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, engine);
        return f->finalize(plan);
    };
    assert_int_equal(plan_of(engines[0]), CUDNN_STATUS_NOT_SUPPORTED); /* takes widths of 16 */
    assert_int_equal(
        f->get(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &count, &bytes),
        CUDNN_STATUS_NOT_INITIALIZED);
    assert_int_equal(plan_of(engines[1]), CUDNN_STATUS_SUCCESS);
    assert_int_equal(
        f->get(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &count, &bytes),
        CUDNN_STATUS_SUCCESS);
    assert_int_equal(bytes, 0);
    /* Scores are 0: each result is the mean of the values, 1 and 3, and the logsumexp that of two
     * zeros. */
    std::vector<__half> values(16, __float2half_rn(1));
    for (size_t i = 8; i < 16; i++) values[i] = __float2half_rn(3);
    __half *zeros = device_new(std::vector<__half>(16, __float2half_rn(0))),
           *v = device_new(values), *out = device_new(std::vector<__half>(16, __float2half_rn(0)));
    float *stats = device_new<float>({0, 0}), scale = 1, *device_scale = device_new<float>({1});
    const auto execute = [&](int64_t tensors, void *query, void *by) {
        const int64_t uids[] = {1, 2, 3, 4, 5, 6};
        void *const addresses[] = {query, zeros, v, out, stats, by}, *const none = nullptr;
        pack = create(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
        assert_int_equal(
            f->set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, tensors, uids),
            CUDNN_STATUS_SUCCESS);
        assert_int_equal(f->set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
                                tensors, addresses),
                         CUDNN_STATUS_SUCCESS);
        assert_int_equal(
            f->set(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &none),
            CUDNN_STATUS_SUCCESS);
        assert_int_equal(f->finalize(pack), CUDNN_STATUS_SUCCESS);
        const cudnnStatus_t status = f->execute(handle, plan, pack);
        assert_int_equal(f->destroy(pack), CUDNN_STATUS_SUCCESS);
        return status;
    };
    assert_int_equal(execute(5, zeros, &scale), CUDNN_STATUS_BAD_PARAM); /* without the scale */
    assert_int_equal(execute(6, zeros, device_scale), CUDNN_STATUS_BAD_PARAM);
    assert_int_equal(execute(6, zeros + 1, &scale), CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER);
    /* memory of the host */
    assert_int_equal(execute(6, values.data(), &scale), CUDNN_STATUS_BAD_PARAM);
    assert_int_equal(execute(6, zeros, &scale), CUDNN_STATUS_SUCCESS);
    assert_true(__half2float(host(out, 1)[0]) == 2 && host(stats, 1)[0] > 0.6931F &&
                host(stats, 1)[0] < 0.6932F);
}

/* The convolution of test_convolutions as a graph. */
void test_convolution_graphs(void **)
{
    const lt_cudnn *dnn;
    const lt_cudnn_graph *f;
    static cudnnHandle_t handle; /* as in the backend, never destroyed */
    const cudnnBackendHeurMode_t heuristic = CUDNN_HEUR_MODE_A;
    const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
    const int64_t two = 2, none[] = {0, 0}, ones[] = {1, 1};
    const float one = 1, zero = 0;
    const double wide = 1;
    assert_int_equal(lt_cudnn_get(&dnn), LT_OK);
    assert_int_equal(lt_cudnn_graph_get(&f), LT_OK);
    assert_int_equal(dnn->create(&handle), CUDNN_STATUS_SUCCESS);
    const auto create = [&](cudnnBackendDescriptorType_t type) {
        cudnnBackendDescriptor_t made;
        assert_int_equal(f->create(type, &made), CUDNN_STATUS_SUCCESS);
        return made;
    };
    const auto set = [&](cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name,
                         cudnnBackendAttributeType_t type, int64_t count, const void *elements) {
        assert_int_equal(f->set(of, name, type, count, elements), CUDNN_STATUS_SUCCESS);
    };
    const auto link = [&](cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name,
                          cudnnBackendDescriptor_t other) {
        set(of, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other);
    };
    const cudnnBackendDescriptor_t windows = create(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    set(windows, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute);
    set(windows, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    set(windows, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &two);
    set(windows, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, ones);
    set(windows, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, none);
    set(windows, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, none);
    assert_int_equal(f->finalize(windows), CUDNN_STATUS_BAD_PARAM); /* without strides */
    set(windows, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 1, ones);
    /* with one, of two dimensions */
    assert_int_equal(f->finalize(windows), CUDNN_STATUS_BAD_PARAM);
    set(windows, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, ones);
    assert_int_equal(f->finalize(windows), CUDNN_STATUS_SUCCESS);
    const cudnnBackendDescriptor_t convolution =
        create(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
    link(convolution, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
         graph_tensor(f, 1, 2, 2, CUDNN_DATA_FLOAT, false));
    link(convolution, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
         graph_tensor(f, 2, 2, 1, CUDNN_DATA_FLOAT, false));
    link(convolution, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
         graph_tensor(f, 3, 2, 2, CUDNN_DATA_FLOAT, false));
    link(convolution, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, windows);
    set(convolution, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1, &one);
    set(convolution, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 1, &zero);
    /* with a result of two rows */
    assert_int_equal(f->finalize(convolution), CUDNN_STATUS_BAD_PARAM);
    link(convolution, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
         graph_tensor(f, 2, 1, 2, CUDNN_DATA_FLOAT, false));
    /* called as the weights are */
    assert_int_equal(f->finalize(convolution), CUDNN_STATUS_BAD_PARAM);
    link(convolution, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
         graph_tensor(f, 3, 1, 2, CUDNN_DATA_FLOAT, false));
    set(convolution, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_DOUBLE, 1, &wide);
    assert_int_equal(f->finalize(convolution), CUDNN_STATUS_BAD_PARAM); /* a double for floats */
    set(convolution, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1, &one);
    assert_int_equal(f->finalize(convolution), CUDNN_STATUS_SUCCESS);
    const cudnnBackendDescriptor_t graph = create(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR),
                                   heuristics = create(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    link(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, convolution);
    set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    assert_int_equal(f->finalize(graph), CUDNN_STATUS_SUCCESS);
    link(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    set(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &heuristic);
    assert_int_equal(f->finalize(heuristics), CUDNN_STATUS_SUCCESS);
    cudnnBackendDescriptor_t configurations[6], engine = create(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    cudnnBackendNumericalNote_t notes[4];
    int64_t count = 0, bytes = -1;
    for (cudnnBackendDescriptor_t &c : configurations)
        c = create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    assert_int_equal(f->get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                            CUDNN_TYPE_BACKEND_DESCRIPTOR, 6, &count, configurations),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(count, 6);
    assert_int_equal(f->get(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, 4,
                            &count, notes),
                     CUDNN_STATUS_NOT_INITIALIZED);
    assert_int_equal(f->get(configurations[2], CUDNN_ATTR_ENGINECFG_ENGINE,
                            CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &engine),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->get(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, 4,
                            &count, notes),
                     CUDNN_STATUS_SUCCESS);
    assert_true(count == 2 && notes[0] == CUDNN_NUMERICAL_NOTE_TENSOR_CORE &&
                notes[1] == CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
    assert_int_equal(
        f->get(engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE, 4, &count, notes),
        CUDNN_STATUS_SUCCESS);
    assert_int_equal(count, 0);
    const cudnnBackendDescriptor_t plan = create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    set(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    link(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configurations[2]);
    assert_int_equal(f->finalize(plan), CUDNN_STATUS_SUCCESS);
    assert_int_equal(
        f->get(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &count, &bytes),
        CUDNN_STATUS_SUCCESS);
    assert_true(bytes > 0);
    float *image = device_new<float>({1, 2, 3, 4}), *weight = device_new<float>({1, 10}),
          *out = device_new<float>({0, 0});
    char *room = device_new<char>(std::vector<char>((size_t)bytes));
    const auto execute = [&](int64_t tensors, const float *from, void *work) {
        const int64_t uids[] = {1, 2, 3};
        const void *const addresses[] = {from, weight, out};
        const cudnnBackendDescriptor_t pack = create(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
        set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, tensors, uids);
        set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, tensors, addresses);
        set(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &work);
        assert_int_equal(f->finalize(pack), CUDNN_STATUS_SUCCESS);
        const cudnnStatus_t status = f->execute(handle, plan, pack);
        assert_int_equal(f->destroy(pack), CUDNN_STATUS_SUCCESS);
        return status;
    };
    /* without the workspace */
    assert_int_equal(execute(3, image, nullptr), CUDNN_STATUS_BAD_PARAM);
    assert_int_equal(execute(2, image, room), CUDNN_STATUS_BAD_PARAM); /* without the result */
    assert_int_equal(execute(3, image + 1, room), CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER);
    assert_int_equal(execute(3, image, room), CUDNN_STATUS_SUCCESS);
    assert_true((host(out, 2) == std::vector<float>{31, 42}));
}

/* An RNN of one unit, of two steps. */
void test_recurrent_networks(void **)
{
    const lt_cudnn *dnn;
    const lt_cudnn_rnn *f;
    static cudnnHandle_t handle; /* as in the backend, never destroyed */
    cudnnRNNDescriptor_t network;
    cudnnDropoutDescriptor_t dropout;
    cudnnRNNDataDescriptor_t data;
    cudnnTensorDescriptor_t state, part;
    const int of_state[] = {1, 1, 1}, steps[] = {1, 1, 1}, lengths[] = {2}, shorter[] = {1};
    size_t weight_bytes, work_bytes, kept_bytes;
    void *matrix, *bias;
    assert_int_equal(lt_cudnn_get(&dnn), LT_OK);
    assert_int_equal(lt_cudnn_rnn_get(&f), LT_OK);
    assert_int_equal(dnn->create(&handle), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->network_create(&network), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->dropout_create(&dropout), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->data_create(&data), CUDNN_STATUS_SUCCESS);
    assert_int_equal(dnn->tensor_create(&state), CUDNN_STATUS_SUCCESS);
    assert_int_equal(dnn->tensor_create(&part), CUDNN_STATUS_SUCCESS);
    assert_int_equal(dnn->tensor_set(state, CUDNN_DATA_FLOAT, 3, of_state, steps),
                     CUDNN_STATUS_SUCCESS);
    const auto describe = [&](int projection, cudnnMathType_t math) {
        return f->network_set(network, CUDNN_RNN_ALGO_STANDARD, CUDNN_RNN_RELU, CUDNN_RNN_NO_BIAS,
                              CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT, CUDNN_DATA_FLOAT,
                              CUDNN_DATA_FLOAT, math, 1, 1, projection, 1, dropout,
                              LT_CUDNN_RNN_PADDED);
    };
    assert_int_equal(describe(1, CUDNN_FMA_MATH), CUDNN_STATUS_BAD_PARAM); /* dropout is not set */
    assert_int_equal(f->weight_bytes(handle, network, &weight_bytes), CUDNN_STATUS_BAD_PARAM);
    assert_int_equal(f->dropout_set(dropout, handle, 0, nullptr, 0, 0), CUDNN_STATUS_SUCCESS);
    assert_int_equal(describe(2, CUDNN_FMA_MATH), CUDNN_STATUS_BAD_PARAM);
    assert_int_equal(describe(1, CUDNN_TENSOR_OP_MATH), CUDNN_STATUS_NOT_SUPPORTED);
    assert_int_equal(describe(1, CUDNN_FMA_MATH), CUDNN_STATUS_SUCCESS);
    const auto set_data = [&](const int *each) {
        return f->data_set(data, CUDNN_DATA_FLOAT, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, 2, 1,
                           1, each, nullptr);
    };
    const int longer[] = {3};
    assert_int_equal(set_data(longer), CUDNN_STATUS_BAD_PARAM);
    assert_int_equal(set_data(lengths), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->weight_bytes(handle, network, &weight_bytes), CUDNN_STATUS_SUCCESS);
    assert_int_equal(
        f->work_bytes(handle, network, CUDNN_FWD_MODE_TRAINING, data, &work_bytes, &kept_bytes),
        CUDNN_STATUS_SUCCESS);

    float *weights = device_new<float>(std::vector<float>(weight_bytes / 4)),
          *x = device_new<float>({1, 2}), *y = device_new<float>({0, 0}),
          *last = device_new<float>({0});
    char *work = device_new<char>(std::vector<char>(work_bytes)),
         *kept = device_new<char>(std::vector<char>(kept_bytes));
    const auto place = [&](int product) {
        return f->weight_place(handle, network, 0, weight_bytes, weights, product, part, &matrix,
                               part, &bias);
    };
    assert_int_equal(place(2), CUDNN_STATUS_BAD_PARAM); /* an RNN has two */
    assert_int_equal(place(1), CUDNN_STATUS_SUCCESS);
    assert_null(bias);
    const float three = 3, ten = 10;
    assert_int_equal(cudaMemcpy(matrix, &ten, 4, cudaMemcpyHostToDevice), cudaSuccess);
    assert_int_equal(place(0), CUDNN_STATUS_SUCCESS);
    assert_int_equal(cudaMemcpy(matrix, &three, 4, cudaMemcpyHostToDevice), cudaSuccess);

    const auto forward = [&](const int32_t *on_device, size_t bytes, size_t reserved) {
        return f->forward(handle, network, CUDNN_FWD_MODE_TRAINING, on_device, data, x, data, y,
                          state, nullptr, last, state, nullptr, nullptr, weight_bytes, weights,
                          bytes, work, reserved, kept);
    };
    assert_int_equal(forward(lengths, work_bytes, kept_bytes), CUDNN_STATUS_BAD_PARAM);
    assert_int_equal(forward(nullptr, work_bytes - 1, kept_bytes),
                     CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT);
    assert_int_equal(forward(nullptr, work_bytes, kept_bytes - 1),
                     CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT);
    assert_int_equal(set_data(shorter), CUDNN_STATUS_SUCCESS);
    assert_int_equal(forward(nullptr, work_bytes, kept_bytes), CUDNN_STATUS_NOT_SUPPORTED);
    assert_int_equal(set_data(lengths), CUDNN_STATUS_SUCCESS);
    assert_int_equal(forward(nullptr, work_bytes, kept_bytes), CUDNN_STATUS_SUCCESS);
    assert_true((host(y, 2) == std::vector<float>{3, 36})); /* 3 * 1; 3 * 2 + 10 * 3 */
    assert_true(host(last, 1)[0] == 36);

    float *dy = device_new<float>({0, 1}), *dx = device_new<float>({0, 0}),
          *gradients = device_new<float>(std::vector<float>(weight_bytes / 4));
    assert_int_equal(f->backward_data(handle, network, nullptr, data, y, dy, data, dx, state,
                                      nullptr, nullptr, nullptr, state, nullptr, nullptr, nullptr,
                                      weight_bytes, weights, work_bytes, work, kept_bytes, kept),
                     CUDNN_STATUS_SUCCESS);
    assert_true((host(dx, 2) == std::vector<float>{30, 3}));
    assert_int_equal(f->backward_weights(handle, network, CUDNN_WGRAD_MODE_ADD, nullptr, data, x,
                                         state, nullptr, data, y, weight_bytes, gradients,
                                         work_bytes, work, kept_bytes, kept),
                     CUDNN_STATUS_SUCCESS);
    assert_true((host(gradients, 2) == std::vector<float>{12, 3})); /* 2 + 10 * 1; the state 3 */
    assert_int_equal(f->network_destroy(network), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->dropout_destroy(dropout), CUDNN_STATUS_SUCCESS);
    assert_int_equal(f->data_destroy(data), CUDNN_STATUS_SUCCESS);
    assert_int_equal(dnn->tensor_destroy(state), CUDNN_STATUS_SUCCESS);
    assert_int_equal(dnn->tensor_destroy(part), CUDNN_STATUS_SUCCESS);
}

} // namespace

int main()
{
    setenv("LTENSOR_SIM_GPUS", "1", 1);
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_convolutions),
        cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_convolution_graphs),
        cmocka_unit_test(test_recurrent_networks),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
