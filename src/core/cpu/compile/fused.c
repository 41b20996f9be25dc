/* fused.c - see fused.h. All instructions are executed for one block of elements before the next
 * block, so that intermediate values stay in L1. Eager ops run the same loops (pointwise.c).
 *
 * Building a program: steps become instructions in SSA form, preceded by gathers of their inputs. A
 * linear-scan register allocator assigns buffers (slots) to values without memory; the block length
 * follows from their number. */
#include <string.h>

#include "fused.h"

#include "cpu/common/for_each.h"
#include "cpu/common/threads.h"
#include "cpu/cpu.h"
#include "dtypes/dtype.h"

enum {
    CHUNK = 131072, /* maximum elements of a thread's piece */
    /* Bytes of a block: of one value, so that call overhead is small, and of all values in use,
     * which half of a 48 KB L1 cache holds. tests/bench/compile on an AMD EPYC (Zen 3, 2026-11-28),
     * one thread: 2 KB per value are 2 to 3 % slower, 8 KB no faster. */
    VALUE_BYTES = 4096,
    BLOCK_BYTES = 24 * 1024,
    ROW_BYTES = 16 * 1024, /* of the longest row of a table, which stays in L1, too */
    MIN_LENGTH = 64        /* elements of a block */
};
_Static_assert(LT_FUSED_VALUES *MIN_LENGTH * 16 <= LT_FUSED_SCRATCH, "any fusion has room");

/* ---- building a program ---------------------------------------------------------------------- */

/* Appends a gather of `source` to the memory or slot of `to`. */
static void add_gather(lt_fused_program *p, int to, int source)
{
    lt_fused_instruction *in = &p->instructions[p->n++];
    in->loop = NULL;
    in->n = 1;
    in->value[0] = to;
    in->source = source;
    in->converted[0] = false;
}

static bool needs_gather(const lt_fused_program *p, int v)
{
    return lt_is_gathered(&p->fusion->values[v]) && p->period[v] == 0;
}

/* Adds gathers of the step's inputs to slots, unless an earlier step has gathered them. */
static void add_gathers(lt_fused_program *p, const lt_fused_step *step, bool *gathered)
{
    for (int i = 0; i < step->n; i++) {
        const int v = step->in[i];
        if (!needs_gather(p, v) || gathered[v]) continue;
        gathered[v] = true;
        add_gather(p, v, v);
    }
}

/* Whether a step only copies a gathered input: then that is gathered to the result directly. */
static bool copies_gathered(const lt_fused_program *p, const lt_fused_step *step)
{
    const lt_fused_value *values = p->fusion->values;
    return step->op == LT_FUSED_COPY && needs_gather(p, step->in[0]) &&
           values[step->in[0]].dtype == values[step->out].dtype;
}

/* Selects the loop of an op: the op's own if it can read its operands directly, else one with
 * conversions. Scalars are converted here, once for all blocks. */
static void prepare_loop(lt_fused_program *p, const lt_fused_step *step, lt_fused_instruction *in)
{
    const lt_fused_value *values = p->fusion->values;
    lt_dtype dtypes[LT_FUSED_OPERANDS];
    bool numbers[LT_FUSED_OPERANDS] = {false};
    for (int k = 0; k < in->n; k++) {
        dtypes[k] = values[in->value[k]].dtype;
        numbers[k] = k > 0 && (in->stride[k] == 0 || p->fusion->numel == 1);
    }
    lt_prepare_blocks(step->op, step->compute, step->params, in->n, dtypes, numbers, &in->blocks);
    for (int k = 1; k < in->n; k++) {
        in->converted[k] = in->stride[k] == 0;
        if (in->converted[k])
            lt_blocks_number(&in->blocks, k, in->stride, values[in->value[k]].data, in->number[k]);
    }
    const bool direct = lt_blocks_in_place(&in->blocks, in->stride);
    in->loop = direct ? in->blocks.loop : lt_run_blocks;
    in->context = direct ? (const void *)step->params : &in->blocks;
}

static void add_step(lt_fused_program *p, const lt_fused_step *step)
{
    const lt_fused_value *values = p->fusion->values;
    lt_fused_instruction *in = &p->instructions[p->n++];
    in->n = 1 + step->n;
    for (int k = 0; k < in->n; k++) {
        const int v = in->value[k] = k == 0 ? step->out : step->in[k - 1];
        in->stride[k] = values[v].number ? 0 : (int64_t)lt_dtype_size(values[v].dtype);
        in->converted[k] = false;
    }
    if (step->op == LT_FUSED_COPY) {
        in->loop = lt_loops.cast[values[step->out].dtype][values[step->in[0]].dtype];
        in->context = NULL;
    } else {
        prepare_loop(p, step, in);
    }
}

static bool in_slot(const lt_fused_program *p, int v)
{
    const lt_fused_value *value = &p->fusion->values[v];
    return v != p->seen && p->period[v] == 0 && (lt_is_gathered(value) || value->data == NULL);
}

/* Frees the slots of inputs with a live range that ends at instruction i: of inputs that have the
 * output's element size (of_output_size), or of the others. Returns the number of free slots. */
static int end_ranges(lt_fused_program *p, int i, bool of_output_size, int *last, int *free_slots,
                      int n_free)
{
    const lt_fused_value *values = p->fusion->values;
    const lt_fused_instruction *in = &p->instructions[i];
    for (int k = 1; k < in->n; k++) {
        const int v = in->value[k];
        const bool same =
            lt_dtype_size(values[v].dtype) == lt_dtype_size(values[in->value[0]].dtype);
        if (p->slot[v] < 0 || last[v] != i || same != of_output_size) continue;
        free_slots[n_free++] = p->slot[v];
        last[v] = -1;
    }
    return n_free;
}

/* Linear-scan allocation: each value without memory gets a slot for its live range, from the
 * instruction that defines it to its last use. Returns the number of slots. An output may reuse the
 * slot of an input that ends there if their element sizes are equal: loops read an element before
 * they write it. */
static int assign_slots(lt_fused_program *p)
{
    int last[LT_FUSED_VALUES], free_slots[LT_FUSED_VALUES], n_free = 0, n_slots = 0;
    for (int v = 0; v < p->fusion->n_values; v++) p->slot[v] = last[v] = -1;
    for (int i = 0; i < p->n; i++)
        for (int k = 0; k < p->instructions[i].n; k++) last[p->instructions[i].value[k]] = i;
    for (int i = 0; i < p->n; i++) {
        const int out = p->instructions[i].value[0];
        n_free = end_ranges(p, i, true, last, free_slots, n_free);
        if (in_slot(p, out)) p->slot[out] = n_free > 0 ? free_slots[--n_free] : n_slots++;
        n_free = end_ranges(p, i, false, last, free_slots, n_free);
    }
    return n_slots;
}

/* Finds inputs that repeat one row (broadcast along the outer dimension): they get tables. */
static void find_periods(lt_fused_program *p)
{
    int64_t bytes = 0;
    for (int v = 0; v < p->fusion->n_values; v++) {
        const lt_iter *walk = p->fusion->values[v].walk;
        p->period[v] = 0;
        if (walk == NULL || walk->ndim != 2 || walk->strides[1][1] != 0) continue;
        const int64_t line = walk->sizes[0] * (int64_t)lt_dtype_size(p->fusion->values[v].dtype);
        if (line > ROW_BYTES || bytes + line > LT_FUSED_TABLES / 2) continue;
        bytes += line;
        p->period[v] = walk->sizes[0];
    }
}

/* Bytes of all tables: each row is followed by one block of its repetition. */
static int64_t table_bytes(const lt_fused_program *p)
{
    int64_t bytes = 0;
    for (int v = 0; v < p->fusion->n_values; v++)
        if (p->period[v] > 0)
            bytes +=
                (p->period[v] + p->length) * (int64_t)lt_dtype_size(p->fusion->values[v].dtype) +
                MIN_LENGTH;
    return bytes;
}

/* Chooses the largest block length for which slots and values in memory fit in L1. */
static void choose_length(lt_fused_program *p, int slots)
{
    int64_t memory = 0, slot = 1, largest = 1;
    for (int v = 0; v < p->fusion->n_values; v++) {
        const lt_fused_value *value = &p->fusion->values[v];
        const int64_t size = (int64_t)lt_dtype_size(value->dtype);
        if (value->number) continue;
        if (size > largest) largest = size;
        if (in_slot(p, v) && size > slot) slot = size;
        if (!lt_is_gathered(value) && (value->data != NULL || v == p->seen)) memory += size;
    }
    p->slot_size = slot;
    p->length = MIN_LENGTH;
    while (p->length * largest < VALUE_BYTES &&
           2 * p->length * (slots * slot + memory) <= BLOCK_BYTES)
        p->length *= 2;
    while (table_bytes(p) > LT_FUSED_TABLES) p->length /= 2;
}

/* ---- running a program ----------------------------------------------------------------------- */

static void walk(const lt_fused_value *v, char *to, int64_t from, int64_t n)
{
    char *const ptrs[] = {to - from * v->walk->strides[0][0], v->walk->data[1]};
    lt_cpu_walk(v->walk, v->walk->ndim, ptrs, from, from + n, lt_loops.cast[v->dtype][v->dtype],
                NULL);
}

/* Repeats the first `line` elements up to n elements, doubling the copied part each time. */
static void repeat(char *to, int64_t line, int64_t n, int64_t size)
{
    for (int64_t done = line, more; done < n; done += more) {
        more = done < n - done ? done : n - done;
        memcpy(to + done * size, to, (size_t)(more * size));
    }
}

/* Fills the tables of values with a period. */
static void put_down_tables(lt_fused_run *run, char **tables)
{
    const lt_fused_program *p = run->program;
    char *at = run->tables;
    for (int v = 0; v < p->fusion->n_values; v++) {
        const int64_t line = p->period[v],
                      size = (int64_t)lt_dtype_size(p->fusion->values[v].dtype);
        if (line == 0) continue;
        walk(&p->fusion->values[v], at, 0, line);
        repeat(at, line, line + p->length, size);
        tables[v] = at;
        at += ((line + p->length) * size + MIN_LENGTH - 1) / MIN_LENGTH * MIN_LENGTH;
    }
}

void lt_fused_begin(lt_fused_run *run, const lt_fused_program *p)
{
    char *tables[LT_FUSED_VALUES];
    run->program = p;
    run->calls = run->moves = 0;
    put_down_tables(run, tables);
    for (int i = 0; i < p->n; i++) {
        const lt_fused_instruction *in = &p->instructions[i];
        run->call[run->calls].instruction = in;
        char **addresses = run->call[run->calls++].address;
        for (int k = 0; k < in->n; k++) {
            const int v = in->value[k];
            const lt_fused_value *value = &p->fusion->values[v];
            char **address = &addresses[k];
            if (in->converted[k])
                *address = (char *)in->number[k];
            else if (in_slot(p, v))
                *address = run->scratch + p->slot[v] * p->length * p->slot_size;
            else if (value->number)
                *address = value->data;
            else
                run->move[run->moves++] =
                    (lt_fused_move){address, p->period[v] > 0 ? tables[v] : NULL, v,
                                    (int64_t)lt_dtype_size(value->dtype)};
        }
    }
}

/* Gathers elements [from, from + n) of an input with a row (dimension 0) that is broadcast along
 * dimension 1: gathers one row and repeats it. */
static void gather_repeated(const lt_fused_value *v, char *to, int64_t from, int64_t n)
{
    const int64_t size = (int64_t)lt_dtype_size(v->dtype), line = v->walk->sizes[0],
                  lines = line * v->walk->sizes[1];
    for (int64_t m; n > 0; from += m, n -= m, to += m * size) {
        m = lines - from % lines;
        if (m > n) m = n;
        const int64_t done = line < m ? line : m;
        walk(v, to, from, done);
        repeat(to, done, m, size);
    }
}

/* Gathers elements [from, from + n) of a strided input, contiguously. */
static void gather(const lt_fused_value *v, char *to, int64_t from, int64_t n)
{
    if (v->gather != NULL)
        v->gather->read(v->gather, v->data, to, from, n);
    else if (v->walk->ndim > 1 && v->walk->strides[1][1] == 0 && v->walk->sizes[0] < n)
        gather_repeated(v, to, from, n);
    else
        walk(v, to, from, n);
}

static void run_block(const lt_fused_run *run, int64_t from, int64_t n)
{
    for (int i = 0; i < run->calls; i++) {
        const lt_fused_instruction *in = run->call[i].instruction;
        if (in->loop != NULL)
            in->loop(run->call[i].address, in->stride, n, in->context);
        else
            gather(&run->program->fusion->values[in->source], run->call[i].address[0], from, n);
    }
}

/* Sets the operand addresses of the block at element `at`. room: the consumed value's elements,
 * unless that value has memory. */
static void move_to(lt_fused_run *run, int64_t at, char *room)
{
    const lt_fused_program *p = run->program;
    for (int m = 0; m < run->moves; m++) {
        const lt_fused_move *move = &run->move[m];
        char *const data = p->fusion->values[move->value].data;
        if (move->table != NULL)
            *move->address = move->table + at % p->period[move->value] * move->size;
        else
            *move->address = data != NULL ? data + at * move->size : room;
    }
}

const char *lt_fused_compute(lt_fused_run *run, int64_t from, int64_t to, char *room)
{
    const lt_fused_program *p = run->program;
    const lt_fused_value *values = p->fusion->values;
    const int64_t size = p->seen < 0 ? 0 : (int64_t)lt_dtype_size(values[p->seen].dtype);
    for (int64_t at = from; at < to; at += p->length) {
        move_to(run, at, room + (at - from) * size);
        run_block(run, at, p->length < to - at ? p->length : to - at);
    }
    if (p->seen < 0) return NULL;
    const lt_fused_value *seen = &values[p->seen];
    return seen->data != NULL ? seen->data + from * size : room;
}

char *lt_fused_elements(lt_fused_run *run, int64_t from, int64_t n, char *room)
{
    const lt_fusion *c = run->program->fusion;
    const int64_t begin = from / LT_FUSED_UNIT * LT_FUSED_UNIT,
                  end = (from + n + LT_FUSED_UNIT - 1) / LT_FUSED_UNIT * LT_FUSED_UNIT;
    const char *data = lt_fused_compute(run, begin, end < c->numel ? end : c->numel, room);
    return (char *)data +
           (from - begin) * (int64_t)lt_dtype_size(c->values[run->program->seen].dtype);
}

bool lt_fused_divides(const lt_fused_program *p, int64_t elements)
{
    const lt_fusion *c = p->fusion;
    bool writes = false;
    for (int i = 0; i < c->n_steps; i++) writes = writes || c->values[c->steps[i].out].data != NULL;
    return !writes || elements % LT_FUSED_UNIT == 0;
}

void lt_fused_prepare(lt_fused_program *p, const lt_fusion *c, int seen)
{
    bool gathered[LT_FUSED_VALUES] = {false};
    p->fusion = c;
    p->seen = seen;
    p->n = 0;
    find_periods(p);
    for (int i = 0; i < c->n_steps; i++) {
        if (copies_gathered(p, &c->steps[i])) {
            add_gather(p, c->steps[i].out, c->steps[i].in[0]);
            continue;
        }
        add_gathers(p, &c->steps[i], gathered);
        add_step(p, &c->steps[i]);
    }
    choose_length(p, assign_slots(p));
}

typedef struct fused_run {
    const lt_fused_program *program;
    int64_t piece; /* elements; ends at a block boundary */
} fused_run;

static void run_fused_piece(const void *context, int64_t i)
{
    const fused_run *j = context;
    const int64_t from = i * j->piece, to = from + j->piece, numel = j->program->fusion->numel;
    lt_fused_run run; /* not zeroed */
    lt_fused_begin(&run, j->program);
    lt_fused_compute(&run, from, to < numel ? to : numel, NULL);
}

typedef struct compiled_run {
    const lt_fusion *fusion;
    char *data[LT_FUSED_VALUES];
    int64_t piece;
} compiled_run;

static void run_compiled_piece(const void *context, int64_t i)
{
    const compiled_run *j = context;
    const int64_t from = i * j->piece, to = from + j->piece, numel = j->fusion->numel;
    j->fusion->loop(j->data, from, to < numel ? to : numel);
}

static lt_status run_compiled(const lt_fusion *c, int threads)
{
    compiled_run j = {.fusion = c, .piece = lt_cpu_piece(c->numel, CHUNK, threads)};
    for (int v = 0; v < c->n_values; v++) j.data[v] = c->values[v].data;
    return lt_parallel_for((c->numel + j.piece - 1) / j.piece, threads, run_compiled_piece, &j);
}

lt_status lt_cpu_run_fusion(const lt_fusion *c, bool *done)
{
    const int threads = lt_cpu_threads_for(c->numel * (LT_CPU_MOVED + c->n_steps));
    lt_fused_program p; /* not zeroed: too large */
    *done = true;
    if (c->loop != NULL) return run_compiled(c, threads);
    lt_fused_prepare(&p, c, -1);
    const fused_run j = {&p, lt_cpu_piece(c->numel, CHUNK, threads)};
    return lt_parallel_for((c->numel + j.piece - 1) / j.piece, threads, run_fused_piece, &j);
}
