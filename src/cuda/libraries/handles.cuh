/* handles.cuh - a pool of library handles. A thread finds the handles that it used last without a
 * lock.
 *
 * - A handle serves one call at a time and a single stream, because the library orders the use of
 *   the handle's workspace by its stream.
 * - Creating a handle allocates and synchronizes, destroying one synchronizes. Neither is allowed
 *   while any thread captures a graph. So handles are never destroyed, and a recording reserves its
 *   handle when it begins.
 * - Reserved handles pass from one recording to the next. Their workspace comes from the graph's
 *   pool, call by call, so that it lives as long as the graph. */
#ifndef LT_CUDA_HANDLES_CUH
#define LT_CUDA_HANDLES_CUH

#include <mutex>
#include <new>
#include <vector>

#include "cuda.h"

/* Library: defines the type handle, and static lt_status create(handle *), aim(handle,
 * cudaStream_t). */
template <class Library> class lt_cuda_handles {
  public:
    using handle = typename Library::handle;

    /* Whether `take` can succeed on this device: during a recording, only if a handle was
     * reserved. */
    static bool available(int device)
    {
        return lt_cuda_recording_pool(device) == 0 || reserved().h != nullptr;
    }

    /* Precondition: the device is current. Return the handle by `give` after the call. */
    static lt_status take(int device, cudaStream_t stream, handle *out)
    {
        if (lt_cuda_recording_pool(device) != 0) return take_reserved(stream, out);
        if (find({device, stream, false, nullptr}, out)) return LT_OK;
        LT_TRY(make(device, out));
        lt_status status = Library::aim(*out, stream);
        if (status != LT_OK) keep({device, nullptr, true, *out});
        return status;
    }

    static void give(int device, cudaStream_t stream, handle h)
    {
        if (lt_cuda_recording_pool(device) == 0) keep({device, stream, false, h});
    }

    /* Called before and after a recording of this thread on the current device. */
    static lt_status reserve(int device)
    {
        handle h;
        if (!find({device, nullptr, true, nullptr}, &h)) LT_TRY(make(device, &h));
        reserved() = {device, nullptr, true, h};
        return LT_OK;
    }

    static void unreserve()
    {
        if (reserved().h != nullptr) keep(reserved());
        reserved() = {};
    }

  private:
    struct kept {
        int device = 0;
        cudaStream_t stream = nullptr; /* its stream; null: the default stream */
        bool spare = false;            /* for recordings only, of any stream */
        handle h = nullptr;
    };
    struct store {
        std::mutex mutex;
        std::vector<kept> idle;
    };

    static store &all()
    {
        static store &s = *new store; /* never destroyed */
        return s;
    }

    static kept &reserved()
    {
        static thread_local kept own;
        return own;
    }

    static lt_status take_reserved(cudaStream_t stream, handle *out)
    {
        *out = reserved().h;
        if (*out != nullptr) return Library::aim(*out, stream);
        return lt_cuda_core->error(LT_ERR_RUNTIME,
                                   "the library was not there when the capture of the graph began");
    }

    /* Handles returned by this thread, found without a lock. When the thread ends, they go to the
     * list that all threads use. */
    struct own_idle {
        std::vector<kept> idle;
        ~own_idle()
        {
            for (const kept &k : idle) share(k);
        }
    };

    static std::vector<kept> &own()
    {
        static thread_local own_idle mine;
        return mine.idle;
    }

    static bool find(const kept &like, handle *out)
    {
        if (take_from(own(), like, out)) return true;
        store &s = all();
        std::lock_guard<std::mutex> lock(s.mutex);
        return take_from(s.idle, like, out);
    }

    static bool take_from(std::vector<kept> &idle, const kept &like, handle *out)
    {
        for (size_t i = idle.size(); i-- > 0;) {
            if (idle[i].device != like.device || idle[i].stream != like.stream ||
                idle[i].spare != like.spare)
                continue;
            *out = idle[i].h;
            idle[i] = idle.back();
            idle.pop_back();
            return true;
        }
        return false;
    }

    /* If memory for the list runs out, the handle is leaked: destroying it could synchronize. */
    static void keep(const kept &k)
    {
        try {
            own().push_back(k);
        } catch (const std::bad_alloc &) {
            return;
        }
    }

    static void share(const kept &k)
    {
        store &s = all();
        try {
            std::lock_guard<std::mutex> lock(s.mutex);
            s.idle.push_back(k);
        } catch (const std::bad_alloc &) {
            return;
        }
    }

    static lt_status make(int device, handle *out)
    {
        if (Library::create(out) == LT_OK) return LT_OK;
        cudaStream_t ignored; /* our cache may hold the memory that create needs */
        lt_cuda_empty_cache();
        LT_TRY(lt_cuda_enter(device, &ignored));
        return Library::create(out);
    }
};

#endif
