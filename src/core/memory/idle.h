/* idle.h - caches that hold tensors, and release the ones that were not used for a while: after
 * each collection of Lua, when memory is low, and when a host trims a device's memory. */
#ifndef LT_MEMORY_IDLE_H
#define LT_MEMORY_IDLE_H

/* Releases the tensors in GPU memory that were not used for so many seconds; 0: all tensors. */
typedef void lt_idle_release(double seconds);

#define LT_IDLE_SECONDS 0.5 /* fixed: for collections of Lua */

/* Registers a cache, once; at most 4 caches. Threads: any. */
void lt_idle_register(lt_idle_release *release);

/* Calls all registered functions. */
void lt_idle_release_all(double seconds);

#endif
