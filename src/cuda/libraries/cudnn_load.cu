/* cudnn_load.cu - cuDNN's table. Only in the backend for real GPUs. */
#include "cudnn_api.h"
#include "load.cuh"

static const char *fill(void *handle, lt_cudnn &table)
{
    const char *missing = nullptr;
    LT_CUDNN_FUNCTIONS(LT_FIND)
    return missing;
}

lt_status lt_cudnn_get(const lt_cudnn **table)
{
    static const lt_cuda_library library = LT_CUDNN_LIBRARY;
    static lt_cuda_table<lt_cudnn> &functions = *new lt_cuda_table<lt_cudnn>;
    return functions.get(&library, fill, table);
}
