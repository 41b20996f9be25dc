/* optional.cuh - an optional library: its function table if it is installed and not disabled.
 *
 * The first search decides for the process, so that a script does not change its algorithm midway.
 * If the authorizer of a context denies opening the library, this holds for that context only. */
#ifndef LT_CUDA_OPTIONAL_CUH
#define LT_CUDA_OPTIONAL_CUH

#include <atomic>
#include <stdlib.h>
#include <string.h>

#include "ltensor.h"

template <class Table> class lt_cuda_optional {
  public:
    /* variable: environment variable; the value 0 disables the library. load: opens it and returns
     * its table. */
    constexpr lt_cuda_optional(const char *variable, lt_status (*load)(const Table **))
        : variable(variable), load(load)
    {}

    /* Opens the library at the first call; null if it is missing or disabled. */
    const Table *functions()
    {
        const Table *table = opened();
        if (table != nullptr || absent.load(std::memory_order_relaxed)) return table;
        const char *choice = getenv(variable);
        const bool wanted = choice == nullptr || strcmp(choice, "0") != 0;
        const lt_status status = wanted ? load(&table) : LT_ERR_DEVICE;
        if (status == LT_OK)
            there.store(table, std::memory_order_release);
        else if (status != LT_ERR_PERMISSION)
            absent = true;
        return status == LT_OK ? table : nullptr;
    }

    /* Null until the library has been opened. */
    const Table *opened() const { return there.load(std::memory_order_acquire); }

  private:
    const char *variable;
    lt_status (*load)(const Table **);
    std::atomic<const Table *> there{nullptr};
    std::atomic<bool> absent{false};
};

#endif
