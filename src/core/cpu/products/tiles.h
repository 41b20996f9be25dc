/* tiles.h - products of bfloat16 by the tiles of AMX, where the processor has them and the system
 * lends them. */
#ifndef LT_CPU_TILES_H
#define LT_CPU_TILES_H

#include "devices/backend.h"

/* Whether this product is one for tiles; the first question asks the system for them. */
bool lt_cpu_tiles_accept(const lt_gemm *g);
lt_status lt_cpu_tiles_gemm(const lt_gemm *g);

#endif
