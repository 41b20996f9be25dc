/* cpu_info.c - see cpu_info.h. */
#include "cpu_info.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "system/processors.h"

lt_cpu_info lt_processor;

static int64_t cache_size(int level, int64_t otherwise)
{
    const int64_t bytes = lt_cache_bytes(level);
    return bytes > 0 ? bytes : otherwise;
}

static void read_caches(lt_cpu_info *cpu)
{
    cpu->l1 = cache_size(1, 32 << 10);
    cpu->l2 = cache_size(2, 512 << 10);
    cpu->l3 = cache_size(3, 8 << 20);
}

static void read_instruction_sets(lt_cpu_info *cpu)
{
#if defined(__x86_64__)
    enum { AMX_BF16 = 1 << 22, AMX_TILE = 1 << 24 }; /* in EDX of CPUID leaf 7 */
    unsigned a, b, c, d = 0;
    __builtin_cpu_init();
    cpu->avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    cpu->avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    cpu->avx512_vnni = __builtin_cpu_supports("avx512vnni");
    cpu->avx512_bf16 = __builtin_cpu_supports("avx512bf16");
    cpu->amx_bf16 = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & AMX_BF16) && (d & AMX_TILE);
#else
    cpu->arm_dot = lt_arm_has_dot();
#endif
}

/* Priority 101: runs before the constructors of other files, which select kernels by it. */
__attribute__((constructor(101))) static void read_cpu_info(void)
{
    read_caches(&lt_processor);
    read_instruction_sets(&lt_processor);
}
