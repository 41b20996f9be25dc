/* cusolver_load.cu - fills cuSOLVER's table. Only in the backend for real GPUs. */
#include "libraries/cusolver_api.h"
#include "load.cuh"

static const char *fill_cusolver_table(void *handle, lt_cusolver &table)
{
    const char *missing = nullptr;
    LT_CUSOLVER_FUNCTIONS(LT_FIND)
#define FIND_S(field, symbol, arguments) LT_FIND(s.field, symbol, arguments)
#define FIND_D(field, symbol, arguments) LT_FIND(d.field, symbol, arguments)
    LT_CUSOLVER_REAL_FUNCTIONS(FIND_S, S, float)
    LT_CUSOLVER_REAL_FUNCTIONS(FIND_D, D, double)
    return missing;
}

lt_status lt_cusolver_get(const lt_cusolver **table)
{
    static const lt_cuda_library library = LT_CUSOLVER_LIBRARY;
    static lt_cuda_table<lt_cusolver> &functions = *new lt_cuda_table<lt_cusolver>;
    return functions.get(&library, fill_cusolver_table, table);
}
