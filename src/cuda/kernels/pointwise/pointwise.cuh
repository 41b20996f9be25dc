/* pointwise.cuh - elementwise kernels from scalar formulas. The file of each family (arithmetic.cu,
 * functions.cu ...) turns formulas (core/formulas/, shared with the CPU) into types, by family.inc
 * and the generated lists; each type becomes two kernels per compute type (float, double, int64_t;
 * uint8_t for bool):
 *
 *   dense    operands of the kernel's dtype that are contiguous along the innermost dimension, or
 *            broadcast along it, or scalars: 16 bytes per access
 *   strided  any layout, any dtypes; elements are converted on load and store
 *
 * Indices are 32 bits: larger calls are split (split.cuh).
 *
 * Integers are computed in int64_t and truncated on store: operands are rounded to the op's dtype
 * first, so the low bits are right. Half types are computed in float. */
#ifndef LT_CUDA_POINTWISE_CUH
#define LT_CUDA_POINTWISE_CUH

#include "cuda.h"
#include "kernels/element.cuh"
#include "formulas/formulas.h"
#include "kernel_families.h" /* generated from the declarations */
#include "kernels/launch.cuh"
#include "kernels/offsets.cuh"

/* One call of lt_cuda_pointwise. */
struct lt_pointwise_call {
    int op;
    const lt_iter *it;
    lt_dtype compute;
    const lt_scalar *params;
    cudaStream_t stream;
    bool exact_number; /* do not round a scalar second input to half types */
};

/* Each runs the op, or returns false if it lacks it for the compute dtype. */
#define LT_DECLARE_FAMILY(name, NAME) bool lt_cuda_##name(const lt_pointwise_call &call);
LT_KERNEL_FAMILIES(LT_DECLARE_FAMILY)
bool lt_cuda_complex(const lt_pointwise_call &call); /* all families of complex ops */
#undef LT_DECLARE_FAMILY

/* ---- formulas as types ----------------------------------------------------------------------- */

/* The properties of a formula that host code needs: formulas of one shape share their host
 * functions. */
template <int INPUTS, int PARAMS, bool SELECTS> struct lt_formula_shape {
    static constexpr int inputs = INPUTS, params = PARAMS;
    static constexpr bool selects = SELECTS;
};

/* x: the inputs, p: the op's scalar parameters. The first input of a selection is bool. The return
 * type is explicit, because the host needs it and nvcc does not deduce it for device functions. */
#define LT_FORMULA(type, inputs_, params_, selects_, expression)                                   \
    struct type : lt_formula_shape<inputs_, params_, selects_> {                                   \
        using shape = lt_formula_shape<inputs_, params_, selects_>;                                \
        template <class T>                                                                         \
        static __device__ __forceinline__ auto of(const T *x, const T *p) -> decltype(expression)  \
        {                                                                                          \
            (void)p;                                                                               \
            return expression;                                                                     \
        }                                                                                          \
    };
/* One macro per SHAPE of the generated lists: defines `type` from formula f. */
#define LT_SHAPE_UNARY(type, f)         LT_FORMULA(type, 1, 0, false, f(x[0]))
#define LT_SHAPE_UNARY_NUMBER(type, f)  LT_FORMULA(type, 1, 1, false, f(x[0], p[0]))
#define LT_SHAPE_UNARY_RANGE(type, f)   LT_FORMULA(type, 1, 2, false, f(x[0], p[0], p[1]))
#define LT_SHAPE_UNARY_THREE(type, f)   LT_FORMULA(type, 1, 3, false, f(x[0], p[0], p[1], p[2]))
#define LT_SHAPE_BINARY(type, f)        LT_FORMULA(type, 2, 0, false, f(x[0], x[1]))
#define LT_SHAPE_BINARY_SCALED(type, f) LT_FORMULA(type, 2, 1, false, f(x[0], x[1], p[0]))
#define LT_SHAPE_BINARY_RANGE(type, f)  LT_FORMULA(type, 2, 2, false, f(x[0], x[1], p[0], p[1]))
#define LT_SHAPE_BINARY_THREE(type, f)                                                             \
    LT_FORMULA(type, 2, 3, false, f(x[0], x[1], p[0], p[1], p[2]))
#define LT_SHAPE_TERNARY(type, f)        LT_FORMULA(type, 3, 0, false, f(x[0], x[1], x[2]))
#define LT_SHAPE_TERNARY_SCALED(type, f) LT_FORMULA(type, 3, 1, false, f(x[0], x[1], x[2], p[0]))
#define LT_SHAPE_SELECT(type, f)         LT_FORMULA(type, 3, 0, true, f(x[0] != 0, x[1], x[2]))

/* ---- kernels --------------------------------------------------------------------------------- */

enum { LT_POINTWISE_BLOCK = 256, LT_POINTWISE_PARAMS = 3 };

/* How the dense kernel reads an operand: a scalar argument, one element per run, or a vector. */
enum lt_dense_kind { LT_DENSE_NUMBER, LT_DENSE_ONE, LT_DENSE_VECTOR };

/* Operand 0 is the output. A thread has a run of N elements, contiguous in vector operands;
 * `places` maps runs to offsets. */
template <class C, int INPUTS> struct lt_dense_operands {
    char *data[INPUTS + 1];
    lt_dense_kind kind[INPUTS + 1];
    bool aligned; /* vectors are aligned to their size */
    C value[INPUTS + 1], params[LT_POINTWISE_PARAMS];
    uint32_t n; /* number of elements; the last run may be shorter */
    lt_offsets_32<INPUTS + 1> places;
};

/* E: element type of this operand. */
template <class C, class E, int N>
static __device__ __forceinline__ void lt_dense_load(const char *data, C (*x)[3], int k)
{
    const auto v = *reinterpret_cast<const lt_vector<E, N> *>(data);
    for (int i = 0; i < N; i++) x[i][k] = lt_as<C>(v.v[i]);
}

template <class Op, class C, class S>
static __global__ void __launch_bounds__(LT_POINTWISE_BLOCK)
    lt_dense_kernel(lt_dense_operands<C, Op::inputs> a)
{
    using result = decltype(Op::template of<C>(nullptr, nullptr));
    using R = std::conditional_t<std::is_same_v<result, bool>, uint8_t, S>;
    using E0 = std::conditional_t<Op::selects, uint8_t, S>;
    constexpr int N = 16 / sizeof(S);
    const uint32_t run = blockIdx.x * LT_POINTWISE_BLOCK + threadIdx.x, first = run * N;
    if (first >= a.n) return;
    int32_t offset[1][Op::inputs + 1];
    a.places.template at<1>(&run, offset);
    R *out = reinterpret_cast<R *>(a.data[0] + offset[0][0]);
    const char *in[Op::inputs];
    C one[3];
    for (int k = 0; k < Op::inputs; k++) {
        in[k] = a.data[k + 1] + offset[0][k + 1];
        one[k] = a.value[k + 1];
        if (a.kind[k + 1] != LT_DENSE_ONE) continue;
        one[k] = k == 0 ? lt_as<C>(*reinterpret_cast<const E0 *>(in[k]))
                        : lt_as<C>(*reinterpret_cast<const S *>(in[k]));
    }
    if (a.aligned && first + N <= a.n) {
        C x[N][3];
        for (int k = 0; k < Op::inputs; k++) {
            if (a.kind[k + 1] != LT_DENSE_VECTOR)
                for (int i = 0; i < N; i++) x[i][k] = one[k];
            else if (k == 0)
                lt_dense_load<C, E0, N>(in[k], x, k);
            else
                lt_dense_load<C, S, N>(in[k], x, k);
        }
        lt_vector<R, N> v;
        for (int i = 0; i < N; i++)
            v.v[i] = lt_stored<R, result>::of(Op::template of<C>(x[i], a.params));
        *reinterpret_cast<lt_vector<R, N> *>(out) = v;
        return;
    }
    const int n = a.n - first < N ? static_cast<int>(a.n - first) : N;
    LT_NOT_UNROLLED
    for (int i = 0; i < n; i++) {
        C x[3];
        for (int k = 0; k < Op::inputs; k++) {
            x[k] = one[k];
            if (a.kind[k + 1] != LT_DENSE_VECTOR) continue;
            x[k] = k == 0 ? lt_as<C>(reinterpret_cast<const E0 *>(in[k])[i])
                          : lt_as<C>(reinterpret_cast<const S *>(in[k])[i]);
        }
        out[i] = lt_stored<R, result>::of(Op::template of<C>(x, a.params));
    }
}

/* Elements per thread. */
template <class C> constexpr int lt_strided_items = sizeof(C) == 8 ? 2 : 4;

template <class C, int INPUTS> struct lt_strided_operands {
    char *data[INPUTS + 1]; /* null: the scalar in value */
    lt_dtype dtype[INPUTS + 1], compute;
    bool rounds[INPUTS + 1]; /* round to the compute dtype, narrower than C */
    C value[INPUTS + 1], params[LT_POINTWISE_PARAMS];
    lt_offsets_32<INPUTS + 1> places;
};

template <class Op, class C>
static __global__ void __launch_bounds__(LT_POINTWISE_BLOCK)
    lt_strided_kernel(lt_strided_operands<C, Op::inputs> a)
{
    using result = decltype(Op::template of<C>(nullptr, nullptr));
    constexpr int ITEMS = lt_strided_items<C>;
    const uint32_t first = blockIdx.x * (ITEMS * LT_POINTWISE_BLOCK) + threadIdx.x,
                   numel = a.places.numel;
    if (first >= numel) return;
    uint32_t index[ITEMS];
    int32_t offset[ITEMS][Op::inputs + 1];
    int n = 0;
    for (int i = 0; i < ITEMS; i++) {
        index[i] = first + i * LT_POINTWISE_BLOCK;
        if (index[i] < numel)
            n = i + 1;
        else
            index[i] = first;
    }
    a.places.template at<ITEMS>(index, offset);
    C x[ITEMS][Op::inputs];
    for (int k = 0; k < Op::inputs; k++) {
        const char *at[ITEMS];
        C loaded[ITEMS];
        for (int i = 0; i < ITEMS; i++) {
            at[i] = a.data[k + 1] + offset[i][k + 1];
            loaded[i] = a.value[k + 1];
        }
        if (a.data[k + 1] != nullptr) lt_load_many<C, ITEMS>(a.dtype[k + 1], at, loaded);
        for (int i = 0; i < ITEMS; i++)
            x[i][k] = a.rounds[k + 1] ? lt_rounded(a.compute, loaded[i]) : loaded[i];
    }
    char *to[ITEMS];
    result y[ITEMS];
    for (int i = 0; i < ITEMS; i++) {
        to[i] = a.data[0] + offset[i][0];
        y[i] = Op::template of<C>(x[i], a.params);
        if constexpr (std::is_same_v<result, C>)
            if (a.rounds[0]) y[i] = lt_rounded(a.compute, y[i]);
    }
    lt_store_many<result, ITEMS>(a.dtype[0], to, y, n);
}

/* ---- launching ------------------------------------------------------------------------------- */

template <class Shape, class C, class A>
static void lt_pointwise_values(const lt_pointwise_call &call, A *a)
{
    const lt_iter *it = call.it;
    const bool integral = !lt_is_floating(call.compute);
    for (int k = 0; k <= Shape::inputs; k++) {
        a->data[k] = it->host_scalar[k] ? nullptr : it->data[k];
        a->value[k] = C{};
        if (!it->host_scalar[k]) continue;
        const bool condition = Shape::selects && k == 1;
        const C value = lt_load<C>(it->dtype[k], it->data[k]);
        const bool exact = k == 2 && !integral && call.exact_number;
        a->value[k] = condition || exact ? value : lt_rounded(call.compute, value);
    }
    for (int i = 0; i < Shape::params; i++) {
        const C number = lt_number<C>(call.params[i]);
        a->params[i] = integral ? lt_rounded(call.compute, number) : number;
    }
}

/* Whether the dense kernel supports the operands: all have the compute dtype (tests: the result is
 * bool); inputs are contiguous or broadcast along dimension 0, the output is contiguous; runs of
 * `together` elements do not cross the end of dimension 0, unless it is the only one. bytes: set to
 * the bytes per run of each operand (0: broadcast). */
template <class Shape>
static bool lt_pointwise_fits(const lt_pointwise_call &call, bool tests, int64_t together,
                              int64_t *bytes)
{
    const lt_iter *it = call.it;
    const int64_t element = lt_element_size(call.compute);
    if (it->ndim > 1 && it->sizes[0] % together != 0) return false;
    for (int k = 0; k <= Shape::inputs; k++) {
        const bool boolean = k == 0 ? tests : Shape::selects && k == 1;
        const int64_t size = boolean ? 1 : element;
        bytes[k] = 0;
        if (it->host_scalar[k]) continue;
        if (it->dtype[k] != (boolean ? LT_BOOL : call.compute)) return false;
        if (it->ndim == 0) continue;
        if (it->strides[k][0] == size)
            bytes[k] = size * together;
        else if (k == 0 || it->strides[k][0] != 0)
            return false;
        for (int d = 1; d < it->ndim && bytes[k] != 0; d++)
            if (it->strides[k][d] % bytes[k] != 0) return false;
    }
    return true;
}

/* n: elements per run, one run per thread; bytes: bytes per run of each operand, a power of 2 or 0.
 */
template <class Shape, class C>
static lt_dense_operands<C, Shape::inputs> lt_dense_operands_of(const lt_pointwise_call &call,
                                                                int n, const int64_t *bytes)
{
    const lt_iter *it = call.it;
    lt_dense_operands<C, Shape::inputs> a;
    uintptr_t beyond = 0;
    lt_pointwise_values<Shape, C>(call, &a);
    a.n = static_cast<uint32_t>(it->numel);
    for (int k = 0; k <= Shape::inputs; k++) {
        a.kind[k] = a.data[k] == nullptr     ? LT_DENSE_NUMBER
                    : bytes[k] == 0 && k > 0 ? LT_DENSE_ONE
                                             : LT_DENSE_VECTOR;
        if (bytes[k] != 0)
            beyond |= reinterpret_cast<uintptr_t>(a.data[k]) & static_cast<uintptr_t>(bytes[k] - 1);
    }
    a.aligned = beyond == 0;
    a.places.of(it, n, bytes);
    return a;
}

template <class Shape, class C>
static lt_strided_operands<C, Shape::inputs> lt_strided_operands_of(const lt_pointwise_call &call)
{
    lt_strided_operands<C, Shape::inputs> a = {};
    lt_pointwise_values<Shape, C>(call, &a);
    a.compute = call.compute;
    for (int k = 0; k <= Shape::inputs; k++) {
        const lt_dtype dtype = a.dtype[k] = call.it->dtype[k];
        const bool condition = Shape::selects && k == 1;
        a.rounds[k] = dtype != call.compute && !condition && a.data[k] != nullptr &&
                      call.compute != LT_INT64 && call.compute < LT_FLOAT32;
    }
    a.places.of(call.it, 1, nullptr);
    return a;
}

/* Host code is compiled once per shape, not per op: ops pass their kernels as pointers. S: element
 * type of the kernel. */
template <class Shape, class C, bool TESTS, class S>
static bool lt_pointwise_dense(const lt_pointwise_call &call,
                               void (*kernel)(lt_dense_operands<C, Shape::inputs>))
{
    constexpr int N = 16 / sizeof(S);
    int64_t bytes[Shape::inputs + 1];
    if (!lt_pointwise_fits<Shape>(call, TESTS, N, bytes)) return false;
    const auto a = lt_dense_operands_of<Shape, C>(call, N, bytes);
    LT_LAUNCH(kernel, lt_blocks(a.n, LT_POINTWISE_BLOCK * N), LT_POINTWISE_BLOCK, call.stream, a);
    return true;
}

/* dense: kernels for element types S..., which are the dtypes from `first` on. */
template <class Shape, class C, bool TESTS, class... S>
static bool lt_pointwise_run(const lt_pointwise_call &call, lt_dtype first,
                             void (*const *dense)(lt_dense_operands<C, Shape::inputs>),
                             void (*strided)(lt_strided_operands<C, Shape::inputs>))
{
    int i = 0;
    const bool done = ((call.compute == first + i++ &&
                        lt_pointwise_dense<Shape, C, TESTS, S>(call, dense[i - 1])) ||
                       ...);
    if (done) return true;
    const auto a = lt_strided_operands_of<Shape, C>(call);
    LT_LAUNCH(strided, lt_blocks(call.it->numel, LT_POINTWISE_BLOCK * lt_strided_items<C>),
              LT_POINTWISE_BLOCK, call.stream, a);
    return true;
}

/* S: element types that have a dense kernel. */
template <class Op, class C, class... S>
static bool lt_pointwise_launch(const lt_pointwise_call &call, lt_dtype first)
{
    using result = decltype(Op::template of<C>(nullptr, nullptr));
    constexpr bool tests = std::is_same_v<result, bool>;
    static_assert(tests || std::is_same_v<result, C>, "the host knows what the formula results in");
    static void (*const dense[])(lt_dense_operands<C, Op::inputs>) = {lt_dense_kernel<Op, C, S>...};
    return lt_pointwise_run<typename Op::shape, C, tests, S...>(call, first, dense,
                                                                lt_strided_kernel<Op, C>);
}

template <class Op> static bool lt_pointwise_floating(const lt_pointwise_call &call)
{
    if (call.compute == LT_FLOAT64)
        return lt_pointwise_launch<Op, double, double>(call, LT_FLOAT64);
    return lt_pointwise_launch<Op, float, __half, __nv_bfloat16, float>(call, LT_FLOAT16);
}

template <class Op> static bool lt_pointwise_integers(const lt_pointwise_call &call)
{
    return lt_pointwise_launch<Op, int64_t, int64_t>(call, LT_INT64);
}

template <class Op> static bool lt_pointwise_bool(const lt_pointwise_call &call)
{
    return lt_pointwise_launch<Op, uint8_t, uint8_t>(call, LT_BOOL);
}

#endif
