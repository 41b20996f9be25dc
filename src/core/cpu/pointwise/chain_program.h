/* chain_program.h - a chain (devices/chain.h) made ready to run, block by block: for chain.c, and
 * for reductions that take its elements as they come. */
#ifndef LT_CPU_CHAIN_PROGRAM_H
#define LT_CPU_CHAIN_PROGRAM_H

#include "blocks.h"
#include "devices/chain.h"

enum {
    LT_CHAIN_SCRATCH = 128 * 1024, /* bytes of a thread's slots */
    LT_CHAIN_INSTRUCTIONS = LT_CHAIN_STEPS + LT_CHAIN_VALUES,
    LT_CHAIN_OPERANDS = 1 + LT_CHAIN_INPUTS,
    LT_CHAIN_TABLES = 64 * 1024 /* bytes of what is read again and again */
};

/* What is done for a block. */
typedef struct lt_chain_instruction {
    lt_loop loop; /* NULL: elements of `source` are gathered */
    const void *context;
    int source;
    int n, value[LT_CHAIN_OPERANDS]; /* operands, the output first */
    int64_t stride[LT_CHAIN_OPERANDS];
    bool converted[LT_CHAIN_OPERANDS]; /* a number that lies in `number`, as the loop takes it */
    _Alignas(16) char number[1 + LT_CHAIN_INPUTS][16];
    lt_blocks blocks; /* of a loop that takes its operands by way of buffers, or its parameters */
} lt_chain_instruction;

typedef struct lt_chain_program {
    const lt_chain *chain;
    int seen; /* the value that whoever runs it looks at; -1: none */
    int n;
    int64_t length;            /* elements of a block */
    int64_t slot_size;         /* bytes of a slot for one element */
    int slot[LT_CHAIN_VALUES]; /* of each value, -1: none */
    /* elements of a line that is repeated all along: each thread puts it down once, with as many
     * more as a block has; 0: no line */
    int64_t period[LT_CHAIN_VALUES];
    lt_chain_instruction instructions[LT_CHAIN_INSTRUCTIONS];
} lt_chain_program;

/* A program does not move once it is prepared, nor does a run. */
void lt_chain_prepare(lt_chain_program *p, const lt_chain *c, int seen);

/* An address of elements of a value, which goes on from block to block; table: of one with a
 * period. */
typedef struct lt_chain_move {
    char **address, *table;
    int value;
    int64_t size;
} lt_chain_move;

/* A program in a thread's hands, with the addresses that each instruction's loop is given. */
typedef struct lt_chain_run {
    const lt_chain_program *program;
    int calls, moves;
    lt_chain_move move[LT_CHAIN_INSTRUCTIONS * LT_CHAIN_OPERANDS];
    struct {
        const lt_chain_instruction *instruction;
        char *address[LT_CHAIN_OPERANDS];
    } call[LT_CHAIN_INSTRUCTIONS];
    _Alignas(64) char scratch[LT_CHAIN_SCRATCH], tables[LT_CHAIN_TABLES];
} lt_chain_run;

void lt_chain_begin(lt_chain_run *run, const lt_chain_program *p);

/* Elements [from, to) of all values. Those of the value that is seen lie where it says: in `room`,
 * aligned to 64, unless they are written anyway. */
const char *lt_chain_compute(lt_chain_run *run, int64_t from, int64_t to, char *room);

/* The same of any elements [from, from + n): blocks begin at multiples of LT_CHAIN_UNIT, where they
 * would if all were computed, so that loops take the same ones together. room has LT_CHAIN_AROUND
 * elements more than n. */
enum { LT_CHAIN_UNIT = 64, LT_CHAIN_AROUND = 2 * LT_CHAIN_UNIT };
char *lt_chain_elements(lt_chain_run *run, int64_t from, int64_t n, char *room);

/* Whether pieces of so many elements may be computed so by several threads: none of them writes
 * what another one does. */
bool lt_chain_divides(const lt_chain_program *p, int64_t elements);

#endif
