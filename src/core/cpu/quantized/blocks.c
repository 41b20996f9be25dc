/* blocks.c - quantized weights on the CPU: threads over the loops of vector/products/blocks.c. */
#include "cpu/common/loops.h"
#include "cpu/common/threads.h"
#include "cpu/cpu.h"

typedef struct decode_job {
    const lt_block_decode *d;
    int64_t piece; /* blocks */
} decode_job;

static void decode_piece(const void *context, int64_t i)
{
    const decode_job *j = context;
    const lt_block_decode *d = j->d;
    const int64_t from = i * j->piece, rest = d->blocks - from;
    lt_loops.blocks[0].decode(d->format, d->bytes, d->in + from * d->bytes,
                              rest < j->piece ? rest : j->piece, d->out + from * d->elements);
}

lt_status lt_cpu_decode_blocks(const lt_block_decode *d)
{
    const decode_job j = {d, LT_CPU_PIECE / d->elements};
    return lt_parallel_for((d->blocks + j.piece - 1) / j.piece,
                           lt_cpu_threads_for(d->blocks * d->elements), decode_piece, &j);
}

typedef struct product_job {
    const lt_block_product *p;
    int64_t piece; /* rows of the weight */
} product_job;

static void multiply_piece(const void *context, int64_t i)
{
    const product_job *j = context;
    const int64_t from = i * j->piece, to = from + j->piece;
    lt_loops.blocks[0].rows(j->p, from, to < j->p->rows ? to : j->p->rows);
}

lt_status lt_cpu_block_product(const lt_block_product *p)
{
    const int threads = lt_cpu_threads_for(p->rows * p->columns * (1 + p->m));
    const int64_t piece = (p->rows + 4 * threads - 1) / (4 * threads);
    const product_job j = {p, piece};
    return lt_parallel_for((p->rows + piece - 1) / piece, threads, multiply_piece, &j);
}
