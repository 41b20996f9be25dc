/* no_fuse.c - stands for cpu/pointwise/chain_fuse.c in a library of chosen ops
 * (mk/minimal.mk): the steps of a chain are done one by one, and the library is smaller
 * by their loops. */
#include "cpu/pointwise/chain_program.h"

void lt_chain_fuse(lt_chain_program *p, int take)
{
    (void)take;
    p->n_fused = 0;
    p->taker = NULL;
}
