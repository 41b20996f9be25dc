/* switch.cpp - execution contexts of Boost.Context.
 *
 * Boost performs the context switch; this file announces it to the sanitizers. */
#include "../switch.h"

#include "../sanitizers.h"

#include <boost/context/detail/fcontext.hpp>

#include <pthread.h>
#include <sys/mman.h>

namespace lt_sim {

namespace {

using boost::context::detail::transfer_t;

constexpr size_t page = 4096;
#if defined(LT_ASAN) || defined(LT_TSAN)
constexpr size_t stack_size = 256 * 1024;
#else
constexpr size_t stack_size = 64 * 1024;
#endif

/* The data of a switch, on the stack of the code that stopped. */
struct Pass {
    Place *from, *to;
};

/* Always inlined: ThreadSanitizer counts calls and returns, and this call would return on another
 * fiber. */
inline __attribute__((always_inline)) void announce(Place *from, Place *to)
{
#ifdef LT_ASAN
    __sanitizer_start_switch_fiber(&from->sanitizer, to->stack_bottom, to->stack_bytes);
#endif
#ifdef LT_TSAN
    __tsan_switch_to_fiber(to->sanitizer, 0);
#endif
    (void)from;
    (void)to;
}

/* Stores the context of the code that stopped. */
void arrive(transfer_t came)
{
    const Pass pass = *static_cast<const Pass *>(came.data);
    pass.from->context = came.fctx;
#ifdef LT_ASAN
    __sanitizer_finish_switch_fiber(pass.to->sanitizer, nullptr, nullptr);
#endif
}

void fiber_main(transfer_t came)
{
    arrive(came);
    run_fiber();
}

inline __attribute__((always_inline)) void jump(Place *from, Place *to)
{
    Pass pass = {from, to};
    announce(from, to);
    arrive(boost::context::detail::jump_fcontext(to->context, &pass));
}

} // namespace

/* A guard page is below the stack. */
char *new_stack()
{
    void *memory = mmap(nullptr, stack_size + page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    mprotect(memory, page, PROT_NONE);
    return static_cast<char *>(memory);
}

/* Stacks start at different offsets from a page boundary, else all their tops map to the same cache
 * sets. */
void prepare(Place &fiber, char *memory, unsigned number)
{
    size_t colour = number % 32 * 128;
    char *top = memory + page + stack_size - colour;
    fiber.stack_bottom = memory + page;
    fiber.stack_bytes = stack_size - colour;
    fiber.context = boost::context::detail::make_fcontext(top, fiber.stack_bytes, fiber_main);
#ifdef LT_ASAN
    __asan_unpoison_memory_region(fiber.stack_bottom, stack_size);
    fiber.sanitizer = nullptr;
#endif
#ifdef LT_TSAN
    if (fiber.sanitizer) __tsan_destroy_fiber(fiber.sanitizer);
    fiber.sanitizer = __tsan_create_fiber(0);
#endif
}

Place own_stack()
{
    Place place;
#ifdef LT_ASAN
    pthread_attr_t attributes;
    void *bottom;
    if (!pthread_getattr_np(pthread_self(), &attributes)) {
        if (!pthread_attr_getstack(&attributes, &bottom, &place.stack_bytes))
            place.stack_bottom = bottom;
        pthread_attr_destroy(&attributes);
    }
#endif
#ifdef LT_TSAN
    place.sanitizer = __tsan_get_current_fiber();
#endif
    return place;
}

void leave_home(Place *from, Place *to) { jump(from, to); }

void leave_fiber(Place *from, Place *to) { jump(from, to); }

void leave_for_ever(Place *, Place *to)
{
    static thread_local Place gone;
    jump(&gone, to);
}

} // namespace lt_sim
