/* marks.cuh - annotations for the simulator's checker (sim/check/); empty on a GPU. They mark where
 * the caching allocator allocates and frees memory, to detect kernels that read uninitialized or
 * freed memory, and mark intended races. */
#ifndef LT_CUDA_MARKS_CUH
#define LT_CUDA_MARKS_CUH

#include <cuda_runtime.h>

/* NEW takes effect at once: memory fresh from cudaMalloc. The others take effect in stream order.
 * replayed: each replay of the graph being recorded repeats the mark. */
#ifdef LT_SIM_CUDA_RUNTIME_H
#define LT_MARK_NEW(data, bytes) lt_sim::memory_new(data, bytes)
#define LT_MARK_TAKEN(device, stream, data, bytes, replayed)                                       \
    lt_sim::memory_taken(device, stream, data, bytes, replayed)
#define LT_MARK_GIVEN(device, stream, data, bytes, replayed)                                       \
    lt_sim::memory_given(device, stream, data, bytes, replayed)
#else
#define LT_MARK_NEW(data, bytes)                             ((void)0)
#define LT_MARK_TAKEN(device, stream, data, bytes, replayed) ((void)0)
#define LT_MARK_GIVEN(device, stream, data, bytes, replayed) ((void)0)
#endif

/* A store that several threads may make to one address, any of them winning. The op's documentation
 * permits any of the results. */
#ifdef LT_SIM_CUDA_RUNTIME_H
#include "sim/any_wins.h"
#define LT_STORE_ANY(place, value) lt_sim::store_any(place, value)
#else
#define LT_STORE_ANY(place, value) (*(place) = (value))
#endif

#endif
