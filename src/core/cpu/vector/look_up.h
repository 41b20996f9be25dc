/* look_up.h - indexed loads (gathers) of several elements at once; compilers split such loops into
 * scalar loads. */
#ifndef LT_CPU_LOOK_UP_H
#define LT_CPU_LOOK_UP_H

#include <stddef.h>
#include <stdint.h>

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

#define LOOK_UP static inline __attribute__((always_inline)) void

#if !defined(__AVX512F__) && defined(__AVX2__)
/* Single loads combined by inserts: 256-bit gathers are nowhere faster, and half as slow again on
 * some processors. */
static inline __attribute__((always_inline)) __m128 look_up_four(const float *from,
                                                                 const int32_t *places)
{
    const __m128 ab =
        _mm_insert_ps(_mm_load_ss(from + places[0]), _mm_load_ss(from + places[1]), 0x10);
    return _mm_insert_ps(_mm_insert_ps(ab, _mm_load_ss(from + places[2]), 0x20),
                         _mm_load_ss(from + places[3]), 0x30);
}
#endif

/* out[i] = from[places[i]] for i < n, or 0 where the mask taken[i] (0 or -1) is 0. The index must
 * be valid there, too. If taken is NULL, no element is masked. */
LOOK_UP lt_look_up_f32(float *out, const float *from, const int32_t *places, const int32_t *taken,
                       int64_t n)
{
    int64_t i = 0;
#if defined(__AVX512F__)
    for (; i + 16 <= n; i += 16) {
        const __m512i place = _mm512_loadu_si512(places + i);
        const __mmask16 some =
            taken == NULL ? (__mmask16)-1 : _mm512_movepi32_mask(_mm512_loadu_si512(taken + i));
        _mm512_storeu_ps(out + i, _mm512_mask_i32gather_ps(_mm512_setzero_ps(), some, place, from,
                                                           sizeof *from));
    }
#elif defined(__AVX2__)
    for (; i + 8 <= n; i += 8) {
        const __m256 all =
            _mm256_set_m128(look_up_four(from, places + i + 4), look_up_four(from, places + i));
        _mm256_storeu_ps(
            out + i,
            taken == NULL
                ? all
                : _mm256_and_ps(all, _mm256_loadu_ps((const float *)(const void *)(taken + i))));
    }
#endif
    for (; i < n; i++) out[i] = taken == NULL || taken[i] != 0 ? from[places[i]] : 0;
}

LOOK_UP lt_look_up_f64(double *out, const double *from, const int32_t *places, const int32_t *taken,
                       int64_t n)
{
    int64_t i = 0;
#if defined(__AVX512F__)
    for (; i + 8 <= n; i += 8) {
        const __m256i place = _mm256_loadu_si256((const __m256i *)(const void *)(places + i));
        const __mmask8 some = taken == NULL ? (__mmask8)-1
                                            : _mm256_movepi32_mask(_mm256_loadu_si256(
                                                  (const __m256i *)(const void *)(taken + i)));
        _mm512_storeu_pd(out + i, _mm512_mask_i32gather_pd(_mm512_setzero_pd(), some, place, from,
                                                           sizeof *from));
    }
#elif defined(__AVX2__)
    for (; i + 4 <= n; i += 4) {
        const int32_t *const at = places + i;
        const __m256d all = _mm256_set_pd(from[at[3]], from[at[2]], from[at[1]], from[at[0]]);
        const __m128i some = taken == NULL
                                 ? _mm_set1_epi32(-1)
                                 : _mm_loadu_si128((const __m128i *)(const void *)(taken + i));
        _mm256_storeu_pd(out + i,
                         _mm256_and_pd(all, _mm256_castsi256_pd(_mm256_cvtepi32_epi64(some))));
    }
#endif
    for (; i < n; i++) out[i] = taken == NULL || taken[i] != 0 ? from[places[i]] : 0;
}

/* The arguments of two such gathers; both masks are NULL or neither is. */
typedef struct lt_two_gathers {
    const int32_t *places, *places_1, *taken, *taken_1;
} lt_two_gathers;

/* If places_1[i] = places[i] + 1, a single load reads both elements. */
LOOK_UP lt_look_up_two_f32(float *out, float *out_1, const float *from, lt_two_gathers g, int64_t n)
{
    const int32_t *places = g.places, *places_1 = g.places_1;
    const int32_t *taken = g.taken, *taken_1 = g.taken_1;
    int64_t i = 0;
#if defined(__AVX512F__)
    const __m512i firsts =
                      _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0),
                  seconds = _mm512_add_epi32(firsts, _mm512_set1_epi32(1));
    for (; i + 16 <= n; i += 16) {
        const __m512i place = _mm512_loadu_si512(places + i),
                      place_1 = _mm512_loadu_si512(places_1 + i);
        const __mmask16 some =
            taken == NULL ? (__mmask16)-1 : _mm512_movepi32_mask(_mm512_loadu_si512(taken + i));
        const __mmask16 some_1 =
            taken == NULL ? (__mmask16)-1 : _mm512_movepi32_mask(_mm512_loadu_si512(taken_1 + i));
        const __mmask16 both = _mm512_mask_cmpeq_epi32_mask(
            some & some_1, _mm512_add_epi32(place, _mm512_set1_epi32(1)), place_1);
        const __m512i zero = _mm512_setzero_si512();
        const __m512 low = _mm512_castsi512_ps(_mm512_mask_i32gather_epi64(
            zero, (__mmask8)both, _mm512_castsi512_si256(place), from, sizeof *from));
        const __m512 high = _mm512_castsi512_ps(_mm512_mask_i32gather_epi64(
            zero, (__mmask8)(both >> 8), _mm512_extracti64x4_epi64(place, 1), from, sizeof *from));
        __m512 value = _mm512_permutex2var_ps(low, firsts, high),
               value_1 = _mm512_permutex2var_ps(low, seconds, high);
        if (both != (some | some_1)) {
            value = _mm512_mask_i32gather_ps(value, some & ~both, place, from, sizeof *from);
            value_1 =
                _mm512_mask_i32gather_ps(value_1, some_1 & ~both, place_1, from, sizeof *from);
        }
        _mm512_storeu_ps(out + i, value);
        _mm512_storeu_ps(out_1 + i, value_1);
    }
#elif defined(__AVX2__)
    for (; i + 4 <= n; i += 4) {
        const __m128i place = _mm_loadu_si128((const __m128i *)(const void *)(places + i)),
                      place_1 = _mm_loadu_si128((const __m128i *)(const void *)(places_1 + i));
        const __m128i some = taken == NULL
                                 ? _mm_set1_epi32(-1)
                                 : _mm_loadu_si128((const __m128i *)(const void *)(taken + i));
        const __m128i some_1 = taken == NULL
                                   ? _mm_set1_epi32(-1)
                                   : _mm_loadu_si128((const __m128i *)(const void *)(taken_1 + i));
        const __m128i next = _mm_cmpeq_epi32(_mm_add_epi32(place, _mm_set1_epi32(1)), place_1);
        if (_mm_movemask_epi8(_mm_and_si128(_mm_and_si128(some, some_1), next)) == 0xffff) {
            const __m64 *const at[4] = {(const __m64 *)(const void *)(from + places[i]),
                                        (const __m64 *)(const void *)(from + places[i + 1]),
                                        (const __m64 *)(const void *)(from + places[i + 2]),
                                        (const __m64 *)(const void *)(from + places[i + 3])};
            const __m128 low = _mm_loadh_pi(_mm_loadl_pi(_mm_setzero_ps(), at[0]), at[1]),
                         high = _mm_loadh_pi(_mm_loadl_pi(_mm_setzero_ps(), at[2]), at[3]);
            _mm_storeu_ps(out + i, _mm_shuffle_ps(low, high, 0x88));
            _mm_storeu_ps(out_1 + i, _mm_shuffle_ps(low, high, 0xdd));
        } else {
            _mm_storeu_ps(out + i,
                          _mm_and_ps(look_up_four(from, places + i), _mm_castsi128_ps(some)));
            _mm_storeu_ps(out_1 + i,
                          _mm_and_ps(look_up_four(from, places_1 + i), _mm_castsi128_ps(some_1)));
        }
    }
#endif
    for (; i < n; i++) {
        out[i] = taken == NULL || taken[i] != 0 ? from[places[i]] : 0;
        out_1[i] = taken == NULL || taken_1[i] != 0 ? from[places_1[i]] : 0;
    }
}

LOOK_UP lt_look_up_two_f64(double *out, double *out_1, const double *from, lt_two_gathers g,
                           int64_t n)
{
    lt_look_up_f64(out, from, g.places, g.taken, n);
    lt_look_up_f64(out_1, from, g.places_1, g.taken_1, n);
}

#undef LOOK_UP

#endif
