/* locate.c - conversion of indices to byte offsets with range checks (lt_locate_loop). */
#include "cpu/common/loops.h"

/* shift: log2 of the step, since few processors multiply 64-bit elements as fast as they shift; -1:
 * any step. */
static inline __attribute__((always_inline)) uint64_t
locate(lt_locating what, int shift, const char *indices, int64_t stride, int64_t n, uint64_t base,
       uint64_t size, int64_t step, int64_t own, int64_t *offsets)
{
    uint64_t outside = 0; /* bit 63: an index or size - 1 - index is negative */
#pragma omp simd reduction(| : outside)
    for (int64_t i = 0; i < n; i++) {
        const uint64_t v = *(const uint64_t *)(const void *)(indices + i * stride);
        const uint64_t at = v - base + (-(v >> 63) & (size + base));
        outside |= at | (size - 1 - at);
        /* unsigned: the product of an index out of range is not used, but must not be undefined */
        const uint64_t far = shift >= 0 ? at << shift : at * (uint64_t)step;
        if (what == LT_LOCATE_BEGIN) offsets[i] = (int64_t)(far + (uint64_t)(i * own));
        if (what == LT_LOCATE_ADD) offsets[i] = (int64_t)((uint64_t)offsets[i] + far);
    }
    return outside;
}

enum { DENSE = sizeof(int64_t) };

static uint64_t locate_begin(const char *indices, int64_t stride, int64_t n, uint64_t base,
                             uint64_t size, int64_t step, int64_t own, int64_t *offsets)
{
    if (stride == DENSE && own == 0 && step > 0 && (step & (step - 1)) == 0)
        return locate(LT_LOCATE_BEGIN, __builtin_ctzll((uint64_t)step), indices, DENSE, n, base,
                      size, step, 0, offsets);
    return locate(LT_LOCATE_BEGIN, -1, indices, stride, n, base, size, step, own, offsets);
}

static uint64_t locate_add(const char *indices, int64_t stride, int64_t n, uint64_t base,
                           uint64_t size, int64_t step, int64_t own, int64_t *offsets)
{
    (void)own;
    if (stride == DENSE)
        return locate(LT_LOCATE_ADD, -1, indices, DENSE, n, base, size, step, 0, offsets);
    return locate(LT_LOCATE_ADD, -1, indices, stride, n, base, size, step, 0, offsets);
}

static uint64_t locate_check(const char *indices, int64_t stride, int64_t n, uint64_t base,
                             uint64_t size, int64_t step, int64_t own, int64_t *offsets)
{
    (void)step, (void)own, (void)offsets;
    if (stride == DENSE)
        return locate(LT_LOCATE_LOOK, -1, indices, DENSE, n, base, size, 0, 0, NULL);
    return locate(LT_LOCATE_LOOK, -1, indices, stride, n, base, size, 0, 0, NULL);
}

const lt_locate_loop LT_LOOP(locate)[LT_LOCATE_COUNT] = {[LT_LOCATE_BEGIN] = locate_begin,
                                                         [LT_LOCATE_ADD] = locate_add,
                                                         [LT_LOCATE_LOOK] = locate_check};
