/* blocks.c - quantized weights on the CPU: threads over the loops of vector/products/blocks.c. */
#include "cpu/common/loops.h"
#include "cpu/common/scratch.h"
#include "cpu/common/threads.h"
#include "cpu/cpu.h"

/* tuning: rows of the weight; their floats stay in L2; a decoded matrix of 113 MB takes the same time
 * (2 cores of an x86-64 server, 2026-11-29) */
enum { TILE = 128 };

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
                              rest < j->piece ? rest : j->piece,
                              (float *)d->out + from * d->elements);
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

static lt_status multiply_few(const lt_block_product *p)
{
    const int threads = lt_cpu_threads_for(p->rows * p->columns * (1 + p->m));
    const int64_t piece = (p->rows + 4 * threads - 1) / (4 * threads);
    const product_job j = {p, piece};
    return lt_parallel_for((p->rows + piece - 1) / piece, threads, multiply_piece, &j);
}

static lt_status multiply_tile(const lt_block_product *p, int64_t row, int64_t n, const float *tile)
{
    const float *in = p->in;
    float *out = p->out;
    return lt_cpu_gemm(&(lt_gemm){
        .dtype = LT_FLOAT32,
        .device = p->device,
        .m = p->m,
        .n = p->transposed ? p->columns : n,
        .k = p->transposed ? n : p->columns,
        .batch = 1,
        .trans_b = !p->transposed,
        .alpha = 1,
        .beta = p->transposed && row > 0 ? 1 : 0,
        .a = p->transposed ? in + row : in,
        .b = tile,
        .c = p->transposed ? out : out + row,
        .lda = p->transposed ? p->rows : p->columns,
        .ldb = p->columns,
        .ldc = p->transposed ? p->columns : p->rows,
    });
}

static lt_status multiply_by_tiles(const lt_block_product *p)
{
    const int64_t blocks = p->columns / p->elements;
    lt_scratch scratch;
    float *tile = lt_scratch_alloc(&scratch, lt_mul_sat(TILE, p->columns), sizeof *tile);
    lt_status status = tile == NULL ? LT_ERR_MEMORY : LT_OK;
    for (int64_t row = 0; row < p->rows && status == LT_OK; row += TILE) {
        const int64_t n = p->rows - row < TILE ? p->rows - row : TILE;
        status = lt_cpu_decode_blocks(&(lt_block_decode){
            .format = p->format,
            .dtype = LT_FLOAT32,
            .device = p->device,
            .blocks = n * blocks,
            .elements = p->elements,
            .bytes = p->bytes,
            .in = p->weight + row * blocks * p->bytes,
            .out = tile,
        });
        if (status == LT_OK) status = multiply_tile(p, row, n, tile);
    }
    if (tile != NULL) lt_scratch_free(&scratch, tile);
    return status;
}

lt_status lt_cpu_block_product(const lt_block_product *p)
{
    const bool few = p->m <= LT_BLOCK_PRODUCT_ROWS && !p->transposed;
    return few ? multiply_few(p) : multiply_by_tiles(p);
}
