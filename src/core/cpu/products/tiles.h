/* tiles.h - products of bfloat16 by AMX tiles, if the processor and the operating system support
 * them. */
#ifndef LT_CPU_TILES_H
#define LT_CPU_TILES_H

#include "devices/backend.h"

/* Whether AMX supports this product and is available. The first call requests permission from the
 * operating system. */
bool lt_cpu_tiles_accept(const lt_gemm *g);
lt_status lt_cpu_tiles_gemm(const lt_gemm *g);

#endif
