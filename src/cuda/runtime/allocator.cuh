/* allocator.cuh - the state of the caching allocator. Used by allocator.cu, which allocates and
 * frees, and memory_report.cu, which keeps the statistics and formats the out-of-memory error. */
#ifndef LT_CUDA_ALLOCATOR_CUH
#define LT_CUDA_ALLOCATOR_CUH

#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include "cuda.h"
#include "free_blocks.cuh"
#include "owned_mutex.cuh"

struct lt_cuda_block;

/* The free blocks of one stream, in one pool. */
struct lt_cuda_arena {
    const cudaStream_t stream;
    const uint64_t pool; /* private pool of graphs; 0: default pool */
    const bool small;    /* its segments are for small blocks */
    int segments = 0;
    lt_free_blocks<lt_cuda_block> free;

    lt_cuda_arena(cudaStream_t stream, uint64_t pool, bool small)
        : stream(stream), pool(pool), small(small)
    {}
};

struct lt_cuda_block {
    int device = 0;
    bool used = false;
    bool any_stream = false; /* other_streams is incomplete */
    int pending = 0;         /* events that must complete before it is free */
    lt_cuda_arena *arena = nullptr;
    char *data = nullptr;
    size_t size = 0;
    size_t requested = 0;                               /* bytes of the request, before rounding */
    int64_t charged = 0;                                /* bytes charged to the tensor's context */
    lt_cuda_block *previous = nullptr, *next = nullptr; /* adjacent blocks of the segment */
    lt_cuda_block *list_previous = nullptr, *list_next = nullptr; /* free_blocks.cuh */
    lt_cuda_block *deferred = nullptr;       /* next in the list of deferred frees, or of spares */
    std::vector<cudaStream_t> other_streams; /* other users, from record_stream */
    /* Lua source line of the allocation; large blocks only */
    char origin[80] = "";
};

struct lt_cuda_pending {
    cudaEvent_t event;
    lt_cuda_block *of;
};

/* A statistic: the totals of each pool (indexed by `small`), from which the current value follows,
 * and the maxima of the current value (indexed by lt_memory_pool). */
struct lt_cuda_tally {
    int64_t added[2] = {}, removed[2] = {}, peak[LT_POOLS] = {};

    int64_t current(bool small) const { return added[small] - removed[small]; }
    int64_t current() const { return current(false) + current(true); }
    void add(bool small, int64_t n)
    {
        added[small] += n;
        const int64_t own = current(small), all = own + current(!small);
        int64_t &own_peak = peak[small ? LT_POOL_SMALL : LT_POOL_LARGE];
        if (own > own_peak) own_peak = own;
        if (all > peak[LT_POOL_ALL]) peak[LT_POOL_ALL] = all;
    }
    void remove(bool small, int64_t n) { removed[small] += n; }
};

struct lt_cuda_cache {
    lt_owned_mutex mutex;
    std::map<std::tuple<cudaStream_t, uint64_t, bool>, std::unique_ptr<lt_cuda_arena>> arenas;
    lt_cuda_arena *recent[2] = {};      /* the last one used for large and for small blocks */
    lt_cuda_block *spares = nullptr;    /* list of unused block descriptors */
    std::set<lt_cuda_block *> segments; /* first block of each */
    std::vector<lt_cuda_pending> pending;
    lt_cuda_tally tallies[LT_MEMORY_KINDS];
    int64_t retries = 0, out_of_memory = 0, device_allocs = 0, device_frees = 0;
    size_t limit = SIZE_MAX;           /* maximum of reserved bytes */
    std::map<uint64_t, int> held;      /* private pools: number of graphs that hold each */
    int recordings = 0;                /* number in progress */
    lt_cuda_block *deferred = nullptr; /* list of deferred frees */

    int64_t reserved() const { return tallies[LT_MEMORY_RESERVED_BYTES].current(); }
};

/* One per device; never destroyed, since tensors are freed until the process ends. */
extern lt_cuda_cache *const lt_cuda_caches;

/* memory_report.cu; the cache's mutex is held. */
lt_status lt_cuda_out_of_memory(lt_cuda_cache &c, int device, size_t nbytes);

#endif
