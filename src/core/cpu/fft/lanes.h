/* lanes.h - Fourier transforms of several lines side by side, which is how all are made: a vector
 * of the processor holds one element of each line. The loops (cpu/vector/fft/lanes.c) are compiled
 * per instruction set; who splits long lines into short ones is slice.c. A complex number is two
 * numbers, the real part first. */
#ifndef LT_CPU_FFT_LANES_H
#define LT_CPU_FFT_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "cpu/common/sizes.h"

enum { LT_FFT_FLOATS = 8, LT_FFT_DOUBLES = 4 }; /* fixed: lines side by side, of a register */
enum {
    LT_FFT_PASSES = 32,          /* fixed: radices of 4 of a length below 2^63, and one of 2 */
    LT_FFT_LARGEST = 61,         /* fixed: a prime factor of a length that has a loop */
    LT_FFT_FINE = LT_SHORT_SLICE /* rows of a matrix that have factors of their own (lt_fft_plan) */
};

/* A length whose prime factors are small, as radices. */
typedef struct lt_fft_radices {
    int64_t n;
    int passes;
    int radix[LT_FFT_PASSES];
    /* Numbers of the type transformed: for each pass, with m what is left of n after it, m times
     * the radix - 1 powers of exp(-2 pi i p / (m radix)), p < m; then the powers of exp(-2 pi i /
     * radix). */
    void *twiddles[LT_FFT_PASSES], *roots[LT_FFT_PASSES];
} lt_fft_radices;

/* What the lines of a block are. HALVES: real ones of length 2 n, two neighbours a complex number.
 * TWOS: real ones, of an odd length n, two of which become a complex one, so that a block has twice
 * as many. The transforms of real lines have their first halves only. */
typedef enum lt_fft_block_kind {
    LT_FFT_SLICES,
    LT_FFT_HALVES_TO_COMPLEX,
    LT_FFT_HALVES_TO_REAL,
    LT_FFT_TWOS_TO_COMPLEX,
    LT_FFT_TWOS_TO_REAL
} lt_fft_block_kind;

/* Transforms of `count` lines, at most the lanes there are (TWOS: twice as many). */
typedef struct lt_fft_block {
    lt_fft_block_kind kind;
    int64_t n;
    const lt_fft_radices *radices; /* of length n, or of a convolution */
    const void *in;
    void *out;
    int64_t in_step,
        out_step; /* numbers; lines: from line to line; columns of a matrix: from row to row */
    int count;
    bool inverse; /* LINES, and those of a matrix */
    double scale;
    const void *chirp, *filter; /* NULL: no convolution */
    const void *roots;          /* HALVES: exp(-pi i k / n), k <= n / 2 */
    const void *fine, *coarse;  /* of a matrix: factors of the block's columns */
    void *work;                 /* twice `room` complex numbers a lane, aligned to 64 bytes */
    /* n + 1, the length of the convolution, or n filled up to whole blocks at least */
    int64_t room;
} lt_fft_block;

typedef void (*lt_fft_loop)(const lt_fft_block *b);
typedef struct lt_fft_loops {
    lt_fft_loop lines;
    /* A matrix, first its columns: from rows of complex numbers to blocks of as many columns as
     * there are lanes, row by row, real parts before imaginary ones; rows are filled up with zeros
     * to whole blocks. Then its rows: `in_step` numbers from block to block, out as columns. */
    lt_fft_loop down, across;
    /* One line: from the transform of h pairs of neighbours to that of the numbers (h + 1; `out`
     * may be `in`), or back, elements k and h - k for first <= k < end <= h / 2 + 1. Back it is
     * twice as large. */
    void (*halves)(const void *in, void *out, int64_t h, const void *roots, int64_t first,
                   int64_t end, bool back);
} lt_fft_loops;

/* Of four kinds: short lines side by side (`whole`); long ones as a matrix of rows x columns,
 * transformed by columns, multiplied by factors, and by rows; lengths with a large prime factor by
 * a convolution of length m (L. Bluestein); real lines of even length by complex ones of half of
 * it. */
typedef struct lt_fft_plan {
    int64_t n;
    bool is_double, real;
    lt_fft_radices whole, columns,
        rows; /* n 0: not of that kind. columns: transforms of length `rows of the matrix` */
    /* exp(-2 pi i j k / n) of row j and column k is fine of row j % LT_FFT_FINE times coarse of row
     * j / LT_FFT_FINE. Blocks of columns as wide as there are lanes, row by row, real parts before
     * imaginary ones. */
    void *fine, *coarse;
    struct lt_fft_plan *inner; /* of length m, or of half the length; counted */
    void *chirp,
        /* n numbers exp(-pi i k^2 / n); the transform of their conjugates, m numbers, over m */
        *filter;
    void *roots; /* real: exp(-2 pi i k / n), k <= n / 4 */
    /* In the cache. */
    int users;
    uint64_t used;
    bool cached;
    int64_t bytes;
} lt_fft_plan;

#endif
