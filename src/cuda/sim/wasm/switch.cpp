/* switch.cpp - execution contexts of WebAssembly, by Binaryen's Asyncify.
 *
 * Only the home starts and continues fibers. A fiber that stops unwinds its frames up to the home,
 * into the fiber's buffer; the home then starts another fiber, or rewinds its frames. Asyncify
 * (wasm-opt) instruments the functions from which leave_fiber or leave_for_ever is reached.
 *
 * A fiber's memory is {buffer of the frames, stack of the variables with an address}. The buffer
 * grows up, and Asyncify traps at its end; the stack grows down, and a word between them is checked
 * at each switch. */
#include "../switch.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ASYNCIFY(name) __attribute__((import_module("asyncify"), import_name(name)))

extern "C" {
ASYNCIFY("start_unwind") void lt_start_unwind(void *frames);
ASYNCIFY("stop_unwind") void lt_stop_unwind(void);
ASYNCIFY("start_rewind") void lt_start_rewind(void *frames);
ASYNCIFY("stop_rewind") void lt_stop_rewind(void);
/* The pointer of the stack of variables with an address. */
void *stackSave(void);
void stackRestore(void *pointer);
}

namespace lt_sim {

namespace {

/* fixed: the frames of the deepest kernel take less than a quarter of this */
constexpr size_t buffer_size = 16 * 1024;
constexpr size_t stack_size = 32 * 1024;
constexpr uint32_t untouched = 0x7ac3e1d5;

/* At the start of the fiber's memory. The first two members are Asyncify's. */
struct Frames {
    char *end, *limit;
    void *stack;
    bool stopped; /* the buffer contains its frames; else it starts anew */
};

Place *target;
bool rewinding = false;
/* Not a constant, since the compiler would drop the code after a call that never returns. */
void (*volatile start)() = run_fiber;

Frames *frames_of(Place *fiber) { return static_cast<Frames *>(fiber->context); }

uint32_t *word_of(Frames *frames)
{
    return reinterpret_cast<uint32_t *>(reinterpret_cast<char *>(frames) + buffer_size);
}

} // namespace

char *new_stack() { return static_cast<char *>(malloc(buffer_size + stack_size)); }

void prepare(Place &fiber, char *memory, unsigned)
{
    auto *frames = reinterpret_cast<Frames *>(memory);
    fiber.context = memory;
    fiber.stack_bottom = memory + buffer_size;
    fiber.stack_bytes = stack_size;
    frames->limit = memory + buffer_size;
    frames->stopped = false;
    *word_of(frames) = untouched;
}

Place own_stack() { return {}; }

/* These functions call Asyncify's, so they are not instrumented and must not be inlined. */
__attribute__((noinline)) void leave_home(Place *from, Place *to)
{
    void *const stack = stackSave();
    for (target = to; target != from;) {
        Frames *frames = frames_of(target);
        if (frames->stopped) {
            frames->stopped = false;
            rewinding = true;
            stackRestore(frames->stack);
            lt_start_rewind(frames);
        } else {
            stackRestore(static_cast<char *>(target->context) + buffer_size + stack_size);
        }
        start();
        lt_stop_unwind();
        if (*word_of(frames) != untouched) {
            fputs("simulated GPU: a thread of a kernel used more than its stack of 32 KB\n",
                  stderr);
            abort();
        }
    }
    stackRestore(stack);
}

__attribute__((noinline)) void leave_for_ever(Place *from, Place *to)
{
    Frames *frames = frames_of(from);
    frames->end = reinterpret_cast<char *>(frames + 1);
    target = to;
    lt_start_unwind(frames);
}

__attribute__((noinline)) void leave_fiber(Place *from, Place *to)
{
    if (rewinding) {
        rewinding = false;
        lt_stop_rewind();
        return;
    }
    Frames *frames = frames_of(from);
    frames->stack = stackSave();
    frames->stopped = true;
    leave_for_ever(from, to);
}

} // namespace lt_sim
