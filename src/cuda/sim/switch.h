/* switch.h - execution contexts of one OS thread, and the switch between them.
 *
 * A place is a fiber, or the OS thread's own stack, the home of its fibers. The implementations are
 * boost/switch.cpp, and wasm/switch.cpp for WebAssembly, where code cannot exchange its stack. */
#ifndef LT_SIM_SWITCH_H
#define LT_SIM_SWITCH_H

#include <stddef.h>

namespace lt_sim {

struct Place {
    void *context = nullptr; /* of the implementation */
    const void *stack_bottom = nullptr;
    size_t stack_bytes = 0;
    void *sanitizer = nullptr; /* ASan: fake stack; TSan: fiber */
};

/* The code of every fiber (fiber.cpp). It never returns, except that a switch may unwind it. */
void run_fiber();

/* Memory for the stack of a fiber, which is never freed; null if none is left. */
char *new_stack();

/* Sets up a place on its memory to start run_fiber. `number` counts the fibers of a team. The place
 * may be the running one, if nothing switches back to it. */
void prepare(Place &fiber, char *memory, unsigned number);

/* The OS thread's own stack. */
Place own_stack();

/* Stores the running context in `from` and continues `to`: at home, on a fiber, and on a fiber to
 * which nothing switches back. */
void leave_home(Place *from, Place *to);
void leave_fiber(Place *from, Place *to);
void leave_for_ever(Place *from, Place *to);

} // namespace lt_sim

#endif
