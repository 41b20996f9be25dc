/* matmul.c - matrix products of integers: each row of C is a sum of rows of B. */
#include "cpu/common/loops.h"

/* The types are unsigned, so that overflow is defined: results wrap. */
#define T       uint8_t
#define W       uint32_t
#define S(name) name##_u8
#include "matmul.inc"
#define T       uint16_t
#define W       uint32_t
#define S(name) name##_u16
#include "matmul.inc"
#define T       uint32_t
#define W       uint32_t
#define S(name) name##_u32
#include "matmul.inc"
#define T       uint64_t
#define W       uint64_t
#define S(name) name##_u64
#include "matmul.inc"

const lt_product_loop LT_LOOP(multiply)[LT_DTYPE_COUNT] = {
    [LT_UINT8] = multiply_u8,  [LT_INT8] = multiply_u8,   [LT_INT16] = multiply_u16,
    [LT_INT32] = multiply_u32, [LT_INT64] = multiply_u64,
};
