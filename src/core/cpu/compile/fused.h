/* fused.h - interpreter of fusion groups (compile/fusion.h) on the CPU. A program is a list of
 * instructions, each one call of a loop for a block of elements. It is run for all elements
 * (fused.c), or by a kernel that consumes a value, for the elements that it reads next: by rows
 * (fused_rows.h) or pieces (fused_reduce.c). */
#ifndef LT_CPU_FUSED_PROGRAM_H
#define LT_CPU_FUSED_PROGRAM_H

#include "compile/fusion.h"
#include "cpu/pointwise/blocks.h"

enum {
    LT_FUSED_SCRATCH = 128 * 1024, /* bytes of a thread's slots (buffers of one block) */
    LT_FUSED_INSTRUCTIONS = LT_FUSED_STEPS + LT_FUSED_VALUES,
    LT_FUSED_OPERANDS = 1 + LT_FUSED_INPUTS,
    LT_FUSED_TABLES = 64 * 1024 /* bytes of a thread's tables */
};

/* One call of `loop`, or a gather, for a block. */
typedef struct lt_fused_instruction {
    lt_loop loop; /* NULL: elements of `source` are gathered */
    const void *context;
    int source;
    int n, value[LT_FUSED_OPERANDS]; /* indices of the operands, the output first */
    int64_t stride[LT_FUSED_OPERANDS];
    /* operand is a scalar, converted to the loop's dtype in `number` */
    bool converted[LT_FUSED_OPERANDS];
    _Alignas(16) char number[1 + LT_FUSED_INPUTS][16];
    lt_blocks blocks; /* context of lt_run_blocks, which converts operands through buffers */
} lt_fused_instruction;

typedef struct lt_fused_program {
    const lt_fusion *fusion;
    int seen; /* the consumed value; -1: none */
    int n;
    int64_t length;            /* elements of a block */
    int64_t slot_size;         /* bytes per element of a slot */
    int slot[LT_FUSED_VALUES]; /* of each value; -1: it needs none */
    /* Elements of a row that is repeated along the whole group. Each thread stores it once in a
     * table, followed by one block of its repetition. 0: no such row. */
    int64_t period[LT_FUSED_VALUES];
    lt_fused_instruction instructions[LT_FUSED_INSTRUCTIONS];
} lt_fused_program;

/* Programs and runs contain pointers to themselves: do not move them. */
void lt_fused_prepare(lt_fused_program *p, const lt_fusion *c, int seen);

/* An operand address to update for each block. table: for a value with a period; else NULL. */
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

/* Computes elements [from, to) of all values. Returns the address of the consumed value's elements:
 * in `room` (aligned to 64 bytes), or in its memory if it has any. */
const char *lt_fused_compute(lt_fused_run *run, int64_t from, int64_t to, char *room);

/* As lt_fused_compute for any [from, from + n). Blocks begin at multiples of LT_FUSED_UNIT, so that
 * vector loops group elements, and round, as in a run over all elements. room: n + LT_FUSED_AROUND
 * elements. */
enum { LT_FUSED_UNIT = 64, LT_FUSED_AROUND = 2 * LT_FUSED_UNIT };
char *lt_fused_elements(lt_fused_run *run, int64_t from, int64_t n, char *room);

/* Whether several threads may run pieces of `elements` elements: no two of them write the same
 * element. */
bool lt_fused_divides(const lt_fused_program *p, int64_t elements);

#endif
