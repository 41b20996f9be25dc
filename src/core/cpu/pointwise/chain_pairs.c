/* chain_pairs.c - two steps of a chain become one instruction where a loop does both at once (common/pairs.h): a step's time is that of storing
 * what it gives, and what lies between the two is stored nowhere. */
#include <string.h>

#include "chain_program.h"
#include "cpu/common/pairs.h"
#include "pointwise_ops.h"

/* Whether the second operand is added or subtracted as it is. */
static bool adds_once(const lt_chain_step *step)
{
    const lt_scalar *alpha = &step->params[0];
    return alpha->kind == LT_SCALAR_FLOAT ? alpha->v.d == 1 : alpha->v.i == 1;
}

/* LT_FIRSTS: it can't come first. */
static int first_of(const lt_chain_step *step)
{
    switch (step->op) {
    case LT_PW_MUL: return LT_FIRST_MUL;
    case LT_PW_ADD: return adds_once(step) ? LT_FIRST_ADD : LT_FIRSTS;
    case LT_PW_SUB: return adds_once(step) ? LT_FIRST_SUB : LT_FIRSTS;
    default: return LT_FIRSTS;
    }
}

/* k: which operand is the first's result. LT_SECONDS: it can't come second. */
static int second_of(const lt_chain_step *step, int k)
{
    switch (step->op) {
    case LT_PW_MUL: return LT_SECOND_MUL;
    case LT_PW_ADD: return adds_once(step) ? LT_SECOND_ADD : LT_SECONDS;
    case LT_PW_SUB:
        if (!adds_once(step)) return LT_SECONDS;
        return k == 1 ? LT_SECOND_SUB : LT_SECOND_SUB_FROM;
    case LT_PW_RELU: return LT_SECOND_RELU;
    case LT_PW_ABS: return LT_SECOND_ABS;
    case LT_PW_SQRT: return LT_SECOND_SQRT;
    case LT_PW_SQUARE: return LT_SECOND_SQUARE;
    default: return LT_SECONDS;
    }
}

/* x ^ 2, which is x * x in the op's loop, too. */
static bool squares(const lt_chain_instruction *in)
{
    if (in->step->op != LT_PW_POW || in->n != 3 || !in->converted[2]) return false;
    double wide;
    float narrow;
    memcpy(&wide, in->number[2], sizeof wide);
    memcpy(&narrow, in->number[2], sizeof narrow);
    return (in->step->compute == LT_FLOAT64 ? wide : (double)narrow) == 2;
}

static int type_of(lt_dtype dtype)
{
    switch (dtype) {
    case LT_FLOAT32: return LT_PAIR_F32;
    case LT_FLOAT64: return LT_PAIR_F64;
    case LT_BFLOAT16: return LT_PAIR_BF16;
    default: return LT_PAIR_TYPES;
    }
}

/* Whether it is one step, in a type of pairs, of elements of that type and at most one number. */
static bool is_plain(const lt_chain_program *p, const lt_chain_instruction *in)
{
    if (in->step == NULL || in->step->op == LT_CHAIN_COPY ||
        type_of(in->step->compute) == LT_PAIR_TYPES)
        return false;
    int numbers = 0;
    for (int k = 0; k < in->n; k++) {
        if (in->converted[k])
            numbers++;
        else if (p->chain->values[in->value[k]].dtype != in->step->compute)
            return false;
    }
    return numbers < in->n - 1;
}

static void take_operand(lt_chain_instruction *to, int k, const lt_chain_instruction *from,
                         int from_k)
{
    to->value[k] = from->value[from_k];
    to->stride[k] = from->stride[from_k];
    to->converted[k] = from->converted[from_k];
    memcpy(to->number[k], from->number[from_k], sizeof to->number[k]);
}

static bool join(const lt_chain_program *p, lt_chain_instruction *first,
                 lt_chain_instruction *second, int k)
{
    if (!is_plain(p, first) || first->step->compute != second->step->compute) return false;
    const lt_pair_loops *pairs = lt_pairs();
    const bool square = k == 1 && squares(second);
    const int f = first_of(first->step), s = square ? LT_SECOND_SQUARE : second_of(second->step, k);
    if (pairs == NULL || f == LT_FIRSTS || s == LT_SECONDS) return false;
    if (square) second->n = 2;
    if (second->n == 3) take_operand(second, 3, second, 3 - k);
    take_operand(second, 1, first, 1);
    take_operand(second, 2, first, 2);
    second->n++;
    second->loop = pairs[f][s][type_of(second->step->compute)];
    second->context = NULL;
    second->step = NULL; /* no third one */
    first->n = 0;
    return true;
}

void lt_chain_pair(lt_chain_program *p)
{
    int uses[LT_CHAIN_VALUES] = {0}, maker[LT_CHAIN_VALUES];
    for (int i = 0; i < p->n; i++) {
        const lt_chain_instruction *in = &p->instructions[i];
        maker[in->value[0]] = i;
        for (int k = 1; k < in->n; k++) uses[in->value[k]]++;
    }
    for (int i = 0; i < p->n; i++) {
        lt_chain_instruction *in = &p->instructions[i];
        bool joined = !is_plain(p, in);
        for (int k = 1; k < in->n && !joined; k++) {
            const int v = in->value[k];
            if (uses[v] == 1 && lt_chain_in_slot(p, v))
                joined = join(p, &p->instructions[maker[v]], in, k);
        }
    }
}
