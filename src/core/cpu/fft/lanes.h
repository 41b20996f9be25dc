/* lanes.h - the interface of Fourier transforms of several lines side by side: a vector holds one
 * element of each line. The loops (cpu/vector/fft/lanes.c) are compiled per instruction set; slice.c
 * splits long lines into short ones. A complex number is two numbers, the real part first. */
#ifndef LT_CPU_FFT_LANES_H
#define LT_CPU_FFT_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "cpu/common/sizes.h"

enum { LT_FFT_FLOATS = 8, LT_FFT_DOUBLES = 4 }; /* fixed: lines per vector */
enum {
    LT_FFT_PASSES = 32,          /* fixed: 31 radices of 4 for a length below 2^63, and one of 2 */
    LT_FFT_LARGEST = 61,         /* fixed: the largest prime factor without convolution */
    LT_FFT_FINE = LT_SHORT_SLICE /* rows per coarse factor (lt_fft_plan) */
};

/* The factorization of a length into small radices. */
typedef struct lt_fft_radices {
    int64_t n;
    int passes;
    int radix[LT_FFT_PASSES];
    /* Tables of the type transformed, for each pass, where m is n divided by the radices so far.
     * twiddles: for each p < m, powers 1 to radix - 1 of exp(-2 pi i p / (m radix)). roots: the
     * powers of exp(-2 pi i / radix). */
    void *twiddles[LT_FFT_PASSES], *roots[LT_FFT_PASSES];
} lt_fft_radices;

/* The lines of a block. LINES: complex. HALVES: real lines of length 2 n, two neighbours form a
 * complex number. TWOS: real lines of odd length n, two lines form a complex one, so that a block
 * has twice as many. Transforms of real lines contain the first half only. */
typedef enum lt_fft_block_kind {
    LT_FFT_SLICES,
    LT_FFT_HALVES_TO_COMPLEX,
    LT_FFT_HALVES_TO_REAL,
    LT_FFT_TWOS_TO_COMPLEX,
    LT_FFT_TWOS_TO_REAL
} lt_fft_block_kind;

/* Transforms of `count` lines, at most as many as vector lanes (TWOS: twice as many). */
typedef struct lt_fft_block {
    lt_fft_block_kind kind;
    int64_t n;
    const lt_fft_radices *radices; /* of n, or of the length of the convolution */
    const void *in;
    void *out;
    int64_t in_step,
        out_step; /* in numbers, between lines, or for columns of a matrix between rows */
    int count;
    bool inverse; /* LINES and matrices only */
    double scale;
    const void *chirp, *filter; /* NULL: no convolution */
    const void *roots;          /* HALVES: exp(-pi i k / n), k <= n / 2 */
    const void *fine, *coarse;  /* matrix: factors of the block's columns */
    void *work;                 /* 2 * room complex numbers per lane, aligned to 64 bytes */
    /* at least: n + 1; length of the convolution; or n rounded up to whole blocks */
    int64_t room;
} lt_fft_block;

typedef void (*lt_fft_loop)(const lt_fft_block *b);
typedef struct lt_fft_loops {
    lt_fft_loop lines;
    /* A long line as a matrix. down transforms columns: it reads rows of complex numbers and writes
     * blocks of as many columns as there are lanes, row by row, real parts before imaginary ones,
     * with rows of zeros up to a whole block. across transforms rows: `in_step` numbers between
     * blocks; it writes columns. */
    lt_fft_loop down, across;
    /* One real line of length 2 h. Converts the transform of h pairs of neighbours to that of the
     * numbers (h + 1 elements; `out` may be `in`), or back, times 2: elements k and h - k for first
     * <= k < end <= h / 2 + 1. */
    void (*halves)(const void *in, void *out, int64_t h, const void *roots, int64_t first,
                   int64_t end, bool back);
} lt_fft_loops;

/* One of four algorithms:
 *
 * - `whole`: short lines, side by side
 * - `columns`, `rows`: a long line as a matrix, transformed by columns, multiplied by twiddle
 *   factors, transformed by rows
 * - `chirp`: a length with a large prime factor, by a convolution of length m (L. Bluestein)
 * - `real`: a real line of even length, by a complex one of half the length */
typedef struct lt_fft_plan {
    int64_t n;
    bool is_double, real;
    lt_fft_radices whole, columns,
        /* n is 0 if unused. columns: of transforms of length p->columns.n, the number of rows */
        rows;
    /* exp(-2 pi i j k / n) for row j, column k is fine[j % LT_FFT_FINE] * coarse[j / LT_FFT_FINE].
     * Stored as blocks of as many columns as there are lanes, row by row, real parts before
     * imaginary ones. */
    void *fine, *coarse;
    struct lt_fft_plan *inner; /* of length m, or of half the length; retained */
    void *chirp,
        /* chirp: n numbers exp(-pi i k^2 / n); filter: the transform of their conjugates, m
         * numbers, over m */
        *filter;
    void *roots; /* real: exp(-2 pi i k / n), k <= n / 4 */
    /* state of the cache */
    int users;
    uint64_t used;
    bool cached;
    int64_t bytes;
} lt_fft_plan;

#endif
