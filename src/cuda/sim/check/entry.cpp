/* entry.cpp - the build with checks: installs the checker as the simulator's monitor, and connects
 * it to the functions that code compiled with -fsanitize=thread calls (accesses.h). */
#include "checker.h"

using namespace lt_sim;

#define LT_UNCHECKED

namespace {

Checker *installed()
{
    Checker *made = &the_checker();
    monitor = made;
    return made;
}

/* Null until the library is loaded. */
Checker *checker = installed();

inline void look(const volatile void *pointer, size_t bytes, AccessKind kind, bool aligned,
                 uintptr_t code)
{
    if (checker) checker->access(reinterpret_cast<uintptr_t>(pointer), bytes, kind, aligned, code);
}

} // namespace

/* -fsanitize=float-cast-overflow: the result is undefined in C++; kernels must use lt_as, which
 * returns a GPU's result. */
extern "C" void __ubsan_handle_float_cast_overflow(void *, uintptr_t)
{
    checker->converted(reinterpret_cast<uintptr_t>(__builtin_return_address(0)));
}

#include "accesses.h"
