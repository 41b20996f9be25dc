/* tiles.c - see tiles.h. Both operands are packed into AMX tiles as a whole: 16 rows of 16 words, a
 * word being two elements neighbouring along k. Tiles of A have rows of A, tiles of B pairs of rows
 * of B. A panel product, PANEL rows of A by PANEL columns of B, keeps four tiles of float sums in
 * registers during the loop over k. The value of an element of C does not depend on the number of
 * threads. The processor flushes subnormal numbers to 0. */
#include "tiles.h"

#include <string.h>

#include "cpu/common/loops.h"
#include "cpu/common/threads.h"
#include "cpu_info.h"
#include "dtypes/dtype.h"
#include "memory/block.h"
#include "saturating.h"
#include "system/processors.h"
#include "system/threads.h"

#if defined(__x86_64__) && defined(LT_SYSTEM_TILES) && defined(__has_include)
#if __has_include(<amxbf16intrin.h>)
#define HAS_TILES
#endif
#endif

#ifdef HAS_TILES
#include <immintrin.h>

/* fixed: rows of an AMX tile, and words of a row */
#define SIDE  16
#define WORDS (SIDE * SIDE) /* of a tile */
#define BYTES (4 * SIDE)    /* of a row of a tile */
#define DEPTH (2 * SIDE)    /* elements of a tile along k */
#define PANEL (2 * SIDE)    /* rows of A or columns of B */
/* fixed: a job multiplies GROUP panels of rows by GROUP panels of columns; not measured for lack of
 * a processor with AMX */
#define GROUP 4

static bool available;

static void request_tile_data(void)
{
    available = strcmp(lt_loops.isa, "avx512") == 0 && lt_processor.amx_bf16 && lt_tiles_request();
}

bool lt_cpu_tiles_accept(const lt_gemm *g)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (g->dtype != LT_BFLOAT16 || g->row_bias != NULL || g->m < SIDE || g->n < SIDE || g->k < SIDE)
        return false;
    pthread_once(&once, request_tile_data);
    return available;
}

/* A packed operand: panel after panel; within a panel, two tiles for each DEPTH elements along k.
 */
typedef struct tile_operand {
    const uint16_t *from;
    uint32_t *tiles;
    int64_t batch, lines, ld, panels; /* lines: rows of A or columns of B */
    bool along_k;                     /* elements along k are contiguous */
    /* tiles contain pairs along k of all columns (B), not rows (A) */
    bool turned;
} tile_operand;

typedef struct tile_product {
    const lt_gemm *g;
    tile_operand a, b;
    int64_t steps; /* number of DEPTHs along k */
    /* panels per job along both dimensions; jobs along rows and along columns */
    int64_t group, rows, columns;
} tile_product;

static int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t ratio_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit; }

/* Packs a tile of `lines` rows or columns and `depth` elements along k; the rest is 0. */
static void fill_tile(uint32_t *tile, const tile_operand *o, const uint16_t *from, int64_t lines,
                      int64_t depth)
{
    uint32_t words[WORDS], *to = o->along_k == o->turned ? words : tile;
    if (lines < SIDE || depth < DEPTH) memset(to, 0, sizeof words);
    if (o->along_k) {
        for (int64_t i = 0; i < lines && depth == DEPTH; i++)
            memcpy(to + i * SIDE, from + i * o->ld, BYTES);
        for (int64_t i = 0; i < lines && depth < DEPTH; i++)
            memcpy(to + i * SIDE, from + i * o->ld, (size_t)depth * sizeof *from);
    } else {
        for (int64_t p = 0; p < depth; p += 2) {
            const uint16_t *first = from + p * o->ld, *second = first + o->ld;
            uint32_t *line = to + p / 2 * SIDE;
            if (p + 1 == depth)
                for (int64_t i = 0; i < lines; i++) line[i] = first[i];
            else if (lines == SIDE)
                _Pragma("omp simd") for (int i = 0; i < SIDE; i++) line[i] =
                    first[i] | (uint32_t)second[i] << 16;
            else
                for (int64_t i = 0; i < lines; i++) line[i] = first[i] | (uint32_t)second[i] << 16;
        }
    }
    if (to == words) lt_loops.turn[0](tile, SIDE, words, SIDE, SIDE, SIDE);
}

static void fill_panel(const tile_product *p, const tile_operand *o, int64_t batch, int64_t index)
{
    const int64_t of_line = o->along_k ? o->ld : 1, of_k = o->along_k ? 1 : o->ld;
    uint32_t *tile = o->tiles + (batch * o->panels + index) * p->steps * 2 * WORDS;
    for (int64_t k = 0; k < p->g->k; k += DEPTH)
        for (int64_t line = index * PANEL; line < (index + 1) * PANEL;
             line += SIDE, tile += WORDS) {
            const int64_t lines = line < o->lines ? min_i64(SIDE, o->lines - line) : 0;
            fill_tile(tile, o,
                      lines == 0 ? NULL : o->from + batch * o->batch + line * of_line + k * of_k,
                      lines, min_i64(DEPTH, p->g->k - k));
        }
}

static int64_t matrices(const tile_product *p, const tile_operand *o)
{
    return o->batch == 0 ? 1 : p->g->batch;
}

static void fill_job(const void *context, int64_t job)
{
    const tile_product *p = context;
    const int64_t of_a = matrices(p, &p->a) * p->a.panels;
    const tile_operand *o = job < of_a ? &p->a : &p->b;
    const int64_t i = job < of_a ? job : job - of_a;
    fill_panel(p, o, i / o->panels, i % o->panels);
}

/* Configures eight tiles of SIDE rows. Static, since gcc 12 assumes that only the first bytes are
 * read. */
__attribute__((target("amx-tile"))) static void begin(void)
{
    static const struct {
        uint8_t palette, start, reserved[14];
        uint16_t line_bytes[16];
        uint8_t lines[16];
    } shapes = {.palette = 1,
                .line_bytes = {BYTES, BYTES, BYTES, BYTES, BYTES, BYTES, BYTES, BYTES},
                .lines = {SIDE, SIDE, SIDE, SIDE, SIDE, SIDE, SIDE, SIDE}};
    _tile_loadconfig(&shapes);
}

__attribute__((target("amx-tile"))) static void end(void) { _tile_release(); }

__attribute__((target("amx-tile,amx-bf16"))) static void
multiply(const uint32_t *a, const uint32_t *b, int64_t steps, float *sums)
{
    enum { ROW = PANEL * sizeof(float) };
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int64_t i = 0; i < steps; i++, a += 2 * WORDS, b += 2 * WORDS) {
        _tile_loadd(6, b, BYTES);
        _tile_loadd(4, a, BYTES);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(7, b + WORDS, BYTES);
        _tile_dpbf16ps(1, 4, 7);
        _tile_loadd(5, a + WORDS, BYTES);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, sums, ROW);
    _tile_stored(1, sums + SIDE, ROW);
    _tile_stored(2, sums + SIDE * PANEL, ROW);
    _tile_stored(3, sums + SIDE * PANEL + SIDE, ROW);
}

/* C = alpha sums + beta C. All rows are rounded in one call: a call for each took as long as the
 * product. */
static void store_sums(const lt_gemm *g, uint16_t *c, float *sums, int64_t rows, int64_t columns)
{
    const float alpha = (float)g->alpha, beta = (float)g->beta;
    float before[PANEL];
    uint16_t rounded[PANEL * PANEL];
    for (int64_t i = 0; alpha != 1 && i < rows * PANEL; i++) sums[i] *= alpha;
    for (int64_t r = 0; beta != 0 && r < rows; r++) {
        lt_loops.cast[LT_FLOAT32][LT_BFLOAT16]((char *[]){(char *)before, (char *)(c + r * g->ldc)},
                                               (int64_t[]){sizeof *sums, sizeof *c}, columns, NULL);
        for (int64_t j = 0; j < columns; j++) sums[r * PANEL + j] += beta * before[j];
    }
    lt_loops.cast[LT_BFLOAT16][LT_FLOAT32]((char *[]){(char *)rounded, (char *)sums},
                                           (int64_t[]){sizeof *c, sizeof *sums}, rows * PANEL,
                                           NULL);
    for (int64_t r = 0; r < rows; r++)
        memcpy(c + r * g->ldc, rounded + r * PANEL, (size_t)columns * sizeof *c);
}

static void multiply_job(const void *context, int64_t job)
{
    const tile_product *p = context;
    const lt_gemm *g = p->g;
    float sums[PANEL * PANEL] __attribute__((aligned(64)));
    const int64_t panel = p->steps * 2 * WORDS, n = job / (p->rows * p->columns);
    const int64_t row = job / p->columns % p->rows * p->group, column = job % p->columns * p->group;
    const uint32_t *a = p->a.tiles + (p->a.batch == 0 ? 0 : n) * p->a.panels * panel;
    const uint32_t *b = p->b.tiles + (p->b.batch == 0 ? 0 : n) * p->b.panels * panel;
    begin();
    for (int64_t j = column; j < min_i64(column + p->group, p->b.panels); j++)
        for (int64_t i = row; i < min_i64(row + p->group, p->a.panels); i++) {
            multiply(a + i * panel, b + j * panel, p->steps, sums);
            store_sums(g, (uint16_t *)g->c + n * g->batch_c + i * PANEL * g->ldc + j * PANEL, sums,
                       min_i64(PANEL, g->m - i * PANEL), min_i64(PANEL, g->n - j * PANEL));
        }
    end();
}

lt_status lt_cpu_tiles_gemm(const lt_gemm *g)
{
    tile_product p = {.g = g,
                      .steps = ratio_up(g->k, DEPTH),
                      .group = GROUP,
                      .a = {.from = g->a,
                            .batch = g->batch_a,
                            .lines = g->m,
                            .ld = g->lda,
                            .panels = ratio_up(g->m, PANEL),
                            .along_k = !g->trans_a},
                      .b = {.from = g->b,
                            .batch = g->batch_b,
                            .lines = g->n,
                            .ld = g->ldb,
                            .panels = ratio_up(g->n, PANEL),
                            .along_k = g->trans_b,
                            .turned = true}};
    const int threads = lt_cpu_threads_for(
        g->batch * (g->m * g->n * g->k / 64 + g->m * g->k + g->k * g->n + g->m * g->n));
    const int64_t of_a = matrices(&p, &p.a) * p.a.panels, of_b = matrices(&p, &p.b) * p.b.panels;
    size_t capacity;
    p.a.tiles = lt_block_array(lt_mul_sat(lt_add_sat(of_a, of_b), p.steps),
                               2 * WORDS * sizeof(uint32_t), &capacity);
    if (p.a.tiles == NULL) return LT_ERR_MEMORY;
    p.b.tiles = p.a.tiles + of_a * p.steps * 2 * WORDS;
    for (;; p.group /= 2) {
        p.rows = ratio_up(p.a.panels, p.group);
        p.columns = ratio_up(p.b.panels, p.group);
        if (p.group == 1 || g->batch * p.rows * p.columns >= 4 * threads) break;
    }
    lt_status status = lt_parallel_for(of_a + of_b, threads, fill_job, &p);
    if (status == LT_OK)
        status = lt_parallel_for(g->batch * p.rows * p.columns, threads, multiply_job, &p);
    lt_block_free(p.a.tiles, capacity);
    return status;
}

#else

bool lt_cpu_tiles_accept(const lt_gemm *g)
{
    (void)g;
    return false;
}

lt_status lt_cpu_tiles_gemm(const lt_gemm *g)
{
    (void)g;
    return LT_ERR_RUNTIME;
}

#endif
