/* owned_mutex.cuh - a mutex without atomic exchanges as long as one thread alone uses it.
 *
 * The first thread that locks it becomes its owner. The owner stores `inside` and then reads
 * `shared`; a second thread stores `shared`, makes the store visible by membarrier(2), which orders
 * the owner's two accesses as a fence in it would, and then waits until `inside` is false. From then
 * on all threads use the mutex, for good.
 *
 * Invariants: `shared` never becomes false again; `owner` is written once, with the mutex held;
 * `inside` is true only while the owner holds the lock, or finds out that it is shared.
 *
 * A build without threads (THREADS=no) uses the plain mutex. */
#ifndef LT_CUDA_OWNED_MUTEX_CUH
#define LT_CUDA_OWNED_MUTEX_CUH

#include <mutex>

#ifdef LT_NO_THREADS
using lt_owned_mutex = std::mutex;
#else

#include <atomic>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

class lt_owned_mutex {
  public:
    void lock()
    {
        if (owner.load(std::memory_order_relaxed) == pthread_self()) {
            inside.store(true, std::memory_order_relaxed);
            std::atomic_signal_fence(std::memory_order_seq_cst);
            if (!shared.load(std::memory_order_relaxed)) return;
            inside.store(false, std::memory_order_relaxed);
        }
        lock_mutex();
    }

    void unlock()
    {
        if (owner.load(std::memory_order_relaxed) == pthread_self() &&
            inside.load(std::memory_order_relaxed))
            inside.store(false, std::memory_order_release);
        else
            mutex.unlock();
    }

  private:
    std::atomic<pthread_t> owner{};
    std::atomic<bool> inside{false}, shared{false};
    std::mutex mutex;

    static bool barrier(int command) { return syscall(SYS_membarrier, command, 0, 0) == 0; }

    void lock_mutex()
    {
        mutex.lock();
        if (shared.load(std::memory_order_relaxed)) return;
        if (owner.load(std::memory_order_relaxed) == pthread_t{}) {
            if (barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED))
                owner.store(pthread_self(), std::memory_order_relaxed);
            else
                shared.store(true, std::memory_order_relaxed);
            return;
        }
        shared.store(true, std::memory_order_relaxed);
        /* A child of fork() is not registered. */
        if (!barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) (void)barrier(MEMBARRIER_CMD_GLOBAL);
        while (inside.load(std::memory_order_acquire)) sched_yield();
    }
};

#endif
#endif
