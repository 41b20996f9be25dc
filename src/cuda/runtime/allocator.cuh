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
    const uint64_t pool;       /* private pool of graphs; 0: default pool */
    const lt_memory_pool kind; /* LT_POOL_SMALL: its segments are for small blocks */
    int segments = 0;
    lt_free_blocks<lt_cuda_block> free;

    lt_cuda_arena(cudaStream_t stream, uint64_t pool, lt_memory_pool kind)
        : stream(stream), pool(pool), kind(kind)
    {}
    bool small() const { return kind == LT_POOL_SMALL; }
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
    unsigned list = 0;                                  /* free_blocks.cuh */
    lt_cuda_block *list_previous = nullptr, *list_next = nullptr;
    lt_cuda_block *deferred = nullptr;       /* next in the list of deferred frees, or of spares */
    std::vector<cudaStream_t> other_streams; /* other users, from record_stream */
    /* Lua source line of the allocation; large blocks only */
    char origin[80] = "";
};

struct lt_cuda_pending {
    cudaEvent_t event;
    lt_cuda_block *of;
};

/* A statistic of each pool and of all blocks. */
class lt_cuda_tally {
  public:
    void add(lt_memory_pool pool, int64_t n)
    {
        const int64_t now = current[pool] += n, all = total(current);
        added[pool] += n;
        if (now > peak[pool]) peak[pool] = now;
        if (all > peak[LT_POOL_ALL]) peak[LT_POOL_ALL] = all;
    }
    void remove(lt_memory_pool pool, int64_t n) { current[pool] -= n; }
    void reset_peak()
    {
        for (int pool = 0; pool < LT_POOLS; pool++) peak[pool] = of(current, pool);
    }

    int64_t current_of_all() const { return total(current); }
    lt_memory_count count(int pool) const
    {
        const int64_t now = of(current, pool), sum = of(added, pool);
        return {now, peak[pool], sum, sum - now};
    }

  private:
    /* indexed by lt_memory_pool; only `peak` has an element of LT_POOL_ALL, since the others are sums */
    int64_t current[LT_POOLS] = {}, peak[LT_POOLS] = {}, added[LT_POOLS] = {};

    static int64_t total(const int64_t *counts)
    {
        return counts[LT_POOL_LARGE] + counts[LT_POOL_SMALL];
    }
    static int64_t of(const int64_t *counts, int pool)
    {
        return pool == LT_POOL_ALL ? total(counts) : counts[pool];
    }
};

struct lt_cuda_cache {
    lt_owned_mutex mutex;
    std::map<std::tuple<cudaStream_t, uint64_t, lt_memory_pool>, std::unique_ptr<lt_cuda_arena>>
        arenas;
    lt_cuda_arena *recent[LT_POOLS] = {}; /* the last one used for large and for small blocks */
    lt_cuda_block *spares = nullptr;      /* list of unused block descriptors */
    std::set<lt_cuda_block *> segments;   /* first block of each */
    std::vector<lt_cuda_pending> pending;
    lt_cuda_tally tallies[LT_MEMORY_KINDS];
    int64_t retries = 0, out_of_memory = 0, device_allocs = 0, device_frees = 0;
    size_t limit = SIZE_MAX;           /* maximum of reserved bytes */
    std::map<uint64_t, int> held;      /* private pools: number of graphs that hold each */
    int recordings = 0;                /* number in progress */
    lt_cuda_block *deferred = nullptr; /* list of deferred frees */

    int64_t reserved() const { return tallies[LT_MEMORY_RESERVED_BYTES].current_of_all(); }
};

/* One per device; never destroyed, since tensors are freed until the process ends. */
extern lt_cuda_cache *const lt_cuda_caches;

/* memory_report.cu; the cache's mutex is held. */
lt_status lt_cuda_out_of_memory(lt_cuda_cache &c, int device, size_t nbytes);

#endif
