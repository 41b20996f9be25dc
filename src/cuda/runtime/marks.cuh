/* marks.cuh - what a simulation with checks (sim/check/) has to be told, and a GPU has not: where
 * the caching allocator hands memory out and takes it back, for kernels that read what they did not
 * write, or use what they no longer have; and which races are meant. */
#ifndef LT_CUDA_MARKS_CUH
#define LT_CUDA_MARKS_CUH

#include <cuda_runtime.h>

/* NEW is at once: memory that the cache has just got. The others are in the order of the stream.
 * replayed: a replay of the graph being recorded does it again. */
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

/* Of threads that store to one place, any may win: results say so. */
#ifdef LT_SIM_CUDA_RUNTIME_H
#include "sim/any_wins.h"
#define LT_STORE_ANY(place, value) lt_sim::store_any(place, value)
#else
#define LT_STORE_ANY(place, value) (*(place) = (value))
#endif

#endif
