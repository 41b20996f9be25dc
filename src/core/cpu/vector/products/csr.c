/* csr.c - rows of a product of a matrix in CSR with a dense one: tiles of columns whose sums stay in registers while the values of the
 * row go by; of a single column several sums, so that additions do not wait for each other. */
#include "cpu/common/loops.h"

#define WIDE   32 /* columns at a time */
#define NARROW 8

#define TILES(s, T, N)                                                                                                       \
    static void tile_##s##_##N(const lt_csr_product *p, int64_t row, int64_t first, T *out)                                  \
    {                                                                                                                        \
        const T *values = p->values, *in = (const T *)p->in + first;                                                         \
        T sums[N] = {0};                                                                                                     \
        for (int64_t k = p->begins[row]; k < p->begins[row + 1]; k++) {                                                      \
            const T value = values[k], *line = in + p->places[k] * p->in_step;                                               \
            _Pragma("omp simd") for (int j = 0; j < N; j++) sums[j] += value * line[j];                                      \
        }                                                                                                                    \
        for (int j = 0; j < N; j++) out[first + j] = sums[j];                                                                \
    }
TILES(f32, float, WIDE)
TILES(f64, double, WIDE)
TILES(f32, float, NARROW)
TILES(f64, double, NARROW)

#define ROWS(s, T)                                                                                                           \
    static void rest_##s(const lt_csr_product *p, int64_t row, int64_t first, T *out)                                        \
    {                                                                                                                        \
        const T *values = p->values;                                                                                         \
        const int64_t n = p->columns;                                                                                        \
        for (int64_t j = first; j < n; j++) out[j] = 0;                                                                      \
        for (int64_t k = p->begins[row]; k < p->begins[row + 1]; k++) {                                                      \
            const T value = values[k], *line = (const T *)p->in + p->places[k] * p->in_step;                                 \
            for (int64_t j = first; j < n; j++) out[j] += value * line[j];                                                   \
        }                                                                                                                    \
    }                                                                                                                        \
    static T element_##s(const lt_csr_product *p, int64_t row)                                                               \
    {                                                                                                                        \
        const T *values = p->values, *in = p->in;                                                                            \
        const int64_t end = p->begins[row + 1];                                                                              \
        T sums[4] = {0};                                                                                                     \
        int64_t k = p->begins[row];                                                                                          \
        for (; k + 4 <= end; k += 4)                                                                                         \
            for (int j = 0; j < 4; j++) sums[j] += values[k + j] * in[p->places[k + j] * p->in_step];                        \
        for (; k < end; k++) sums[0] += values[k] * in[p->places[k] * p->in_step];                                           \
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);                                                                    \
    }                                                                                                                        \
    static void rows_##s(const lt_csr_product *p, int64_t from, int64_t to)                                                  \
    {                                                                                                                        \
        T *out = (T *)p->out + from * p->columns;                                                                            \
        for (int64_t row = from; row < to; row++, out += p->columns) {                                                       \
            int64_t first = 0;                                                                                               \
            if (p->columns == 1) {                                                                                           \
                out[0] = element_##s(p, row);                                                                                \
                continue;                                                                                                    \
            }                                                                                                                \
            for (; first + WIDE <= p->columns; first += WIDE) tile_##s##_WIDE(p, row, first, out);                           \
            for (; first + NARROW <= p->columns; first += NARROW) tile_##s##_NARROW(p, row, first, out);                     \
            if (first < p->columns) rest_##s(p, row, first, out);                                                            \
        }                                                                                                                    \
    }
ROWS(f32, float)
ROWS(f64, double)

const lt_csr_loops LT_LOOP(csr)[1] = {{rows_f32, rows_f64}};
