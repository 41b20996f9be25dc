/* graph.h - a graph of one operation, read from the descriptors of cuDNN's graph API (graph.cpp):
 * its engines, their notes, and the computation, for attention (attention.cpp) and convolutions
 * (convolution_graph.cpp). */
#ifndef LT_SIM_CUDNN_GRAPH_H
#define LT_SIM_CUDNN_GRAPH_H

#include "cudnn.h"
#include "libraries/cudnn_graph_api.h"

#include <map>
#include <memory>

namespace lt_sim {

struct Attribute {
    cudnnBackendAttributeType_t type;
    int64_t count;
    std::vector<char> bytes;
};

struct Descriptor {
    cudnnBackendDescriptorType_t type;
    bool finalized = false;
    int engine = 0; /* index; of engines and engine configurations */
    Descriptor *graph = nullptr;
    std::map<int, Attribute> attributes;

    template <class T> const T *find(cudnnBackendAttributeName_t name) const
    {
        const auto at = attributes.find(name);
        return at != attributes.end() ? reinterpret_cast<const T *>(at->second.bytes.data())
                                      : nullptr;
    }
    Descriptor *linked(cudnnBackendAttributeName_t name) const
    {
        const auto *other = find<cudnnBackendDescriptor_t>(name);
        return other != nullptr ? static_cast<Descriptor *>(*other) : nullptr;
    }
};

/* A tensor of at most five dimensions. */
struct GraphTensor {
    int n = 0;
    int64_t uid = 0, sizes[5] = {}, strides[5] = {};
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    bool is_virtual = false, by_value = false;
    char *data = nullptr; /* set for the execution of a plan */

    bool is(int64_t a, int64_t b, int64_t c, int64_t d) const
    {
        return n == 4 && sizes[0] == a && sizes[1] == b && sizes[2] == c && sizes[3] == d;
    }
    bool same_sizes(const GraphTensor &t) const
    {
        return is(t.sizes[0], t.sizes[1], t.sizes[2], t.sizes[3]);
    }
};

/* False if d is no valid tensor, or its number of dimensions is not between least and most. */
bool read_tensor(const Descriptor *d, int least, int most, GraphTensor *t);

/* The address of a tensor in a variant pack; null if it is missing. */
char *address_in(const Descriptor &pack, int64_t uid);

struct Engine {
    std::vector<cudnnBackendNumericalNote_t> numerical;
    std::vector<cudnnBackendBehaviorNote_t> behavior;
};

struct Operation {
    virtual ~Operation() = default;
    /* The engines that the heuristics return, best first. */
    virtual const std::vector<Engine> &engines() const = 0;
    /* Whether the simulated version of cuDNN has this operation. */
    virtual bool there() const { return true; }
    /* Whether the engine supports it. */
    virtual bool supported(int engine) const = 0;
    virtual size_t workspace(int engine) const = 0;
    virtual cudnnStatus_t execute(cudnnHandle_t handle, int engine, const Descriptor &pack,
                                  char *work) = 0;
};

/* Null if the descriptor's tensors do not match. */
std::unique_ptr<Operation> read_attention(const Descriptor &d),
    read_convolution(const Descriptor &d);

} // namespace lt_sim

#endif
