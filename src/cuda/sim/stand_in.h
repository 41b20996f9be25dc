/* stand_in.h - what the stand-ins for the vendor's libraries share: how a call begins, what is
 * asked of its arguments, and how its work comes into the stream's queue.
 *
 * A call counts as one of the runtime's, so that it can be made to fail (LTENSOR_CUDA_FAULT).
 * Arguments that break a rule of the library's documentation are refused with its status for that;
 * addresses that are no memory of the device, or not aligned to their elements, too, where the
 * hardware would fail later. */
#ifndef LT_SIM_STAND_IN_H
#define LT_SIM_STAND_IN_H

#include "sim.h"

#include <algorithm>
#include <new>
#include <utility>

namespace lt_sim {

/* `count` elements of T from p on are memory of the device, each where an element may begin;
 * nothing is, of 0. */
template <class T> bool on_device(int device, const T *p, int64_t count)
{
    if (count <= 0) return true;
    if (p == nullptr || (uintptr_t)p % alignof(T) != 0) return false;
    Device *of = owner(p);
    return of != nullptr && of->index == device &&
           inside_allocation(*of, p, (size_t)count * sizeof(T));
}

/* Elements from the first of a column-major matrix to its last. */
inline int64_t span(int64_t rows, int64_t columns, int64_t leading)
{
    return rows > 0 && columns > 0 ? (columns - 1) * leading + rows : 0;
}

/* What a handle is: made for the device that was current. */
struct LibraryHandle {
    int device = 0;
    cudaStream_t stream = nullptr;
    unsigned alive = 0x1ea5ed; /* until it is destroyed */
};

inline bool usable(const LibraryHandle *handle)
{
    return handle != nullptr && handle->alive == 0x1ea5ed && handle->device == current_device();
}

/* Making and destroying handles waits for the device: a capture on it is lost by that. */
inline bool capturing(int device) { return refuse_waiting(*device_at(device)) != cudaSuccess; }

/* What a call of a library, by this name, reads and writes, told to who looks on (sim.h): said in
 * front of the work itself. Matrices are column-major, `leading` elements from a column to the
 * next. */
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
    /* Of a square matrix one triangle, from the diagonal on, or (skip 1) from beside it. */
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

/* f(uses), which returns what becomes of the device. One that waits for other processes lets other
 * works run meanwhile. */
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
