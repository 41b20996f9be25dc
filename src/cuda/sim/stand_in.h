/* stand_in.h - what the stand-ins for the vendor's libraries share: how a call begins, what is asked of its arguments, and
 * how its work comes into the stream's queue.
 *
 * A call counts as one of the runtime's, so that it can be made to fail (LTENSOR_CUDA_FAULT). Arguments that break a rule of the
 * library's documentation are refused with its status for that; addresses that are no memory of the device, or not
 * aligned to their elements, too, where the hardware would fail later. */
#ifndef LT_SIM_STAND_IN_H
#define LT_SIM_STAND_IN_H

#include "sim.h"

#include <algorithm>
#include <new>
#include <utility>

namespace lt_sim {

/* `count` elements of T from p on are memory of the device, each where an element may begin; nothing is, of 0. */
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

/* Queues f, which returns what becomes of the device; unseen: it does not tell the monitor what it writes (sim.h). */
template <class F> class LibraryWork final : public Work {
  public:
    explicit LibraryWork(F &&f) : f(std::move(f)) {}
    cudaError_t run() override
    {
        try {
            return f();
        } catch (const std::bad_alloc &) {
            return cudaErrorLaunchFailure;
        }
    }

  private:
    F f;
};

template <class F> cudaError_t queue(const LibraryHandle *handle, F f, bool unseen = true)
{
    Work *work = new (std::nothrow) LibraryWork<F>(std::move(f));
    return work != nullptr ? submit_function(work, handle->stream, unseen)
                           : cudaErrorMemoryAllocation;
}

} // namespace lt_sim

#endif
