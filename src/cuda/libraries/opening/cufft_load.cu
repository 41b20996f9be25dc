/* cufft_load.cu - fills cuFFT's table. Only in the backend for real GPUs. */
#include "libraries/cufft_api.h"
#include "load.cuh"

static const char *fill_cufft_table(void *handle, lt_cufft &table)
{
    const char *missing = nullptr;
    LT_CUFFT_FUNCTIONS(LT_FIND)
    return missing;
}

lt_status lt_cufft_get(const lt_cufft **table)
{
    static const lt_cuda_library library = LT_CUFFT_LIBRARY;
    static lt_cuda_table<lt_cufft> &functions = *new lt_cuda_table<lt_cufft>;
    return functions.get(&library, fill_cufft_table, table);
}
