/* pressure.h - the pressure of tensor memory on the garbage collector of an interpreter.
 *
 * The collector is paced by the bytes of new results. A byte of host memory counts as one. The
 * bytes of a large device are scaled down: a GPU with 80 GB produces in a millisecond as many bytes
 * of garbage as would fill the host. */
#ifndef LT_MEMORY_PRESSURE_H
#define LT_MEMORY_PRESSURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "context/context.h"

/* Scaled bytes of tensor data that the thread's context holds on all devices. */
int64_t lt_mem_gc_pressure(void);

/* 1 + the number of halvings of a byte count; 0: the size of the device is not known. */
extern _Atomic unsigned char lt_mem_halvings[LT_USES];

/* Scaled bytes of `bytes` on a device (an index of lt_context.use). */
static inline int64_t lt_mem_gc_scale(int use, int64_t bytes)
{
    const int n = atomic_load_explicit(&lt_mem_halvings[use], memory_order_relaxed);
    return n > 1 ? bytes >> (n - 1) : bytes;
}

/* Stores the memory size of a device, which determines its scale. Until then it is 1. */
void lt_mem_set_device_size(int use, int64_t total);
static inline bool lt_mem_has_device_size(int use)
{
    return atomic_load_explicit(&lt_mem_halvings[use], memory_order_relaxed) != 0;
}

#endif
