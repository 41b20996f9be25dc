/* load.cuh - fills a function table from a shared library by dlsym. Included by the *_load.cu
 * files.
 *
 * A table is filled once. If the library is missing, the next call searches again: the user may
 * have installed it meanwhile. */
#ifndef LT_CUDA_LOAD_CUH
#define LT_CUDA_LOAD_CUH

#include <atomic>
#include <dlfcn.h>
#include <mutex>

#include "cuda.h"
#include "libraries/vendor.h"

/* LT_FIND(field, symbol, arguments): applied to the lists of functions. Uses the variables table,
 * handle and missing of the enclosing function. */
#define LT_FIND(field, symbol, arguments)                                                          \
    *reinterpret_cast<void **>(&table.field) = dlsym(handle, #symbol);                             \
    if (table.field == nullptr && missing == nullptr) missing = #symbol;

template <class Table> class lt_cuda_table {
  public:
    /* fill(handle, table) returns the name of a missing function, or null. */
    template <class Fill>
    lt_status get(const lt_cuda_library *library, Fill fill, const Table **out)
    {
        *out = &table;
        if (complete.load(std::memory_order_acquire)) return LT_OK;
        std::lock_guard<std::mutex> lock(mutex);
        void *handle = nullptr;
        if (complete) return LT_OK;
        LT_TRY(lt_cuda_library_open(library, &handle));
        const char *missing = fill(handle, table);
        if (missing != nullptr) return lt_cuda_library_incomplete(library, missing);
        complete.store(true, std::memory_order_release);
        return LT_OK;
    }

  private:
    std::atomic<bool> complete{false};
    std::mutex mutex;
    Table table = {};
};

#endif
