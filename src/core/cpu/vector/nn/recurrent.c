/* recurrent.c - the loops of recurrent cells (cell.h): rows [from, to) of a step, forward and
 * backward, in float and double. Within a row each group of gates is contiguous, so that one vector
 * loop covers all units. The loops are in recurrent.inc. */
#include "cpu/common/loops.h"
#include "cpu/vector/vector_math.h"

#include "formulas/cell.h"

#define SIMD             _Pragma("omp simd")
#define ROW(T, p, width) ((T *)(p) + row * (width))

#define LOOPS "cpu/vector/nn/recurrent.inc"
#include "cpu/common/both_floats.h"

#define ENTRY(name)                                                                                \
    {                                                                                              \
        {name##_f32, name##_f64}, {name##_backward_f32, name##_backward_f64},                      \
    }
const lt_cell_loop LT_LOOP(cells)[LT_CELLS][2][2] = {ENTRY(tanh), ENTRY(relu), ENTRY(gru),
                                                     ENTRY(lstm)};
