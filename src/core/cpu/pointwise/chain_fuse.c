/* chain_fuse.c - steps of a chain that follow one another become one instruction (common/fused.h),
 * which passes over memory once: what lies between them stays in registers, or in temporary places
 * as long as those. */
#include <math.h>
#include <string.h>

#include "chain_program.h"
#include "dtypes/half.h"
#include "pointwise_ops.h"

enum {
    LEAST = 512,  /* elements of a chain: fewer take less time than this does */
    GATHERED = 2, /* most operands of a run that are gathered: they have slots at the same time */
    NOBODY = -1
};

/* A number for all elements, or a value. */
typedef struct operand {
    int value; /* NOBODY: the number */
    double number;
} operand;

/* What is known of a value while a run of steps is written down. */
typedef struct known {
    int uses;   /* by instructions of the chain */
    int inside; /* by those of the run that are still to come */
    bool made;  /* by one of the run */
    bool seen;  /* by others, which find it in memory */
    /* where its elements lie as the accumulator has them, beside the operands; NOBODY */
    int place;
    int operand; /* which input of the loop it is; NOBODY */
} known;

typedef struct writer {
    lt_chain_program *p;
    lt_fused *f;
    lt_dtype compute;
    int held; /* the value that the accumulator has; NOBODY */
    int inputs[LT_FUSED_OPERANDS], outputs[LT_FUSED_OPERANDS], n_inputs, n_outputs;
    int spare[LT_FUSED_TEMPORARIES], n_spare; /* places */
    double constants[LT_FUSED_CONSTANTS];
    bool full; /* there is no room for all */
    known of[LT_CHAIN_VALUES];
} writer;

/* ---- which steps ----------------------------------------------------------------------------- */

static const lt_chain_value *value_of(const writer *w, int v) { return &w->p->chain->values[v]; }

static bool compares(int op)
{
    return op == LT_PW_EQ || op == LT_PW_NE || op == LT_PW_LT || op == LT_PW_LE || op == LT_PW_GT ||
           op == LT_PW_GE;
}

/* The number that all elements have, as the loop of the op is given it. */
static double number_of(const lt_chain_instruction *in, int k)
{
    double wide;
    float narrow;
    memcpy(&wide, in->number[k], sizeof wide);
    memcpy(&narrow, in->number[k], sizeof narrow);
    return in->step->compute == LT_FLOAT64 ? wide : (double)narrow;
}

static double param(const lt_chain_step *step, int i)
{
    const lt_scalar *s = &step->params[i];
    return s->kind == LT_SCALAR_FLOAT ? s->v.d : (double)s->v.i;
}

/* Whether there is an operation for it. */
static bool is_known(const lt_chain_instruction *in)
{
    const lt_chain_step *step = in->step;
    switch (step->op) {
    case LT_PW_ADD:
    case LT_PW_SUB:
    case LT_PW_MUL:
    case LT_PW_DIV:
    case LT_PW_MAXIMUM:
    case LT_PW_MINIMUM:
    case LT_PW_NEG:
    case LT_PW_ABS:
    case LT_PW_SQUARE:
    case LT_PW_SQRT:
    case LT_PW_RECIPROCAL:
    case LT_PW_RELU:
    case LT_PW_WHERE:
    case LT_PW_ADDCMUL:
    case LT_PW_ADDCDIV:
    case LT_PW_RELU_BACKWARD:
    case LT_PW_TANH_BACKWARD:
    case LT_PW_SIGMOID_BACKWARD: return true;
    case LT_PW_CLAMP_MIN:
    case LT_PW_CLAMP_MAX: return in->n == 2 && !isnan(param(step, 0));
    case LT_PW_CLAMP_BOTH: return !isnan(param(step, 0)) && !isnan(param(step, 1));
    case LT_PW_POW:
        return in->n == 3 && in->converted[2] && (number_of(in, 2) == 2 || number_of(in, 2) == 3);
    default: return compares(step->op);
    }
}

/* Whether it is a step of bools alone that masks may do: MUL and MAXIMUM of bools are what AND and
 * OR are. */
static bool joins_bools(const lt_chain_program *p, const lt_chain_instruction *in)
{
    switch (in->step->op) {
    case LT_PW_MUL:
    case LT_PW_MAXIMUM:
    case LT_PW_BITWISE_AND:
    case LT_PW_BITWISE_OR:
    case LT_PW_LOGICAL_AND:
    case LT_PW_LOGICAL_OR:
    case LT_PW_LOGICAL_NOT: break;
    default: return false;
    }
    bool all = in->step->compute == LT_BOOL;
    for (int k = 0; k < in->n; k++)
        all = all && !in->converted[k] && p->chain->values[in->value[k]].dtype == LT_BOOL;
    return all;
}

/* Whether it may be one of a run of steps in that dtype, which another one has begun where it is
 * bools' alone. What is converted has none, but bools. */
static bool may_join(const lt_chain_program *p, const lt_chain_instruction *in, lt_dtype compute,
                     bool begun)
{
    const lt_chain_value *values = p->chain->values;
    if (begun && compute != LT_BFLOAT16 && in->step != NULL) {
        if (in->step->op == LT_CHAIN_COPY)
            return !values[in->value[1]].number && values[in->value[1]].dtype == LT_BOOL &&
                   values[in->value[0]].dtype == compute;
        if (joins_bools(p, in)) return true;
    }
    if (compute != LT_FLOAT32 && compute != LT_FLOAT64 && compute != LT_BFLOAT16) return false;
    if (in->step == NULL || in->step->op == LT_CHAIN_COPY || in->step->compute != compute ||
        !is_known(in))
        return false;
    /* its elements stand in another order than bools */
    if (compute == LT_BFLOAT16 && (compares(in->step->op) || in->step->op == LT_PW_WHERE))
        return false;
    if (values[in->value[0]].dtype != (compares(in->step->op) ? LT_BOOL : compute)) return false;
    int numbers = 0;
    for (int k = 1; k < in->n; k++) {
        const bool mask = k == 1 && in->step->op == LT_PW_WHERE;
        if (in->converted[k] ? mask : values[in->value[k]].dtype != (mask ? LT_BOOL : compute))
            return false;
        numbers += in->converted[k];
    }
    return numbers < in->n - 1;
}

/* How many of its operands are gathered into slots. */
static int gathered(const lt_chain_program *p, const lt_chain_instruction *in)
{
    int n = 0;
    for (int k = 1; k < in->n; k++)
        n += lt_is_gathered(&p->chain->values[in->value[k]]) && p->period[in->value[k]] == 0;
    return n;
}

/* ---- writing it down ------------------------------------------------------------------------- */

/* Makes a product and the sum after it one operation. */
static bool joins_product(lt_fused_op *last, int op, int place)
{
    static const uint8_t joined[2][2] = {{LT_FUSED_MUL_ADD, LT_FUSED_MUL_ADD_NUMBER},
                                         {LT_FUSED_MUL_NUMBER_ADD, LT_FUSED_MUL_NUMBER_ADD_NUMBER}};
    const bool by_number = last->op == LT_FUSED_MUL_NUMBER, number = op == LT_FUSED_ADD_NUMBER;
    if ((op != LT_FUSED_ADD && !number) || (last->op != LT_FUSED_MUL && !by_number)) return false;
    last->op = joined[by_number][number];
    last->mask = (uint8_t)place;
    return true;
}

static void put(writer *w, int op, int place, int mask)
{
    lt_fused *f = w->f;
    if (f->n == LT_FUSED_OPS) w->full = true;
    /* its form with a number */
    if (place >= LT_FUSED_CONSTANT)
        op += op == LT_FUSED_LOAD ? LT_FUSED_LOAD_NUMBER - LT_FUSED_LOAD
                                  : LT_FUSED_ADD_NUMBER - LT_FUSED_ADD;
    if (f->n > 0 && joins_product(&f->ops[f->n - 1], op, place)) return;
    if (!w->full) f->ops[f->n++] = (lt_fused_op){(uint8_t)op, (uint8_t)place, (uint8_t)mask, 0};
}

static int constant(writer *w, double number)
{
    lt_fused *f = w->f;
    for (int c = 0; c < f->constants; c++)
        if (memcmp(&w->constants[c], &number, sizeof number) == 0) return LT_FUSED_CONSTANT + c;
    if (f->constants == LT_FUSED_CONSTANTS) {
        w->full = true;
        return LT_FUSED_CONSTANT;
    }
    w->constants[f->constants] = number;
    return LT_FUSED_CONSTANT + f->constants++;
}

/* Whether it lies in memory as the accumulator has it. */
static bool is_plain_input(const writer *w, int v)
{
    return !w->of[v].made && value_of(w, v)->dtype == w->compute && w->compute != LT_BFLOAT16;
}

/* A place for what the accumulator has. */
static void keep(writer *w)
{
    known *k = &w->of[w->held];
    if (w->n_spare == 0) {
        w->full = true;
        return;
    }
    k->place = w->spare[--w->n_spare];
    if (k->place >= LT_FUSED_TEMPORARY + w->f->temporaries)
        w->f->temporaries = k->place - LT_FUSED_TEMPORARY + 1;
    put(w, LT_FUSED_STORE, k->place, 0);
}

/* Before the accumulator changes: what is still needed of it. */
static void keep_needed(writer *w)
{
    if (w->held == NOBODY || is_plain_input(w, w->held)) return;
    if (w->of[w->held].inside > 0 && w->of[w->held].place == NOBODY) keep(w);
}

static bool has_room(writer *w)
{
    if (w->n_inputs + w->n_outputs == LT_FUSED_OPERANDS) w->full = true;
    return !w->full;
}

/* Inputs come after outputs, whose number is known at the end: until then they are numbered from
 * the other end. */
static int input_place(writer *w, int v)
{
    known *k = &w->of[v];
    if (k->operand == NOBODY && has_room(w)) {
        w->inputs[w->n_inputs] = v;
        k->operand = w->n_inputs++;
    }
    return LT_FUSED_OPERANDS - 1 - k->operand;
}

static void load(writer *w, operand x)
{
    if (x.value != NOBODY && w->held == x.value) return;
    keep_needed(w);
    if (x.value == NOBODY) {
        put(w, LT_FUSED_LOAD, constant(w, x.number), 0);
    } else if (w->of[x.value].place != NOBODY) {
        put(w, LT_FUSED_LOAD, w->of[x.value].place, 0);
    } else {
        const lt_dtype dtype = value_of(w, x.value)->dtype;
        put(w,
            dtype == LT_BOOL       ? LT_FUSED_LOAD_BOOL
            : dtype == LT_BFLOAT16 ? LT_FUSED_LOAD_BFLOAT16
                                   : LT_FUSED_LOAD,
            input_place(w, x.value), 0);
    }
    w->held = x.value;
}

/* Where an operand lies that the accumulator does not have; it may come to have it on the way. */
static int place_of(writer *w, operand x)
{
    if (x.value == NOBODY) return constant(w, x.number);
    known *k = &w->of[x.value];
    if (k->place != NOBODY) return k->place;
    if (is_plain_input(w, x.value)) return input_place(w, x.value);
    load(w, x);
    keep(w);
    return w->full ? 0 : k->place;
}

static void use(writer *w, operand x)
{
    known *k = x.value != NOBODY ? &w->of[x.value] : NULL;
    if (k != NULL && --k->inside == 0 && k->place >= LT_FUSED_TEMPORARY)
        w->spare[w->n_spare++] = k->place;
}

/* a op b, of which the accumulator is to have a. What b leaves is free afterwards only. */
static void two(writer *w, int op, operand a, operand b)
{
    const int place = place_of(w, b);
    load(w, a);
    use(w, a);
    keep_needed(w);
    put(w, op, place, 0);
    use(w, b);
    w->held = NOBODY;
}

/* The same where it may have either: op_b is the op if it has b. */
static void either(writer *w, int op, int op_b, operand a, operand b)
{
    const bool reversed =
        a.value == NOBODY || (b.value != NOBODY && b.value != a.value && w->held == b.value);
    if (reversed)
        two(w, op_b, b, a);
    else
        two(w, op, a, b);
}

static void one(writer *w, int op, operand x)
{
    load(w, x);
    use(w, x);
    keep_needed(w);
    put(w, op, 0, 0);
    w->held = NOBODY;
}

/* Goes on with what the accumulator has, which is no value of the chain. */
static void more(writer *w, int op, operand x)
{
    put(w, op, place_of(w, x), 0);
    use(w, x);
}

static operand number(double x) { return (operand){NOBODY, x}; }

static void choose(writer *w, operand condition, operand a, operand b)
{
    const bool has_a = a.value != NOBODY && a.value == w->held;
    const int mask = place_of(w, condition), place = place_of(w, has_a ? b : a);
    load(w, has_a ? a : b);
    use(w, has_a ? a : b);
    keep_needed(w);
    put(w, has_a ? LT_FUSED_CHOOSE_ELSE : LT_FUSED_CHOOSE, place, mask);
    use(w, condition);
    use(w, has_a ? b : a);
    w->held = NOBODY;
}

/* a * scale * b + x, or a * scale / b + x. What is scaled comes first: b and x have to lie in
 * memory by then. */
static void scaled(writer *w, int op, operand x, operand a, operand b, double scale)
{
    place_of(w, x);
    place_of(w, b);
    if (scale != 1) {
        two(w, LT_FUSED_MUL, a, number(scale));
    } else {
        load(w, a);
        use(w, a);
        keep_needed(w);
        w->held = NOBODY;
    }
    more(w, op, b);
    more(w, LT_FUSED_ADD, x);
}

/* a + alpha * b, a - alpha * b */
static void add(writer *w, bool minus, operand a, operand b, double alpha)
{
    if (minus && b.value == NOBODY) {
        b.number = -b.number;
        minus = false;
    }
    if (alpha == 1) {
        either(w, minus ? LT_FUSED_SUB : LT_FUSED_ADD, minus ? LT_FUSED_REVERSE_SUB : LT_FUSED_ADD,
               a, b);
        return;
    }
    place_of(w, a);
    two(w, LT_FUSED_MUL, b, number(alpha));
    more(w, minus ? LT_FUSED_REVERSE_SUB : LT_FUSED_ADD, a);
}

static void multiply(writer *w, operand a, operand b)
{
    if (a.value == NOBODY || a.value != b.value) {
        either(w, LT_FUSED_MUL, LT_FUSED_MUL, a, b);
        return;
    }
    use(w, b);
    one(w, LT_FUSED_SQUARE, a);
}

/* Powers of two have an inverse that gives the same quotients. */
static void divide(writer *w, operand a, operand b)
{
    int exponent;
    const bool inverts = b.value == NOBODY && fabs(frexp(b.number, &exponent)) == 0.5 &&
                         exponent > -100 && exponent < 100;
    if (inverts)
        two(w, LT_FUSED_MUL, a, number(1 / b.number));
    else
        either(w, LT_FUSED_DIV, LT_FUSED_DIV_INTO, a, b);
}

static void compare(writer *w, int op, operand a, operand b)
{
    switch (op) {
    case LT_PW_EQ: either(w, LT_FUSED_EQ, LT_FUSED_EQ, a, b); break;
    case LT_PW_NE: either(w, LT_FUSED_NE, LT_FUSED_NE, a, b); break;
    case LT_PW_LT: either(w, LT_FUSED_LT, LT_FUSED_GT, a, b); break;
    case LT_PW_LE: either(w, LT_FUSED_LE, LT_FUSED_GE, a, b); break;
    case LT_PW_GT: either(w, LT_FUSED_GT, LT_FUSED_LT, a, b); break;
    default: either(w, LT_FUSED_GE, LT_FUSED_LE, a, b); break;
    }
}

/* Slopes of y = tanh(x) and sigmoid(x): grad * (1 - y * y), grad * (1 - y) * y. y is read several
 * times, which the caller counts as one. */
static void slope(writer *w, bool sigmoid, operand grad, operand y)
{
    place_of(w, grad);
    const int place = place_of(w, y);
    load(w, y);
    if (!sigmoid) put(w, LT_FUSED_MUL, place, 0);
    put(w, LT_FUSED_REVERSE_SUB, constant(w, 1), 0);
    w->held = NOBODY;
    more(w, LT_FUSED_MUL, grad);
    if (sigmoid) put(w, LT_FUSED_MUL, place, 0);
    use(w, y);
}

/* For others, what the accumulator has. */
static void store(writer *w, int v)
{
    known *k = &w->of[v];
    const lt_dtype dtype = value_of(w, v)->dtype;
    k->made = true;
    if (!k->seen || !has_room(w)) return;
    const int place = w->n_outputs++;
    w->outputs[place] = v;
    put(w,
        dtype == LT_BOOL       ? LT_FUSED_STORE_BOOL
        : dtype == LT_BFLOAT16 ? LT_FUSED_STORE_BFLOAT16
                               : LT_FUSED_STORE,
        place, 0);
    if (dtype == w->compute && dtype != LT_BFLOAT16) k->place = place;
}

static void write_bools(writer *w, int op, const operand *x)
{
    switch (op) {
    case LT_CHAIN_COPY:
        two(w, LT_FUSED_AND, x[0], number(1));
        break; /* of all ones or none */
    /* all ones are no number */
    case LT_PW_LOGICAL_NOT: two(w, LT_FUSED_EQ, x[0], number(0)); break;
    case LT_PW_MAXIMUM:
    case LT_PW_BITWISE_OR:
    case LT_PW_LOGICAL_OR: either(w, LT_FUSED_OR, LT_FUSED_OR, x[0], x[1]); break;
    default: either(w, LT_FUSED_AND, LT_FUSED_AND, x[0], x[1]); break;
    }
}

static void write_numbers(writer *w, const lt_chain_step *step, const operand *x)
{
    switch (step->op) {
    case LT_PW_ADD:
    case LT_PW_SUB: add(w, step->op == LT_PW_SUB, x[0], x[1], param(step, 0)); break;
    case LT_PW_MUL: multiply(w, x[0], x[1]); break;
    case LT_PW_DIV: divide(w, x[0], x[1]); break;
    case LT_PW_MAXIMUM: two(w, LT_FUSED_MAXIMUM, x[0], x[1]); break;
    case LT_PW_MINIMUM: two(w, LT_FUSED_MINIMUM, x[0], x[1]); break;
    case LT_PW_NEG: one(w, LT_FUSED_NEG, x[0]); break;
    case LT_PW_ABS: one(w, LT_FUSED_ABS, x[0]); break;
    case LT_PW_SQUARE: one(w, LT_FUSED_SQUARE, x[0]); break;
    case LT_PW_SQRT: one(w, LT_FUSED_SQRT, x[0]); break;
    case LT_PW_RELU: one(w, LT_FUSED_RELU, x[0]); break;
    case LT_PW_RECIPROCAL: two(w, LT_FUSED_DIV_INTO, x[0], number(1)); break;
    case LT_PW_POW: one(w, x[1].number == 2 ? LT_FUSED_SQUARE : LT_FUSED_CUBE, x[0]); break;
    case LT_PW_CLAMP_MIN: two(w, LT_FUSED_CLAMP_MIN, x[0], number(param(step, 0))); break;
    case LT_PW_CLAMP_MAX: two(w, LT_FUSED_CLAMP_MAX, x[0], number(param(step, 0))); break;
    case LT_PW_CLAMP_BOTH:
        two(w, LT_FUSED_CLAMP_MIN, x[0], number(param(step, 0)));
        more(w, LT_FUSED_CLAMP_MAX, number(param(step, 1)));
        break;
    case LT_PW_WHERE: choose(w, x[0], x[1], x[2]); break;
    case LT_PW_ADDCMUL: scaled(w, LT_FUSED_MUL, x[0], x[1], x[2], param(step, 0)); break;
    case LT_PW_ADDCDIV: scaled(w, LT_FUSED_DIV, x[0], x[1], x[2], param(step, 0)); break;
    case LT_PW_RELU_BACKWARD: two(w, LT_FUSED_WHERE_POSITIVE, x[0], x[1]); break;
    case LT_PW_TANH_BACKWARD: slope(w, false, x[0], x[1]); break;
    case LT_PW_SIGMOID_BACKWARD: slope(w, true, x[0], x[1]); break;
    default: compare(w, step->op, x[0], x[1]); break;
    }
}

static void write_step(writer *w, const lt_chain_instruction *in)
{
    operand x[LT_CHAIN_INPUTS] = {{0}};
    for (int k = 1; k < in->n; k++)
        x[k - 1] = in->converted[k] ? number(number_of(in, k)) : (operand){in->value[k], 0};
    if (in->step->op == LT_CHAIN_COPY || in->step->compute == LT_BOOL)
        write_bools(w, in->step->op, x);
    else
        write_numbers(w, in->step, x);
    w->held = in->value[0];
    store(w, w->held);
    if (w->compute == LT_BFLOAT16 && w->of[w->held].inside > 0) put(w, LT_FUSED_ROUND, 0, 0);
}

/* Writes down n instructions; returns how many there was room for. */
static int write_run(writer *w, const int *run, int n)
{
    lt_chain_program *p = w->p;
    w->f->n = w->f->temporaries = w->f->constants = w->n_inputs = w->n_outputs = 0;
    w->held = NOBODY;
    w->full = false;
    w->n_spare = LT_FUSED_TEMPORARIES;
    /* the first is the last of them */
    for (int k = 0; k < LT_FUSED_TEMPORARIES; k++)
        w->spare[k] = LT_FUSED_TEMPORARY + LT_FUSED_TEMPORARIES - 1 - k;
    for (int v = 0; v < p->chain->n_values; v++) {
        w->of[v].inside = 0;
        w->of[v].made = false;
        w->of[v].place = w->of[v].operand = NOBODY;
    }
    for (int i = 0; i < n; i++) {
        const lt_chain_instruction *in = &p->instructions[run[i]];
        for (int k = 1; k < in->n; k++) w->of[in->value[k]].inside += !in->converted[k];
    }
    for (int i = 0; i < n; i++) {
        known *out = &w->of[p->instructions[run[i]].value[0]];
        out->seen = i == n - 1 || !lt_chain_in_slot(p, p->instructions[run[i]].value[0]) ||
                    out->uses > out->inside;
    }
    for (int i = 0; i < n; i++) {
        write_step(w, &p->instructions[run[i]]);
        if (w->full) return i;
    }
    return n;
}

/* ---- the instruction ------------------------------------------------------------------------- */

static uint8_t final_place(const writer *w, uint8_t place)
{
    return place < w->n_outputs || place >= LT_FUSED_OPERANDS
               ? place
               : (uint8_t)(w->n_outputs + LT_FUSED_OPERANDS - 1 - place);
}

/* What is loaded for the operation that follows, and changes it, is part of that. */
static void join_loads(lt_fused *f)
{
    int n = 0;
    for (int i = 0; i < f->n; i++, n++) {
        const lt_fused_op op = f->ops[n] = f->ops[i];
        if (op.op != LT_FUSED_LOAD || f->ops[i + 1].op >= LT_FUSED_LOAD) continue;
        f->ops[n] = f->ops[++i];
        f->ops[n].op++;
        f->ops[n].from = op.place;
    }
    f->n = n;
    f->ops[n - 1].op++; /* a store, the last one */
}

static const lt_fused_loops *loops_of(lt_dtype compute)
{
    return &lt_loops.fused[compute == LT_FLOAT64 ? LT_FUSED_F64 : LT_FUSED_F32];
}

static void finish(writer *w, const int *run, int n)
{
    lt_chain_program *p = w->p;
    lt_fused *f = w->f;
    lt_chain_instruction *in = &p->instructions[run[n - 1]];
    join_loads(f);
    for (int i = 0; i < f->n; i++) {
        lt_fused_op *op = &f->ops[i];
        *op = (lt_fused_op){op->op, final_place(w, op->place), final_place(w, op->mask),
                            final_place(w, op->from)};
    }
    for (int c = 0; c < f->constants; c++) {
        const double number = w->constants[c];
        if (w->compute == LT_FLOAT64)
            f->constant[c].f64 = number;
        else
            f->constant[c].f32 = number != number ? lt_bits_to_float(0x7fc00000u)
                                                  : (float)number; /* a nan as ROUND has it */
    }
    f->outputs = w->n_outputs;
    f->operands = w->n_outputs + w->n_inputs;
    for (int i = 0; i < n; i++) p->instructions[run[i]].n = 0;
    in->step = NULL;
    in->loop = loops_of(w->compute)->all;
    in->context = f;
    in->n = f->operands;
    in->outputs = f->outputs;
    for (int k = 0; k < in->n; k++) {
        in->value[k] = k < w->n_outputs ? w->outputs[k] : w->inputs[k - w->n_outputs];
        in->stride[k] = f->size[k] = (uint8_t)lt_dtype_size(value_of(w, in->value[k])->dtype);
        in->converted[k] = false;
    }
    p->n_fused++;
}

/* Instructions that follow one another, n of them: as few loops as there is room for, of at least
 * `least`. All are in the dtype of the first, which a later loop may not begin with. */
static void fuse_run(writer *w, const int *run, int n, int least)
{
    if (n > 0) w->compute = w->p->instructions[run[0]].step->compute;
    while (n >= least && w->p->n_fused < LT_CHAIN_FUSED) {
        int taken = n;
        w->f = &w->p->fused[w->p->n_fused];
        for (int fit; taken >= least && (fit = write_run(w, run, taken)) < taken;) taken = fit;
        if (taken >= least)
            finish(w, run, taken);
        else
            taken = 1;
        run += taken;
        n -= taken;
    }
}

/* The last loop once more, with its last step a reduction's instead of a store for it. */
static void take_last(writer *w, int take)
{
    lt_chain_program *p = w->p;
    const lt_chain_instruction *last = &p->instructions[p->n - 1];
    if (p->n_fused == 0 || last->context != &p->fused[p->n_fused - 1] ||
        p->chain->values[p->seen].data != NULL)
        return;
    p->taking = p->fused[p->n_fused - 1];
    lt_fused_op *op = &p->taking.ops[p->taking.n - 1];
    if (op->op != LT_FUSED_STORE_LAST || last->value[op->place] != p->seen) return;
    op->op = (uint8_t)take;
    p->taker = loops_of(w->compute);
}

void lt_chain_fuse(lt_chain_program *p, int take)
{
    int run[LT_CHAIN_INSTRUCTIONS], n = 0, slots = 0;
    writer w; /* not zeroed */
    p->n_fused = 0;
    p->taker = NULL;
    if (p->chain->numel < LEAST) return;
    w.p = p;
    for (int v = 0; v < p->chain->n_values; v++) w.of[v].uses = 0;
    for (int i = 0; i < p->n; i++)
        for (int k = 1; k < p->instructions[i].n; k++)
            w.of[p->instructions[i].value[k]].uses += !p->instructions[i].converted[k];
    for (int i = 0; i < p->n; i++) {
        const lt_chain_instruction *in = &p->instructions[i];
        /* what is gathered before the steps of a run is there for all of them */
        if (in->loop == NULL) continue;
        const lt_dtype compute = n > 0 ? p->instructions[run[0]].step->compute : in->step->compute;
        slots += gathered(p, in);
        if (n > 0 && (slots > GATHERED || !may_join(p, in, compute, true))) {
            fuse_run(&w, run, n, 2);
            n = 0;
        }
        if (n == 0) slots = gathered(p, in);
        if (may_join(p, in, n > 0 ? compute : in->step->compute, n > 0)) run[n++] = i;
    }
    fuse_run(&w, run, n, take != 0 && n == 1 ? 1 : 2);
    if (take != 0) take_last(&w, take);
}
