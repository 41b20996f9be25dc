/* cudnn_graph.h - what a graph of cuDNN's asks for, read from its descriptors (cudnn_graph.cpp), and its computation
 * (cudnn_attention.cpp). */
#ifndef LT_SIM_CUDNN_GRAPH_H
#define LT_SIM_CUDNN_GRAPH_H

#include "cudnn.h"
#include "libraries/cudnn_graph_api.h"

namespace lt_sim {

/* A tensor of four dimensions. */
struct GraphTensor {
    int64_t uid = 0, sizes[4] = {}, strides[4] = {};
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    bool is_virtual = false, by_value = false;
    char *data = nullptr; /* when the plan is executed */

    bool is(int64_t a, int64_t b, int64_t c, int64_t d) const
    {
        return sizes[0] == a && sizes[1] == b && sizes[2] == c && sizes[3] == d;
    }
    bool same_sizes(const GraphTensor &t) const
    {
        return is(t.sizes[0], t.sizes[1], t.sizes[2], t.sizes[3]);
    }
};

/* One attention. Backward: the last four count too. */
struct Attention {
    bool backward = false, causal = false;
    GraphTensor query, key, value, out, stats, scale, minimum, grad, grad_query, grad_key, grad_value;

    /* What is read, what is written, and numbers of the host. */
    std::vector<GraphTensor *> inputs(), outputs(), numbers();
    /* Whether sizes and dtypes fit together. */
    bool consistent() const;
    size_t workspace() const;
    void compute(float by, float least) const;
};

} // namespace lt_sim

#endif
