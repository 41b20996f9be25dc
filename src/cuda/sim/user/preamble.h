/* preamble.h - precedes a user's kernel source when the host's compiler compiles it for simulated
 * GPUs, with -fsanitize=thread: CUDA's names, and the functions that check its accesses.
 *
 * The object is loaded at run time, so it reaches the simulator only through the table lt_sim_host,
 * which the simulator sets. */
#ifndef LT_SIM_USER_PREAMBLE_H
#define LT_SIM_USER_PREAMBLE_H

/* Aggregates stay whole, so that an access has its width. */
#ifndef __clang__
#pragma GCC optimize("no-tree-sra")
#endif

#define LT_SIM_CHECKED /* __launch_bounds__ can be read from the kernel's code */
#include "../include/cuda_runtime.h"

#include "host.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <type_traits>

/* With no_sanitize, clang still replaces atomic operations by calls. */
#ifdef __clang__
#define LT_UNCHECKED __attribute__((disable_sanitizer_instrumentation, noinline))
#else
#define LT_UNCHECKED __attribute__((no_sanitize("thread"), noinline))
#endif

extern "C" __attribute__((visibility("default"))) const lt_sim::Host *lt_sim_host = nullptr;

/* ---- the simulator's functions --------------------------------------------------------------- */

namespace lt_sim {

LT_UNCHECKED void sync_block(Line line) { lt_sim_host->sync_block(line); }
LT_UNCHECKED void sync_warp(unsigned mask) { lt_sim_host->sync_warp(mask); }
LT_UNCHECKED uint64_t exchange(unsigned mask, uint64_t value, int source)
{
    return lt_sim_host->exchange(mask, value, source);
}
LT_UNCHECKED int lane() { return lt_sim_host->lane(); }
/* The context never moves: a kernel's thread stays on one thread of the host. */
LT_UNCHECKED __attribute__((const)) static const Context &here() { return *lt_sim_host->here(); }

LT_UNCHECKED static void look(const volatile void *pointer, size_t bytes, AccessKind kind,
                              bool aligned, uintptr_t code)
{
    lt_sim_host->access(reinterpret_cast<uintptr_t>(pointer), bytes, kind, aligned, code);
}

} // namespace lt_sim

#undef threadIdx
#undef blockIdx
#undef blockDim
#undef gridDim
#define threadIdx (lt_sim::here().thread)
#define blockIdx  (lt_sim::here().block)
#define blockDim  (lt_sim::here().block_size)
#define gridDim   (lt_sim::here().grid_size)

using lt_sim::atomic_access;
using lt_sim::atomic_store;
using lt_sim::look;
using lt_sim::read_access;
using lt_sim::write_access;
#include "../check/accesses.h"

/* Calls that the compiler does not replace by loads and stores; clang calls the second names. */
namespace lt_sim {

LT_UNCHECKED static void *copy_bytes(void *to, const void *from, size_t n, uintptr_t code)
{
    auto *const out = static_cast<volatile char *>(to);
    const auto *const in = static_cast<const volatile char *>(from);
    look(from, n, read_access, false, code);
    look(to, n, write_access, false, code);
    if (out < in)
        for (size_t i = 0; i < n; i++) out[i] = in[i];
    else
        for (size_t i = n; i-- > 0;) out[i] = in[i];
    return to;
}

LT_UNCHECKED static void *fill_bytes(void *to, int value, size_t n, uintptr_t code)
{
    look(to, n, write_access, false, code);
    for (size_t i = 0; i < n; i++) static_cast<volatile char *>(to)[i] = (char)value;
    return to;
}

} // namespace lt_sim

#define BYTES(name, from, work, ...)                                                               \
    LT_UNCHECKED void *name(void *to, from, size_t n) __VA_ARGS__                                  \
    {                                                                                              \
        return lt_sim::work(to, value, n,                                                          \
                            reinterpret_cast<uintptr_t>(__builtin_return_address(0)));             \
    }
extern "C" {
BYTES(memcpy, const void *value, copy_bytes, noexcept)
BYTES(memmove, const void *value, copy_bytes, noexcept)
BYTES(memset, int value, fill_bytes, noexcept)
BYTES(__tsan_memcpy, const void *value, copy_bytes)
BYTES(__tsan_memmove, const void *value, copy_bytes)
BYTES(__tsan_memset, int value, fill_bytes)
}
#undef BYTES

/* ---- CUDA's functions that ltensor's own kernels do not use ---------------------------------- */

/* Numbers of different types: the result has their common type. */
#define MIXED(name, other)                                                                         \
    template <class A, class B,                                                                    \
              class =                                                                              \
                  std::enable_if_t<!std::is_same<A, B>::value && std::is_arithmetic<A>::value &&   \
                                   std::is_arithmetic<B>::value>>                                  \
    std::common_type_t<A, B> name(A a, B b)                                                        \
    {                                                                                              \
        using T = std::common_type_t<A, B>;                                                        \
        return (T)a other(T) b ? (T)a : (T)b;                                                      \
    }
MIXED(min, <)
MIXED(max, >)
#undef MIXED

/* The fast approximations of a GPU are computed exactly. Macros: the C library has functions of
 * these names. */
#define __expf(x)    expf(x)
#define __exp10f(x)  exp10f(x)
#define __logf(x)    logf(x)
#define __log2f(x)   log2f(x)
#define __log10f(x)  log10f(x)
#define __sinf(x)    sinf(x)
#define __cosf(x)    cosf(x)
#define __tanf(x)    tanf(x)
#define __powf(x, y) powf(x, y)
static inline float __fdividef(float x, float y) { return x / y; }
static inline float __frcp_rn(float x) { return 1.0f / x; }
static inline float __frsqrt_rn(float x) { return rsqrtf(x); }
static inline float __fsub_rn(float x, float y) { return x - y; }
static inline float __saturatef(float x) { return x > 0 ? x < 1 ? x : 1.0f : 0.0f; }
static inline int __float2int_rn(float x) { return (int)rintf(x); }
static inline int __float2int_rz(float x) { return (int)x; }
static inline int __float2int_rd(float x) { return (int)floorf(x); }
static inline int __float2int_ru(float x) { return (int)ceilf(x); }
static inline float __int2float_rn(int x) { return (float)x; }
static inline int __mul24(int x, int y) { return x * y; }

/* Two more barriers separate the uses of the sum. */
LT_UNCHECKED static int __syncthreads_count(int predicate, const char *file = __builtin_FILE(),
                                            int line = __builtin_LINE())
{
    static thread_local int count;
    count = 0;
    lt_sim::sync_block({file, line});
    count += predicate != 0;
    lt_sim::sync_block({file, line});
    const int total = count;
    lt_sim::sync_block({file, line});
    return total;
}
static inline int __syncthreads_or(int predicate, const char *file = __builtin_FILE(),
                                   int line = __builtin_LINE())
{
    return __syncthreads_count(predicate, file, line) != 0;
}
static inline int __syncthreads_and(int predicate, const char *file = __builtin_FILE(),
                                    int line = __builtin_LINE())
{
    return __syncthreads_count(!predicate, file, line) == 0;
}

#define REDUCED(name, T, first, change)                                                            \
    static inline T name(unsigned mask, T value)                                                   \
    {                                                                                              \
        T a = first;                                                                               \
        for (unsigned rest = mask; rest; rest &= rest - 1) {                                       \
            const T b = __shfl_sync(mask, value, __builtin_ctz(rest));                             \
            a = change;                                                                            \
        }                                                                                          \
        return a;                                                                                  \
    }
REDUCED(__reduce_add_sync, int, 0, a + b)
REDUCED(__reduce_add_sync, unsigned, 0, a + b)
REDUCED(__reduce_min_sync, int, value, min(a, b))
REDUCED(__reduce_min_sync, unsigned, value, min(a, b))
REDUCED(__reduce_max_sync, int, value, max(a, b))
REDUCED(__reduce_max_sync, unsigned, value, max(a, b))
REDUCED(__reduce_and_sync, unsigned, value, a &b)
REDUCED(__reduce_or_sync, unsigned, value, a | b)
REDUCED(__reduce_xor_sync, unsigned, 0, a ^ b)
#undef REDUCED

/* ---- the kernel ------------------------------------------------------------------------------ */

namespace lt_sim {

template <class... P, size_t... I>
LT_UNCHECKED void call(void (*kernel)(P...), void *const *arguments, std::index_sequence<I...>)
{
    kernel(*static_cast<std::remove_reference_t<P> *>(arguments[I])...);
}
template <class... P> LT_UNCHECKED void call(void (*kernel)(P...), void *const *arguments)
{
    call(kernel, arguments, std::index_sequence_for<P...>());
}
template <class... P> const size_t sizes_of[] = {sizeof(P)..., 0};
template <class... P> UserEntry entry_of(void (*kernel)(P...), void (*run)(void *const *))
{
    return {run, reinterpret_cast<const void *>(kernel), sizes_of<P...>, (int)sizeof...(P)};
}

} // namespace lt_sim

/* Follows the user's source. */
#define LT_SIM_USER_KERNEL(...)                                                                    \
    LT_UNCHECKED static void lt_sim_run(void *const *arguments)                                    \
    {                                                                                              \
        lt_sim::call(__VA_ARGS__, arguments);                                                      \
    }                                                                                              \
    extern "C" __attribute__((visibility("default"))) LT_UNCHECKED lt_sim::UserEntry               \
    lt_sim_user_entry()                                                                            \
    {                                                                                              \
        return lt_sim::entry_of(__VA_ARGS__, lt_sim_run);                                          \
    }

#endif
