/* optim.c - the loops of optimizers: one step of a rule (optim_rules.h) for n elements of its
 * contiguous arrays, in float and double. Each array is read and written once. */
#include "cpu/common/loops.h"
#include "cpu/vector/vector_math.h"

#include "formulas/optim.h"

#define STATE_2
#define STATE_3 , &a[i]
#define STATE_4 , &a[i], &b[i]
#define STATE_5 , &a[i], &b[i], &c[i]

#define LOOP(name, s, T, count)                                                                    \
    static void name##_##s(void *const *arrays, int64_t n, const double *numbers)                  \
    {                                                                                              \
        T p[LT_OPTIM_NUMBERS], *w = arrays[0], *a = arrays[2], *b = arrays[3], *c = arrays[4];     \
        const T *g = arrays[1];                                                                    \
        (void)a, (void)b, (void)c;                                                                 \
        for (int k = 0; k < LT_OPTIM_NUMBERS; k++) p[k] = (T)numbers[k];                           \
        _Pragma("omp simd") for (int64_t i = 0; i < n; i++)                                        \
            lt_optim_##name##_##s(&w[i], g[i] STATE_##count, p);                                   \
    }
#define LOOPS(name, NAME, count)                                                                   \
    LOOP(name, f32, float, count)                                                                  \
    LOOP(name, f64, double, count)
LT_OPTIM_RULES(LOOPS)

#define ENTRY(name, NAME, count) {name##_f32, name##_f64},
const lt_optim_loop LT_LOOP(optim)[LT_OPTIM_COUNT][2] = {LT_OPTIM_RULES(ENTRY)};
