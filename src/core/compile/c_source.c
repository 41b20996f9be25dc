/* c_source.c - see c_source.h. The source includes the formulas of the eager loops (src/core/formulas)
 * and the vector functions of float (src/core/cpu/vector/float_math.h); src/cuda/kernels/compile/
 * source.cu is the counterpart for GPUs. */
#include "c_source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dtypes/dtype.h"
#include "error.h"
#include "memory/alloc.h"
#include "pointwise_ops.h" /* generated from the declarations */

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

/* ---- values ---------------------------------------------------------------------------------- */

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

static bool is_written(const lt_fusion *c, int v)
{
    for (int s = 0; s < c->n_steps; s++)
        if (c->steps[s].out == v) return true;
    return false;
}

static bool put_address(FILE *out, const lt_fusion *c, int v)
{
    const lt_fused_value *value = &c->values[v];
    const char *type = element(value->dtype), *read = is_written(c, v) ? "" : "const ";
    if (value->data == NULL) return true;
    if (type == NULL || lt_is_gathered(value)) return false;
    if (value->number)
        fprintf(out, "    const %s n%d = *(const %s *)data[%d];\n", type, v, type, v);
    else
        fprintf(out, "    %s%s *p%d = (%s%s *)data[%d];\n", read, type, v, read, type, v);
    return true;
}

/* An operand that is converted to the dtype of the arithmetic. */
static void put_operand(FILE *out, const lt_fusion *c, int v, bool as_bool)
{
    const lt_fused_value *value = &c->values[v];
    fputs(as_bool ? "(" : "(float)(", out);
    if (value->number)
        fprintf(out, "n%d", v);
    else if (is_written(c, v))
        fprintf(out, "v%d", v);
    else
        fprintf(out, "p%d[i]", v);
    fputs(as_bool ? " != 0)" : ")", out);
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

static void put_copy(FILE *out, const lt_fusion *c, const lt_fused_step *s)
{
    put_operand(out, c, s->in[0], c->values[s->out].dtype == LT_BOOL);
}

static void put_call(FILE *out, const lt_fusion *c, const lt_fused_step *s, const formula *f)
{
    fprintf(out, "lt_%s_%s(", f->name, s->compute == LT_BOOL ? "b8" : "f32");
    for (int i = 0; i < s->n; i++) {
        if (i > 0) fputs(", ", out);
        put_operand(out, c, s->in[i], s->compute == LT_BOOL || (f->selects && i == 0));
    }
    for (int i = 0; i < s->n_params; i++) {
        fputs(", ", out);
        put_number(out, real_of(&s->params[i]));
    }
    fputs(")", out);
}

static bool put_step(FILE *out, const lt_fusion *c, const lt_fused_step *s)
{
    const lt_fused_value *result = &c->values[s->out];
    const bool copy = s->op == LT_FUSED_COPY;
    const formula *f = copy ? NULL : formula_of(s->op, s->compute);
    if ((f == NULL && !copy) || (result->dtype != LT_FLOAT32 && result->dtype != LT_BOOL))
        return false;
    const char *power =
        s->op == LT_PW_POW && s->n == 2 ? power_of(constant_of(&c->values[s->in[1]])) : NULL;
    const char *type = element(result->dtype);
    if (power != NULL) {
        fprintf(out, "        float v%d;\n        {\n            const float x = ", s->out);
        put_operand(out, c, s->in[0], false);
        fprintf(out, ";\n            v%d = %s;\n        }\n", s->out, power);
    } else {
        fprintf(out, "        const %s v%d = ", type, s->out);
        if (copy)
            put_copy(out, c, s);
        else
            put_call(out, c, s, f);
        fputs(";\n", out);
    }
    if (result->data != NULL) fprintf(out, "        p%d[i] = v%d;\n", s->out, s->out);
    return true;
}

static bool put_loop(FILE *out, const lt_fusion *c)
{
    bool possible = true;
    fputs("#include <math.h>\n#include \"float_math.h\"\n#include \"activation.h\"\n\n"
          "void lt_loop(char *const *data, int64_t from, int64_t to)\n{\n",
          out);
    for (int v = 0; v < c->n_values; v++) possible = possible && put_address(out, c, v);
    fputs("    _Pragma(\"omp simd\") for (int64_t i = from; i < to; i++) {\n", out);
    for (int s = 0; s < c->n_steps; s++) possible = possible && put_step(out, c, &c->steps[s]);
    fputs("    }\n}\n", out);
    return possible;
}

lt_status lt_fusion_c_source(const lt_fusion *c, char **out)
{
    char *text = NULL;
    size_t n = 0;
    FILE *stream = open_memstream(&text, &n);
    *out = NULL;
    if (stream == NULL) return LT_ERR_MEMORY;
    const bool possible = put_loop(stream, c), written = ferror(stream) == 0;
    lt_status status = fclose(stream) == 0 && written ? LT_OK : LT_ERR_MEMORY;
    if (possible && status == LT_OK) {
        *out = lt_mem_alloc(n + 1);
        if (*out == NULL)
            status = LT_ERR_MEMORY;
        else
            memcpy(*out, text, n + 1);
    }
    free(text);
    return status;
}
