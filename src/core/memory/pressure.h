/* pressure.h - the pressure of tensor memory on the garbage collector of an interpreter.
 *
 * The collector is paced by the bytes of new results. A byte of host memory counts as one. The
 * bytes of a large device are scaled down: a GPU with 80 GB produces in a millisecond as many bytes
 * of garbage as would fill the host. */
#ifndef LT_MEMORY_PRESSURE_H
#define LT_MEMORY_PRESSURE_H

#include <stdbool.h>
#include <stdint.h>

/* Scaled bytes of tensor data that the thread's context holds on all devices. */
int64_t lt_mem_gc_pressure(void);

/* Scaled bytes of `bytes` on a device (an index of lt_context.use). */
int64_t lt_mem_gc_scale(int use, int64_t bytes);

/* Stores the memory size of a device, which determines its scale. Until then it is 1. */
void lt_mem_set_device_size(int use, int64_t total);
bool lt_mem_has_device_size(int use);

#endif
