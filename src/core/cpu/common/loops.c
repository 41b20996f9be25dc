/* loops.c - selects the instruction set of the vector loops (loops.h), once, before main. */
#include "loops.h"

#include <stdlib.h>
#include <string.h>

#include "cpu_info.h"
#include "pointwise_ops.h"

/* In a library of selected ops (mk/minimal.mk): defines kernels that these do not use as NULL. */
#if defined(LT_CHOSEN_OPS)
#include "absent.h"
#endif

lt_cpu_loops lt_loops;
lt_pointwise_row lt_pointwise_loops[LT_PW_COUNT];

#define OF_BASELINE(name, NAME) lt_##name##_baseline,
#define OF_AVX2(name, NAME)     lt_##name##_avx2,
#define OF_AVX512(name, NAME)   lt_##name##_avx512,
#define SET_OF(set, OF)                                                                            \
    {                                                                                              \
#set, LT_KERNEL_FAMILIES(OF) lt_cast_##set, lt_rows_##set, lt_scan_##set, lt_sort_##set,   \
            lt_softmax_##set, lt_norm_##set, lt_attention_##set, lt_multiply_##set,                \
            lt_product_##set, lt_triangle_##set, lt_pool_##set, lt_direct_##set,                   \
            lt_depthwise_##set, lt_csr_##set, lt_blocks_##set, lt_block_bytes_##set,               \
            lt_half_rows_##set, lt_optim_##set, lt_cells_##set, lt_fft_##set, lt_turn_##set,       \
            lt_reverse_##set, lt_resample_##set, lt_complex_##set, lt_sample_##set,                \
            lt_locate_##set                                                                        \
    }
#if defined(__x86_64__)
static const lt_cpu_loops sets[] = {SET_OF(baseline, OF_BASELINE), SET_OF(avx2, OF_AVX2),
                                    SET_OF(avx512, OF_AVX512)};
#else /* the baseline of other processors includes SIMD (NEON) */
static const lt_cpu_loops sets[] = {SET_OF(baseline, OF_BASELINE)};
#endif
#undef SET_OF

/* The index of the best set for this processor. */
static int best_set(void) { return lt_processor.avx512 ? 2 : lt_processor.avx2 ? 1 : 0; }

/* LTENSOR_CPU can only lower the set. */
static int chosen_set(void)
{
    int best = best_set();
    const char *name = getenv("LTENSOR_CPU");
    for (int i = 0; name != NULL && i < best; i++)
        if (strcmp(name, sets[i].isa) == 0) return i;
    return best;
}

static void choose_family(int first, int end, const lt_pointwise_row *rows)
{
    memcpy(lt_pointwise_loops[first], rows, (size_t)(end - first) * sizeof *rows);
}

/* The conversions of the selected set, and the conversions that are compiled once: of unsigned
 * integers, complex numbers and one-byte floats. */
static lt_loop casts[LT_DTYPE_COUNT][LT_DTYPE_COUNT];

__attribute__((constructor)) static void choose_loops(void)
{
    lt_loops = sets[chosen_set()];
    memcpy(casts, lt_loops.cast, sizeof casts);
    lt_loops.cast = casts;
    lt_enter_unsigned_casts(casts);
    lt_enter_complex_casts(casts);
    lt_enter_float8_casts(casts);
#define CHOOSE(name, NAME) choose_family(LT_PW_##NAME, LT_PW_##NAME##_END, lt_loops.name);
    LT_KERNEL_FAMILIES(CHOOSE)
#undef CHOOSE
    for (const lt_complex_loops *c = lt_loops.complex; c->op >= 0; c++) {
        lt_pointwise_loops[c->op][LT_COMPLEX64] = c->of[0];
        lt_pointwise_loops[c->op][LT_COMPLEX128] = c->of[1];
    }
}
