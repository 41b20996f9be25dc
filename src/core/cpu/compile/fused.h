/* fused.h - the interpreter of fusion groups (compile/fusion.h) on the CPU. A program is a list of
 * instructions, each one call of a loop for a block of elements. Kernels that consume a value of a
 * group run the program for the elements that they need next: row by row (fused_rows.h), in pieces
 * (fused_reduce.c), or all of them (fused.c). */
#ifndef LT_CPU_FUSED_PROGRAM_H
#define LT_CPU_FUSED_PROGRAM_H

#include "compile/fusion.h"
#include "cpu/pointwise/blocks.h"

enum {
    LT_FUSED_SCRATCH = 128 * 1024, /* bytes of a thread's slots */
    LT_FUSED_INSTRUCTIONS = LT_FUSED_STEPS + LT_FUSED_VALUES,
    LT_FUSED_OPERANDS = 1 + LT_FUSED_INPUTS,
    LT_FUSED_TABLES = 64 * 1024 /* bytes of a thread's tables */
};

/* One call of `loop`, or a gather, for a block. */
typedef struct lt_fused_instruction {
    lt_loop loop; /* NULL: elements of `source` are gathered */
    const void *context;
    int source;
    int n, value[LT_FUSED_OPERANDS]; /* operands, the output first */
    int64_t stride[LT_FUSED_OPERANDS];
    bool converted[LT_FUSED_OPERANDS]; /* a number, stored in `number` as the loop reads it */
    _Alignas(16) char number[1 + LT_FUSED_INPUTS][16];
    lt_blocks blocks; /* context of a loop that converts its operands in buffers */
} lt_fused_instruction;

typedef struct lt_fused_program {
    const lt_fusion *fusion;
    int seen; /* the value that is consumed; -1: none */
    int n;
    int64_t length;            /* elements of a block */
    int64_t slot_size;         /* bytes of a slot for one element */
    int slot[LT_FUSED_VALUES]; /* of each value, -1: none */
    /* elements of a row that is repeated along the whole group: each thread stores it once in a
     * table, followed by a block of its repetition; 0: none */
    int64_t period[LT_FUSED_VALUES];
    lt_fused_instruction instructions[LT_FUSED_INSTRUCTIONS];
} lt_fused_program;

/* A program does not move once it is prepared, nor does a run. */
void lt_fused_prepare(lt_fused_program *p, const lt_fusion *c, int seen);

/* An address that moves on with each block; table: of a value with a period. */
typedef struct lt_fused_move {
    char **address, *table;
    int value;
    int64_t size;
} lt_fused_move;

/* The state of a thread that runs a program: the addresses of each instruction's operands. */
typedef struct lt_fused_run {
    const lt_fused_program *program;
    int calls, moves;
    lt_fused_move move[LT_FUSED_INSTRUCTIONS * LT_FUSED_OPERANDS];
    struct {
        const lt_fused_instruction *instruction;
        char *address[LT_FUSED_OPERANDS];
    } call[LT_FUSED_INSTRUCTIONS];
    _Alignas(64) char scratch[LT_FUSED_SCRATCH], tables[LT_FUSED_TABLES];
} lt_fused_run;

void lt_fused_begin(lt_fused_run *run, const lt_fused_program *p);

/* Computes elements [from, to) of all values. Returns the address of the consumed ones: in `room`,
 * aligned to 64, unless the value has memory. */
const char *lt_fused_compute(lt_fused_run *run, int64_t from, int64_t to, char *room);

/* The same for any elements [from, from + n): blocks begin at multiples of LT_FUSED_UNIT, so that
 * vector loops group elements as they do when all are computed. room has LT_FUSED_AROUND elements
 * more than n. */
enum { LT_FUSED_UNIT = 64, LT_FUSED_AROUND = 2 * LT_FUSED_UNIT };
char *lt_fused_elements(lt_fused_run *run, int64_t from, int64_t n, char *room);

/* Whether several threads may compute pieces of so many elements by it: no two of them write the
 * same element. */
bool lt_fused_divides(const lt_fused_program *p, int64_t elements);

#endif
