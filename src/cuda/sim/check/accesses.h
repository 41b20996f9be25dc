/* accesses.h - the functions that code compiled with -fsanitize=thread calls before its memory
 * accesses. Names and arguments are ThreadSanitizer's. The atomic functions also perform the
 * operation.
 *
 * Included once per library, by a file that defines before:
 * - look(pointer, bytes, kind, aligned, code), which checks an access by the code with this return
 *   address;
 * - LT_UNCHECKED, the attributes of the functions. */
#define CODE reinterpret_cast<uintptr_t>(__builtin_return_address(0))

extern "C" {

LT_UNCHECKED void __tsan_init() {}
LT_UNCHECKED void __tsan_func_entry(void *) {}
LT_UNCHECKED void __tsan_func_exit() {}
LT_UNCHECKED void __tsan_vptr_update(void **, void *) {}
LT_UNCHECKED void __tsan_vptr_read(void **) {}
LT_UNCHECKED void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
LT_UNCHECKED void __tsan_atomic_signal_fence(int) {}
LT_UNCHECKED void __tsan_read_range(void *p, size_t n) { look(p, n, read_access, false, CODE); }
LT_UNCHECKED void __tsan_write_range(void *p, size_t n) { look(p, n, write_access, false, CODE); }

#define ACCESSES(n)                                                                                \
    LT_UNCHECKED void __tsan_read##n(void *p) { look(p, n, read_access, true, CODE); }             \
    LT_UNCHECKED void __tsan_write##n(void *p) { look(p, n, write_access, true, CODE); }           \
    LT_UNCHECKED void __tsan_unaligned_read##n(void *p) { look(p, n, read_access, false, CODE); }  \
    LT_UNCHECKED void __tsan_unaligned_write##n(void *p) { look(p, n, write_access, false, CODE); }

ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
#undef ACCESSES

#define CHANGE(bits, T, name)                                                                      \
    LT_UNCHECKED T __tsan_atomic##bits##_##name(volatile T *p, T v, int)                           \
    {                                                                                              \
        look(p, sizeof(T), atomic_access, true, CODE);                                             \
        return __atomic_##name(p, v, __ATOMIC_SEQ_CST);                                            \
    }
#define COMPARE(bits, T, name)                                                                     \
    LT_UNCHECKED bool __tsan_atomic##bits##_compare_exchange_##name(volatile T *p, T *expected,    \
                                                                    T v, int, int)                 \
    {                                                                                              \
        look(p, sizeof(T), atomic_access, true, CODE);                                             \
        return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST,                \
                                           __ATOMIC_SEQ_CST);                                      \
    }
#define COMPARE_VALUE(bits, T)                                                                     \
    LT_UNCHECKED T __tsan_atomic##bits##_compare_exchange_val(volatile T *p, T expected, T v, int, \
                                                              int)                                 \
    {                                                                                              \
        look(p, sizeof(T), atomic_access, true, CODE);                                             \
        __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);   \
        return expected;                                                                           \
    }
#define ATOMICS(bits, T)                                                                           \
    LT_UNCHECKED T __tsan_atomic##bits##_load(const volatile T *p, int)                            \
    {                                                                                              \
        look(p, sizeof(T), atomic_access, true, CODE);                                             \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                               \
    }                                                                                              \
    LT_UNCHECKED void __tsan_atomic##bits##_store(volatile T *p, T v, int)                         \
    {                                                                                              \
        look(p, sizeof(T), atomic_store, true, CODE);                                              \
        __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                  \
    }                                                                                              \
    LT_UNCHECKED T __tsan_atomic##bits##_exchange(volatile T *p, T v, int)                         \
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
    COMPARE(bits, T, weak)                                                                         \
    COMPARE_VALUE(bits, T)

ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)
#undef ATOMICS
#undef COMPARE_VALUE
#undef COMPARE
#undef CHANGE

} // extern "C"

#undef CODE
