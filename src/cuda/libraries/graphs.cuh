/* graphs.cuh - a graph of cuDNN's operations and the plan that its heuristics put first: made once for a shape, executed many times. */
#ifndef LT_CUDA_GRAPHS_CUH
#define LT_CUDA_GRAPHS_CUH

#include <initializer_list>
#include <vector>

#include "libraries/cudnn_graph_api.h"
#include "libraries/dnn.cuh"

/* Descriptors of one graph, destroyed together. After the first call that cuDNN does not answer with success the others do nothing. */
class lt_cudnn_plan {
  public:
    lt_cudnn_plan() = default;
    lt_cudnn_plan(const lt_cudnn_plan &) = delete;
    lt_cudnn_plan &operator=(const lt_cudnn_plan &) = delete;
    ~lt_cudnn_plan();

    /* Where a tensor of a graph lies. */
    enum place { DEVICE, HOST, NOWHERE };

    lt_status open();
    cudnnBackendDescriptor_t create(cudnnBackendDescriptorType_t type);
    /* uid: what it is called when the plan is executed. */
    cudnnBackendDescriptor_t tensor(int64_t uid, cudnnDataType_t type, const int64_t (&sizes)[4],
                                    const int64_t (&strides)[4], place where);
    void set(cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name,
             cudnnBackendAttributeType_t type, int64_t count, const void *elements);
    void link(cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name,
              cudnnBackendDescriptor_t other);
    void finalize(cudnnBackendDescriptor_t descriptor);
    /* A finalized graph of one operation. */
    cudnnBackendDescriptor_t graph(cudnnHandle_t handle, cudnnBackendDescriptor_t operation);
    /* The best plan for a graph. */
    void choose(cudnnHandle_t handle, cudnnBackendDescriptor_t of);

    /* Whether there is a plan. LT_OK and false: cuDNN has none, or its version does not know what was asked. */
    lt_status made(bool *there) const;
    size_t workspace() const { return (size_t)bytes; }
    /* addresses: of the tensors called uids. */
    lt_status execute(cudnnHandle_t handle, const std::vector<int64_t> &uids,
                      const std::vector<void *> &addresses, void *workspace) const;

  private:
    void note(cudnnStatus_t outcome)
    {
        if (status == CUDNN_STATUS_SUCCESS) status = outcome;
    }

    const lt_cudnn_graph *functions = nullptr;
    std::vector<cudnnBackendDescriptor_t> descriptors;
    cudnnBackendDescriptor_t plan = nullptr;
    int64_t bytes = 0;
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
};

#endif
