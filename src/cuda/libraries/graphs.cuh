/* graphs.cuh - a graph of cuDNN's operations and the plan that its heuristics put first: made once
 * for a shape, executed many times. */
#ifndef LT_CUDA_GRAPHS_CUH
#define LT_CUDA_GRAPHS_CUH

#include <vector>

#include "libraries/cudnn_graph_api.h"
#include "libraries/dnn.cuh"

/* Which engines a plan may be of. */
struct lt_cudnn_engines {
    unsigned without = 0;      /* numerical notes that none of them has: bits, 1 << note */
    bool rather_ready = false; /* one that need not be compiled first is preferred */
};

/* Descriptors of one graph, destroyed together. After the first call that cuDNN does not answer
 * with success the others do nothing, and there is no plan: cuDNN has none, its version does not
 * know what was asked, or a part of it is missing. */
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
    cudnnBackendDescriptor_t tensor(int64_t uid, cudnnDataType_t type, int ndim,
                                    const int64_t *sizes, const int64_t *strides, place where);
    void set(cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name,
             cudnnBackendAttributeType_t type, int64_t count, const void *elements);
    void link(cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name,
              cudnnBackendDescriptor_t other);
    void finalize(cudnnBackendDescriptor_t descriptor);
    /* A finalized graph of one operation. */
    cudnnBackendDescriptor_t graph(cudnnHandle_t handle, cudnnBackendDescriptor_t operation);
    /* The best plan for a graph that can be made and for whose workspace the device has memory. */
    void choose(cudnnHandle_t handle, int device, cudnnBackendDescriptor_t of,
                const lt_cudnn_engines &allowed);

    bool made() const { return status == CUDNN_STATUS_SUCCESS && plan != nullptr; }
    size_t workspace() const { return (size_t)bytes; }
    /* addresses: of the tensors called uids. */
    cudnnStatus_t execute(cudnnHandle_t handle, int64_t count, const int64_t *uids,
                          void *const *addresses, void *workspace) const;

  private:
    struct notes {
        unsigned numerical, behavior; /* bits, 1 << note */
    };

    void note(cudnnStatus_t outcome);
    void get(cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name,
             cudnnBackendAttributeType_t type, int64_t asked, int64_t *count, void *elements);
    unsigned bits(cudnnBackendDescriptor_t engine, cudnnBackendAttributeName_t name,
                  cudnnBackendAttributeType_t type);
    notes notes_of(cudnnBackendDescriptor_t configuration);
    std::vector<cudnnBackendDescriptor_t> rank(cudnnBackendDescriptor_t of);
    void sift(std::vector<cudnnBackendDescriptor_t> *configurations,
              const lt_cudnn_engines &allowed);
    bool take(cudnnHandle_t handle, int device, cudnnBackendDescriptor_t configuration);
    void destroy_since(size_t first, cudnnBackendDescriptor_t configuration);

    const lt_cudnn_graph *functions = nullptr;
    std::vector<cudnnBackendDescriptor_t> descriptors;
    cudnnBackendDescriptor_t plan = nullptr;
    int64_t bytes = 0;
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
};

#endif
