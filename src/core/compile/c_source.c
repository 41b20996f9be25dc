/* c_source.c - see c_source.h. The loop goes through blocks of 256 elements in stages of a limited
 * number of instructions. In a single loop over all steps, the dependent instructions of one vector
 * fill the processor's scheduler, so that few vectors overlap: x * tanh(log(1 + exp(x))) took twice
 * the time. Values that a later stage reads are in arrays. The source includes the formulas of the
 * eager loops (src/core/formulas) and the vector functions of float (src/core/cpu/vector/
 * float_math.h). src/cuda/kernels/compile/source.cu is the counterpart for GPUs. */
#include "c_source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dtypes/dtype.h"
#include "error.h"
#include "memory/alloc.h"
#include "pointwise_ops.h" /* generated from the declarations */
#include "system/files.h"
#include "system/plain_locale.h"

/* ---- formulas -------------------------------------------------------------------------------- */

typedef struct formula {
    int op;
    const char *name;
    bool selects; /* the first operand is a condition */
} formula;

#define ROW(SHAPE, name, NAME) {LT_PW_##NAME, #name, #SHAPE[0] == 'S'},
#define FAMILIES(CLASS)                                                                            \
    LT_ACTIVATIONS_##CLASS(ROW) LT_ARITHMETIC_##CLASS(ROW) LT_COMPARE_##CLASS(ROW)                 \
        LT_FUNCTIONS_##CLASS(ROW)
static const formula of_floats[] = {FAMILIES(FLOAT)}, of_bools[] = {FAMILIES(BOOL)};
#undef FAMILIES
#undef ROW

/* The eager loops of these have several cases, or call the C library. */
static bool is_excluded(int op)
{
    return op == LT_PW_SIN || op == LT_PW_COS || op == LT_PW_TAN || op == LT_PW_FMOD ||
           op == LT_PW_REMAINDER || op == LT_PW_FLOOR_DIVIDE;
}

static const formula *formula_of(int op, lt_dtype compute)
{
    const bool floats = compute == LT_FLOAT32;
    const formula *list = floats ? of_floats : of_bools;
    const size_t n = floats ? sizeof of_floats / sizeof *list : sizeof of_bools / sizeof *list;
    if ((!floats && compute != LT_BOOL) || is_excluded(op)) return NULL;
    for (size_t i = 0; i < n; i++)
        if (list[i].op == op) return &list[i];
    return NULL;
}

/* ---- writing --------------------------------------------------------------------------------- */

enum {
    INPUT = -1,
    /* tuning: instructions of a stage; with 30, silu is one stage, and its loop as fast as the
     * eager one; a function and a division before it are two (Zen 5, 2026-11-29) */
    STAGE_LENGTH = 30
};

typedef struct writer {
    FILE *out;
    const lt_fusion *fusion;
    int stage[LT_FUSED_VALUES]; /* that computes each value; INPUT: none */
    bool kept[LT_FUSED_VALUES]; /* in an array, for a later stage */
} writer;

/* The type of an element; NULL: loops do not read it. */
static const char *element(lt_dtype dtype)
{
    switch (dtype) {
    case LT_BOOL:
    case LT_UINT8: return "uint8_t";
    case LT_INT8: return "int8_t";
    case LT_INT16: return "int16_t";
    case LT_INT32: return "int32_t";
    case LT_INT64: return "int64_t";
    case LT_FLOAT32: return "float";
    case LT_FLOAT64: return "double";
    default: return NULL;
    }
}

/* About the number of vector instructions of a step. */
static int instructions_of(const lt_fused_step *s)
{
    switch (s->op) {
    case LT_FUSED_COPY:
    case LT_PW_ADD:
    case LT_PW_SUB:
    case LT_PW_MUL:
    case LT_PW_NEG:
    case LT_PW_ABS:
    case LT_PW_SQUARE:
    case LT_PW_MAXIMUM:
    case LT_PW_MINIMUM:
    case LT_PW_RELU:
    case LT_PW_WHERE: return 1;
    case LT_PW_DIV:
    case LT_PW_RECIPROCAL:
    case LT_PW_SQRT: return 5;
    case LT_PW_EXP: return 20;
    default: return s->op >= LT_PW_COMPARE && s->op < LT_PW_COMPARE_END ? 1 : 28;
    }
}

static void divide_into_stages(writer *w)
{
    const lt_fusion *c = w->fusion;
    for (int v = 0; v < c->n_values; v++) w->stage[v] = INPUT, w->kept[v] = false;
    for (int i = 0, stage = 0, length = 0; i < c->n_steps; i++) {
        const lt_fused_step *s = &c->steps[i];
        length += instructions_of(s);
        if (length > STAGE_LENGTH) {
            stage += i > 0;
            length = instructions_of(s);
        }
        w->stage[s->out] = stage;
        for (int k = 0; k < s->n; k++) w->kept[s->in[k]] |= w->stage[s->in[k]] < stage;
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool put_address(const writer *w, int v)
{
    const lt_fused_value *value = &w->fusion->values[v];
    const char *type = element(value->dtype), *read = w->stage[v] == INPUT ? "const " : "";
    if (value->data == NULL) {
        if (w->kept[v]) fprintf(w->out, "    %s a%d[256];\n", type, v);
        return true;
    }
    if (type == NULL || lt_is_gathered(value)) return false;
    if (value->number)
        fprintf(w->out, "    const %s n%d = *(const %s *)data[%d];\n", type, v, type, v);
    else
        fprintf(w->out, "    %s%s *p%d = (%s%s *)data[%d];\n", read, type, v, read, type, v);
    return true;
}

/* An operand of a stage that is converted to the dtype of the arithmetic. */
static void put_operand(const writer *w, int v, int stage, bool as_bool)
{
    const lt_fused_value *value = &w->fusion->values[v];
    fputs(as_bool ? "(" : "(float)(", w->out);
    if (value->number)
        fprintf(w->out, "n%d", v);
    else if (w->stage[v] == stage)
        fprintf(w->out, "v%d", v);
    else
        fprintf(w->out, value->data != NULL ? "p%d[i + j]" : "a%d[j]", v);
    fputs(as_bool ? " != 0)" : ")", w->out);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void put_number(FILE *out, double x)
{
    if (isnan(x))
        fputs("NAN", out);
    else if (isinf(x))
        fputs(x < 0 ? "-INFINITY" : "INFINITY", out);
    else
        fprintf(out, "(float)%a", x);
}

static double real_of(const lt_scalar *s)
{
    return s->kind == LT_SCALAR_FLOAT ? s->v.d : (double)s->v.i;
}

/* The value of a number; nan: v is none, or of another dtype. */
static double constant_of(const lt_fused_value *v)
{
    if (!v->number) return NAN;
    if (v->dtype == LT_INT64) return (double)*(const int64_t *)v->data;
    return v->dtype == LT_FLOAT64 ? *(const double *)v->data : NAN;
}

/* The powers with a formula of their own (cpu/vector/pointwise/power.inc). */
static const char *power_of(double exponent)
{
    return exponent == 1      ? "x"
           : exponent == 2    ? "x * x"
           : exponent == 3    ? "x * x * x"
           : exponent == 0.5  ? "lt_sqrt_f32(x)"
           : exponent == -0.5 ? "lt_rsqrt_f32(x)"
           : exponent == -1   ? "1 / x"
           : exponent == -2   ? "1 / (x * x)"
                              : NULL;
}

static void put_call(const writer *w, const lt_fused_step *s, const formula *f)
{
    const int stage = w->stage[s->out];
    fprintf(w->out, "lt_%s_%s(", f->name, s->compute == LT_BOOL ? "b8" : "f32");
    for (int i = 0; i < s->n; i++) {
        if (i > 0) fputs(", ", w->out);
        put_operand(w, s->in[i], stage, s->compute == LT_BOOL || (f->selects && i == 0));
    }
    for (int i = 0; i < s->n_params; i++) {
        fputs(", ", w->out);
        put_number(w->out, real_of(&s->params[i]));
    }
    fputs(")", w->out);
}

static void put_power(const writer *w, const lt_fused_step *s, const char *power)
{
    fprintf(w->out,
            "            float v%d;\n            {\n                const float x = ", s->out);
    put_operand(w, s->in[0], w->stage[s->out], false);
    fprintf(w->out, ";\n                v%d = %s;\n            }\n", s->out, power);
}

static bool put_step(const writer *w, const lt_fused_step *s)
{
    const lt_fused_value *values = w->fusion->values, *result = &values[s->out];
    const bool copy = s->op == LT_FUSED_COPY;
    const formula *f = copy ? NULL : formula_of(s->op, s->compute);
    if ((f == NULL && !copy) || (result->dtype != LT_FLOAT32 && result->dtype != LT_BOOL))
        return false;
    const char *power =
        s->op == LT_PW_POW && s->n == 2 ? power_of(constant_of(&values[s->in[1]])) : NULL;
    if (power != NULL) {
        put_power(w, s, power);
    } else {
        fprintf(w->out, "            const %s v%d = ", element(result->dtype), s->out);
        if (copy)
            put_operand(w, s->in[0], w->stage[s->out], result->dtype == LT_BOOL);
        else
            put_call(w, s, f);
        fputs(";\n", w->out);
    }
    if (result->data != NULL)
        fprintf(w->out, "            p%d[i + j] = v%d;\n", s->out, s->out);
    else if (w->kept[s->out])
        fprintf(w->out, "            a%d[j] = v%d;\n", s->out, s->out);
    return true;
}

static bool put_loop(writer *w)
{
    const lt_fusion *c = w->fusion;
    bool possible = true;
    divide_into_stages(w);
    fputs("#include <math.h>\n#include \"float_math.h\"\n#include \"activation.h\"\n\n"
          "__attribute__((flatten)) void lt_loop(char *const *data, int64_t from, int64_t to)\n{\n",
          w->out);
    for (int v = 0; v < c->n_values; v++) possible = possible && put_address(w, v);
    fputs("    for (int64_t i = from; i < to; i += 256) {\n"
          "        const int64_t n = to - i < 256 ? to - i : 256;\n",
          w->out);
    for (int k = 0; k < c->n_steps; k++) {
        const lt_fused_step *s = &c->steps[k];
        if (k == 0 || w->stage[s->out] != w->stage[s[-1].out])
            fprintf(w->out, "%s        _Pragma(\"omp simd\") for (int64_t j = 0; j < n; j++) {\n",
                    k > 0 ? "        }\n" : "");
        possible = possible && put_step(w, s);
    }
    fputs("        }\n    }\n}\n", w->out);
    return possible;
}

lt_status lt_fusion_c_source(const lt_fusion *c, char **out)
{
    lt_text_stream stream;
    *out = NULL;
    if (!lt_text_stream_open(&stream)) return LT_ERR_MEMORY;
    writer w = {.out = stream.file, .fusion = c};
    const lt_locale before = lt_plain_locale_begin();
    const bool possible = put_loop(&w);
    lt_plain_locale_end(before);
    char *text = lt_text_stream_close(&stream);
    lt_status status = text != NULL ? LT_OK : LT_ERR_MEMORY;
    if (possible && status == LT_OK) {
        *out = lt_mem_alloc(strlen(text) + 1);
        if (*out == NULL)
            status = LT_ERR_MEMORY;
        else
            strcpy(*out, text);
    }
    free(text);
    return status;
}
