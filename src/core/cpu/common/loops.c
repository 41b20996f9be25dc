/* loops.c - picks the instruction set of the vector loops (loops.h), once, before main. */
#include "loops.h"

#include <stdlib.h>
#include <string.h>

#include "pointwise_ops.h"

lt_cpu_loops lt_loops;
lt_pointwise_row lt_pointwise_loops[LT_PW_COUNT];

#define SET_OF(set)                                                                                \
    {                                                                                              \
        #set, lt_activations_##set, lt_arithmetic_##set, lt_compare_##set, lt_functions_##set, lt_cast_##set, lt_rows_##set, \
            lt_scan_##set, lt_softmax_##set, lt_norm_##set, lt_attention_##set, lt_multiply_##set, lt_product_##set, lt_pool_##set, \
            lt_direct_##set, lt_optim_##set, lt_cells_##set                                                        \
    }
static const lt_cpu_loops sets[] = {SET_OF(baseline), SET_OF(avx2), SET_OF(avx512)};
#undef SET_OF

/* The index of the best set that this processor runs. */
static int best_set(void)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return 2;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 1 : 0;
}

/* LTENSOR_CPU can only ask for less than the processor has. */
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

__attribute__((constructor)) static void choose_loops(void)
{
    lt_loops = sets[chosen_set()];
    choose_family(LT_PW_ACTIVATIONS, LT_PW_ACTIVATIONS_END, lt_loops.activations);
    choose_family(LT_PW_ARITHMETIC, LT_PW_ARITHMETIC_END, lt_loops.arithmetic);
    choose_family(LT_PW_COMPARE, LT_PW_COMPARE_END, lt_loops.compare);
    choose_family(LT_PW_FUNCTIONS, LT_PW_FUNCTIONS_END, lt_loops.functions);
}
