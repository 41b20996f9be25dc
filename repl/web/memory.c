/* memory.c - the library's memory in WebAssembly, as a host's allocator. Emscripten's malloc aligns to 8 bytes, which the
 * library's own use of it does not expect (core/memory/charged.h), and no system takes pages back. */
#include <stdlib.h>

#include "ltensor.h"

static void *resize(void *user, void *old, size_t bytes)
{
    (void)user;
    if (bytes > 0) return realloc(old, bytes);
    free(old);
    return NULL;
}

static void *take_block(void *user, size_t bytes)
{
    (void)user;
    enum { ALIGNMENT = 64 };
    return aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

static void give_block(void *user, void *block, size_t bytes)
{
    (void)user, (void)bytes;
    free(block);
}

/* fixed: 101 is the first priority of programs; other constructors may allocate. */
__attribute__((constructor(101))) static void set_allocator(void)
{
    const lt_allocator allocator = {.size = sizeof allocator,
                                    .resize = resize,
                                    .take_block = take_block,
                                    .give_block = give_block};
    lt_set_allocator(&allocator);
}
