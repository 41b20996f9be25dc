/* cublas_load.cu - fills cuBLAS's table. Only in the backend for real GPUs. */
#include "libraries/cublas_api.h"
#include "load.cuh"

static const char *fill_cublas_table(void *handle, lt_cublas &table)
{
    const char *missing = nullptr;
    LT_CUBLAS_FUNCTIONS(LT_FIND)
#define FIND_S(field, symbol, arguments) LT_FIND(s.field, symbol, arguments)
#define FIND_D(field, symbol, arguments) LT_FIND(d.field, symbol, arguments)
    LT_CUBLAS_REAL_FUNCTIONS(FIND_S, S, float)
    LT_CUBLAS_REAL_FUNCTIONS(FIND_D, D, double)
#define FIND_LIGHT(field, symbol, arguments) LT_FIND(light.field, symbol, arguments)
    LT_CUBLASLT_FUNCTIONS(FIND_LIGHT) /* dlsym also searches cuBLASLt, a dependency of cuBLAS */
    return missing;
}

lt_status lt_cublas_get(const lt_cublas **table)
{
    static const lt_cuda_library library = LT_CUBLAS_LIBRARY;
    static lt_cuda_table<lt_cublas> &functions = *new lt_cuda_table<lt_cublas>;
    return functions.get(&library, fill_cublas_table, table);
}
