/* chain.c - a chain of elementwise ops on the CPU (devices/chain.h): each step is done for a block of elements before the next block begins, so
 * that what lies between the steps stays in the first-level cache. The loops are those of pointwise.c; values that are not written lie in
 * slots, which later values take over. */
#include "blocks.h"
#include "cpu/common/for_each.h"
#include "cpu/common/threads.h"
#include "cpu/cpu.h"
#include "dtypes/dtype.h"

enum {
    CHUNK =
        131072, /* elements that a thread takes at once, as for a single op: blocks end where its runs do */
    CACHE = 24 * 1024,    /* bytes of a block of all values */
    SCRATCH = 128 * 1024, /* bytes of all slots */
    MOST_SLOTS = LT_CHAIN_VALUES,
    LEAST = 64,
    MOST = 8192 /* elements of a block */
};
_Static_assert(MOST_SLOTS *LEAST * 16 <= SCRATCH, "any chain has room");

typedef enum kind { GATHER, STEP, CONVERT } kind;

/* What is done for a block. */
typedef struct instruction {
    kind kind;
    int n, value[1 + LT_CHAIN_INPUTS]; /* operands, the output first; of GATHER it alone */
    lt_blocks blocks;                  /* of STEP */
    lt_loop convert;                   /* of CONVERT */
} instruction;

typedef struct program {
    const lt_chain *chain;
    int n;
    int64_t length;            /* elements of a block */
    int64_t slot_size;         /* bytes of a slot for one element */
    int slot[LT_CHAIN_VALUES]; /* of each value, -1: none */
    instruction instructions[LT_CHAIN_STEPS + LT_CHAIN_VALUES];
} program;

/* ---- from a chain to a program ---------------------------------------------------------------------------------- */

static void add_gathers(program *p, const lt_chain_step *step, bool *gathered)
{
    for (int i = 0; i < step->n; i++) {
        const int v = step->in[i];
        if (p->chain->values[v].walk == NULL || gathered[v]) continue;
        gathered[v] = true;
        p->instructions[p->n++] = (instruction){.kind = GATHER, .n = 1, .value = {v}};
    }
}

static void add_step(program *p, const lt_chain_step *step)
{
    const lt_chain_value *values = p->chain->values;
    instruction *in = &p->instructions[p->n++];
    lt_dtype dtypes[1 + LT_CHAIN_INPUTS] = {values[step->out].dtype};
    bool numbers[1 + LT_CHAIN_INPUTS] = {false};
    in->kind = step->op == LT_CHAIN_COPY ? CONVERT : STEP;
    in->n = 1 + step->n;
    in->value[0] = step->out;
    for (int i = 0; i < step->n; i++) {
        in->value[1 + i] = step->in[i];
        dtypes[1 + i] = values[step->in[i]].dtype;
        numbers[1 + i] = values[step->in[i]].number || p->chain->numel == 1;
    }
    if (in->kind == CONVERT)
        in->convert = lt_loops.cast[dtypes[0]][dtypes[1]];
    else
        lt_prepare_blocks(step->op, step->compute, step->params, in->n, dtypes, numbers,
                          &in->blocks);
}

/* Whether the value lies in a slot. */
static bool in_slot(const lt_chain_value *v) { return v->walk != NULL || v->data == NULL; }

/* A slot for each value that needs one, from the instruction that makes it to the last that reads it. An output takes the slot of an input
 * that ends there where their elements are of one size: loops read an element before they write it. */
static int share_slots(program *p)
{
    const lt_chain_value *values = p->chain->values;
    int last[LT_CHAIN_VALUES], slots = 0, spare = 0, free_slots[MOST_SLOTS];
    for (int v = 0; v < p->chain->n_values; v++) p->slot[v] = last[v] = -1;
    for (int i = 0; i < p->n; i++)
        for (int k = 0; k < p->instructions[i].n; k++) last[p->instructions[i].value[k]] = i;
    for (int i = 0; i < p->n; i++) {
        const instruction *in = &p->instructions[i];
        const int out = in->value[0];
        int ended[LT_CHAIN_INPUTS], n_ended = 0;
        for (int k = 1; k < in->n; k++) {
            const int v = in->value[k];
            bool again = false;
            for (int e = 0; e < n_ended; e++) again = again || ended[e] == p->slot[v];
            if (p->slot[v] < 0 || last[v] != i || again) continue;
            ended[n_ended++] = p->slot[v];
            if (in_slot(&values[out]) && p->slot[out] < 0 &&
                lt_dtype_size(values[v].dtype) == lt_dtype_size(values[out].dtype)) {
                p->slot[out] = p->slot[v];
                n_ended--;
                last[v] = -1;
            }
        }
        if (in_slot(&values[out]) && p->slot[out] < 0)
            p->slot[out] = spare > 0 ? free_slots[--spare] : slots++;
        for (int e = 0; e < n_ended; e++)
            if (ended[e] != p->slot[out]) free_slots[spare++] = ended[e];
    }
    return slots;
}

static void choose_length(program *p, int slots)
{
    int64_t streams = 0, largest = 1;
    for (int v = 0; v < p->chain->n_values; v++) {
        const lt_chain_value *value = &p->chain->values[v];
        const int64_t size = (int64_t)lt_dtype_size(value->dtype);
        if (in_slot(value) && size > largest) largest = size;
        if (value->data != NULL && !value->number) streams += size;
    }
    p->slot_size = largest;
    p->length = LEAST;
    while (p->length < MOST && 2 * p->length * (slots * largest + streams) <= CACHE) p->length *= 2;
}

/* ---- running it --------------------------------------------------------------------------------------------------- */

/* Elements [from, from + n) of a value that is walked, one after the other. */
static void gather(const lt_chain_value *v, char *to, int64_t from, int64_t n)
{
    char *const ptrs[] = {to - from * v->walk->strides[0][0], v->walk->data[1]};
    lt_cpu_walk(v->walk, v->walk->ndim, ptrs, from, from + n, lt_loops.cast[v->dtype][v->dtype],
                NULL);
}

static void run_block(const program *p, char *scratch, int64_t from, int64_t n)
{
    for (int i = 0; i < p->n; i++) {
        const instruction *in = &p->instructions[i];
        char *ptrs[1 + LT_CHAIN_INPUTS];
        int64_t strides[1 + LT_CHAIN_INPUTS];
        for (int k = 0; k < in->n; k++) {
            const lt_chain_value *v = &p->chain->values[in->value[k]];
            const int64_t size = (int64_t)lt_dtype_size(v->dtype);
            strides[k] = v->number ? 0 : size;
            ptrs[k] = in_slot(v) ? scratch + p->slot[in->value[k]] * p->length * p->slot_size
                                 : v->data + (v->number ? 0 : from * size);
        }
        if (in->kind == GATHER)
            gather(&p->chain->values[in->value[0]], ptrs[0], from, n);
        else if (in->kind == CONVERT)
            in->convert(ptrs, strides, n, NULL);
        else
            lt_run_blocks(ptrs, strides, n, &in->blocks);
    }
}

static void run_chunk(const void *context, int64_t c)
{
    const program *p = context;
    _Alignas(64) char scratch[SCRATCH];
    const int64_t end = (c + 1) * CHUNK < p->chain->numel ? (c + 1) * CHUNK : p->chain->numel;
    for (int64_t from = c * CHUNK; from < end; from += p->length)
        run_block(p, scratch, from, end - from < p->length ? end - from : p->length);
}

lt_status lt_cpu_chain(const lt_chain *c)
{
    program p; /* not zeroed as a whole */
    bool gathered[LT_CHAIN_VALUES] = {false};
    p.chain = c;
    p.n = 0;
    for (int i = 0; i < c->n_steps; i++) {
        add_gathers(&p, &c->steps[i], gathered);
        add_step(&p, &c->steps[i]);
    }
    choose_length(&p, share_slots(&p));
    return lt_cpu_share((c->numel + CHUNK - 1) / CHUNK, lt_cpu_threads_for(c->numel * c->n_steps),
                        run_chunk, &p);
}
