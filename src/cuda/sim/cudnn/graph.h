/* graph.h - a graph of one operation, as read from the descriptors of cuDNN's graph API
 * (graph.cpp): which engines there are for it, what is noted of them, and its computation, for
 * attention (attention.cpp) and convolutions (convolution_graph.cpp). */
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
    int engine = 0; /* of an engine's configuration */
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
    char *data = nullptr; /* when the plan is executed */

    bool is(int64_t a, int64_t b, int64_t c, int64_t d) const
    {
        return n == 4 && sizes[0] == a && sizes[1] == b && sizes[2] == c && sizes[3] == d;
    }
    bool same_sizes(const GraphTensor &t) const
    {
        return is(t.sizes[0], t.sizes[1], t.sizes[2], t.sizes[3]);
    }
};

/* False where there is none, or its dimensions are not least to most. */
bool read_tensor(const Descriptor *d, int least, int most, GraphTensor *t);

/* The address that a pack has for a tensor, null where it has none. */
char *address_in(const Descriptor &pack, int64_t uid);

struct Engine {
    std::vector<cudnnBackendNumericalNote_t> numerical;
    std::vector<cudnnBackendBehaviorNote_t> behavior;
};

struct Operation {
    virtual ~Operation() = default;
    /* Those that the heuristics tell of, the best first. */
    virtual const std::vector<Engine> &engines() const = 0;
    /* Whether the version of cuDNN has it. */
    virtual bool there() const { return true; }
    /* Whether an engine computes it. */
    virtual bool supported(int engine) const = 0;
    virtual size_t workspace(int engine) const = 0;
    virtual cudnnStatus_t execute(cudnnHandle_t handle, int engine, const Descriptor &pack,
                                  char *work) = 0;
};

/* Null where its parts do not fit together. */
std::unique_ptr<Operation> read_attention(const Descriptor &d),
    read_convolution(const Descriptor &d);

} // namespace lt_sim

#endif
