/* chain.c - a chain of elementwise ops on the CPU (devices/chain.h): each step is done for a block of elements before the next block begins, so
 * that what lies between the steps stays in the first-level cache. The loops are those of pointwise.c; values that are not written lie in
 * slots, which later values take over. */
#include "chain_program.h"
#include "cpu/common/for_each.h"
#include "cpu/common/threads.h"
#include "cpu/cpu.h"
#include "dtypes/dtype.h"

enum {
    CHUNK =
        131072, /* elements that a thread takes at once, as for a single op: blocks end where its runs do */
    CACHE = 24 * 1024,    /* bytes of a block of all values */
    MOST_SLOTS = LT_CHAIN_VALUES,
    LEAST = 64,
    MOST = 8192 /* elements of a block */
};
_Static_assert(MOST_SLOTS *LEAST * 16 <= LT_CHAIN_SCRATCH, "any chain has room");

/* ---- from a chain to a program ---------------------------------------------------------------------------------- */

static void add_gathers(lt_chain_program *p, const lt_chain_step *step, bool *gathered)
{
    for (int i = 0; i < step->n; i++) {
        const int v = step->in[i];
        if (p->chain->values[v].walk == NULL || gathered[v]) continue;
        gathered[v] = true;
        p->instructions[p->n++] = (lt_chain_instruction){.kind = LT_CHAIN_GATHER, .n = 1, .value = {v}};
    }
}

static void add_step(lt_chain_program *p, const lt_chain_step *step)
{
    const lt_chain_value *values = p->chain->values;
    lt_chain_instruction *in = &p->instructions[p->n++];
    lt_dtype dtypes[1 + LT_CHAIN_INPUTS] = {values[step->out].dtype};
    bool numbers[1 + LT_CHAIN_INPUTS] = {false};
    in->kind = step->op == LT_CHAIN_COPY ? LT_CHAIN_CONVERT : LT_CHAIN_DO;
    in->n = 1 + step->n;
    in->value[0] = step->out;
    for (int i = 0; i < step->n; i++) {
        in->value[1 + i] = step->in[i];
        dtypes[1 + i] = values[step->in[i]].dtype;
        numbers[1 + i] = values[step->in[i]].number || p->chain->numel == 1;
    }
    if (in->kind == LT_CHAIN_CONVERT)
        in->convert = lt_loops.cast[dtypes[0]][dtypes[1]];
    else
        lt_prepare_blocks(step->op, step->compute, step->params, in->n, dtypes, numbers,
                          &in->blocks);
}

/* Whether value number v lies in a slot. */
static bool in_slot(const lt_chain_program *p, int v)
{
    const lt_chain_value *value = &p->chain->values[v];
    return v != p->seen && (value->walk != NULL || value->data == NULL);
}

/* A slot for each value that needs one, from the instruction that makes it to the last that reads it. An output takes the slot of an input
 * that ends there where their elements are of one size: loops read an element before they write it. */
static int share_slots(lt_chain_program *p)
{
    const lt_chain_value *values = p->chain->values;
    int last[LT_CHAIN_VALUES], slots = 0, spare = 0, free_slots[MOST_SLOTS];
    for (int v = 0; v < p->chain->n_values; v++) p->slot[v] = last[v] = -1;
    for (int i = 0; i < p->n; i++)
        for (int k = 0; k < p->instructions[i].n; k++) last[p->instructions[i].value[k]] = i;
    for (int i = 0; i < p->n; i++) {
        const lt_chain_instruction *in = &p->instructions[i];
        const int out = in->value[0];
        int ended[LT_CHAIN_INPUTS], n_ended = 0;
        for (int k = 1; k < in->n; k++) {
            const int v = in->value[k];
            bool again = false;
            for (int e = 0; e < n_ended; e++) again = again || ended[e] == p->slot[v];
            if (p->slot[v] < 0 || last[v] != i || again) continue;
            ended[n_ended++] = p->slot[v];
            if (in_slot(p, out) && p->slot[out] < 0 &&
                lt_dtype_size(values[v].dtype) == lt_dtype_size(values[out].dtype)) {
                p->slot[out] = p->slot[v];
                n_ended--;
                last[v] = -1;
            }
        }
        if (in_slot(p, out) && p->slot[out] < 0)
            p->slot[out] = spare > 0 ? free_slots[--spare] : slots++;
        for (int e = 0; e < n_ended; e++)
            if (ended[e] != p->slot[out]) free_slots[spare++] = ended[e];
    }
    return slots;
}

static void choose_length(lt_chain_program *p, int slots)
{
    int64_t streams = 0, largest = 1;
    for (int v = 0; v < p->chain->n_values; v++) {
        const lt_chain_value *value = &p->chain->values[v];
        const int64_t size = (int64_t)lt_dtype_size(value->dtype);
        if (in_slot(p, v) && size > largest) largest = size;
        if ((value->data != NULL || v == p->seen) && !value->number) streams += size;
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

static void run_block(const lt_chain_program *p, char *scratch, int64_t from, int64_t n, char *seen)
{
    for (int i = 0; i < p->n; i++) {
        const lt_chain_instruction *in = &p->instructions[i];
        char *ptrs[1 + LT_CHAIN_INPUTS];
        int64_t strides[1 + LT_CHAIN_INPUTS];
        for (int k = 0; k < in->n; k++) {
            const int number = in->value[k];
            const lt_chain_value *v = &p->chain->values[number];
            const int64_t size = (int64_t)lt_dtype_size(v->dtype);
            strides[k] = v->number ? 0 : size;
            ptrs[k] = number == p->seen ? seen
                      : in_slot(p, number)
                          ? scratch + p->slot[number] * p->length * p->slot_size
                          : v->data + (v->number ? 0 : from * size);
        }
        if (in->kind == LT_CHAIN_GATHER)
            gather(&p->chain->values[in->value[0]], ptrs[0], from, n);
        else if (in->kind == LT_CHAIN_CONVERT)
            in->convert(ptrs, strides, n, NULL);
        else
            lt_run_blocks(ptrs, strides, n, &in->blocks);
    }
}

/* Asks for elements [from, to) of what lies in memory, while the block before is computed: its steps would wait for memory one after the
 * other. */
static void fetch(const lt_chain_program *p, int64_t from, int64_t to)
{
    enum { LINE = 64 };
    for (int v = 0; v < p->chain->n_values; v++) {
        const lt_chain_value *value = &p->chain->values[v];
        if (value->data == NULL || value->number || value->walk != NULL) continue;
        const int64_t size = (int64_t)lt_dtype_size(value->dtype);
        for (int64_t at = from * size; at < to * size; at += LINE) __builtin_prefetch(value->data + at, 0, 2);
    }
}

const char *lt_chain_run(const lt_chain_program *p, char *scratch, int64_t from, int64_t to,
                         char *room)
{
    int64_t size = 0;
    char *seen = NULL;
    if (p->seen >= 0) {
        const lt_chain_value *v = &p->chain->values[p->seen];
        size = (int64_t)lt_dtype_size(v->dtype);
        seen = v->data != NULL ? v->data + from * size : room;
    }
    for (int64_t at = from; at < to; at += p->length) {
        const int64_t next = at + p->length, end = next + p->length;
        if (next < to) fetch(p, next, end < to ? end : to);
        run_block(p, scratch, at, next < to ? p->length : to - at,
                  seen != NULL ? seen + (at - from) * size : NULL);
    }
    return seen;
}

void lt_chain_prepare(lt_chain_program *p, const lt_chain *c, int seen)
{
    bool gathered[LT_CHAIN_VALUES] = {false};
    p->chain = c;
    p->seen = seen;
    p->n = 0;
    for (int i = 0; i < c->n_steps; i++) {
        add_gathers(p, &c->steps[i], gathered);
        add_step(p, &c->steps[i]);
    }
    choose_length(p, share_slots(p));
}

static void run_chunk(const void *context, int64_t c)
{
    const lt_chain_program *p = context;
    _Alignas(64) char scratch[LT_CHAIN_SCRATCH];
    const int64_t end = (c + 1) * CHUNK < p->chain->numel ? (c + 1) * CHUNK : p->chain->numel;
    lt_chain_run(p, scratch, c * CHUNK, end, NULL);
}

lt_status lt_cpu_chain(const lt_chain *c)
{
    lt_chain_program p; /* not zeroed as a whole */
    lt_chain_prepare(&p, c, -1);
    return lt_cpu_share((c->numel + CHUNK - 1) / CHUNK, lt_cpu_threads_for(c->numel * c->n_steps),
                        run_chunk, &p);
}
