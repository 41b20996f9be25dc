/* blocks.c - quantized weights on the CPU: threads over the loops of vector/products/blocks.c and
 * block_bytes.c. */
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

/* ---- inputs that are quantized to bytes ------------------------------------------------------ */

typedef struct bytes_job {
    const lt_block_product *p;
    lt_block_inputs *inputs;
    int64_t piece; /* rows: of the weight, or of the inputs */
} bytes_job;

static void quantize_piece(const void *context, int64_t i)
{
    const bytes_job *j = context;
    const int64_t from = i * j->piece, end = from + j->piece;
    lt_loops.block_bytes[0].quantize(j->p->in, j->inputs, from, end < j->p->m ? end : j->p->m);
}

static void multiply_bytes_piece(const void *context, int64_t i)
{
    const bytes_job *j = context;
    const int64_t from = i * j->piece, to = from + j->piece;
    lt_loops.block_bytes[0].multiply(j->p, j->inputs, from, to < j->p->rows ? to : j->p->rows);
}

static lt_status quantize_inputs(const lt_block_product *p, lt_block_inputs *inputs)
{
    const int threads = lt_cpu_threads_for(p->m * p->columns);
    const int64_t piece = (p->m + threads - 1) / threads;
    const bytes_job j = {p, inputs, piece};
    return lt_parallel_for((p->m + piece - 1) / piece, threads, quantize_piece, &j);
}

static lt_status multiply_bytes(const lt_block_product *p)
{
    const int64_t blocks = p->columns / 32, together = lt_loops.block_bytes[0].together;
    lt_scratch scratch;
    lt_input_scale *scales =
        lt_scratch_alloc(&scratch, lt_mul_sat(p->m, blocks), sizeof(lt_input_scale) + 32);
    if (scales == NULL) return LT_ERR_MEMORY;
    lt_block_inputs inputs = {p->m, blocks, (int8_t *)(scales + p->m * blocks), scales};
    /* a vector instruction decodes or multiplies several elements */
    const int threads = lt_cpu_threads_for(p->rows * p->columns * (2 + p->m) / 4);
    const int64_t piece =
        (p->rows + 4 * threads * together - 1) / (4 * threads * together) * together;
    const bytes_job j = {p, &inputs, piece};
    lt_status status = quantize_inputs(p, &inputs);
    if (status == LT_OK)
        status = lt_parallel_for((p->rows + piece - 1) / piece, threads, multiply_bytes_piece, &j);
    lt_scratch_free(&scratch, scales);
    return status;
}

/* ---- all products ----------------------------------------------------------------------------- */

lt_status lt_cpu_block_product(const lt_block_product *p)
{
    if (p->int8_input && lt_loops.block_bytes[0].multiply != NULL) return multiply_bytes(p);
    const bool few = p->m <= LT_BLOCK_PRODUCT_ROWS && !p->transposed;
    return few ? multiply_few(p) : multiply_by_tiles(p);
}
