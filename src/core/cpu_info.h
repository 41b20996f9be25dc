/* cpu_info.h - the processor: sizes of its caches and instruction sets. Read once, before
 * main; every block size that depends on a cache is derived from it. */
#ifndef LT_CPU_INFO_H
#define LT_CPU_INFO_H

#include <stdbool.h>
#include <stdint.h>

typedef struct lt_cpu_info {
    /* Bytes of the data caches of a core: its own L1 and L2, and the shared L3. 32 KB, 512 KB and 8
     * MB if the system does not report them. */
    int64_t l1, l2, l3;
    /* Instruction sets of x86-64; false elsewhere. avx2 includes FMA; avx512 is F, DQ, BW, VL. */
    bool avx2, avx512, avx512_vnni, avx512_bf16, amx_bf16;
    bool arm_dot; /* dot products of bytes on arm64 (FEAT_DotProd); false elsewhere */
} lt_cpu_info;

/* Constant after the library's constructors. */
extern lt_cpu_info lt_processor;

#endif
