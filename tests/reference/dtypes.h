/* Written by generate.py dtypes: PyTorch's torch.promote_types and torch.can_cast, the sizes of
 * elements, and doubles (their bits) as float16 and bfloat16. */
#include <stdint.h>

#include "ltensor.h"

static const lt_dtype promoted[LT_DTYPE_COUNT][LT_DTYPE_COUNT] = {
    [LT_BOOL] = {LT_BOOL,       LT_UINT8,      LT_INT8,       LT_INT16,      LT_INT32,
                 LT_INT64,      LT_FLOAT16,    LT_BFLOAT16,   LT_FLOAT32,    LT_FLOAT64,
                 LT_COMPLEX32,  LT_COMPLEX64,  LT_COMPLEX128, LT_DTYPE_NONE, LT_DTYPE_NONE,
                 LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                 LT_DTYPE_NONE},
    [LT_UINT8] = {LT_UINT8,      LT_UINT8,      LT_INT16,      LT_INT16,      LT_INT32,
                  LT_INT64,      LT_FLOAT16,    LT_BFLOAT16,   LT_FLOAT32,    LT_FLOAT64,
                  LT_COMPLEX32,  LT_COMPLEX64,  LT_COMPLEX128, LT_DTYPE_NONE, LT_DTYPE_NONE,
                  LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                  LT_DTYPE_NONE},
    [LT_INT8] = {LT_INT8,       LT_INT16,      LT_INT8,       LT_INT16,      LT_INT32,
                 LT_INT64,      LT_FLOAT16,    LT_BFLOAT16,   LT_FLOAT32,    LT_FLOAT64,
                 LT_COMPLEX32,  LT_COMPLEX64,  LT_COMPLEX128, LT_DTYPE_NONE, LT_DTYPE_NONE,
                 LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                 LT_DTYPE_NONE},
    [LT_INT16] = {LT_INT16,      LT_INT16,      LT_INT16,      LT_INT16,      LT_INT32,
                  LT_INT64,      LT_FLOAT16,    LT_BFLOAT16,   LT_FLOAT32,    LT_FLOAT64,
                  LT_COMPLEX32,  LT_COMPLEX64,  LT_COMPLEX128, LT_DTYPE_NONE, LT_DTYPE_NONE,
                  LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                  LT_DTYPE_NONE},
    [LT_INT32] = {LT_INT32,      LT_INT32,      LT_INT32,      LT_INT32,      LT_INT32,
                  LT_INT64,      LT_FLOAT16,    LT_BFLOAT16,   LT_FLOAT32,    LT_FLOAT64,
                  LT_COMPLEX32,  LT_COMPLEX64,  LT_COMPLEX128, LT_DTYPE_NONE, LT_DTYPE_NONE,
                  LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                  LT_DTYPE_NONE},
    [LT_INT64] = {LT_INT64,      LT_INT64,      LT_INT64,      LT_INT64,      LT_INT64,
                  LT_INT64,      LT_FLOAT16,    LT_BFLOAT16,   LT_FLOAT32,    LT_FLOAT64,
                  LT_COMPLEX32,  LT_COMPLEX64,  LT_COMPLEX128, LT_DTYPE_NONE, LT_DTYPE_NONE,
                  LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                  LT_DTYPE_NONE},
    [LT_FLOAT16] = {LT_FLOAT16,   LT_FLOAT16,    LT_FLOAT16,    LT_FLOAT16,    LT_FLOAT16,
                    LT_FLOAT16,   LT_FLOAT16,    LT_FLOAT32,    LT_FLOAT32,    LT_FLOAT64,
                    LT_COMPLEX32, LT_COMPLEX64,  LT_COMPLEX128, LT_FLOAT16,    LT_FLOAT16,
                    LT_FLOAT16,   LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                    LT_DTYPE_NONE},
    [LT_BFLOAT16] = {LT_BFLOAT16,  LT_BFLOAT16,   LT_BFLOAT16,   LT_BFLOAT16,   LT_BFLOAT16,
                     LT_BFLOAT16,  LT_FLOAT32,    LT_BFLOAT16,   LT_FLOAT32,    LT_FLOAT64,
                     LT_COMPLEX64, LT_COMPLEX64,  LT_COMPLEX128, LT_BFLOAT16,   LT_BFLOAT16,
                     LT_BFLOAT16,  LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                     LT_DTYPE_NONE},
    [LT_FLOAT32] = {LT_FLOAT32,   LT_FLOAT32,    LT_FLOAT32,    LT_FLOAT32,    LT_FLOAT32,
                    LT_FLOAT32,   LT_FLOAT32,    LT_FLOAT32,    LT_FLOAT32,    LT_FLOAT64,
                    LT_COMPLEX64, LT_COMPLEX64,  LT_COMPLEX128, LT_FLOAT32,    LT_FLOAT32,
                    LT_FLOAT32,   LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                    LT_DTYPE_NONE},
    [LT_FLOAT64] = {LT_FLOAT64,    LT_FLOAT64,    LT_FLOAT64,    LT_FLOAT64,    LT_FLOAT64,
                    LT_FLOAT64,    LT_FLOAT64,    LT_FLOAT64,    LT_FLOAT64,    LT_FLOAT64,
                    LT_COMPLEX128, LT_COMPLEX128, LT_COMPLEX128, LT_FLOAT64,    LT_FLOAT64,
                    LT_FLOAT64,    LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                    LT_DTYPE_NONE},
    [LT_COMPLEX32] = {LT_COMPLEX32,  LT_COMPLEX32,  LT_COMPLEX32,  LT_COMPLEX32,  LT_COMPLEX32,
                      LT_COMPLEX32,  LT_COMPLEX32,  LT_COMPLEX64,  LT_COMPLEX64,  LT_COMPLEX128,
                      LT_COMPLEX32,  LT_COMPLEX64,  LT_COMPLEX128, LT_DTYPE_NONE, LT_DTYPE_NONE,
                      LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                      LT_DTYPE_NONE},
    [LT_COMPLEX64] = {LT_COMPLEX64,  LT_COMPLEX64,  LT_COMPLEX64,  LT_COMPLEX64,  LT_COMPLEX64,
                      LT_COMPLEX64,  LT_COMPLEX64,  LT_COMPLEX64,  LT_COMPLEX64,  LT_COMPLEX128,
                      LT_COMPLEX64,  LT_COMPLEX64,  LT_COMPLEX128, LT_DTYPE_NONE, LT_DTYPE_NONE,
                      LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                      LT_DTYPE_NONE},
    [LT_COMPLEX128] = {LT_COMPLEX128, LT_COMPLEX128, LT_COMPLEX128, LT_COMPLEX128, LT_COMPLEX128,
                       LT_COMPLEX128, LT_COMPLEX128, LT_COMPLEX128, LT_COMPLEX128, LT_COMPLEX128,
                       LT_COMPLEX128, LT_COMPLEX128, LT_COMPLEX128, LT_DTYPE_NONE, LT_DTYPE_NONE,
                       LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                       LT_DTYPE_NONE},
    [LT_UINT16] = {LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                   LT_DTYPE_NONE, LT_FLOAT16,    LT_BFLOAT16,   LT_FLOAT32,    LT_FLOAT64,
                   LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_UINT16,     LT_DTYPE_NONE,
                   LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                   LT_DTYPE_NONE},
    [LT_UINT32] = {LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                   LT_DTYPE_NONE, LT_FLOAT16,    LT_BFLOAT16,   LT_FLOAT32,    LT_FLOAT64,
                   LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_UINT32,
                   LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                   LT_DTYPE_NONE},
    [LT_UINT64] = {LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                   LT_DTYPE_NONE, LT_FLOAT16,    LT_BFLOAT16,   LT_FLOAT32,    LT_FLOAT64,
                   LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                   LT_UINT64,     LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                   LT_DTYPE_NONE},
    [LT_FLOAT8_E5M2] = {LT_DTYPE_NONE, LT_DTYPE_NONE,  LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                        LT_DTYPE_NONE, LT_DTYPE_NONE,  LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                        LT_DTYPE_NONE, LT_DTYPE_NONE,  LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                        LT_DTYPE_NONE, LT_FLOAT8_E5M2, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                        LT_DTYPE_NONE},
    [LT_FLOAT8_E4M3FN] = {LT_DTYPE_NONE, LT_DTYPE_NONE,    LT_DTYPE_NONE, LT_DTYPE_NONE,
                          LT_DTYPE_NONE, LT_DTYPE_NONE,    LT_DTYPE_NONE, LT_DTYPE_NONE,
                          LT_DTYPE_NONE, LT_DTYPE_NONE,    LT_DTYPE_NONE, LT_DTYPE_NONE,
                          LT_DTYPE_NONE, LT_DTYPE_NONE,    LT_DTYPE_NONE, LT_DTYPE_NONE,
                          LT_DTYPE_NONE, LT_FLOAT8_E4M3FN, LT_DTYPE_NONE, LT_DTYPE_NONE,
                          LT_DTYPE_NONE},
    [LT_FLOAT8_E5M2FNUZ] = {LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,      LT_DTYPE_NONE,
                            LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,      LT_DTYPE_NONE,
                            LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,      LT_DTYPE_NONE,
                            LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,      LT_DTYPE_NONE,
                            LT_DTYPE_NONE, LT_DTYPE_NONE, LT_FLOAT8_E5M2FNUZ, LT_DTYPE_NONE,
                            LT_DTYPE_NONE},
    [LT_FLOAT8_E4M3FNUZ] = {LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                            LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                            LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                            LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                            LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE, LT_FLOAT8_E4M3FNUZ,
                            LT_DTYPE_NONE},
    [LT_FLOAT8_E8M0FNU] = {LT_DTYPE_NONE,    LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                           LT_DTYPE_NONE,    LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                           LT_DTYPE_NONE,    LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                           LT_DTYPE_NONE,    LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                           LT_DTYPE_NONE,    LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE,
                           LT_FLOAT8_E8M0FNU},
};

/* From the row's dtype to the column's. */
static const bool castable[LT_DTYPE_COUNT][LT_DTYPE_COUNT] = {
    [LT_BOOL] = {true, true, true, true, true, true, true, true, true, true, true,
                 true, true, true, true, true, true, true, true, true, true},
    [LT_UINT8] = {false, true, true, true, true, true, true, true, true, true, true,
                  true,  true, true, true, true, true, true, true, true, true},
    [LT_INT8] = {false, true, true, true, true, true, true, true, true, true, true,
                 true,  true, true, true, true, true, true, true, true, true},
    [LT_INT16] = {false, true, true, true, true, true, true, true, true, true, true,
                  true,  true, true, true, true, true, true, true, true, true},
    [LT_INT32] = {false, true, true, true, true, true, true, true, true, true, true,
                  true,  true, true, true, true, true, true, true, true, true},
    [LT_INT64] = {false, true, true, true, true, true, true, true, true, true, true,
                  true,  true, true, true, true, true, true, true, true, true},
    [LT_FLOAT16] = {false, false, false, false, false, false, true, true, true, true, true,
                    true,  true,  false, false, false, true,  true, true, true, true},
    [LT_BFLOAT16] = {false, false, false, false, false, false, true, true, true, true, true,
                     true,  true,  false, false, false, true,  true, true, true, true},
    [LT_FLOAT32] = {false, false, false, false, false, false, true, true, true, true, true,
                    true,  true,  false, false, false, true,  true, true, true, true},
    [LT_FLOAT64] = {false, false, false, false, false, false, true, true, true, true, true,
                    true,  true,  false, false, false, true,  true, true, true, true},
    [LT_COMPLEX32] = {false, false, false, false, false, false, false, false, false, false, true,
                      true,  true,  false, false, false, false, false, false, false, false},
    [LT_COMPLEX64] = {false, false, false, false, false, false, false, false, false, false, true,
                      true,  true,  false, false, false, false, false, false, false, false},
    [LT_COMPLEX128] = {false, false, false, false, false, false, false, false, false, false, true,
                       true,  true,  false, false, false, false, false, false, false, false},
    [LT_UINT16] = {false, true, true, true, true, true, true, true, true, true, true,
                   true,  true, true, true, true, true, true, true, true, true},
    [LT_UINT32] = {false, true, true, true, true, true, true, true, true, true, true,
                   true,  true, true, true, true, true, true, true, true, true},
    [LT_UINT64] = {false, true, true, true, true, true, true, true, true, true, true,
                   true,  true, true, true, true, true, true, true, true, true},
    [LT_FLOAT8_E5M2] = {false, false, false, false, false, false, true, true, true, true, true,
                        true,  true,  false, false, false, true,  true, true, true, true},
    [LT_FLOAT8_E4M3FN] = {false, false, false, false, false, false, true, true, true, true, true,
                          true,  true,  false, false, false, true,  true, true, true, true},
    [LT_FLOAT8_E5M2FNUZ] = {false, false, false, false, false, false, true, true, true, true, true,
                            true,  true,  false, false, false, true,  true, true, true, true},
    [LT_FLOAT8_E4M3FNUZ] = {false, false, false, false, false, false, true, true, true, true, true,
                            true,  true,  false, false, false, true,  true, true, true, true},
    [LT_FLOAT8_E8M0FNU] = {false, false, false, false, false, false, true, true, true, true, true,
                           true,  true,  false, false, false, true,  true, true, true, true},
};

static const size_t bytes[LT_DTYPE_COUNT] = {[LT_BOOL] = 1,
                                             [LT_UINT8] = 1,
                                             [LT_INT8] = 1,
                                             [LT_INT16] = 2,
                                             [LT_INT32] = 4,
                                             [LT_INT64] = 8,
                                             [LT_FLOAT16] = 2,
                                             [LT_BFLOAT16] = 2,
                                             [LT_FLOAT32] = 4,
                                             [LT_FLOAT64] = 8,
                                             [LT_COMPLEX32] = 4,
                                             [LT_COMPLEX64] = 8,
                                             [LT_COMPLEX128] = 16,
                                             [LT_UINT16] = 2,
                                             [LT_UINT32] = 4,
                                             [LT_UINT64] = 8,
                                             [LT_FLOAT8_E5M2] = 1,
                                             [LT_FLOAT8_E4M3FN] = 1,
                                             [LT_FLOAT8_E5M2FNUZ] = 1,
                                             [LT_FLOAT8_E4M3FNUZ] = 1,
                                             [LT_FLOAT8_E8M0FNU] = 1};

static const struct {
    uint64_t number;
    uint16_t half, bfloat16;
} stored[] = {
    {0x0000000000000000, 0x0000, 0x0000}, /* 0.0 */
    {0x8000000000000000, 0x8000, 0x8000}, /* -0.0 */
    {0x3ff0000000000000, 0x3c00, 0x3f80}, /* 1.0 */
    {0xbff8000000000000, 0xbe00, 0xbfc0}, /* -1.5 */
    {0x3fd5555555555555, 0x3555, 0x3eab}, /* 0.3333333333333333 */
    {0x40a0020000000000, 0x6800, 0x4500}, /* 2049.0 */
    {0x40a0060000000000, 0x6802, 0x4500}, /* 2051.0 */
    {0x40effc0000000000, 0x7bff, 0x4780}, /* 65504.0 */
    {0x40effde000000000, 0x7bff, 0x4780}, /* 65519.0 */
    {0x40effe0000000000, 0x7c00, 0x4780}, /* 65520.0 */
    {0x40f86a0000000000, 0x7c00, 0x47c3}, /* 100000.0 */
    {0xc0f86a0000000000, 0xfc00, 0xc7c3}, /* -100000.0 */
    {0x3f10000000000000, 0x0400, 0x3880}, /* 6.103515625e-05 */
    {0x3e70000000000000, 0x0001, 0x3380}, /* 5.960464477539063e-08 */
    {0x3e60000000000000, 0x0000, 0x3300}, /* 2.9802322387695312e-08 */
    {0x3e78000000000000, 0x0002, 0x33c0}, /* 8.940696716308594e-08 */
    {0x4070100000000000, 0x5c04, 0x4380}, /* 257.0 */
    {0x4070300000000000, 0x5c0c, 0x4382}, /* 259.0 */
    {0x47efe00000000000, 0x7c00, 0x7f7f}, /* 3.3895313892515355e+38 */
    {0x47eff933c78cdfad, 0x7c00, 0x7f80}, /* 3.4e+38 */
    {0x48078287f49c4a1d, 0x7c00, 0x7f80}, /* 1e+39 */
    {0x37a16c262777579c, 0x0000, 0x0001}, /* 1e-40 */
    {0x366244ce242c5561, 0x0000, 0x0000}, /* 1e-46 */
    {0x7ff0000000000000, 0x7c00, 0x7f80}, /* inf */
    {0xfff0000000000000, 0xfc00, 0xff80}, /* -inf */
    {0x7ff8000000000000, 0x7e00, 0x7fc0}, /* nan */
};
