/* parse.c - the text of a formula: a recursive descent parser. Grammar, as in Lua:
 *
 *   text       = { name '=' expression separator } [ expression ]     separator: ; or a line end
 *   expression = comparisons (== ~= < <= > >=), loosest; + -; * / // %; unary -; ^ to the right
 *   operand    = number | name | function '(' expression { ',' expression } ')' | '(' ... ')'
 *
 * Errors state the column, which counts bytes from 1. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "expression.h"
#include "memory/alloc.h"
#include "similar_name.h"
#include "system/plain_locale.h"

#include "formula_functions.h" /* generated from the declarations */

enum {
    MAX_DEPTH = 100,
    MAX_NAME = 64, /* bytes, with the final zero */
    MAX_LOCALS = 64,
    N_FUNCTIONS = sizeof functions / sizeof *functions,
    UNARY = 4 /* binding power of the unary minus */
};

typedef enum token_kind { END, NUMBER, NAME, SYMBOL } token_kind;

typedef struct token {
    token_kind kind;
    const char *from;
    int n;            /* bytes */
    bool starts_line; /* a line end is before it */
} token;

typedef struct formula_parser {
    lt_formula *f;
    token at;
    int depth, n_locals;
    struct {
        char name[MAX_NAME];
        int value;
    } locals[MAX_LOCALS];
} formula_parser;

/* ---- errors ---------------------------------------------------------------------------------- */

static lt_status fail_at(const formula_parser *p, const token *t, const char *message)
{
    const char *line = p->f->text;
    int lines = 1;
    for (const char *c = p->f->text; c < t->from; c++)
        if (*c == '\n') line = c + 1, lines++;
    const int column = (int)(t->from - line) + 1, shown = (int)strcspn(line, "\n");
    char where[48];
    if (lines > 1)
        snprintf(where, sizeof where, "line %d, column %d", lines, column);
    else
        snprintf(where, sizeof where, "column %d", column);
    return lt_error(LT_ERR_TYPE, "%s(): %s of '%.*s%s': %s", p->f->name, where,
                    shown < 60 ? shown : 60, line, shown < 60 ? "" : "...", message);
}

static lt_status unknown_name(const formula_parser *p, const token *t, bool called)
{
    const char *best = NULL;
    char name[MAX_NAME], message[256], remedy[128] = "";
    if (t->n >= MAX_NAME) return fail_at(p, t, "the name is longer than 63 bytes");
    snprintf(name, sizeof name, "%.*s", t->n, t->from);
    for (int i = 0; i < N_FUNCTIONS && called; i++)
        if (lt_is_nearer_name(name, functions[i].name, best)) best = functions[i].name;
    for (int i = 0; i < p->f->n_inputs && !called; i++)
        if (lt_is_nearer_name(name, p->f->inputs[i], best)) best = p->f->inputs[i];
    for (int i = 0; i < p->n_locals && !called; i++)
        if (lt_is_nearer_name(name, p->locals[i].name, best)) best = p->locals[i].name;
    if (best != NULL)
        snprintf(remedy, sizeof remedy, "; did you mean '%s'?", best);
    else
        snprintf(remedy, sizeof remedy, "; %s",
                 called ? "formulas call elementwise operations of torch" : "add it to the inputs");
    snprintf(message, sizeof message, "unknown %s '%s'%s", called ? "function" : "name", name,
             remedy);
    return fail_at(p, t, message);
}

/* An operator of another language, with its name here. */
static const char *const foreign[][2] = {
    {"!=", "~="},
    {"**", "^"},
    {"&&", "logical_and(a, b)"},
    {"||", "logical_or(a, b)"},
    {"and", "logical_and(a, b), or where(condition, a, b)"},
    {"or", "logical_or(a, b), or where(condition, a, b)"},
    {"not", "logical_not(a)"},
    {"!", "logical_not(a)"},
    {"?", "where(condition, a, b)"},
    {"&", "bitwise_and(a, b)"},
    {"|", "bitwise_or(a, b)"},
};

static lt_status unexpected(const formula_parser *p, const char *expected)
{
    const token *t = &p->at;
    char message[192];
    if (t->kind == END) {
        snprintf(message, sizeof message, "the text ends where %s is expected", expected);
        return fail_at(p, t, message);
    }
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        const char *name = foreign[i][0];
        const size_t n = strlen(name);
        if (strncmp(t->from, name, n) != 0 || (isalpha((unsigned char)*name) && t->n != (int)n))
            continue;
        snprintf(message, sizeof message, "unknown operator '%s'; use %s", name, foreign[i][1]);
        return fail_at(p, t, message);
    }
    snprintf(message, sizeof message, "'%.*s' where %s is expected", t->n < 40 ? t->n : 40, t->from,
             expected);
    return fail_at(p, t, message);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static bool is_name_start(char c) { return isalpha((unsigned char)c) || c == '_'; }

static void next(formula_parser *p)
{
    static const char *const pairs[] = {"//", "==", "~=", "<=", ">=", "**", "!=", "&&", "||"};
    const char *c = p->at.from + p->at.n;
    token t = {.kind = SYMBOL, .n = 1};
    for (; isspace((unsigned char)*c); c++) t.starts_line = t.starts_line || *c == '\n';
    t.from = c;
    if (*c == '\0') {
        t.kind = END, t.n = 0;
    } else if (is_name_start(*c)) {
        t.kind = NAME;
        while (isalnum((unsigned char)c[t.n]) || c[t.n] == '_') t.n++;
    } else if (isdigit((unsigned char)*c) || (*c == '.' && isdigit((unsigned char)c[1]))) {
        t.kind = NUMBER;
        t.n = (int)strspn(c, "0123456789.");
        if (c[t.n] == 'e' || c[t.n] == 'E') t.n += 1 + (c[t.n + 1] == '+' || c[t.n + 1] == '-');
        while (isalnum((unsigned char)c[t.n]) || c[t.n] == '.') t.n++;
    } else {
        for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
            if (strncmp(c, pairs[i], 2) == 0) t.n = 2;
        while ((c[t.n] & 0xC0) == 0x80) t.n++; /* a character of several bytes */
    }
    p->at = t;
}

static bool is_symbol(const formula_parser *p, const char *symbol)
{
    return p->at.kind == SYMBOL && p->at.n == (int)strlen(symbol) &&
           strncmp(p->at.from, symbol, (size_t)p->at.n) == 0;
}

static bool accept(formula_parser *p, const char *symbol)
{
    const bool found = is_symbol(p, symbol);
    if (found) next(p);
    return found;
}

static bool is_called(const token *t, const char *name)
{
    return (int)strlen(name) == t->n && strncmp(t->from, name, (size_t)t->n) == 0;
}

/* ---- values ---------------------------------------------------------------------------------- */

static lt_status add_value(formula_parser *p, const lt_formula_value *v, int *out)
{
    if (p->f->n_values == LT_FORMULA_VALUES)
        return lt_error(LT_ERR_TYPE, "%s(): the formula has more than %d values", p->f->name,
                        LT_FORMULA_VALUES);
    *out = p->f->n_values++;
    p->f->values[*out] = *v;
    return LT_OK;
}

static lt_status add_number(formula_parser *p, lt_value number, int *out)
{
    return add_value(p, &(lt_formula_value){.kind = LT_FORMULA_NUMBER, .number = number}, out);
}

static const lt_formula_function *function_called(const token *t)
{
    for (int i = 0; i < N_FUNCTIONS; i++)
        if (is_called(t, functions[i].name)) return &functions[i];
    return NULL;
}

static lt_status add_operation(formula_parser *p, const char *name, int n, const int *in, int *out)
{
    const token t = {.kind = NAME, .from = name, .n = (int)strlen(name)};
    lt_formula_value v = {.kind = LT_FORMULA_CALL, .n = n, .function = function_called(&t)};
    if (v.function == NULL)
        return lt_error(LT_ERR_TYPE, "%s(): the operation '%s' was left out of this build",
                        p->f->name, name);
    for (int i = 0; i < n; i++) v.in[i] = in[i];
    return add_value(p, &v, out);
}

/* ---- operands -------------------------------------------------------------------------------- */

static lt_status expression(formula_parser *p, int power, int *out);

static lt_status number(formula_parser *p, int *out)
{
    const token t = p->at;
    char text[MAX_NAME], *end;
    if (t.n >= MAX_NAME) return fail_at(p, &t, "the number is longer than 63 bytes");
    memcpy(text, t.from, (size_t)t.n);
    text[t.n] = '\0';
    errno = 0;
    const bool is_float = strcspn(text, ".eE") < (size_t)t.n;
    const long long whole = is_float ? 0 : strtoll(text, &end, 10);
    const bool fits = !is_float && errno == 0;
    const double d = fits ? 0 : lt_plain_strtod(text, &end);
    if (*end != '\0') return fail_at(p, &t, "a number has digits, a point and an exponent");
    next(p);
    return add_number(p, fits ? lt_value_int(whole) : lt_value_double(d), out);
}

static lt_status call(formula_parser *p, const token *name, int *out)
{
    const lt_formula_function *function = function_called(name);
    int in[LT_FORMULA_ARGS], n = 0;
    char message[160];
    if (function == NULL) return unknown_name(p, name, true);
    const int most = (int)strlen(function->kinds);
    if (!is_symbol(p, ")")) {
        do {
            if (n == most) {
                snprintf(message, sizeof message, "%s() has at most %d argument%s", function->name,
                         most, most == 1 ? "" : "s");
                return fail_at(p, &p->at, message);
            }
            LT_TRY(expression(p, 0, &in[n++]));
        } while (accept(p, ","));
    }
    if (!is_symbol(p, ")")) return unexpected(p, "an operator, ',' or ')'");
    if (n < function->least) {
        snprintf(message, sizeof message, "%s() has at least %d argument%s, not %d", function->name,
                 function->least, function->least == 1 ? "" : "s", n);
        return fail_at(p, name, message);
    }
    next(p);
    return add_operation(p, function->name, n, in, out);
}

static lt_status add_input(formula_parser *p, const token *t, int *index)
{
    lt_formula *f = p->f;
    if (f->n_inputs == LT_FORMULA_INPUTS)
        return lt_error(LT_ERR_TYPE, "%s(): the formula has more than %d inputs", f->name,
                        LT_FORMULA_INPUTS);
    if (t->n >= MAX_NAME) return fail_at(p, t, "the name is longer than 63 bytes");
    char *name = lt_mem_alloc((size_t)t->n + 1);
    if (name == NULL) return LT_ERR_MEMORY;
    memcpy(name, t->from, (size_t)t->n);
    name[t->n] = '\0';
    *index = f->n_inputs++;
    f->inputs[*index] = name;
    return LT_OK;
}

static lt_status constant(formula_parser *p, const token *t, bool *found, int *out)
{
    static const struct {
        const char *name;
        double value;
    } constants[] = {{"pi", 3.14159265358979323846}, {"inf", INFINITY}, {"nan", NAN}};
    *found = false;
    for (size_t i = 0; i < sizeof constants / sizeof *constants && !*found; i++) {
        if (!is_called(t, constants[i].name)) continue;
        *found = true;
        LT_TRY(add_number(p, lt_value_double(constants[i].value), out));
    }
    return LT_OK;
}

/* A local, an input or a constant; another name is a new input, unless the inputs were listed. */
static lt_status name(formula_parser *p, const token *t, int *out)
{
    int index = 0;
    bool found;
    for (int i = p->n_locals - 1; i >= 0; i--) {
        if (!is_called(t, p->locals[i].name)) continue;
        *out = p->locals[i].value;
        return LT_OK;
    }
    while (index < p->f->n_inputs && !is_called(t, p->f->inputs[index])) index++;
    if (index == p->f->n_inputs) {
        LT_TRY(constant(p, t, &found, out));
        if (found) return LT_OK;
        if (p->f->named) return unknown_name(p, t, false);
        LT_TRY(add_input(p, t, &index));
    }
    for (int i = 0; i < p->f->n_values; i++)
        if (p->f->values[i].kind == LT_FORMULA_INPUT && p->f->values[i].input == index) {
            *out = i;
            return LT_OK;
        }
    return add_value(p, &(lt_formula_value){.kind = LT_FORMULA_INPUT, .input = index}, out);
}

static bool is_reserved(const token *t)
{
    return is_called(t, "and") || is_called(t, "or") || is_called(t, "not");
}

static lt_status negated(formula_parser *p, int *out)
{
    const bool literal = p->at.kind == NUMBER;
    int in;
    LT_TRY(expression(p, UNARY, &in));
    lt_formula_value *v = &p->f->values[in];
    if (!literal || v->kind != LT_FORMULA_NUMBER) return add_operation(p, "neg", 1, &in, out);
    if (v->number.kind == LT_KIND_INT)
        v->number.v.i = (int64_t)(0 - (uint64_t)v->number.v.i);
    else
        v->number.v.d = -v->number.v.d;
    *out = in;
    return LT_OK;
}

static lt_status operand(formula_parser *p, int *out)
{
    const token t = p->at;
    if (t.kind == NUMBER) return number(p, out);
    if (t.kind == NAME && !is_reserved(&t)) {
        next(p);
        return accept(p, "(") ? call(p, &t, out) : name(p, &t, out);
    }
    if (accept(p, "-")) return negated(p, out);
    if (!accept(p, "(")) return unexpected(p, "a value");
    LT_TRY(expression(p, 0, out));
    if (!is_symbol(p, ")")) return unexpected(p, "an operator or ')'");
    next(p);
    return LT_OK;
}

/* ---- expressions and statements -------------------------------------------------------------- */

static const struct {
    const char *symbol, *name;
    int power;
} operators[] = {
    {"==", "eq", 1},
    {"~=", "ne", 1},
    {"<", "lt", 1},
    {"<=", "le", 1},
    {">", "gt", 1},
    {">=", "ge", 1},
    {"+", "add", 2},
    {"-", "sub", 2},
    {"*", "mul", 3},
    {"/", "div", 3},
    {"//", "floor_divide", 3},
    {"%", "remainder", 3},
    {"^", "pow", 5},
};

static int operator_at(const formula_parser *p)
{
    for (int i = 0; i < (int)(sizeof operators / sizeof *operators); i++)
        if (is_symbol(p, operators[i].symbol)) return i;
    return -1;
}

/* Parses operators that bind tighter than `power`. */
static lt_status expression(formula_parser *p, int power, int *out)
{
    if (++p->depth > MAX_DEPTH) return fail_at(p, &p->at, "more than 100 levels of nesting");
    LT_TRY(operand(p, out));
    for (int i; (i = operator_at(p)) >= 0 && operators[i].power > power;) {
        const bool to_right = strcmp(operators[i].symbol, "^") == 0;
        int in[2] = {*out, 0};
        next(p);
        /* -x is the only operand with an operator before it: 2 ^ -x */
        LT_TRY(expression(p, to_right ? operators[i].power - 2 : operators[i].power, &in[1]));
        LT_TRY(add_operation(p, operators[i].name, 2, in, out));
    }
    p->depth--;
    return LT_OK;
}

static lt_status assign(formula_parser *p, const token *t, int value)
{
    if (t->n >= MAX_NAME) return fail_at(p, t, "the name is longer than 63 bytes");
    if (p->n_locals == MAX_LOCALS) return fail_at(p, t, "more than 64 assignments");
    memcpy(p->locals[p->n_locals].name, t->from, (size_t)t->n);
    p->locals[p->n_locals].name[t->n] = '\0';
    p->locals[p->n_locals++].value = value;
    return LT_OK;
}

static lt_status statement(formula_parser *p, int *value, bool *ends)
{
    const token t = p->at;
    *ends = true;
    if (t.kind == NAME) {
        formula_parser ahead = *p;
        next(&ahead);
        if (is_symbol(&ahead, "=")) {
            next(p);
            next(p);
            LT_TRY(expression(p, 0, value));
            *ends = false;
            return assign(p, &t, *value);
        }
    }
    return expression(p, 0, value);
}

/* The results are the listed locals and inputs, or the last statement. */
static lt_status find_outputs(formula_parser *p, const char *const *outputs, int n_outputs,
                              int last)
{
    lt_formula *f = p->f;
    f->n_outputs = n_outputs > 0 ? n_outputs : 1;
    f->outputs[0] = last;
    for (int k = 0; k < n_outputs; k++) {
        int found = -1;
        for (int i = p->n_locals - 1; i >= 0 && found < 0; i--)
            if (strcmp(p->locals[i].name, outputs[k]) == 0) found = p->locals[i].value;
        if (found < 0)
            return lt_error(LT_ERR_TYPE,
                            "%s(): output '%.60s' is not assigned in the text; write '%.60s = ...'",
                            f->name, outputs[k], outputs[k]);
        f->outputs[k] = found;
    }
    return LT_OK;
}

static void find_last_uses(lt_formula *f)
{
    for (int i = 0; i < f->n_values; i++) {
        f->last[i] = i;
        for (int k = 0; k < f->values[i].n; k++) f->last[f->values[i].in[k]] = i;
    }
    for (int k = 0; k < f->n_outputs; k++) f->last[f->outputs[k]] = f->n_values;
}

lt_status lt_formula_parse(lt_formula *f, const char *const *outputs, int n_outputs)
{
    formula_parser p = {.f = f, .at = {.from = f->text}};
    int value = 0;
    bool ends = false;
    next(&p);
    if (p.at.kind == END) return unexpected(&p, "a formula");
    while (p.at.kind != END) {
        if (ends) return fail_at(&p, &p.at, "only the last statement can be without an assignment");
        LT_TRY(statement(&p, &value, &ends));
        if (!accept(&p, ";") && !p.at.starts_line && p.at.kind != END)
            return unexpected(&p, "an operator or the end of the statement");
    }
    LT_TRY(find_outputs(&p, outputs, n_outputs, value));
    find_last_uses(f);
    return LT_OK;
}
