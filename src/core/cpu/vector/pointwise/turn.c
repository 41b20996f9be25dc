/* turn.c - reorders elements of 4 or 8 bytes: transpose (turn.h) and reversal of lines. */
#include "cpu/common/loops.h"
#include "cpu/vector/turn.h"

static void turn_4(void *to, int64_t to_step, const void *from, int64_t from_step, int64_t rows,
                   int64_t columns)
{
    turn_all_f32(to, to_step, from, from_step, rows, columns);
}

static void turn_8(void *to, int64_t to_step, const void *from, int64_t from_step, int64_t rows,
                   int64_t columns)
{
    turn_all_f64(to, to_step, from, from_step, rows, columns);
}

const lt_turn_loop LT_LOOP(turn)[2] = {turn_4, turn_8};

#define REVERSE(size, T)                                                                           \
    static void reverse_##size(char *out, int64_t out_step, const char *in, int64_t in_step,       \
                               int64_t lines, int64_t n)                                           \
    {                                                                                              \
        for (; lines > 0; lines--, out += out_step, in += in_step) {                               \
            T *to = (T *)(void *)out;                                                              \
            const T *from = (const T *)(const void *)in;                                           \
            _Pragma("omp simd") for (int64_t i = 0; i < n; i++) to[i] = from[-i];                  \
        }                                                                                          \
    }
REVERSE(4, uint32_t)
REVERSE(8, uint64_t)
#undef REVERSE

const lt_reverse_loop LT_LOOP(reverse)[2] = {reverse_4, reverse_8};
