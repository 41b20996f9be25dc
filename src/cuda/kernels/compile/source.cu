/* source.cu - generates the CUDA C++ source of a fused expression's kernel. It uses
 * device/kernel.cuh and the formulas of the eager kernels. Between two steps each value is rounded
 * to its dtype, as if it had been stored, so that results equal the eager ones. */
#include <stdarg.h>
#include <stdio.h>

#include "kernels/element.cuh"
#include "kernel_families.h" /* generated from the declarations */
#include "plan.cuh"
#include "pointwise_ops.h" /* generated from the declarations */

/* ---- formulas: of the op families that device/kernel.cuh includes ---------------------------- */

static constexpr bool selects(const char *shape) { return shape[0] == 'S'; } /* SELECT */

#define ROW(SHAPE, name, NAME) {LT_PW_##NAME, #name, selects(#SHAPE)},
#define FAMILIES(CLASS)                                                                            \
    LT_ACTIVATIONS_##CLASS(ROW) LT_ARITHMETIC_##CLASS(ROW) LT_COMPARE_##CLASS(ROW)                 \
        LT_FUNCTIONS_##CLASS(ROW) LT_SPECIAL_##CLASS(ROW)
static const lt_fused_formula of_floats[] = {FAMILIES(FLOAT)}, of_integers[] = {FAMILIES(INTEGER)},
                              of_bools[] = {FAMILIES(BOOL)};
#undef FAMILIES
#undef ROW

template <int N> static const lt_fused_formula *found(const lt_fused_formula (&list)[N], int op)
{
    for (const lt_fused_formula &f : list)
        if (f.op == op) return &f;
    return nullptr;
}

const lt_fused_formula *lt_fused_formula_of(int op, lt_dtype compute)
{
    if (lt_is_floating(compute)) return found(of_floats, op);
    if (compute == LT_BOOL) return found(of_bools, op);
    return compute < LT_FLOAT16 ? found(of_integers, op) : nullptr;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* A bool is stored as a byte. */
const char *lt_fused_element(int dtype)
{
    static const char *const names[] = {"uint8_t", "uint8_t", "int8_t",        "int16_t", "int32_t",
                                        "int64_t", "__half",  "__nv_bfloat16", "float",   "double"};
    return names[dtype];
}

/* The compute type, and the member of lt_fused_number that has this type. */
static const char *computed(int dtype)
{
    return dtype == LT_FLOAT64                            ? "double"
           : lt_is_floating(static_cast<lt_dtype>(dtype)) ? "float"
           : dtype == LT_BOOL                             ? "uint8_t"
                                                          : "int64_t";
}
static const char *member(int dtype)
{
    return dtype == LT_FLOAT64                            ? "d"
           : lt_is_floating(static_cast<lt_dtype>(dtype)) ? "f"
           : dtype == LT_BOOL                             ? "b"
                                                          : "i";
}

__attribute__((format(printf, 2, 3))) static void write(std::string *out, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    *out += line;
}

/* ---- parts of the source --------------------------------------------------------------------- */

static bool is_strided(const lt_fused_offset &p) { return p.where >= LT_FUSED_REPEATED; }
static bool is_single(const lt_fused_offset &p)
{
    return p.where == LT_FUSED_ONE || p.where == LT_FUSED_REPEATED;
}

static void write_load(std::string *out, const lt_fused_plan &plan, int v)
{
    const lt_fused_offset &p = plan.places[v];
    const char *const type = lt_fused_element(p.dtype);
    const int n = plan.run;
    if (p.where == LT_FUSED_STEP) {
        if (p.written) write(out, "    %s v%d[%d];\n", type, v, n);
        return;
    }
    if (p.where == LT_FUSED_UNREAD) return;
    if (p.where == LT_FUSED_DENSE) {
        write(
            out,
            "    const char *const p%d = a.data[%d] + static_cast<uint64_t>(first) * sizeof(%s);\n",
            v, p.data, type);
    } else if (is_strided(p) && p.where != LT_FUSED_ANYWHERE) {
        write(out, "    const char *const p%d = a.data[%d] + lt_walked<%d>(a.walks[%d], first);\n",
              v, p.data, p.dims, p.walk);
    } else {
        write(out, "    const char *const p%d = a.data[%d];\n", v, p.data);
    }
    if (is_single(p)) {
        write(out, "    const %s v%d = *reinterpret_cast<const %s *>(p%d);\n", type, v, type, v);
        return;
    }
    write(out, "    %s v%d[%d];\n", type, v, n);
    if (p.where == LT_FUSED_DENSE || p.where == LT_FUSED_TOGETHER)
        write(out, "    lt_load_run<%s, %d>(p%d, v%d, n, whole);\n", type, n, v, v);
    else if (p.where == LT_FUSED_APART)
        write(out,
              "    LT_EACH(i, %d) v%d[i] = i < n ? *reinterpret_cast<const %s *>(p%d + i * "
              "a.walks[%d].stride[0]) : %s{};\n",
              n, v, type, v, p.walk, type);
    else
        write(out,
              "    LT_EACH(i, %d) v%d[i] = *reinterpret_cast<const %s *>(p%d + "
              "lt_walked<%d>(a.walks[%d], i < n ? first + i : first));\n",
              n, v, type, v, p.dims, p.walk);
}

/* An operand of a step, converted to the compute type. */
static std::string operand(const lt_fused_plan &plan, const lt_fused_action &s, int i,
                           bool condition)
{
    const int v = s.in[i];
    const lt_fused_offset &p = plan.places[v];
    const char *const type = computed(s.compute);
    char text[128], at[32];
    if (s.number[i] >= 0) {
        snprintf(text, sizeof text, "a.numbers[%d].%s", s.number[i], member(s.compute));
        return text;
    }
    snprintf(at, sizeof at, p.where == LT_FUSED_STEP ? "e%d" : is_single(p) ? "v%d" : "v%d[i]", v);
    const bool narrow = s.compute != LT_INT64 && s.compute < LT_FLOAT32;
    if (narrow && !condition && p.dtype != s.compute)
        snprintf(text, sizeof text, "lt_fitted<%s>(lt_as<%s>(%s))",
                 s.compute == LT_BOOL ? "bool" : lt_fused_element(s.compute), type, at);
    else
        snprintf(text, sizeof text, "lt_as<%s>(%s)", type, at);
    return text;
}

/* The intermediate type of a conversion between dtypes. */
static const char *intermediate_type(int from)
{
    return from == LT_FLOAT64                            ? "double"
           : lt_is_floating(static_cast<lt_dtype>(from)) ? "float"
                                                         : "int64_t";
}

static void write_copy(std::string *out, const lt_fused_plan &plan, const lt_fused_action &s)
{
    const lt_fused_offset &from = plan.places[s.in[0]], &to = plan.places[s.out];
    char at[32];
    snprintf(at, sizeof at,
             from.where == LT_FUSED_STEP ? "e%d"
             : is_single(from)           ? "v%d"
                                         : "v%d[i]",
             s.in[0]);
    if (from.dtype == to.dtype) {
        write(out, "        const %s e%d = %s;\n", lt_fused_element(to.dtype), s.out, at);
        return;
    }
    const char *const c = intermediate_type(from.dtype);
    write(out, "        const %s e%d = lt_stored<%s, %s>::of(lt_as<%s>(%s));\n",
          lt_fused_element(to.dtype), s.out,
          to.dtype == LT_BOOL ? "bool" : lt_fused_element(to.dtype), c, c, at);
}

/* Whether the compiler could contract this step's result into an fma with a later sum (lt_no_contraction):
 * the step is not itself a sum, and it has a user that is not a product. */
static bool is_apart(const lt_fused_plan &plan, const lt_fused_action &s)
{
    if (s.op == LT_PW_ADD || s.op == LT_PW_SUB) return false;
    if (plan.end.is_there() && plan.end.value == s.out) return true;
    for (const lt_fused_action &later : plan.actions)
        for (int i = 0; i < later.n; i++)
            if (later.in[i] == s.out && later.op != LT_PW_MUL) return true;
    return false;
}

static void write_step(std::string *out, const lt_fused_plan &plan, const lt_fused_action &s)
{
    if (s.op == LT_FUSED_COPY) {
        write_copy(out, plan, s);
        return;
    }
    const lt_fused_formula *f = lt_fused_formula_of(s.op, static_cast<lt_dtype>(s.compute));
    const int dtype = plan.places[s.out].dtype;
    const bool wide = dtype == LT_FLOAT32 || dtype == LT_FLOAT64,
               product = wide && s.op == LT_PW_MUL, apart = wide && !product && is_apart(plan, s);
    write(out, "        auto y%d = lt_%s%s(", s.out, product ? "product" : f->name,
          s.compute == LT_BOOL ? "_b8" : "");
    for (int i = 0; i < s.n; i++) {
        const bool condition = i == 0 && f->selects;
        *out += (i > 0 ? ", " : "") + operand(plan, s, i, condition) + (condition ? " != 0" : "");
    }
    if (s.op == LT_PW_POW && s.n == 1) *out += ", 3.0f";
    for (int i = 0; i < s.n_params; i++)
        write(out, ", a.numbers[%d].%s", s.param + i, member(s.compute));
    write(out, ");\n");
    write(out, "        const %s e%d = %slt_stored<%s, decltype(y%d)>::of(y%d)%s;\n",
          lt_fused_element(dtype), s.out, apart ? "lt_no_contraction(" : "",
          lt_fused_element(dtype), s.out, s.out, apart ? ", a.zero)" : "");
}

std::string lt_fused_plan::source() const
{
    std::string out = "#include \"kernel.cuh\"\n";
    const auto at_least_one = [](size_t n) { return static_cast<int>(n > 0 ? n : 1); };
    write(&out, "typedef lt_fused_arguments<%d, %d, %d> arguments;\n", at_least_one(data.size()),
          at_least_one(numbers.size()), at_least_one(walks.size()));
    const char *const type = !end.is_there() ? nullptr : end.wide ? "double *x" : "float *x";
    write(&out,
          "LT_FUSED_FN void lt_fused_row(const arguments &a, uint32_t first, int n%s%s)\n{\n"
          "    const bool whole = n == %d && a.aligned;\n",
          type != nullptr ? ", " : "", type != nullptr ? type : "", run);
    for (size_t v = 0; v < places.size(); v++) write_load(&out, *this, static_cast<int>(v));
    write(&out, "    LT_EACH(i, %d) {\n", run);
    for (const lt_fused_action &s : actions) {
        write_step(&out, *this, s);
        if (places[s.out].written) write(&out, "        v%d[i] = e%d;\n", s.out, s.out);
    }
    if (end.is_there())
        write(&out, "        x[i] = lt_as<%s>(e%d);\n", end.wide ? "double" : "float", end.value);
    out += "    }\n";
    for (size_t v = 0; v < places.size(); v++)
        if (places[v].written)
            write(
                &out,
                "    lt_store_run<%s, %d>(a.data[%d] + static_cast<uint64_t>(first) * sizeof(%s), "
                "v%d, n, whole);\n",
                lt_fused_element(places[v].dtype), run, places[v].data,
                lt_fused_element(places[v].dtype), static_cast<int>(v));
    out += "}\n";
    if (!end.is_there())
        write(&out,
              "LT_FUSED_FN void lt_fused_of(const arguments &a, uint32_t thread)\n{\n"
              "    const uint32_t first = thread * %d;\n"
              "    if (first < a.n) lt_fused_row(a, first, a.n - first < %d ? static_cast<int>(a.n "
              "- first) : %d);\n"
              "}\nLT_FUSED_KERNEL(arguments, LT_FUSED_BLOCK)\n",
              run, run, run);
    else
        write(&out,
              "#include \"%s.cuh\"\n"
              "typedef lt_taken_arguments<lt_fused_%s, arguments> taken;\n"
              "LT_FUSED_FN void lt_fused_of(const taken &a, uint32_t thread) { %s(a, thread); }\n"
              "LT_FUSED_KERNEL(taken, %d%s)\n",
              end.rows ? "rows" : "lines", end.rows ? "rows" : "lines", end.taker.c_str(),
              end.threads,
              end.resident && data.size() == 1 ? ", LT_RESIDENT / LT_FUSED_BLOCK" : "");
    return out;
}
