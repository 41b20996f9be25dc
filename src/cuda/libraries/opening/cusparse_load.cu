/* cusparse_load.cu - fills cuSPARSE's table. Only in the backend for real GPUs. */
#include "libraries/cusparse_api.h"
#include "load.cuh"

static const char *fill_cusparse_table(void *handle, lt_cusparse &table)
{
    const char *missing = nullptr;
    LT_CUSPARSE_FUNCTIONS(LT_FIND)
    return missing;
}

lt_status lt_cusparse_get(const lt_cusparse **table)
{
    static const lt_cuda_library library = LT_CUSPARSE_LIBRARY;
    static lt_cuda_table<lt_cusparse> &functions = *new lt_cuda_table<lt_cusparse>;
    return functions.get(&library, fill_cusparse_table, table);
}
