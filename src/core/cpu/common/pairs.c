/* pairs.c - see pairs.h. */
#include "pairs.h"

#include <string.h>

const lt_pair_loops *lt_pairs(void)
{
#ifdef __x86_64__
    if (strcmp(lt_loops.isa, "avx512") == 0) return lt_pairs_avx512;
    return strcmp(lt_loops.isa, "avx2") == 0 ? lt_pairs_avx2 : NULL;
#else
    return lt_pairs_baseline;
#endif
}
