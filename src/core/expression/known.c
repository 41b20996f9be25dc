/* known.c - formulas of built-in functions: gelu, silu and sigmoid have CPU kernels of one pass, which
 * run where a text states the same function of one input. Fusion groups need a pass for each
 * operation on the CPU; on GPUs they are one kernel.
 *
 * A formula is compared as a number times a sorted list of factors. A factor is the input, a
 * function or a sum of two terms, or the inverse of one: 0.5 * x * (1 + erf(x / sqrt(2))) is 0.5
 * times "(1+1*erf(0.70711*x))" and "x". Numbers are compared to 14 digits, or to 8, which makes the
 * results of float32 and smaller dtypes equal up to rounding. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "expression.h"
#include "ltensor_binding.h"
#include "memory/alloc.h"

enum { MAX_VALUES = 24, MAX_FACTORS = 8, MAX_TEXT = 192, EXACT = 14, ROUNDED = 8 };

typedef struct product {
    double number;
    int n;
    char factor[MAX_FACTORS][MAX_TEXT]; /* sorted; an inverse begins with '/' */
} product;

static const struct lt_known_function {
    const char *text, *call, *approximate;
} known_functions[] = {
    {"x * 0.5 * (1 + erf(x / sqrt(2)))", "gelu", NULL},
    {"x * 0.5 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ^ 3)))", "gelu", "tanh"},
    {"x * 0.5 * (1 + tanh(sqrt(2 / pi) * x * (1 + 0.044715 * x ^ 2)))", "gelu", "tanh"},
    {"x / (1 + exp(-x))", "silu", NULL},
    {"x * sigmoid(x)", "silu", NULL},
    {"1 / (1 + exp(-x))", "sigmoid", NULL},
};

/* ---- products -------------------------------------------------------------------------------- */

static int compare_factors(const void *a, const void *b) { return strcmp(a, b); }

static bool add_factor(product *p, const char *factor, bool inverse)
{
    if (p->n == MAX_FACTORS) return false;
    const bool cancels = inverse && factor[0] == '/';
    const int n = snprintf(p->factor[p->n++], MAX_TEXT, "%s%s", inverse && !cancels ? "/" : "",
                           cancels ? factor + 1 : factor);
    return n < MAX_TEXT;
}

static bool multiply(product *p, const product *by, bool inverse)
{
    p->number = inverse ? p->number / by->number : p->number * by->number;
    for (int i = 0; i < by->n; i++)
        if (!add_factor(p, by->factor[i], inverse)) return false;
    qsort(p->factor, (size_t)p->n, sizeof *p->factor, compare_factors);
    return true;
}

/* "x*x", or "1" for a number. */
static bool join_factors(const product *p, char *text)
{
    int at = p->n == 0 ? snprintf(text, MAX_TEXT, "1") : 0;
    for (int i = 0; i < p->n && at < MAX_TEXT; i++)
        at += snprintf(text + at, (size_t)(MAX_TEXT - at), i > 0 ? "*%s" : "%s", p->factor[i]);
    return at < MAX_TEXT;
}

/* a + sign b */
static bool add_products(product *out, const product *a, const product *b, double sign, int digits)
{
    char left[MAX_TEXT], right[MAX_TEXT], sum[MAX_TEXT];
    if (!join_factors(a, left) || !join_factors(b, right)) return false;
    const int order = strcmp(left, right);
    if (order == 0) {
        *out = *a;
        out->number += sign * b->number;
        return true;
    }
    const double first = order < 0 ? a->number : sign * b->number;
    const double second = order < 0 ? sign * b->number : a->number;
    const int n = snprintf(sum, sizeof sum, "(%s+%.*g*%s)", order < 0 ? left : right, digits,
                           second / first, order < 0 ? right : left);
    *out = (product){.number = first};
    return first != 0 && n < MAX_TEXT && add_factor(out, sum, false);
}

static bool raise_to(product *out, const product *a, const product *power)
{
    if (power->n > 0 || (power->number != 2 && power->number != 3)) return false;
    *out = *a;
    for (int i = 1; i < (int)power->number; i++)
        if (!multiply(out, a, false)) return false;
    return true;
}

static bool apply(product *out, const char *name, const product *a, int digits)
{
    char inside[MAX_TEXT], text[MAX_TEXT];
    if (a->n == 0) { /* a number */
        *out = (product){.number = sqrt(a->number)};
        return strcmp(name, "sqrt") == 0;
    }
    if (!join_factors(a, inside)) return false;
    *out = (product){.number = 1};
    return snprintf(text, sizeof text, "%s(%.*g*%s)", name, digits, a->number, inside) < MAX_TEXT &&
           add_factor(out, text, false);
}

static bool product_of(const lt_formula_value *v, const product *values, int digits, product *out)
{
    *out = (product){.number = 1};
    if (v->kind == LT_FORMULA_INPUT) return add_factor(out, "x", false);
    if (v->kind == LT_FORMULA_NUMBER) {
        out->number = v->number.kind == LT_KIND_INT ? (double)v->number.v.i : v->number.v.d;
        return true;
    }
    const char *name = v->function->name;
    const product *a = &values[v->in[0]], *b = v->n == 2 ? &values[v->in[1]] : NULL;
    if (v->n == 1 && strcmp(name, "neg") == 0) {
        *out = *a;
        out->number = -out->number;
        return true;
    }
    if (v->n == 1) return apply(out, name, a, digits);
    if (v->n != 2) return false;
    *out = *a;
    if (strcmp(name, "mul") == 0) return multiply(out, b, false);
    if (strcmp(name, "div") == 0) return multiply(out, b, true);
    if (strcmp(name, "pow") == 0) return raise_to(out, a, b);
    if (strcmp(name, "add") == 0) return add_products(out, a, b, 1, digits);
    return strcmp(name, "sub") == 0 && add_products(out, a, b, -1, digits);
}

static bool product_of_formula(const lt_formula *f, int digits, product *out)
{
    product *values = lt_mem_alloc(MAX_VALUES * sizeof *values);
    bool done = values != NULL;
    for (int i = 0; i < f->n_values && done; i++)
        done = product_of(&f->values[i], values, digits, &values[i]);
    if (done) *out = values[f->outputs[0]];
    lt_mem_free(values);
    return done;
}

static bool equal_products(const product *a, const product *b, int digits)
{
    if (a->n != b->n || !(fabs(a->number / b->number - 1) < pow(10, -digits))) return false;
    for (int i = 0; i < a->n; i++)
        if (strcmp(a->factor[i], b->factor[i]) != 0) return false;
    return true;
}

/* ---- functions ------------------------------------------------------------------------------- */

static bool states(const lt_formula *f, const char *text, int digits)
{
    product own, other;
    if (!product_of_formula(f, digits, &own)) return false;
    lt_formula *pattern = lt_mem_zalloc(sizeof *pattern);
    if (pattern == NULL) return false;
    pattern->text = (char *)text;
    pattern->name = f->name;
    const bool equal = lt_formula_parse(pattern, NULL, 0) == LT_OK &&
                       product_of_formula(pattern, digits, &other) &&
                       equal_products(&own, &other, digits);
    for (int i = 0; i < pattern->n_inputs; i++) lt_mem_free(pattern->inputs[i]);
    lt_mem_free(pattern);
    return equal;
}

void lt_formula_find_known(lt_formula *f)
{
    if (f->n_inputs != 1 || f->n_outputs != 1 || f->n_values < 3 || f->n_values > MAX_VALUES ||
        f->dtype != LT_DTYPE_NONE)
        return;
    for (size_t i = 0; i < sizeof known_functions / sizeof *known_functions; i++) {
        const lt_known_function *known = &known_functions[i];
        if (!states(f, known->text, ROUNDED)) continue;
        f->known = known;
        f->known_op = lt_op_find(known->call); /* NULL: left out of this build */
        f->known_exactly = states(f, known->text, EXACT);
        return;
    }
}

bool lt_formula_is_known(const lt_formula *f, const lt_value *input)
{
    if (f->known_op == NULL || input->kind != LT_KIND_TENSOR) return false;
    const lt_tensor *t = input->v.tensor;
    const lt_dtype dtype = (lt_dtype)t->dtype;
    if (t->device.type != LT_CPU || lt_is_sparse(t)) return false;
    return dtype == LT_FLOAT32 || dtype == LT_FLOAT16 || dtype == LT_BFLOAT16 ||
           (dtype == LT_FLOAT64 && f->known_exactly);
}

lt_status lt_formula_call_known(const lt_formula *f, const lt_value *input, lt_tensor **result)
{
    const lt_known_function *known = f->known;
    lt_named_value option = {"approximate", lt_value_string(known->approximate)};
    lt_value out = lt_value_none();
    int n = 1;
    LT_TRY(
        lt_op_call(f->known_op, input, 1, &option, known->approximate != NULL ? 1 : 0, &out, &n));
    *result = out.v.tensor;
    return LT_OK;
}
