/* optional.cuh - a library that we can do without: its table of functions, if it is there and
 * wanted.
 *
 * Looked for until it is there or known not to be: a script that works without it goes on as it
 * began. A context that may not open libraries decides for itself alone. */
#ifndef LT_CUDA_OPTIONAL_CUH
#define LT_CUDA_OPTIONAL_CUH

#include <atomic>
#include <stdlib.h>
#include <string.h>

#include "ltensor.h"

template <class Table> class lt_cuda_optional {
  public:
    /* variable: of the environment, 0 there leaves the library out. load: opens it and gives its
     * table. */
    constexpr lt_cuda_optional(const char *variable, lt_status (*load)(const Table **))
        : variable(variable), load(load)
    {}

    /* Null where it is not there. */
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

    /* Null until it has been looked for and found. */
    const Table *opened() const { return there.load(std::memory_order_acquire); }

  private:
    const char *variable;
    lt_status (*load)(const Table **);
    std::atomic<const Table *> there{nullptr};
    std::atomic<bool> absent{false};
};

#endif
