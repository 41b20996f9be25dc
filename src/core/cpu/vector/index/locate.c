/* locate.c - conversion of indices to byte offsets with range checks (lt_locate_loop). */
#include "cpu/common/loops.h"

/* shift: log2 of the step, since few processors multiply 64-bit elements as fast as they shift; -1:
 * any step. */
static inline __attribute__((always_inline)) uint64_t
locate_positions(lt_locating what, int shift, const lt_located_indices x, int64_t *offsets)
{
    uint64_t outside = 0; /* bit 63: an index or size - 1 - index is negative */
#pragma omp simd reduction(| : outside)
    for (int64_t i = 0; i < x.n; i++) {
        const uint64_t v = *(const uint64_t *)(const void *)(x.indices + i * x.stride);
        const uint64_t at = v - x.base + (-(v >> 63) & (x.size + x.base));
        outside |= at | (x.size - 1 - at);
        /* unsigned: the product of an index out of range is not used, but must not be undefined */
        const uint64_t far = shift >= 0 ? at << shift : at * (uint64_t)x.step;
        if (what == LT_LOCATE_BEGIN) offsets[i] = (int64_t)(far + (uint64_t)(i * x.own));
        if (what == LT_LOCATE_ADD) offsets[i] = (int64_t)((uint64_t)offsets[i] + far);
    }
    return outside;
}

/* The same indices with strides that are constants. */
static inline lt_located_indices contiguous(const lt_located_indices *x)
{
    lt_located_indices y = *x;
    y.stride = sizeof(int64_t);
    y.own = 0;
    return y;
}

static uint64_t locate_begin(const lt_located_indices *x, int64_t *offsets)
{
    if (x->stride == sizeof(int64_t) && x->own == 0 && x->step > 0 &&
        (x->step & (x->step - 1)) == 0)
        return locate_positions(LT_LOCATE_BEGIN, __builtin_ctzll((uint64_t)x->step), contiguous(x),
                                offsets);
    return locate_positions(LT_LOCATE_BEGIN, -1, *x, offsets);
}

static uint64_t locate_add(const lt_located_indices *x, int64_t *offsets)
{
    if (x->stride == sizeof(int64_t))
        return locate_positions(LT_LOCATE_ADD, -1, contiguous(x), offsets);
    return locate_positions(LT_LOCATE_ADD, -1, *x, offsets);
}

static uint64_t locate_check(const lt_located_indices *x, int64_t *offsets)
{
    (void)offsets;
    if (x->stride == sizeof(int64_t))
        return locate_positions(LT_LOCATE_LOOK, -1, contiguous(x), NULL);
    return locate_positions(LT_LOCATE_LOOK, -1, *x, NULL);
}

const lt_locate_loop LT_LOOP(locate)[LT_LOCATE_COUNT] = {[LT_LOCATE_BEGIN] = locate_begin,
                                                         [LT_LOCATE_ADD] = locate_add,
                                                         [LT_LOCATE_LOOK] = locate_check};
