/* tensor_core.h - tensor core operations of a warp, in the register layouts of PTX's ldmatrix and
 * mma (tensor_core.cpp). Of a matrix with 8 rows, lane l holds columns 2 (l % 4) and 2 (l % 4) + 1
 * of row l / 4, as a pair in one register. */
#ifndef LT_SIM_TENSOR_CORE_H
#define LT_SIM_TENSOR_CORE_H

#include "execution.h"

namespace lt_sim {

/* A lane's registers for c += a * b. c is 16 x 8: two rows, eight apart. a is 16 x 16: the same
 * rows, and the columns eight further. b is 16 x 8, by columns. */
struct Fragments {
    float *c;
    const uint32_t *a, *b;
};
/* For join_warp with the Fragments of each lane; for float16 and for bfloat16. */
void multiply_halves(void *const *lanes);
void multiply_bfloats(void *const *lanes);

/* For join_warp: every lane receives the pointers of all lanes. */
struct Rows {
    const void *own;
    const void *all[32];
};
void exchange_rows(void *const *lanes);

/* ldmatrix of four matrices: lane l passes the address of row l % 8 of matrix l / 8. A row has
 * eight 2-byte elements. */
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
