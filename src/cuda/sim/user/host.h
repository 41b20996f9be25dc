/* host.h - the interface between the simulator and the shared object of a user's kernel: the
 * functions that the object calls, and the description of its kernel. Both sides include it. */
#ifndef LT_SIM_USER_HOST_H
#define LT_SIM_USER_HOST_H

#include "../include/sim/execution.h"

namespace lt_sim {

enum AccessKind { read_access, write_access, atomic_access, atomic_store };

/* The simulator's functions. code: the address to which a checked access returns. */
struct Host {
    void (*access)(uintptr_t address, size_t bytes, AccessKind kind, bool aligned, uintptr_t code);
    const Context *(*here)();
    void (*sync_block)(Line line);
    void (*sync_warp)(unsigned mask);
    uint64_t (*exchange)(unsigned mask, uint64_t value, int source);
    int (*lane)();
};

/* The object's kernel. run: calls it for the thread of the running context; arguments: one address
 * per parameter. code: its first instruction. */
struct UserEntry {
    void (*run)(void *const *arguments);
    const void *code;
    const size_t *sizes; /* of the parameters, in bytes */
    int parameters;
};

} // namespace lt_sim

#endif
