/* nccl_load.cu - fills NCCL's table. Only in the backend for real GPUs. */
#include "load.cuh"
#include "libraries/nccl_api.h"

static const char *fill_nccl_table(void *handle, lt_nccl &table)
{
    const char *missing = nullptr;
    LT_NCCL_FUNCTIONS(LT_FIND)
    return missing;
}

lt_status lt_nccl_get(const lt_nccl **table)
{
    static const lt_cuda_library library = LT_NCCL_LIBRARY;
    static lt_cuda_table<lt_nccl> &functions = *new lt_cuda_table<lt_nccl>;
    return functions.get(&library, fill_nccl_table, table);
}
