/* reduce.c - reductions on the CPU: sum, mean, prod, max, min, any, all, norms, variance,
 * logsumexp.
 *
 * Elements are read as float, double, int64 or bool (others are converted block by block) and
 * accumulated in that type by the loops of vector/reduce/rows.c, a bounded number of them; then the
 * accumulators are added in double (int64). So a sum of floats is as exact as PyTorch's cascade
 * sum. Two algorithms: along the slices, or down the columns (reduce_columns.c) when the kept
 * dimension is the contiguous one. Variance and logsumexp take two passes; the second finds the
 * elements in cache if they fit. The partition depends on sizes only, never on the number of
 * threads, so the result doesn't either.
 *
 * The mean of a variance is summed from the distances to the first element, which are exact where
 * the mean is large relative to the spread. Squares are summed about that mean in the type of the
 * elements; the effect of the mean's rounding to it is subtracted in double. (T. Chan, G. Golub, R.
 * LeVeque: Algorithms for computing the sample variance, 1983.) */
#include "reduce.h"

#include <math.h>

#include "cpu/cpu.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "cpu/common/for_each.h"
#include "context/interrupt.h"
#include "memory/alloc.h"
#include "saturating.h"
#include "cpu/common/threads.h"
#include "cpu_info.h"

#define BLOCK LT_SLICE_BLOCK /* elements converted at a time */

/* ---- planning -------------------------------------------------------------------------------- */

static lt_dtype read_dtype(lt_reduction op, lt_dtype in, lt_dtype out)
{
    if (op == LT_REDUCE_ANY || op == LT_REDUCE_ALL) return LT_BOOL;
    if (in == LT_BOOL && (op == LT_REDUCE_SUM || op == LT_REDUCE_COUNT) && !lt_dtype_is_float(out))
        return LT_BOOL;
    lt_dtype decides =
        op == LT_REDUCE_MAX || op == LT_REDUCE_MIN || op == LT_REDUCE_COUNT ? in : out;
    if (!lt_dtype_is_float(decides)) return LT_INT64;
    return decides == LT_FLOAT64 ? LT_FLOAT64 : LT_FLOAT32;
}

static lt_rows_op norm_rows(double p)
{
    if (p == 2) return LT_ROWS_SUM_SQUARE;
    if (p == 1) return LT_ROWS_SUM_ABS;
    if (p == 0) return LT_ROWS_COUNT;
    if (isinf(p)) return p > 0 ? LT_ROWS_MAX_ABS : LT_ROWS_MIN_ABS;
    return LT_ROWS_SUM_POWER;
}

static lt_rows_op first_pass(lt_reduction op, double parameter)
{
    switch (op) {
    case LT_REDUCE_PROD: return LT_ROWS_PROD;
    case LT_REDUCE_MAX:
    case LT_REDUCE_LOGSUMEXP:
    case LT_REDUCE_ANY: return LT_ROWS_MAX;
    case LT_REDUCE_MIN:
    case LT_REDUCE_ALL: return LT_ROWS_MIN;
    case LT_REDUCE_NORM: return norm_rows(parameter);
    case LT_REDUCE_SUM_NUMBERS: return LT_ROWS_SUM_NUMBERS;
    case LT_REDUCE_COUNT: return LT_ROWS_COUNT;
    case LT_REDUCE_VAR:
    case LT_REDUCE_STD: return LT_ROWS_SUM_OFF;
    default: return LT_ROWS_SUM;
    }
}

static const char *name_of(lt_reduction op)
{
    switch (op) {
    case LT_REDUCE_MEAN: return "mean";
    case LT_REDUCE_VAR: return "var";
    case LT_REDUCE_STD: return "std";
    case LT_REDUCE_LOGSUMEXP: return "logsumexp";
    default: return "norm";
    }
}

static lt_status make_plan(lt_reduce_plan *p, lt_reduction op, const lt_iter *it, int reduced_dims,
                           double parameter)
{
    lt_dtype in = it->dtype[1], out = it->dtype[0];
    p->op = op;
    p->parameter = parameter;
    p->it = it;
    p->reduced_dims = reduced_dims;
    p->fusion = NULL;
    p->read = read_dtype(op, in, out);
    p->size = (int64_t)lt_dtype_size(p->read);
    p->in_size = (int64_t)lt_dtype_size(in);
    p->type = p->read == LT_FLOAT32   ? LT_ROWS_F32
              : p->read == LT_FLOAT64 ? LT_ROWS_F64
              : p->read == LT_INT64   ? LT_ROWS_I64
                                      : LT_ROWS_U8;
    /* bools: the count of nonzero ones is their sum */
    const lt_rows_op first =
        op == LT_REDUCE_COUNT && p->type == LT_ROWS_U8 ? LT_ROWS_SUM : first_pass(op, parameter);
    p->varies = op == LT_REDUCE_VAR || op == LT_REDUCE_STD;
    const bool two = p->varies || op == LT_REDUCE_LOGSUMEXP;
    p->passes[0] = &lt_loops.rows[first][p->type];
    p->passes[1] =
        &lt_loops
             .rows[op == LT_REDUCE_LOGSUMEXP ? LT_ROWS_SUM_EXP : LT_ROWS_SUM_SQUARE_OFF][p->type];
    p->npasses = two ? 2 : 1;
    if (p->passes[0]->line == NULL || ((op == LT_REDUCE_MEAN || two) && p->type >= LT_ROWS_I64))
        return lt_error(LT_ERR_RUNTIME, "\"%s\" not implemented for '%s'", name_of(op),
                        lt_dtype_scalar_name(in));
    p->gather = lt_loops.cast[p->read][in];
    p->convert = in == p->read ? NULL : p->gather;
    p->store = lt_loops.cast[out][p->type >= LT_ROWS_I64 ? LT_INT64 : LT_FLOAT64];
    p->count = p->results = 1;
    for (int d = 0; d < reduced_dims; d++) p->count *= it->sizes[d];
    for (int d = reduced_dims; d < it->ndim; d++) p->results *= it->sizes[d];
    return LT_OK;
}

/* ---- shared by both algorithms --------------------------------------------------------------- */

void lt_reduce_begin(const lt_reduce_plan *p, int pass, lt_total *totals, int64_t n)
{
    for (int64_t j = 0; j < n; j++) totals[j] = p->passes[pass]->identity;
}

lt_total *lt_reduce_before(const lt_reduce_plan *p, const char *elements, int64_t step, int64_t n,
                           lt_total *parameters)
{
    if (!p->varies) return NULL;
    for (int64_t j = 0; j < n && p->count == 0; j++) parameters[j].d = 0;
    if (p->count > 0)
        lt_loops.cast[LT_FLOAT64][p->it->dtype[1]]((char *[]){(char *)parameters, (char *)elements},
                                                   (int64_t[]){sizeof *parameters, step}, n, NULL);
    return parameters;
}

void lt_reduce_between(const lt_reduce_plan *p, lt_total *totals, const lt_total *before, int64_t n)
{
    /* subtracts the maximum from the exponents, unless it is infinite */
    if (p->op == LT_REDUCE_LOGSUMEXP)
        for (int64_t j = 0; j < n; j++) totals[j].d = isinf(totals[j].d) ? 0 : totals[j].d;
    else
        for (int64_t j = 0; j < n; j++) totals[j].d = before[j].d + totals[j].d / (double)p->count;
}

/* Corrects sums of squares about the means as float to sums of squares about the means in double.
 */
static void correct_squares(const lt_reduce_plan *p, lt_total *totals, const lt_total *means,
                            int64_t n)
{
    if (p->type != LT_ROWS_F32) return;
    for (int64_t j = 0; j < n; j++) {
        const double off = means[j].d - (double)(float)means[j].d,
                     less = totals[j].d - (double)p->count * off * off;
        totals[j].d = less < 0 ? 0 : less;
    }
}

static void finish_norm(double power, lt_total *t, int64_t n)
{
    if (power == 2)
        for (int64_t j = 0; j < n; j++) t[j].d = sqrt(t[j].d);
    else if (power != 1 && power != 0 && !isinf(power))
        for (int64_t j = 0; j < n; j++) t[j].d = pow(t[j].d, 1 / power);
}

void lt_reduce_store(const lt_reduce_plan *p, char *out, int64_t stride, lt_total *totals,
                     const lt_total *parameters, int64_t n)
{
    if (p->varies) correct_squares(p, totals, parameters, n);
    switch (p->op) {
    case LT_REDUCE_MEAN:
        for (int64_t j = 0; j < n; j++) totals[j].d /= (double)p->count;
        break;
    case LT_REDUCE_NORM: finish_norm(p->parameter, totals, n); break;
    case LT_REDUCE_VAR:
        for (int64_t j = 0; j < n; j++) totals[j].d /= p->parameter;
        break;
    case LT_REDUCE_STD:
        for (int64_t j = 0; j < n; j++) totals[j].d = sqrt(totals[j].d / p->parameter);
        break;
    case LT_REDUCE_LOGSUMEXP:
        for (int64_t j = 0; j < n; j++) totals[j].d = log(totals[j].d) + parameters[j].d;
        break;
    default: break;
    }
    p->store((char *[]){out, (char *)totals}, (int64_t[]){stride, sizeof *totals}, n, NULL);
}

void lt_reduce_result_at(const lt_iter *it, int first_dim, int64_t index, char **ptrs)
{
    ptrs[0] = it->data[0];
    ptrs[1] = it->data[1];
    for (int d = first_dim; d < it->ndim; d++) {
        int64_t position = d + 1 < it->ndim ? index % it->sizes[d] : index;
        if (d + 1 < it->ndim) index /= it->sizes[d];
        ptrs[0] += position * it->strides[0][d];
        ptrs[1] += position * it->strides[1][d];
    }
}

static int threads_of(const lt_reduce_plan *p)
{
    return lt_cpu_threads_for(p->it->numel * (p->fusion != NULL ? p->fusion->fusion->n_steps : 1));
}

/* ---- along the slices ------------------------------------------------------------------------ */

/* Context of the loop below, which iterates over the reduced dimensions. Operand 1 is the input. */
typedef struct line {
    const lt_reduce_plan *plan;
    const lt_reduce_loops *loops;
    double parameter;
    lt_total *total;
} line;

static void reduce_run(char *const *ptrs, const int64_t *strides, int64_t n, const void *context)
{
    const line *l = context;
    const lt_reduce_plan *p = l->plan;
    if (p->convert == NULL && strides[1] == p->size) {
        l->loops->line(l->total, ptrs[1], 0, 1, n, l->parameter);
        return;
    }
    _Alignas(64) char block[BLOCK * 8];
    for (int64_t from = 0; from < n && !lt_interrupted(); from += BLOCK) {
        int64_t m = n - from < BLOCK ? n - from : BLOCK;
        p->gather((char *[]){block, ptrs[1] + from * strides[1]}, (int64_t[]){p->size, strides[1]},
                  m, NULL);
        l->loops->line(l->total, block, 0, 1, m, l->parameter);
    }
}

void lt_reduce_line(const lt_reduce_plan *p, int pass, double parameter, char *elements, int64_t n,
                    lt_total *total)
{
    const line l = {p, p->passes[pass], parameter, total};
    reduce_run((char *[]){NULL, elements}, (int64_t[]){0, p->in_size}, n, &l);
}

/* Reduces elements [from, to) of a result into its total; ptrs[1]: the input of the result. */
static void reduce_part(const lt_reduce_plan *p, int pass, double parameter, char *const *ptrs,
                        int64_t from, int64_t to, lt_total *total)
{
    const line l = {p, p->passes[pass], parameter, total};
    if (from >= to) return;
    if (p->reduced_dims <= 1)
        reduce_run((char *[]){NULL, ptrs[1] + from * p->it->strides[1][0]},
                   (int64_t[]){0, p->it->strides[1][0]}, to - from, &l);
    else
        lt_cpu_walk(p->it, p->reduced_dims, ptrs, from, to, reduce_run, &l);
}

/* One pass over n results; ptrs[1]: the input of the first one, the others follow in steps of
 * `step` bytes. */
static void reduce_results(const lt_reduce_plan *p, int pass, const lt_total *parameters,
                           char *const *ptrs, int64_t step, int64_t n, lt_total *totals)
{
    lt_reduce_begin(p, pass, totals, n);
    const bool dense =
        p->convert == NULL && p->reduced_dims == 1 && p->it->strides[1][0] == p->size;
    if (dense && parameters == NULL) {
        p->passes[pass]->line(totals, ptrs[1], step, n, p->count, p->parameter);
        return;
    }
    if (dense && p->passes[pass]->lines != NULL) {
        p->passes[pass]->lines(totals, ptrs[1], step, n, p->count, parameters);
        return;
    }
    for (int64_t j = 0; j < n; j++)
        reduce_part(p, pass, parameters != NULL ? parameters[j].d : p->parameter,
                    (char *[]){ptrs[0], ptrs[1] + j * step}, 0, p->count, totals + j);
}

static void reduce_some(const lt_reduce_plan *p, char *const *ptrs, int64_t n)
{
    lt_total totals[LT_REDUCE_BATCH], parameters[LT_REDUCE_BATCH], first[LT_REDUCE_BATCH];
    const bool alone = p->reduced_dims == p->it->ndim;
    const int64_t to = alone ? 0 : p->it->strides[0][p->reduced_dims],
                  step = alone ? 0 : p->it->strides[1][p->reduced_dims];
    if (p->npasses == 1) {
        reduce_results(p, 0, NULL, ptrs, step, n, totals);
        lt_reduce_store(p, ptrs[0], to, totals, NULL, n);
        return;
    }
    const int64_t at_once = 1 + lt_processor.l1 / 4 / (p->count + 1);
    for (int64_t j = 0; j < n; j += at_once) {
        const int64_t m = n - j < at_once ? n - j : at_once;
        char *const here[] = {ptrs[0], ptrs[1] + j * step};
        const lt_total *before = lt_reduce_before(p, here[1], step, m, first);
        reduce_results(p, 0, before, here, step, m, parameters + j);
        lt_reduce_between(p, parameters + j, before, m);
        reduce_results(p, 1, parameters + j, here, step, m, totals + j);
    }
    lt_reduce_store(p, ptrs[0], to, totals, parameters, n);
}

void lt_reduce_batch(const lt_reduce_plan *p, char *const *ptrs, int64_t n)
{
    const bool alone = p->reduced_dims == p->it->ndim;
    const int64_t to = alone ? 0 : p->it->strides[0][p->reduced_dims],
                  step = alone ? 0 : p->it->strides[1][p->reduced_dims];
    for (int64_t j = 0; j < n; j += LT_REDUCE_BATCH)
        reduce_some(p, (char *[]){ptrs[0] + j * to, ptrs[1] + j * step},
                    n - j < LT_REDUCE_BATCH ? n - j : LT_REDUCE_BATCH);
}

/* Short slices: a run of results is a job. */
typedef struct short_lines {
    const lt_reduce_plan *plan;
    int64_t batch;
} short_lines;

static void reduce_lines_job(const void *context, int64_t job)
{
    const short_lines *s = context;
    const lt_reduce_plan *p = s->plan;
    const int64_t end = (job + 1) * s->batch < p->results ? (job + 1) * s->batch : p->results;
    const int64_t row = p->reduced_dims < p->it->ndim ? p->it->sizes[p->reduced_dims] : 1;
    for (int64_t r = job * s->batch; r < end;) {
        char *ptrs[2];
        int64_t n = row - r % row;
        if (n > end - r) n = end - r;
        lt_reduce_result_at(p->it, p->reduced_dims, r, ptrs);
        if (p->fusion != NULL)
            lt_reduce_fused_lines(p, ptrs[0], r, n);
        else
            lt_reduce_batch(p, ptrs, n);
        r += n;
    }
}

/* Long slices: each chunk of elements of a result is a job. */
typedef struct long_lines {
    const lt_reduce_plan *plan;
    int pass;
    int64_t chunk, chunks;
    lt_total *parts;            /* chunks of each result */
    const lt_total *parameters; /* one per result; NULL: p->parameter */
} long_lines;

static void reduce_chunk_job(const void *context, int64_t job)
{
    const long_lines *l = context;
    const lt_reduce_plan *p = l->plan;
    const int64_t result = job / l->chunks, from = job % l->chunks * l->chunk, to = from + l->chunk;
    char *ptrs[2];
    lt_reduce_result_at(p->it, p->reduced_dims, result, ptrs);
    const int64_t end = to < p->count ? to : p->count;
    lt_reduce_begin(p, l->pass, l->parts + job, 1);
    if (p->fusion != NULL)
        lt_reduce_fused_part(p, result * p->count + from, result * p->count + end, l->parts + job);
    else
        reduce_part(p, l->pass, l->parameters != NULL ? l->parameters[result].d : p->parameter,
                    ptrs, from, end, l->parts + job);
}

static lt_status reduce_long_pass(long_lines *l, lt_total *totals)
{
    const lt_reduce_plan *p = l->plan;
    LT_TRY(lt_parallel_for(l->chunks * p->results, threads_of(p), reduce_chunk_job, l));
    for (int64_t r = 0; r < p->results; r++) {
        totals[r] = l->parts[r * l->chunks];
        for (int64_t c = 1; c < l->chunks; c++)
            p->passes[l->pass]->merge(totals + r, l->parts + r * l->chunks + c, 1);
    }
    return LT_OK;
}

static lt_status reduce_long_lines(const lt_reduce_plan *p)
{
    /* whole batches, so that chunks are aligned if the data are */
    const int64_t unit = LT_ROWS_FLUSH * 64;
    int64_t chunk = (p->count + LT_REDUCE_CHUNKS - 1) / LT_REDUCE_CHUNKS;
    if (chunk < LT_REDUCE_CHUNK) chunk = LT_REDUCE_CHUNK;
    chunk = (chunk + unit - 1) / unit * unit;
    const int64_t chunks = (p->count + chunk - 1) / chunk;
    lt_total *totals = lt_mem_array(lt_mul_sat(p->results, chunks + 3), sizeof *totals);
    if (totals == NULL) return LT_ERR_MEMORY;
    lt_total *parameters = totals + p->results, *first = parameters + p->results;
    long_lines l = {.plan = p, .chunk = chunk, .chunks = chunks, .parts = first + p->results};
    for (int64_t r = 0; r < p->results && p->varies; r++) {
        char *ptrs[2];
        lt_reduce_result_at(p->it, p->reduced_dims, r, ptrs);
        l.parameters = lt_reduce_before(p, ptrs[1], 0, 1, first + r) - r;
    }
    lt_status status = reduce_long_pass(&l, p->npasses == 1 ? totals : parameters);
    if (p->npasses == 2 && status == LT_OK) {
        lt_reduce_between(p, parameters, first, p->results);
        l.pass = 1;
        l.parameters = parameters;
        status = reduce_long_pass(&l, totals);
    }
    for (int64_t r = 0; r < p->results && status == LT_OK; r++) {
        char *ptrs[2];
        lt_reduce_result_at(p->it, p->reduced_dims, r, ptrs);
        lt_reduce_store(p, ptrs[0], 0, totals + r, parameters + r, 1);
    }
    lt_mem_free(totals);
    return status;
}

static lt_status reduce_lines(const lt_reduce_plan *p)
{
    if (p->count >= LT_REDUCE_LONG) return reduce_long_lines(p);
    int64_t batch = 1 + LT_CPU_GRAIN / (p->count + 1);
    if (batch > LT_REDUCE_SLICES || p->fusion != NULL)
        batch = (batch + LT_REDUCE_SLICES - 1) / LT_REDUCE_SLICES * LT_REDUCE_SLICES;
    const int threads = p->results > 1 ? threads_of(p) : 1;
    const short_lines s = {p, batch};
    return lt_parallel_for((p->results + batch - 1) / batch, threads, reduce_lines_job, &s);
}

/* ---- entry ----------------------------------------------------------------------------------- */

static bool by_columns(const lt_reduce_plan *p)
{
    const lt_iter *it = p->it;
    const int d = p->reduced_dims;
    if (d == 0 || d >= it->ndim || p->count == 0) return false;
    return it->strides[1][d] == p->in_size && it->strides[1][0] != p->in_size && it->sizes[d] >= 4;
}

lt_status lt_cpu_reduce(int op, const lt_iter *it, int reduced_dims, double parameter)
{
    lt_reduce_plan p;
    LT_TRY(make_plan(&p, (lt_reduction)op, it, reduced_dims, parameter));
    if (p.results == 0) return LT_OK;
    return by_columns(&p) ? lt_reduce_columns(&p) : reduce_lines(&p);
}

lt_status lt_cpu_reduce_fusion(const lt_fused_producer *producer, int op, const lt_iter *it,
                               int reduced_dims, double parameter)
{
    lt_reduce_plan p;
    lt_fused_program program; /* not zeroed as a whole */
    LT_TRY(make_plan(&p, (lt_reduction)op, it, reduced_dims, parameter));
    lt_fused_prepare(&program, producer->fusion, producer->value);
    p.fusion = &program;
    return by_columns(&p) ? lt_reduce_columns(&p) : reduce_lines(&p);
}
