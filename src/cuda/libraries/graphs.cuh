/* graphs.cuh - cuDNN execution plans: a graph of one operation and the best plan for it, created
 * once per shape and executed many times. */
#ifndef LT_CUDA_GRAPHS_CUH
#define LT_CUDA_GRAPHS_CUH

#include <vector>

#include "libraries/cudnn_graph_api.h"
#include "libraries/dnn.cuh"

/* Constraints on the engine of a plan. */
struct lt_cudnn_engines {
    unsigned without = 0;      /* excluded numerical notes: bits, 1 << note */
    bool rather_ready = false; /* prefer engines without run-time compilation */
};

/* Owns the descriptors of one graph. After the first failing cuDNN call, all later calls do nothing
 * and there is no plan: the operation is unsupported, cuDNN is too old for it, or a sublibrary is
 * missing. */
class lt_cudnn_plan {
  public:
    lt_cudnn_plan() = default;
    lt_cudnn_plan(const lt_cudnn_plan &) = delete;
    lt_cudnn_plan &operator=(const lt_cudnn_plan &) = delete;
    ~lt_cudnn_plan();

    /* The memory of a tensor: device, host (passed by value) or none (an intermediate result). */
    enum place { DEVICE, HOST, NOWHERE };

    lt_status open();
    cudnnBackendDescriptor_t create(cudnnBackendDescriptorType_t type);
    /* uid: identifies the tensor in execute. */
    cudnnBackendDescriptor_t tensor(int64_t uid, cudnnDataType_t type, int ndim,
                                    const int64_t *sizes, const int64_t *strides, place where);
    void set(cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name,
             cudnnBackendAttributeType_t type, int64_t count, const void *elements);
    void link(cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name,
              cudnnBackendDescriptor_t other);
    void finalize(cudnnBackendDescriptor_t descriptor);
    /* Returns a finalized graph of one operation. */
    cudnnBackendDescriptor_t graph(cudnnHandle_t handle, cudnnBackendDescriptor_t operation);
    /* Chooses the best plan that can be built, if its workspace can be allocated. */
    void choose(cudnnHandle_t handle, int device, cudnnBackendDescriptor_t of,
                const lt_cudnn_engines &allowed);

    bool made() const { return status == CUDNN_STATUS_SUCCESS && plan != nullptr; }
    size_t workspace() const { return (size_t)bytes; }
    /* addresses[i] is the memory of the tensor with uids[i]. */
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
