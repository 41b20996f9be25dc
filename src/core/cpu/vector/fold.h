/* fold.h - horizontal reduction of an accumulator array: repeatedly combines the upper half with
 * the lower one. The halves have constant lengths, so that compilers keep them in registers; a loop
 * over the lengths would go through memory. JOIN(a, b) combines two elements. */
#ifndef LT_CPU_FOLD_H
#define LT_CPU_FOLD_H

#define LT_FOLD(lane, half, JOIN)                                                                  \
    _Pragma("omp simd") for (int j = 0; j < (half); j++)(lane)[j] =                                \
        JOIN((lane)[j], (lane)[(half) + j]);
#define LT_FOLD_16(lane, JOIN)                                                                     \
    LT_FOLD(lane, 8, JOIN) LT_FOLD(lane, 4, JOIN) LT_FOLD(lane, 2, JOIN) LT_FOLD(lane, 1, JOIN)
#define LT_FOLD_64(lane, JOIN)                                                                     \
    LT_FOLD(lane, 32, JOIN) LT_FOLD(lane, 16, JOIN) LT_FOLD_16(lane, JOIN)
#define LT_FOLD_SUM(a, b) ((a) + (b))
#define LT_FOLD_MAX(a, b) ((b) > (a) ? (b) : (a))

#endif
