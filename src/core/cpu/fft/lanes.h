/* lanes.h - Fourier transforms of several lines side by side, which is how all are made: a vector of the processor holds one element
 * of each line. The loops (cpu/vector/fft/lanes.c) are compiled per instruction set; who splits long lines into short ones
 * is line.c. A complex number is two numbers, the real part first. */
#ifndef LT_CPU_FFT_LANES_H
#define LT_CPU_FFT_LANES_H

#include <stdbool.h>
#include <stdint.h>

enum { LT_FFT_FLOATS = 8, LT_FFT_DOUBLES = 4 }; /* lines side by side */
enum {
    LT_FFT_PASSES = 32,
    LT_FFT_LARGEST = 61 /* a prime factor of a length that goes by lanes */
};

/* A length whose prime factors are small, as radices. */
typedef struct lt_fft_radices {
    int64_t n;
    int passes;
    int radix[LT_FFT_PASSES];
    /* Numbers of the type transformed: for each pass, with m what is left of n after it, m times the radix - 1 powers of
     * exp(-2 pi i p / (m radix)), p < m; then the powers of exp(-2 pi i / radix). */
    void *twiddles[LT_FFT_PASSES], *roots[LT_FFT_PASSES];
} lt_fft_radices;

/* Transforms of `count` lines, at most the lanes there are, from and to anywhere: steps in complex numbers (reading reals: in
 * numbers) from row to row of a line and from line to line. */
typedef struct lt_fft_block {
    const lt_fft_radices *radices;
    const void *in;
    void *out;
    int64_t in_row, in_lane, out_row, out_lane;
    int count;
    bool inverse, real; /* real: `in` has no imaginary parts */
    const void *
        factors; /* of out, by row and lane: complex numbers, lane by lane, `factor_row` from row to row; NULL: 1 */
    int64_t factor_row;
    double scale;
    void *work; /* of 4 n numbers a lane, aligned to 64 bytes */
} lt_fft_block;
typedef void (*lt_fft_loop)(const lt_fft_block *b);

/* Of three kinds: short lines side by side (`whole`); long ones as a matrix of rows x columns, transformed by columns, multiplied
 * by `factors` (rows x columns), and by rows; lengths with a large prime factor by a convolution of length m (L. Bluestein). */
typedef struct lt_fft_plan {
    int64_t n;
    bool is_double;
    lt_fft_radices whole, columns,
        rows; /* n 0: not of that kind. columns: transforms of length `rows of the matrix` */
    void *factors;
    struct lt_fft_plan *convolution; /* of length m, counted */
    void *chirp,
        *filter; /* n numbers exp(-pi i k^2 / n); the transform of their conjugates, m numbers, over m */
    /* In the cache. */
    int users;
    uint64_t used;
    bool cached;
    int64_t bytes;
} lt_fft_plan;

#endif
