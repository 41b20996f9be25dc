/* stand_in.h - helpers of the stand-ins for NVIDIA's libraries: start of a call, argument checks,
 * and queueing its work item.
 *
 * - A call counts as a runtime call, so LTENSOR_CUDA_FAULT can make it fail.
 * - Arguments that violate the library's documentation are rejected with the documented status.
 * - Addresses outside device memory or not aligned for their elements are rejected too, although
 *   hardware would fail only later. */
#ifndef LT_SIM_STAND_IN_H
#define LT_SIM_STAND_IN_H

#include "sim.h"

#include <algorithm>
#include <new>
#include <utility>

namespace lt_sim {

/* Whether `count` elements at p are memory of the device and aligned; true if count is 0. */
template <class T> bool on_device(int device, const T *p, int64_t count)
{
    if (count <= 0) return true;
    if (p == nullptr || (uintptr_t)p % alignof(T) != 0) return false;
    Device *of = owner(p);
    return of != nullptr && of->index == device &&
           inside_allocation(*of, p, (size_t)count * sizeof(T));
}

/* Number of elements from the first to the last of a column-major matrix. */
inline int64_t span(int64_t rows, int64_t columns, int64_t leading)
{
    return rows > 0 && columns > 0 ? (columns - 1) * leading + rows : 0;
}

/* Base of all handles: belongs to the device that was current at creation. */
struct LibraryHandle {
    int device = 0;
    cudaStream_t stream = nullptr;
    unsigned alive = 0x1ea5ed; /* cleared on destruction */
};

inline bool usable(const LibraryHandle *handle)
{
    return handle != nullptr && handle->alive == 0x1ea5ed && handle->device == current_device();
}

/* Creating or destroying a handle synchronizes the device, which invalidates a capture on it. */
inline bool capturing(int device) { return refuse_waiting(*device_at(device)) != cudaSuccess; }

/* Reports to the monitor (sim.h) the memory that a library call, named `call`, reads and writes;
 * called before the access. Matrices are column-major; `leading` is the stride between columns, in
 * elements. */
class Uses {
  public:
    explicit Uses(const char *call) : call(call) {}
    template <class T> const Uses &reads(const T *p, int64_t count) const
    {
        if (monitor && count > 0) monitor->read(call, p, (size_t)count * sizeof(T));
        return *this;
    }
    template <class T> const Uses &writes(T *p, int64_t count) const
    {
        if (monitor && count > 0) monitor->written(p, (size_t)count * sizeof(T));
        return *this;
    }
    template <class T>
    const Uses &reads(const T *p, int64_t rows, int64_t columns, int64_t leading) const
    {
        for (int64_t j = 0; monitor && j < columns; j++) reads(p + j * leading, rows);
        return *this;
    }
    template <class T>
    const Uses &writes(T *p, int64_t rows, int64_t columns, int64_t leading) const
    {
        for (int64_t j = 0; monitor && j < columns; j++) writes(p + j * leading, rows);
        return *this;
    }
    /* One triangle of a square matrix, including the diagonal, or without it (skip 1). */
    template <class T>
    const Uses &reads_triangle(bool upper, const T *p, int64_t n, int64_t leading,
                               int64_t skip = 0) const
    {
        for (int64_t j = 0; monitor && j < n; j++)
            upper ? reads(p + j * leading, j + 1 - skip)
                  : reads(p + j * leading + j + skip, n - j - skip);
        return *this;
    }

  private:
    const char *call;
};

/* Runs f(uses), which returns the device's new error. If it waits for other processes, it does not
 * block other work items (no Watched lock). */
template <class F> class LibraryWork final : public Work {
  public:
    LibraryWork(const char *call, F &&f, bool waits) : uses(call), f(std::move(f)), waits(waits) {}
    cudaError_t run() override
    {
        try {
            if (waits) return f(uses);
            Watched watched;
            return f(uses);
        } catch (const std::bad_alloc &) {
            return cudaErrorLaunchFailure;
        }
    }

  private:
    Uses uses;
    F f;
    bool waits;
};

template <class F>
cudaError_t queue(const LibraryHandle *handle, const char *call, F f, bool waits = false)
{
    Work *work = new (std::nothrow) LibraryWork<F>(call, std::move(f), waits);
    return work != nullptr ? submit_function(work, handle->stream) : cudaErrorMemoryAllocation;
}

} // namespace lt_sim

#endif
