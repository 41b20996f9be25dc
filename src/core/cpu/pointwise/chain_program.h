/* chain_program.h - a chain (devices/chain.h) made ready to run, block by block: for chain.c, and for reductions that take its elements as
 * they come. */
#ifndef LT_CPU_CHAIN_PROGRAM_H
#define LT_CPU_CHAIN_PROGRAM_H

#include "blocks.h"
#include "devices/chain.h"

enum { LT_CHAIN_SCRATCH = 128 * 1024 }; /* bytes that a thread lends to a program */

/* What is done for a block. */
typedef struct lt_chain_instruction {
    enum { LT_CHAIN_GATHER, LT_CHAIN_DO, LT_CHAIN_CONVERT } kind;
    int n, value[1 + LT_CHAIN_INPUTS]; /* operands, the output first; of a gather it alone */
    lt_blocks blocks;                  /* of what is done */
    lt_loop convert;
} lt_chain_instruction;

typedef struct lt_chain_program {
    const lt_chain *chain;
    int seen; /* the value that whoever runs it looks at; -1: none */
    int n;
    int64_t length;            /* elements of a block */
    int64_t slot_size;         /* bytes of a slot for one element */
    int slot[LT_CHAIN_VALUES]; /* of each value, -1: none */
    lt_chain_instruction instructions[LT_CHAIN_STEPS + LT_CHAIN_VALUES];
} lt_chain_program;

void lt_chain_prepare(lt_chain_program *p, const lt_chain *c, int seen);

/* Elements [from, to) of all values. Those of the value that is seen lie where it says: in `room`, unless they are written anyway.
 * scratch: LT_CHAIN_SCRATCH bytes, aligned to 64, as room. */
const char *lt_chain_run(const lt_chain_program *p, char *scratch, int64_t from, int64_t to,
                         char *room);

#endif
