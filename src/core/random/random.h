/* random.h - generators and distributions.
 *
 * CPU: mt19937 with PyTorch's transforms, so that a seed yields PyTorch's numbers. CUDA:
 * Philox4x32-10, counter-based. The caller of a draw holds the generator's lock (generator.h), also
 * when it calls a backend. Included by backends. */
#ifndef LT_RANDOM_H
#define LT_RANDOM_H

#include "generator.h"

typedef enum lt_distribution {
    LT_RANDOM_UNIFORM, /* [a, b) */
    LT_RANDOM_NORMAL,  /* mean a, standard deviation b */
    /* the same, but each number is drawn separately: PyTorch's algorithm for tensors that are not
     * contiguous */
    LT_RANDOM_NORMAL_SINGLY,
    LT_RANDOM_INTEGERS, /* integers in [a, b), any dtype; a < b, both integers */
    /* random_() without bounds: all values of the dtype (floats: the mantissa) */
    LT_RANDOM_FULL_RANGE,
    LT_RANDOM_BERNOULLI,   /* 1 with probability a */
    LT_RANDOM_EXPONENTIAL, /* rate a */
    LT_RANDOM_PERMUTATION  /* of 0 ... n-1, int64 */
} lt_distribution;

/* Distributions with tensors as parameters (draws.inc). */
typedef enum lt_draw {
    LT_DRAW_GAMMA,   /* of scale 1; a: the shape */
    LT_DRAW_POISSON, /* a: the rate */
    LT_DRAW_BINOMIAL /* a: the number of trials, b: their probability */
} lt_draw;

/* Initializes a generator of a device with PyTorch's default seed; frees its resources. */
void lt_generator_init(lt_generator *g, lt_device device);
void lt_generator_end(lt_generator *g);

/* The last seed that was set. */
uint64_t lt_generator_initial_seed(lt_generator *g);

/* The default generator of the thread's context for a device. Created on first use with the
 * context's seed (initially PyTorch's). */
lt_generator *lt_default_generator(lt_device device);
uint64_t lt_initial_seed(void);

/* The next number of the CPU's mt19937. The caller holds the lock. */
uint32_t lt_generator_next32(lt_generator *g);
/* Stores the next n numbers. */
void lt_generator_fill32(lt_generator *g, uint32_t *out, int64_t n);
uint64_t lt_generator_next64(lt_generator *g);
/* Uniform in [0, 1), 53 bits. */
static inline double lt_generator_uniform(lt_generator *g)
{
    return (double)(lt_generator_next64(g) & ((UINT64_C(1) << 53) - 1)) * 0x1p-53;
}
/* Standard normal (Box-Muller); the second number of each pair is cached for the next call. */
double lt_generator_normal(lt_generator *g);

#endif
