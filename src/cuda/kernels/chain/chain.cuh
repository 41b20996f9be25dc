/* chain.cuh - lines of a chain's value as they are reduced by one generated kernel. */
#ifndef LT_CHAIN_CHAIN_CUH
#define LT_CHAIN_CHAIN_CUH

#include <cuda_runtime.h>

#include "plan.cuh"

/* The totals of the shares of each line, in lines.parts. *done is false where no kernel is generated for it; nothing was written then. LT_ERR_MEMORY, and
 * what the runtime says. */
lt_status lt_chain_reduce(const lt_chain *c, const lt_chain_end &end, const lt_chain_lines &lines, cudaStream_t stream, bool *done);

#endif
