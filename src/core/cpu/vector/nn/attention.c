/* attention.c - the row operations of attention between its matrix products (online softmax and its
 * derivative; lt_attention_loops), in float and double. The loops are in attention.inc. */
#include "cpu/common/loops.h"
#include "cpu/vector/vector_math.h"

#define T       float
#define S(name) name##_f32
#define M(g)    g##f
#include "attention.inc"
#undef T
#undef S
#undef M
#define T       double
#define S(name) name##_f64
#define M(g)    g
#include "attention.inc"
#undef T
#undef S
#undef M

const lt_attention_loops LT_LOOP(attention)[2] = {
    {step_f32, multiply_f32, weights_f32, slopes_f32, dot_f32},
    {step_f64, multiply_f64, weights_f64, slopes_f64, dot_f64},
};
