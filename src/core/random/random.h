/* random.h - generators and distributions.
 *
 * CPU: mt19937 with PyTorch's transforms, so that a seed gives PyTorch's numbers. CUDA:
 * Philox4x32-10 by counter. Whoever draws from a generator holds its lock (generator.h): backends
 * are called with it. Included by backends. */
#ifndef LT_RANDOM_H
#define LT_RANDOM_H

#include "generator.h"

typedef enum lt_distribution {
    LT_RANDOM_UNIFORM, /* [a, b) */
    LT_RANDOM_NORMAL,  /* mean a, standard deviation b */
    /* the same, each number by itself: PyTorch's way for tensors that are not contiguous */
    LT_RANDOM_NORMAL_SINGLY,
    LT_RANDOM_INTEGERS, /* integers in [a, b), any dtype; a < b are integers themselves */
    /* random_() without bounds: all values of the dtype (floats: the mantissa) */
    LT_RANDOM_FULL_RANGE,
    LT_RANDOM_BERNOULLI,   /* 1 with probability a */
    LT_RANDOM_EXPONENTIAL, /* rate a */
    LT_RANDOM_PERMUTATION  /* of 0 .. n-1, int64 */
} lt_distribution;

/* Distributions whose parameters are tensors (draws.inc). */
typedef enum lt_draw {
    LT_DRAW_GAMMA,   /* of scale 1; a: the shape */
    LT_DRAW_POISSON, /* a: the rate */
    LT_DRAW_BINOMIAL /* a: the number of trials, b: their probability */
} lt_draw;

/* Prepares memory for a generator of a device, seeded with PyTorch's default seed; its end. */
void lt_generator_init(lt_generator *g, lt_device device);
void lt_generator_end(lt_generator *g);

/* The seed that the generator was given last. */
uint64_t lt_generator_initial_seed(lt_generator *g);

/* The generator ops use when none is given. Created on first use with PyTorch's default seed. */
lt_generator *lt_default_generator(lt_device device);
uint64_t lt_initial_seed(void);

/* CPU stream of raw numbers. The lock is held. */
uint32_t lt_generator_next32(lt_generator *g);
/* The same n numbers, one after the other. */
void lt_generator_fill32(lt_generator *g, uint32_t *out, int64_t n);
uint64_t lt_generator_next64(lt_generator *g);
/* In [0, 1), 53 bits. */
static inline double lt_generator_uniform(lt_generator *g)
{
    return (double)(lt_generator_next64(g) & ((UINT64_C(1) << 53) - 1)) * 0x1p-53;
}
/* Of mean 0 and deviation 1; the second of a pair is kept for the next call (Box-Muller). */
double lt_generator_normal(lt_generator *g);

#endif
