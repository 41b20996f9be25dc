/* cudnn_load.cu - fills cuDNN's tables. Only in the backend for real GPUs. */
#include "libraries/cudnn_api.h"
#include "libraries/cudnn_graph_api.h"
#include "libraries/cudnn_rnn_api.h"
#include "load.cuh"

static const lt_cuda_library library = LT_CUDNN_LIBRARY;

static const char *fill_cudnn_table(void *handle, lt_cudnn &table)
{
    const char *missing = nullptr;
    LT_CUDNN_FUNCTIONS(LT_FIND)
    return missing;
}

static const char *fill_rnn(void *handle, lt_cudnn_rnn &table)
{
    const char *missing = nullptr;
    LT_CUDNN_RNN_FUNCTIONS(LT_FIND)
    return missing;
}

static const char *fill_graph(void *handle, lt_cudnn_graph &table)
{
    const char *missing = nullptr;
    LT_CUDNN_GRAPH_FUNCTIONS(LT_FIND)
    return missing;
}

lt_status lt_cudnn_get(const lt_cudnn **table)
{
    static lt_cuda_table<lt_cudnn> &functions = *new lt_cuda_table<lt_cudnn>;
    return functions.get(&library, fill_cudnn_table, table);
}

lt_status lt_cudnn_rnn_get(const lt_cudnn_rnn **table)
{
    static lt_cuda_table<lt_cudnn_rnn> &functions = *new lt_cuda_table<lt_cudnn_rnn>;
    return functions.get(&library, fill_rnn, table);
}

lt_status lt_cudnn_graph_get(const lt_cudnn_graph **table)
{
    static lt_cuda_table<lt_cudnn_graph> &functions = *new lt_cuda_table<lt_cudnn_graph>;
    return functions.get(&library, fill_graph, table);
}
