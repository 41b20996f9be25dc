/* exp_by_table.h - exp of double with AVX-512 by a table of 16 entries in registers: 2^k (T + T
 * (exp(r) - 1)), where T = 2^(j / 16) is stored as the sum of two numbers. It needs a third fewer
 * instructions than vector_exp (double_math.h), which uses no table. Both are within 0.75 ULP. */
#ifndef LT_CPU_EXP_BY_TABLE_H
#define LT_CPU_EXP_BY_TABLE_H

#include <immintrin.h>

/* exp of 8 elements. x = (16 k + j) log(2) / 16 + r, |r| <= log(2) / 32; the polynomial is a
 * minimax fit with an error of 0.13 ULP. Adding 1.5 2^48 rounds to a multiple of 1 / 16; the low
 * bits of the sum are j. scalef handles overflow, and rounds once if the result is subnormal. */
static inline __attribute__((always_inline)) void vector_exp_by_table(double *out, const double *in)
{
    static const double table[16] = {
        0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
        0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
        0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
        0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0};
    static const double table_low[16] = {0,
                                         0x1.8a62e4adc610bp-54,
                                         -0x1.19041b9d78a76p-55,
                                         0x1.9b07eb6c70573p-54,
                                         0x1.6f46ad23182e4p-55,
                                         0x1.ada0911f09ebcp-55,
                                         0x1.d4397afec42e2p-56,
                                         0x1.6324c054647adp-54,
                                         -0x1.bdd3413b26456p-54,
                                         -0x1.41577ee04992fp-55,
                                         0x1.6e9f156864b27p-54,
                                         0x1.c7c46b071f2bep-56,
                                         0x1.7a1cd345dcc81p-54,
                                         0x1.11065895048ddp-55,
                                         0x1.2ed02d75b3707p-55,
                                         -0x1.e9c23179c2893p-54};
#define ALL _mm512_set1_pd
    /* min and max keep nan: it is their second operand */
    const __m512d far = _mm512_min_pd(ALL(800), _mm512_loadu_pd(in)),
                  x = _mm512_max_pd(ALL(-800), far);
    const __m512d shifted = _mm512_fmadd_pd(x, ALL(1.4426950408889634), ALL(0x1.8p48)),
                  n = _mm512_sub_pd(shifted, ALL(0x1.8p48));
    const __m512d rest = _mm512_fmadd_pd(n, ALL(-0.6931471803691238), x),
                  r = _mm512_fmadd_pd(n, ALL(-1.9082149292705877e-10), rest);
    __m512d p = ALL(0.0013889034348599464);
    p = _mm512_fmadd_pd(p, r, ALL(0.008333449701253456));
    p = _mm512_fmadd_pd(p, r, ALL(0.04166666666496045));
    p = _mm512_fmadd_pd(p, r, ALL(0.1666666666530169));
    p = _mm512_fmadd_pd(p, r, ALL(0.5));
    p = _mm512_fmadd_pd(_mm512_mul_pd(r, r), p, r);
    const __m512i j = _mm512_castpd_si512(shifted);
    const __m512d t = _mm512_permutex2var_pd(_mm512_loadu_pd(table), j, _mm512_loadu_pd(table + 8));
    const __m512d low =
        _mm512_permutex2var_pd(_mm512_loadu_pd(table_low), j, _mm512_loadu_pd(table_low + 8));
    _mm512_storeu_pd(out, _mm512_scalef_pd(_mm512_add_pd(t, _mm512_fmadd_pd(t, p, low)), n));
#undef ALL
}

#endif
