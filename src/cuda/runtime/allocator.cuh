/* allocator.cuh - the state of the caching allocator. Used by allocator.cu, which allocates and
 * frees, and memory_report.cu, which keeps the statistics and formats the out-of-memory error. */
#ifndef LT_CUDA_ALLOCATOR_CUH
#define LT_CUDA_ALLOCATOR_CUH

#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "cuda.h"

struct lt_cuda_block;
struct lt_cuda_by_size {
    bool operator()(const lt_cuda_block *a, const lt_cuda_block *b) const;
};
using lt_cuda_free_set = std::set<lt_cuda_block *, lt_cuda_by_size>;

struct lt_cuda_block {
    int device;
    cudaStream_t stream;
    uint64_t pool = 0; /* private pool of graphs; 0: default pool */
    char *data = nullptr;
    size_t size;
    size_t requested = 0; /* bytes of the request, before rounding */
    int64_t charged = 0;  /* bytes charged to the tensor's context */
    bool small;           /* from a segment of small blocks; selects the free set */
    bool used = false;
    lt_cuda_block *previous = nullptr, *next = nullptr; /* adjacent blocks of the segment */
    lt_cuda_free_set::node_type place;
    std::vector<cudaStream_t> other_streams; /* other users, from record_stream */
    bool any_stream = false;                 /* other_streams is incomplete */
    int pending = 0;                         /* events that must complete before it is free */
    /* next in the list of deferred frees */
    lt_cuda_block *deferred = nullptr;
    /* Lua source line of the allocation; large blocks only */
    char origin[80] = "";

    lt_cuda_block(int device, cudaStream_t stream, size_t size, bool small)
        : device(device), stream(stream), size(size), small(small)
    {}
};

struct lt_cuda_pending {
    cudaEvent_t event;
    lt_cuda_block *of;
};

struct lt_cuda_cache {
    std::mutex mutex;
    lt_cuda_free_set small, large;
    std::set<lt_cuda_block *> segments; /* first block of each */
    std::vector<lt_cuda_pending> pending;
    lt_memory_stats stats = {};
    size_t limit = SIZE_MAX;           /* maximum of reserved bytes */
    std::map<uint64_t, int> held;      /* private pools: number of graphs that hold each */
    int recordings = 0;                /* number in progress */
    lt_cuda_block *deferred = nullptr; /* list of deferred frees */

    lt_cuda_free_set &pool(const lt_cuda_block *b) { return b->small ? small : large; }
    int64_t reserved() const { return stats.counts[LT_MEMORY_RESERVED_BYTES][LT_POOL_ALL].current; }
};

/* One per device; never destroyed, since tensors are freed until the process ends. */
extern lt_cuda_cache *const lt_cuda_caches;

/* memory_report.cu; the cache's mutex is held. */
/* Adds `change` to a statistic, for the pool of small or of large blocks and for their total. */
void lt_cuda_count(lt_cuda_cache &c, lt_memory_kind kind, bool small, int64_t change);
/* Counts a block and its bytes: sign 1 adds them, -1 subtracts them. */
void lt_cuda_count_block(lt_cuda_cache &c, lt_memory_kind count, lt_memory_kind bytes,
                         const lt_cuda_block *b, int sign);
lt_status lt_cuda_out_of_memory(lt_cuda_cache &c, int device, size_t nbytes);

#endif
