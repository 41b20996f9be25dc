/* fused.cpp - generated kernels (src/cuda/kernels/compile/) compiled by the real NVRTC for several
 * architectures, which needs no GPU: every formula that they may use, in fusions of many steps, over
 * dense, repeated and strided elements; every step of a reduction, of lines of a fusion, and what
 * takes rows of one. Each image is written into a folder, for check.sh to look at its registers.
 *
 * Usage: fusions FOLDER ARCHITECTURE... */
#define LT_FUSED_FOR_NVRTC /* of fused_sources.h */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <vector>

#include "iter.h"
#include "kernels/element.cuh"
#include "kernels/compile/plan.cuh"
#include "kernels/reduce/steps.cuh"
#include "libraries/nvrtc_api.h"
#include "pointwise_ops.h"

#include "fused_sources.h"

/* Of pointwise.cu: no fusion here has a number that it would treat otherwise. */
bool lt_cuda_takes_exact_number(int) { return false; }
int lt_cuda_shorter_power(double) { return LT_PW_POW; }

struct formula {
    int op, inputs, params;
};

namespace lt_sim {
int64_t index_limit() { return int64_t{1} << 31; }
} // namespace lt_sim

static std::vector<formula> all_formulas()
{
#define UNARY          1, 0
#define UNARY_NUMBER   1, 1
#define UNARY_RANGE    1, 2
#define UNARY_THREE    1, 3
#define BINARY         2, 0
#define BINARY_SCALED  2, 1
#define BINARY_RANGE   2, 2
#define BINARY_THREE   2, 3
#define TERNARY        3, 0
#define TERNARY_SCALED 3, 1
#define SELECT         3, 0
    std::vector<formula> all;
#define EACH(SHAPE, name, NAME) all.push_back({LT_PW_##NAME, SHAPE});
#define FAMILY(UPPER)           LT_##UPPER##_FLOAT(EACH) LT_##UPPER##_INTEGER(EACH) LT_##UPPER##_BOOL(EACH)
    FAMILY(ACTIVATIONS)
    FAMILY(ARITHMETIC) FAMILY(COMPARE) FAMILY(FUNCTIONS) FAMILY(SPECIAL) return all;
}

static lt_nvrtc open_library()
{
    lt_nvrtc table = {};
    void *handle = dlopen("libnvrtc.so.13", RTLD_NOW | RTLD_GLOBAL);
    if (handle == nullptr) handle = dlopen("libnvrtc.so.12", RTLD_NOW | RTLD_GLOBAL);
    if (handle == nullptr) {
        fprintf(stderr, "fusions: %s\n", dlerror());
        exit(1);
    }
#define FIND(field, symbol, arguments)                                                             \
    *reinterpret_cast<void **>(&table.field) = dlsym(handle, #symbol);
    LT_NVRTC_FUNCTIONS(FIND)
    return table;
}

static int compiled, failed;

/* What the compiler says of a program. */
static std::string log_of(nvrtcProgram program)
{
    const auto size = reinterpret_cast<nvrtcResult (*)(nvrtcProgram, size_t *)>(
        dlsym(RTLD_DEFAULT, "nvrtcGetProgramLogSize"));
    const auto text = reinterpret_cast<nvrtcResult (*)(nvrtcProgram, char *)>(
        dlsym(RTLD_DEFAULT, "nvrtcGetProgramLog"));
    size_t bytes = 0;
    if (size == nullptr || text == nullptr || size(program, &bytes) != NVRTC_SUCCESS) return "";
    std::string log(bytes, '\0');
    return text(program, &log[0]) == NVRTC_SUCCESS ? log : "";
}

static void compile(const lt_nvrtc &nvrtc, const char *folder, int n, char **architectures,
                    const lt_fusion &fusion, const char *name, const lt_fused_end &end = {})
{
    lt_fused_plan plan;
    if (!plan.make(&fusion, end)) {
        fprintf(stderr, "fusions: %s has no plan\n", name);
        failed++;
        return;
    }
    const std::string source = plan.source();
    for (int i = 0; i < n; i++) {
        const std::string option = std::string("-arch=sm_") + architectures[i];
        const char *const options[] = {"-std=c++17", option.c_str()};
        nvrtcProgram program = nullptr;
        size_t bytes = 0;
        nvrtc.create(&program, source.c_str(), name, LT_FUSED_SOURCES, lt_fused_source_texts,
                     lt_fused_source_names);
        const nvrtcResult result = nvrtc.compile(program, 2, options);
        compiled++;
        if (result != NVRTC_SUCCESS) {
            fprintf(stderr, "fusions: %s for sm_%s: error %d\n%s\n%s", name, architectures[i],
                    result, log_of(program).c_str(), source.c_str());
            failed++;
        } else {
            nvrtc.image_size(program, &bytes);
            std::string image(bytes, '\0');
            nvrtc.image(program, &image[0]);
            FILE *file = fopen(
                (std::string(folder) + "/" + name + "." + architectures[i] + ".cubin").c_str(),
                "wb");
            if (file == nullptr || fwrite(image.data(), 1, bytes, file) != bytes ||
                fclose(file) != 0)
                failed++;
        }
        nvrtc.destroy(&program);
    }
}

/* Values 0 to 2 are read: dense, or one of them repeated and one strided; each step reads the one
 * before it. */
static void chains_of(const lt_nvrtc &nvrtc, const char *folder, int n, char **architectures,
                      lt_dtype compute, const char *dtype, bool strided)
{
    static char memory[64] __attribute__((aligned(16)));
    const int64_t size = lt_element_size(compute), rows = 512, columns = 1024;
    lt_iter repeated = {}, apart = {};
    for (lt_iter *it : {&repeated, &apart}) {
        it->ndim = 2, it->operands = 2, it->numel = rows * columns, it->sizes[0] = columns,
        it->sizes[1] = rows;
        it->strides[0][0] = size, it->strides[0][1] = size * columns;
        it->dtype[0] = it->dtype[1] = compute;
        it->data[0] = it->data[1] = memory;
    }
    repeated.strides[1][1] = size;
    apart.strides[1][0] = size * rows, apart.strides[1][1] = size;
    int part = 0;
    lt_fusion *fusion = new lt_fusion();
    const auto begin = [&] {
        fusion->numel = rows * columns;
        fusion->n_steps = 0;
        fusion->n_values = 3;
        for (int v = 0; v < 3; v++) fusion->values[v] = {compute, false, false, memory, nullptr};
        if (strided) fusion->values[1].walk = &repeated, fusion->values[2].walk = &apart;
    };
    const auto end = [&] {
        if (fusion->n_steps == 0) return;
        const std::string name =
            std::string(dtype) + (strided ? "-strided-" : "-dense-") + std::to_string(part++);
        fusion->values[fusion->n_values - 1].data = memory;
        compile(nvrtc, folder, n, architectures, *fusion, name.c_str());
        begin();
    };
    begin();
    for (const formula &f : all_formulas()) {
        if (lt_fused_formula_of(f.op, compute) == nullptr) continue;
        lt_fused_step step = {};
        step.op = f.op;
        step.compute = compute;
        step.n = f.inputs, step.n_params = f.params;
        const int before = fusion->n_steps > 0 ? fusion->n_values - 1 : 0;
        for (int i = 0; i < f.inputs; i++) step.in[i] = i == 0 ? before : i;
        for (int i = 0; i < f.params; i++)
            step.params[i].kind = LT_SCALAR_INT, step.params[i].v.i = 1;
        step.out = fusion->n_values;
        const bool test = f.op >= LT_PW_COMPARE && f.op < LT_PW_COMPARE_END;
        fusion->values[fusion->n_values++] = {test ? LT_BOOL : compute, false, false, nullptr,
                                              nullptr};
        fusion->steps[fusion->n_steps++] = step;
        if (fusion->n_steps == 12) end();
    }
    end();
    delete fusion;
}

/* Lines of x * row, reduced by each step, and rows of it. */
static void lines_of(const lt_nvrtc &nvrtc, const char *folder, int n, char **architectures,
                     lt_dtype dtype, const char *type)
{
    static char memory[64] __attribute__((aligned(16)));
    const int64_t size = lt_element_size(dtype), rows = 512, columns = 1024;
    lt_iter repeated = {};
    repeated.ndim = 2, repeated.operands = 2, repeated.numel = rows * columns,
    repeated.sizes[0] = columns, repeated.sizes[1] = rows;
    repeated.strides[0][0] = repeated.strides[1][0] = size, repeated.strides[0][1] = size * columns;
    repeated.dtype[0] = repeated.dtype[1] = dtype;
    repeated.data[0] = repeated.data[1] = memory;
    lt_fusion *fusion = new lt_fusion();
    fusion->numel = rows * columns;
    fusion->n_steps = 1, fusion->n_values = 3;
    fusion->values[0] = fusion->values[1] = {dtype, false, false, memory, nullptr};
    fusion->values[1].walk = &repeated;
    fusion->values[2] = {dtype, false, false, nullptr, nullptr};
    fusion->steps[0].op = LT_PW_MUL, fusion->steps[0].compute = dtype;
    fusion->steps[0].n = 2, fusion->steps[0].in[0] = 0, fusion->steps[0].in[1] = 1,
    fusion->steps[0].out = 2;
    for (const char *step : {"sum_step", "sum_abs_step", "sum_square_step", "sum_square_off_step",
                             "sum_exp_step", "sum_numbers_step", "sum_power_step", "count_step",
                             "prod_step", "max_step", "min_step", "max_abs_step", "min_abs_step"})
        compile(
            nvrtc, folder, n, architectures, *fusion,
            (std::string(type) + "-lines-" + step).c_str(),
            lt_fused_end_lines(2, step, dtype == LT_FLOAT64,
                               std::string(step) == "sum_step" ? "void" : lt_fused_element(dtype)));
    for (const int runs : {1, dtype == LT_FLOAT64 ? lt_max_runs<double> : lt_max_runs<float>}) {
        const auto held = [&](const char *first, const char *second) {
            compile(
                nvrtc, folder, n, architectures, *fusion,
                (std::string(type) + "-held-lines-" + second + "-" + std::to_string(runs)).c_str(),
                lt_fused_end_held_lines(2, {first, second, runs}, dtype == LT_FLOAT64,
                                        lt_fused_element(dtype)));
        };
        held("sum_step", "sum_square_off_step");
        held("max_step", "sum_exp_step");
    }
    for (bool held : {true, false})
        for (const char *function :
             {"lt_softmax_rows", "lt_softmax_rows_backward", "lt_norm_rows"}) {
            const char *const parameter =
                std::string(function) == "lt_norm_rows" ? lt_fused_element(dtype) : nullptr;
            compile(nvrtc, folder, n, architectures, *fusion,
                    (std::string(type) + "-" + function + (held ? "-held" : "")).c_str(),
                    lt_fused_end_rows(2, function, dtype, held, held ? 128 : 512, parameter));
        }
    delete fusion;
}

int main(int argc, char **argv)
{
    const lt_nvrtc nvrtc = open_library();
    const struct {
        lt_dtype dtype;
        const char *name;
    } dtypes[] = {{LT_FLOAT32, "float32"},   {LT_FLOAT64, "float64"}, {LT_FLOAT16, "float16"},
                  {LT_BFLOAT16, "bfloat16"}, {LT_INT64, "int64"},     {LT_UINT8, "uint8"},
                  {LT_BOOL, "bool"}};
    for (const auto &d : dtypes)
        for (bool strided : {false, true})
            chains_of(nvrtc, argv[1], argc - 2, argv + 2, d.dtype, d.name, strided);
    for (const auto &d : dtypes)
        if (lt_is_floating(d.dtype)) lines_of(nvrtc, argv[1], argc - 2, argv + 2, d.dtype, d.name);
    printf("generated kernels: %d compiled by NVRTC, %d failed\n", compiled, failed);
    return failed > 0;
}
