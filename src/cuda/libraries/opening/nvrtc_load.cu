/* nvrtc_load.cu - fills NVRTC's table. Only in the backend for real GPUs. */
#include "libraries/nvrtc_api.h"
#include "load.cuh"

static const char *fill_nvrtc_table(void *handle, lt_nvrtc &table)
{
    const char *missing = nullptr;
    LT_NVRTC_FUNCTIONS(LT_FIND)
    return missing;
}

lt_status lt_nvrtc_get(const lt_nvrtc **table)
{
    static const lt_cuda_library library =
        LT_NVRTC_LIBRARY("a kernel of its own for a fusion of operations");
    static lt_cuda_table<lt_nvrtc> &functions = *new lt_cuda_table<lt_nvrtc>;
    return functions.get(&library, fill_nvrtc_table, table);
}
