/* quotients.cuh - division of element indices by a size, as a multiplication by a reciprocal: in 32
 * bits if the host finds all indices below 2^31, else in 64. */
#ifndef LT_CUDA_QUOTIENTS_CUH
#define LT_CUDA_QUOTIENTS_CUH

#include "offsets.cuh"

struct lt_quotients {
    bool wide;
    lt_divider by;
    lt_wide_divider by_wide;

    /* For numerators below `limit`. */
    lt_quotients(int64_t divisor, int64_t limit) : wide(limit > LT_INDEX_LIMIT), by(), by_wide()
    {
        if (wide)
            by_wide.set(static_cast<uint64_t>(divisor));
        else
            by.set(static_cast<uint32_t>(divisor));
    }
    __device__ __forceinline__ int64_t of(int64_t n) const
    {
        return wide ? static_cast<int64_t>(by_wide.quotient(static_cast<uint64_t>(n)))
                    : by.quotient(static_cast<uint32_t>(n));
    }
};

#endif
