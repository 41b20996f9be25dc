/* draw.c - distributions with a parameter per element on the CPU (formulas/draws.inc). Drawing is
 * serial, in the order of elements. */
#include <float.h>

#include "context/interrupt.h"
#include "cpu/cpu.h"
#include "error.h"
#include "formulas/stirling.h"

#define DRAW_FN    static
#define DRAWS      lt_generator
#define UNIFORM(g) lt_generator_uniform(g)
#define NORMAL(g)  lt_generator_normal(g)
#define FORMULAS   "formulas/draws.inc"
#include "formulas/floats.h"

static void draw_floats(lt_draw what, float *x, int64_t n, const float *a, const float *b,
                        lt_generator *g)
{
    for (int64_t i = 0; i < n && !lt_interrupted(); i++) {
        switch (what) {
        case LT_DRAW_GAMMA: x[i] = lt_draw_gamma_f32(a[i], g); break;
        case LT_DRAW_POISSON: x[i] = lt_draw_poisson_f32(a[i], g); break;
        case LT_DRAW_BINOMIAL: x[i] = lt_draw_binomial_f32(a[i], b[i], g); break;
        }
    }
}

static void draw_doubles(lt_draw what, double *x, int64_t n, const double *a, const double *b,
                         lt_generator *g)
{
    for (int64_t i = 0; i < n && !lt_interrupted(); i++) {
        switch (what) {
        case LT_DRAW_GAMMA: x[i] = lt_draw_gamma_f64(a[i], g); break;
        case LT_DRAW_POISSON: x[i] = lt_draw_poisson_f64(a[i], g); break;
        case LT_DRAW_BINOMIAL: x[i] = lt_draw_binomial_f64(a[i], b[i], g); break;
        }
    }
}

lt_status lt_cpu_draw(lt_draw what, const lt_array *out, const lt_array *a, const lt_array *b,
                      lt_generator *generator)
{
    const void *second = b != NULL ? b->data : NULL;
    int64_t n = 1;
    for (int d = 0; d < out->ndim; d++) n *= out->sizes[d];
    if (out->dtype == LT_FLOAT64)
        draw_doubles(what, out->data, n, a->data, second, generator);
    else
        draw_floats(what, out->data, n, a->data, second, generator);
    return lt_interrupted() ? lt_stopped() : LT_OK;
}
