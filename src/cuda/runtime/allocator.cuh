/* allocator.cuh - what the caching allocator keeps, for the two files that look at it:
 * allocator.cu, which hands blocks out, and memory_report.cu, which counts and explains. */
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
    uint64_t pool = 0; /* a private one of graphs; 0: the ordinary one */
    char *data = nullptr;
    size_t size;
    size_t requested = 0; /* of size, what was asked for */
    int64_t charged = 0;  /* what it counts against the context of its tensor */
    bool small;           /* in a segment for small blocks, and so in that pool when it is free */
    bool used = false;
    lt_cuda_block *previous = nullptr, *next = nullptr; /* neighbours in the segment */
    lt_cuda_free_set::node_type place;
    std::vector<cudaStream_t> other_streams; /* that use it too */
    bool any_stream = false;                 /* the list above is not complete */
    int pending = 0;                         /* events to wait for before it is free */
    /* the next that was freed while a graph was recorded */
    lt_cuda_block *deferred = nullptr;
    /* the line of Lua that asked for it; large blocks only */
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
    std::set<lt_cuda_block *> segments; /* the first block of each */
    std::vector<lt_cuda_pending> pending;
    lt_memory_stats stats = {};
    size_t limit = SIZE_MAX;           /* of reserved bytes */
    std::map<uint64_t, int> held;      /* private pools in use, by how many graphs */
    int recordings = 0;                /* going on now */
    lt_cuda_block *deferred = nullptr; /* freed meanwhile, and used by other streams */

    lt_cuda_free_set &pool(const lt_cuda_block *b) { return b->small ? small : large; }
    int64_t reserved() const { return stats.counts[LT_MEMORY_RESERVED_BYTES][LT_POOL_ALL].current; }
};

/* One for each device; never destroyed, as tensors are freed until the process ends. */
extern lt_cuda_cache *const lt_cuda_caches;

/* memory_report.cu; all with the cache's mutex held. */
/* Counts `change` more of a kind, in the pool that is for small blocks or in the other one. */
void lt_cuda_count(lt_cuda_cache &c, lt_memory_kind kind, bool small, int64_t change);
/* A block is taken (sign 1) or given back (-1): counts it and its bytes. */
void lt_cuda_count_block(lt_cuda_cache &c, lt_memory_kind count, lt_memory_kind bytes,
                         const lt_cuda_block *b, int sign);
lt_status lt_cuda_out_of_memory(lt_cuda_cache &c, int device, size_t nbytes);

#endif
