/* pointwise.c - elementwise ops on the CPU: selects the loop for an op and a dtype and runs it.
 * Loops need contiguous operands of their own dtype (vector/pointwise/instantiate.h): others are
 * converted, or gathered, block by block, results converted or scattered back. The loops are in
 * vector/, a file per family (`kernel` of the declarations). Half types without a loop of their own
 * are computed in float, such integers in int64. */
#include "cpu/cpu.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "blocks.h"
#include "cpu/common/for_each.h"
#include "ops/pointwise.h"
#include "cpu/common/sizes.h"

static void convert_block(const lt_conversion *c, char *to, int64_t size, char *from,
                          int64_t stride, int64_t n)
{
    _Alignas(64) char narrow[LT_BLOCK * 8];
    if (c->narrow != NULL) {
        c->narrow((char *[]){narrow, from}, (int64_t[]){c->narrow_size, stride}, n, NULL);
        from = narrow;
        stride = c->narrow_size;
    }
    c->convert((char *[]){to, from}, (int64_t[]){size, stride}, n, NULL);
}

static lt_conversion conversion_of(lt_dtype from, lt_dtype compute, lt_dtype wanted)
{
    bool narrows = wanted != compute && wanted != LT_BOOL && from != compute && from != LT_BOOL;
    return (lt_conversion){
        .narrow = narrows ? lt_loops.cast[compute][from] : NULL,
        .convert = lt_loops.cast[wanted][narrows ? compute : from],
        .narrow_size = (int64_t)lt_dtype_size(compute),
        .wanted = wanted,
        .same = from == wanted && !narrows,
    };
}

/* Whether the loop accepts input k as a scalar: of two inputs one, the second if both are scalars,
 * so that an exponent stays one; of three the second and the third. */
static bool may_be_number(int k, int operands, const int64_t *strides)
{
    if (operands == 3) return k == 2 || strides[2] != 0;
    return operands == 4 && k >= 2;
}

/* Whether the loop accepts all inputs of a contiguous iteration without conversion. */
static bool takes_numbers(const lt_iter *it)
{
    bool numbers = false;
    for (int k = 1; k < it->operands; k++) numbers = numbers || it->strides[k][0] == 0;
    if (!numbers || it->numel == 1) return true;
    int64_t strides[LT_BLOCKS_OPERANDS];
    for (int k = 0; k < it->operands; k++) strides[k] = it->strides[k][0];
    for (int k = 1; k < it->operands; k++)
        if (strides[k] == 0 && !may_be_number(k, it->operands, strides)) return false;
    return true;
}

static bool is_number_operand(int k, int operands, const int64_t *strides)
{
    return k > 0 && strides[k] == 0 && may_be_number(k, operands, strides);
}

/* Whether the loop accepts all operands of every run of a strided walk without conversion. */
static bool takes_runs(const lt_iter *it)
{
    int64_t strides[LT_BLOCKS_OPERANDS];
    if (lt_cpu_exchanges(it)) return false;
    for (int k = 0; k < it->operands; k++) strides[k] = it->strides[k][0];
    for (int k = 0; k < it->operands; k++)
        if (strides[k] != (int64_t)lt_dtype_size(it->dtype[k]) &&
            !is_number_operand(k, it->operands, strides))
            return false;
    return true;
}

/* Whether the loop accepts operand k in place; *step: its stride in the loop. */
static bool in_place(const lt_blocks *b, int k, const int64_t *strides, int64_t *step)
{
    const bool one = is_number_operand(k, b->operands, strides);
    *step = one ? 0 : b->size[k];
    return (k == 0 ? b->stored_as_is
            : one  ? b->number[k].same
                   : b->in[k].same) &&
           strides[k] == *step;
}

bool lt_blocks_in_place(const lt_blocks *b, const int64_t *strides)
{
    bool all = true;
    for (int k = 0; k < b->operands; k++) {
        int64_t step;
        all = all && in_place(b, k, strides, &step);
    }
    return all;
}

void lt_blocks_number(lt_blocks *b, int k, const int64_t *strides, char *from, char *to)
{
    const lt_conversion *c = is_number_operand(k, b->operands, strides) ? &b->number[k] : &b->in[k];
    const lt_dtype wanted = c->wanted;
    convert_block(c, to, (int64_t)lt_dtype_size(wanted), from, 0, 1);
    b->in[k] = b->number[k] = conversion_of(wanted, wanted, wanted);
}

/* Operands that the loop does not accept in place go through buffers; a scalar is converted once,
 * before. */
void lt_run_blocks(char *const *ptrs, const int64_t *strides, int64_t n, const void *context)
{
    const lt_blocks *b = context;
    _Alignas(64) char buffer[LT_BLOCKS_OPERANDS][LT_BLOCK * 8];
    char *at[LT_BLOCKS_OPERANDS];
    int64_t step[LT_BLOCKS_OPERANDS];
    bool as_it_is[LT_BLOCKS_OPERANDS], all = true;
    for (int k = 0; k < b->operands; k++) {
        as_it_is[k] = in_place(b, k, strides, &step[k]);
        at[k] = as_it_is[k] ? ptrs[k] : buffer[k];
        all = all && (as_it_is[k] || step[k] == 0);
        if (as_it_is[k] || k == 0) continue;
        if (step[k] == 0)
            convert_block(&b->number[k], buffer[k], (int64_t)lt_dtype_size(b->number[k].wanted),
                          ptrs[k], 0, 1);
        else if (strides[k] == 0)
            convert_block(&b->in[k], buffer[k], b->size[k], ptrs[k], 0,
                          n < b->length ? n : b->length);
    }
    if (all) {
        b->loop(at, step, n, b->params);
        return;
    }
    for (int64_t from = 0; from < n; from += b->length) {
        int64_t m = n - from < b->length ? n - from : b->length;
        for (int k = 0; k < b->operands; k++) {
            char *const operand = ptrs[k] + from * strides[k];
            if (as_it_is[k]) {
                at[k] = operand;
            } else if (k > 0 && strides[k] != 0) {
                if (strides[k] > 0 && strides[k] <= 8 && n - from >= LT_FETCHED_AHEAD + m)
                    lt_fetch(lt_fetched_from(operand + LT_FETCHED_AHEAD * strides[k]),
                             m * strides[k]);
                convert_block(&b->in[k], buffer[k], b->size[k], operand, strides[k], m);
            }
        }
        b->loop(at, step, m, b->params);
        if (!as_it_is[0])
            b->store((char *[]){ptrs[0] + from * strides[0], buffer[0]},
                     (int64_t[]){strides[0], b->size[0]}, m, NULL);
    }
}

static lt_dtype operand_dtype(const lt_pointwise_facts *facts, int k, lt_dtype computed)
{
    if (k == 0)
        return facts->rule == LT_RULE_COMPARE ? LT_BOOL
               : facts->gives_real            ? lt_real_of(computed)
                                              : computed;
    return k == 1 && facts->rule == LT_RULE_SELECT ? LT_BOOL : computed;
}

/* Context of find_zero. */
typedef struct divisor {
    lt_conversion convert;
    bool *zero; /* threads only set it */
} divisor;

static void find_zero(char *const *ptrs, const int64_t *strides, int64_t n, const void *context)
{
    const divisor *d = context;
    uint64_t values[LT_BLOCK];
    const bool as_it_is = d->convert.same && strides[2] == (int64_t)sizeof *values;
    if (strides[2] == 0) n = 1;
    for (int64_t from = 0; from < n; from += LT_BLOCK) {
        const int64_t m = n - from < LT_BLOCK ? n - from : LT_BLOCK;
        char *const at = ptrs[2] + from * strides[2];
        if (!as_it_is)
            convert_block(&d->convert, (char *)values, sizeof *values, at, strides[2], m);
        const uint64_t *const divisors = as_it_is ? (const uint64_t *)(const void *)at : values;
        uint64_t marks = 0; /* only a zero sets its highest bit */
        _Pragma("omp simd reduction(| : marks)") for (int64_t i = 0; i < m; i++) marks |=
            (divisors[i] - 1) & ~divisors[i];
        if (marks >> 63) __atomic_store_n(d->zero, true, __ATOMIC_RELAXED);
    }
}

/* Checks before anything is written. */
static lt_status check_divisor(const lt_iter *it, lt_dtype compute)
{
    bool zero = false;
    divisor d = {conversion_of(it->dtype[2], compute, LT_INT64), &zero};
    LT_TRY(lt_cpu_for_each(it, find_zero, &d));
    return zero ? lt_error(LT_ERR_RUNTIME, "ZeroDivisionError") : LT_OK;
}

static bool is_one_number(const lt_iter *it, int k)
{
    for (int i = 0; i < it->ndim; i++)
        if (it->strides[k][i] != 0) return false;
    return true;
}

/* The loop for op in `compute`, and the dtype of its elements; NULL: there is none. */
static lt_loop loop_of(int op, lt_dtype compute, lt_dtype *computed)
{
    lt_loop loop = lt_pointwise_loops[op][ *computed = compute];
    if (loop == NULL && lt_dtype_is_half(compute))
        loop = lt_pointwise_loops[op][ *computed = LT_FLOAT32];
    if (loop == NULL && lt_dtype_is_int(compute))
        loop = lt_pointwise_loops[op][ *computed = LT_INT64];
    return loop;
}

/* The dtype of scalar inputs to loops over such elements. */
static lt_dtype number_dtype(lt_dtype elements)
{
    return elements == LT_BFLOAT16 ? LT_FLOAT32 : elements;
}

const char *lt_cpu_fusion_unavailable(void) { return NULL; }

bool lt_cpu_fuses(int op, lt_dtype compute)
{
    lt_dtype computed;
    if (op == LT_FUSED_COPY) return true;
    return loop_of(op, compute, &computed) != NULL &&
           !(computed == LT_INT64 && lt_pointwise_table[op].divides);
}

void lt_prepare_blocks(int op, lt_dtype compute, const lt_scalar *params, int operands,
                       const lt_dtype *dtypes, const bool *numbers, lt_blocks *b)
{
    const lt_pointwise_facts *facts = &lt_pointwise_table[op];
    lt_dtype computed;
    /* field by field: fields of absent operands need no zeros */
    b->loop = loop_of(op, compute, &computed);
    b->operands = operands;
    b->params = params;
    b->length = computed == LT_COMPLEX128 ? LT_BLOCK / 2 : LT_BLOCK;
    for (int k = 0; k < operands; k++) {
        lt_dtype wanted = operand_dtype(facts, k, computed);
        b->size[k] = (int64_t)lt_dtype_size(wanted);
        if (k == 0) {
            b->store = lt_loops.cast[dtypes[0]][wanted];
            b->stored_as_is = dtypes[0] == wanted;
        } else {
            const lt_dtype number = number_dtype(wanted);
            bool exact = k == 2 && facts->exact_number && lt_dtype_is_float(compute) && numbers[k];
            b->in[k] = conversion_of(dtypes[k], exact ? computed : compute, wanted);
            b->number[k] = conversion_of(dtypes[k], exact ? number : compute, number);
        }
    }
}

/* Whether the loop that computes in `compute` accepts the operands in place. */
static bool takes_operands(const lt_pointwise_facts *facts, const lt_iter *it, lt_dtype compute)
{
    for (int k = 0; k < it->operands; k++) {
        const lt_dtype dtype = operand_dtype(facts, k, compute);
        if (it->dtype[k] != dtype ||
            (number_dtype(dtype) != dtype && (it->ndim == 0 || it->strides[k][0] == 0)))
            return false;
    }
    return it->contiguous ? takes_numbers(it) : takes_runs(it);
}

/* The fast path for few elements with scalars of other dtypes: converts the scalars and calls the
 * loop once. False: an operand of many elements needs a conversion, too. */
static bool run_few(const lt_pointwise_facts *facts, lt_loop loop, const lt_iter *it,
                    lt_dtype compute, lt_dtype computed, bool exact, const lt_scalar *params)
{
    _Alignas(16) char numbers[LT_BLOCKS_OPERANDS][16];
    char *at[LT_BLOCKS_OPERANDS];
    int64_t strides[LT_BLOCKS_OPERANDS];
    /* the loop could not distinguish a number from an element */
    if (it->ndim == 0 && number_dtype(computed) != computed) return false;
    for (int k = 0; k < it->operands; k++) strides[k] = it->ndim > 0 ? it->strides[k][0] : 0;
    for (int k = 0; k < it->operands; k++) {
        const lt_dtype element = operand_dtype(facts, k, computed);
        const bool one = k > 0 && strides[k] == 0;
        const lt_dtype wanted = one ? number_dtype(element) : element;
        at[k] = it->data[k];
        if (!one && it->dtype[k] != element) return false;
        if (!one) continue;
        if (it->ndim > 0 && !may_be_number(k, it->operands, strides)) return false;
        const lt_conversion c =
            conversion_of(it->dtype[k], exact && k == 2 ? wanted : compute, wanted);
        if (c.same) continue;
        convert_block(&c, numbers[k], (int64_t)lt_dtype_size(wanted), at[k], 0, 1);
        at[k] = numbers[k];
    }
    loop(at, strides, it->numel, params);
    return true;
}

lt_status lt_cpu_pointwise(int op, const lt_iter *it, lt_dtype compute, const lt_scalar *params)
{
    const lt_pointwise_facts *facts = &lt_pointwise_table[op];
    lt_dtype computed;
    const lt_loop loop = loop_of(op, compute, &computed);
    if (loop == NULL)
        return lt_error(LT_ERR_RUNTIME, "\"%s\" not implemented for '%s'", facts->name,
                        lt_dtype_scalar_name(compute));
    if (computed == LT_INT64 && facts->divides) LT_TRY(check_divisor(it, compute));
    if (computed == compute && takes_operands(facts, it, compute))
        return lt_cpu_for_each(it, loop, params);

    const bool exact = facts->exact_number && it->operands > 2 && is_one_number(it, 2);
    if (it->contiguous && it->numel <= LT_BLOCK &&
        run_few(facts, loop, it, compute, computed, exact, params))
        return LT_OK;
    lt_blocks b;
    lt_prepare_blocks(op, compute, params, it->operands, it->dtype,
                      (bool[LT_BLOCKS_OPERANDS]){false, false, exact}, &b);
    return lt_cpu_for_each(it, lt_run_blocks, &b);
}
