/* tensor_core.h - what a warp's tensor cores do, by the layouts of PTX's ldmatrix and mma:
 * tensor_core.cpp. Lane l has the row l / 4 and the columns 2 (l % 4) and the next of a matrix of 8
 * rows, a pair to a register. */
#ifndef LT_SIM_TENSOR_CORE_H
#define LT_SIM_TENSOR_CORE_H

#include "execution.h"

namespace lt_sim {

/* A lane's registers of c += a b: of 16 x 8, two rows eight apart; of 16 x 16, these rows, and
 * eight columns on; of 16 x 8, by columns. */
struct Fragments {
    float *c;
    const uint32_t *a, *b;
};
/* For join_warp with each lane's Fragments: of float16 and of bfloat16. */
void multiply_halves(void *const *lanes);
void multiply_bfloats(void *const *lanes);

/* For join_warp: every lane gets what all of them gave. */
struct Rows {
    const void *own;
    const void *all[32];
};
void exchange_rows(void *const *lanes);

/* ldmatrix: lane l names row l % 8 of matrix l / 8 of four; a row has eight elements of two
 * bytes. */
inline void load_matrices(uint32_t (&out)[4], const void *row, bool transposed)
{
    Rows rows = {row, {}};
    join_warp(&rows, exchange_rows);
    const int l = lane();
    for (int m = 0; m < 4; m++) {
        if (!transposed) {
            out[m] = static_cast<const uint32_t *>(rows.all[8 * m + l / 4])[l % 4];
            continue;
        }
        const int first = 8 * m + 2 * (l % 4);
        out[m] = static_cast<const uint16_t *>(rows.all[first])[l / 4] |
                 (uint32_t) static_cast<const uint16_t *>(rows.all[first + 1])[l / 4] << 16;
    }
}

inline void multiply(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                     void (*all)(void *const *lanes))
{
    Fragments f = {c, a, b};
    join_warp(&f, all);
}

} // namespace lt_sim

#endif
