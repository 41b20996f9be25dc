/* entry.cpp - the functions that code compiled with -fsanitize=thread calls before its memory
 * accesses, implemented by the checker.
 *
 * Names and arguments are ThreadSanitizer's. The atomic functions also perform the operation. */
#include "checker.h"

using namespace lt_sim;

#define CODE reinterpret_cast<uintptr_t>(__builtin_return_address(0))

namespace {

inline void look(const volatile void *pointer, size_t bytes, AccessKind kind, bool aligned,
                 uintptr_t code)
{
    if (checker) checker->access(reinterpret_cast<uintptr_t>(pointer), bytes, kind, aligned, code);
}

} // namespace

extern "C" {

/* -fsanitize=float-cast-overflow: the result is undefined in C++; kernels must use lt_as, which
 * returns a GPU's result. */
void __ubsan_handle_float_cast_overflow(void *, uintptr_t) { checker->converted(CODE); }

void __tsan_init() {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void **, void *) {}
void __tsan_vptr_read(void **) {}
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) {}
void __tsan_read_range(void *p, size_t n) { look(p, n, read_access, false, CODE); }
void __tsan_write_range(void *p, size_t n) { look(p, n, write_access, false, CODE); }

#define ACCESSES(n)                                                                                \
    void __tsan_read##n(void *p) { look(p, n, read_access, true, CODE); }                          \
    void __tsan_write##n(void *p) { look(p, n, write_access, true, CODE); }                        \
    void __tsan_unaligned_read##n(void *p) { look(p, n, read_access, false, CODE); }               \
    void __tsan_unaligned_write##n(void *p) { look(p, n, write_access, false, CODE); }

ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

#define CHANGE(bits, T, name)                                                                      \
    T __tsan_atomic##bits##_##name(volatile T *p, T v, int)                                        \
    {                                                                                              \
        look(p, sizeof(T), atomic_access, true, CODE);                                             \
        return __atomic_##name(p, v, __ATOMIC_SEQ_CST);                                            \
    }
#define COMPARE(bits, T, name)                                                                     \
    bool __tsan_atomic##bits##_compare_exchange_##name(volatile T *p, T *expected, T v, int, int)  \
    {                                                                                              \
        look(p, sizeof(T), atomic_access, true, CODE);                                             \
        return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST,                \
                                           __ATOMIC_SEQ_CST);                                      \
    }
#define ATOMICS(bits, T)                                                                           \
    T __tsan_atomic##bits##_load(const volatile T *p, int)                                         \
    {                                                                                              \
        look(p, sizeof(T), atomic_access, true, CODE);                                             \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                               \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile T *p, T v, int)                                      \
    {                                                                                              \
        look(p, sizeof(T), atomic_store, true, CODE);                                              \
        __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                  \
    }                                                                                              \
    T __tsan_atomic##bits##_exchange(volatile T *p, T v, int)                                      \
    {                                                                                              \
        look(p, sizeof(T), atomic_access, true, CODE);                                             \
        return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                        \
    }                                                                                              \
    CHANGE(bits, T, fetch_add)                                                                     \
    CHANGE(bits, T, fetch_sub)                                                                     \
    CHANGE(bits, T, fetch_and)                                                                     \
    CHANGE(bits, T, fetch_or)                                                                      \
    CHANGE(bits, T, fetch_xor)                                                                     \
    COMPARE(bits, T, strong)                                                                       \
    COMPARE(bits, T, weak)

ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

} // extern "C"
