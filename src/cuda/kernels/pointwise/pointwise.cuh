/* pointwise.cuh - elementwise kernels from scalar formulas. A family's file (arithmetic.cu, functions.cu ...)
 * makes types of the formulas (core/formulas/, shared with the CPU) by family.inc, from the lists that the declarations give;
 * each becomes two kernels per type computed in (float, double, int64_t, and uint8_t for bool):
 *
 *   dense    every operand lies dense in the kernel's own dtype, or is one number: 16 bytes at a time
 *   strided  any layout, any dtypes; elements are converted as they are read and written
 *
 * Integers are computed in int64_t and cut when stored: operands were rounded to the op's dtype before, so
 * that the low bits are right. Half types are computed in float. */
#ifndef LT_CUDA_POINTWISE_CUH
#define LT_CUDA_POINTWISE_CUH

#include "cuda.h"
#include "formulas/formulas.h"
#include "kernel_families.h" /* generated from the declarations */
#include "kernels/element.cuh"
#include "kernels/launch.cuh"
#include "kernels/offsets.cuh"

/* One call of lt_cuda_pointwise. */
struct lt_pointwise_call {
    int op;
    const lt_iter *it;
    lt_dtype compute;
    const lt_scalar *params;
    cudaStream_t stream;
    bool exact_number; /* a number as the second input is not rounded to half types first */
};

/* Each runs the op if it has it for the dtype computed; false if not. */
#define LT_DECLARE_FAMILY(name, NAME) bool lt_cuda_##name(const lt_pointwise_call &call);
LT_KERNEL_FAMILIES(LT_DECLARE_FAMILY)
#undef LT_DECLARE_FAMILY

/* ---- formulas as types ------------------------------------------------------------------------------- */

/* What the host needs to know of a formula to prepare its kernel: one function for all that are alike. */
template <int INPUTS, int PARAMS, bool SELECTS> struct lt_formula_shape {
    static constexpr int inputs = INPUTS, params = PARAMS;
    static constexpr bool selects = SELECTS;
};

/* x: the inputs, p: the op's numbers. The first input of a selection is bool. */
#define LT_FORMULA(type, inputs_, params_, selects_, expression)                                   \
    struct type : lt_formula_shape<inputs_, params_, selects_> {                                   \
        using shape = lt_formula_shape<inputs_, params_, selects_>;                                \
        template <class T> static __device__ __forceinline__ auto of(const T *x, const T *p)       \
        {                                                                                          \
            (void)p;                                                                               \
            return expression;                                                                     \
        }                                                                                          \
    };
/* By the SHAPEs of generated lists: type from the formula f. */
#define LT_SHAPE_UNARY(type, f)          LT_FORMULA(type, 1, 0, false, f(x[0]))
#define LT_SHAPE_UNARY_NUMBER(type, f)   LT_FORMULA(type, 1, 1, false, f(x[0], p[0]))
#define LT_SHAPE_UNARY_RANGE(type, f)    LT_FORMULA(type, 1, 2, false, f(x[0], p[0], p[1]))
#define LT_SHAPE_UNARY_THREE(type, f)    LT_FORMULA(type, 1, 3, false, f(x[0], p[0], p[1], p[2]))
#define LT_SHAPE_BINARY(type, f)         LT_FORMULA(type, 2, 0, false, f(x[0], x[1]))
#define LT_SHAPE_BINARY_SCALED(type, f)  LT_FORMULA(type, 2, 1, false, f(x[0], x[1], p[0]))
#define LT_SHAPE_BINARY_RANGE(type, f)   LT_FORMULA(type, 2, 2, false, f(x[0], x[1], p[0], p[1]))
#define LT_SHAPE_BINARY_THREE(type, f)   LT_FORMULA(type, 2, 3, false, f(x[0], x[1], p[0], p[1], p[2]))
#define LT_SHAPE_TERNARY(type, f)        LT_FORMULA(type, 3, 0, false, f(x[0], x[1], x[2]))
#define LT_SHAPE_TERNARY_SCALED(type, f) LT_FORMULA(type, 3, 1, false, f(x[0], x[1], x[2], p[0]))
#define LT_SHAPE_SELECT(type, f)         LT_FORMULA(type, 3, 0, true, f(x[0] != 0, x[1], x[2]))

/* ---- kernels -------------------------------------------------------------------------------------------- */

enum { LT_POINTWISE_BLOCK = 256, LT_POINTWISE_ITEMS = 4, LT_POINTWISE_PARAMS = 3 };

/* Operand 0 is the output. */
template <class C, int INPUTS> struct lt_dense_operands {
    char *data[INPUTS + 1]; /* null: the number in value */
    bool dense[INPUTS + 1]; /* else one element for all */
    bool aligned;           /* to whole vectors */
    C value[INPUTS + 1], params[LT_POINTWISE_PARAMS];
    int64_t n;
};

template <class T, int N> struct alignas(sizeof(T) * N) lt_vector {
    T v[N];
};

/* S: element of the dtype computed; E: of this operand. */
template <class C, class E, int N>
static __device__ __forceinline__ void lt_dense_load(const char *data, int64_t first, C (*x)[3],
                                                     int k)
{
    const auto v =
        *reinterpret_cast<const lt_vector<E, N> *>(data + first * static_cast<int64_t>(sizeof(E)));
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
    const int64_t first = lt_thread_number() * N;
    if (first >= a.n) return;
    R *out = reinterpret_cast<R *>(a.data[0]) + first;
    C one[3];
    for (int k = 0; k < Op::inputs; k++) {
        one[k] = a.value[k + 1];
        if (a.dense[k + 1] || a.data[k + 1] == nullptr) continue;
        one[k] = k == 0 ? lt_as<C>(*reinterpret_cast<const E0 *>(a.data[k + 1]))
                        : lt_as<C>(*reinterpret_cast<const S *>(a.data[k + 1]));
    }
    if (a.aligned && first + N <= a.n) {
        C x[N][3];
        for (int k = 0; k < Op::inputs; k++) {
            if (!a.dense[k + 1])
                for (int i = 0; i < N; i++) x[i][k] = one[k];
            else if (k == 0)
                lt_dense_load<C, E0, N>(a.data[k + 1], first, x, k);
            else
                lt_dense_load<C, S, N>(a.data[k + 1], first, x, k);
        }
        lt_vector<R, N> v;
        for (int i = 0; i < N; i++)
            v.v[i] = lt_stored<R, result>::of(Op::template of<C>(x[i], a.params));
        *reinterpret_cast<lt_vector<R, N> *>(out) = v;
        return;
    }
    const int64_t n = a.n - first < N ? a.n - first : N;
    for (int64_t i = 0; i < n; i++) {
        C x[3];
        for (int k = 0; k < Op::inputs; k++) {
            x[k] = one[k];
            if (!a.dense[k + 1]) continue;
            x[k] = k == 0 ? lt_as<C>(reinterpret_cast<const E0 *>(a.data[k + 1])[first + i])
                          : lt_as<C>(reinterpret_cast<const S *>(a.data[k + 1])[first + i]);
        }
        out[i] = lt_stored<R, result>::of(Op::template of<C>(x, a.params));
    }
}

template <class C, int INPUTS> struct lt_strided_operands {
    char *data[INPUTS + 1]; /* null: the number in value */
    lt_dtype dtype[INPUTS + 1], compute;
    bool rounds[INPUTS + 1]; /* to the dtype computed, which is narrower than C */
    C value[INPUTS + 1], params[LT_POINTWISE_PARAMS];
    lt_offsets<INPUTS + 1> offsets;
};

template <class Op, class C>
static __global__ void __launch_bounds__(LT_POINTWISE_BLOCK)
    lt_strided_kernel(lt_strided_operands<C, Op::inputs> a)
{
    using result = decltype(Op::template of<C>(nullptr, nullptr));
    constexpr int ITEMS = LT_POINTWISE_ITEMS;
    const int64_t first =
        static_cast<int64_t>(blockIdx.x) * (ITEMS * LT_POINTWISE_BLOCK) + threadIdx.x;
    const int64_t numel = a.offsets.numel;
    int64_t offset[ITEMS][Op::inputs + 1];
    int n = 0;
    for (int i = 0; i < ITEMS; i++) {
        const int64_t index = first + i * LT_POINTWISE_BLOCK;
        if (index < numel) n = i + 1;
        a.offsets.at(index < numel ? index : 0, offset[i]);
    }
    C x[ITEMS][3];
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

/* ---- launching -------------------------------------------------------------------------------------------- */

template <class Shape, class C, class A>
static void lt_pointwise_values(const lt_pointwise_call &call, A *a)
{
    const lt_iter *it = call.it;
    const bool integral = !lt_is_floating(call.compute);
    for (int k = 0; k <= Shape::inputs; k++) {
        a->data[k] = it->host_scalar[k] ? nullptr : it->data[k];
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

/* Whether all operands lie as the dense kernel wants them; tests: the result is bool. */
template <class Shape> static bool lt_pointwise_fits(const lt_pointwise_call &call, bool tests)
{
    const lt_iter *it = call.it;
    if (!it->contiguous || it->dtype[0] != (tests ? LT_BOOL : call.compute)) return false;
    for (int k = 1; k <= Shape::inputs; k++) {
        const lt_dtype wanted = Shape::selects && k == 1 ? LT_BOOL : call.compute;
        if (!it->host_scalar[k] && it->dtype[k] != wanted) return false;
    }
    return it->ndim == 0 || it->strides[0][0] == lt_element_size(it->dtype[0]);
}

/* n: elements that a thread takes. */
template <class Shape, class C>
static lt_dense_operands<C, Shape::inputs> lt_dense_operands_of(const lt_pointwise_call &call, int n)
{
    const lt_iter *it = call.it;
    lt_dense_operands<C, Shape::inputs> a = {};
    lt_pointwise_values<Shape, C>(call, &a);
    a.n = it->numel;
    a.aligned = true;
    for (int k = 0; k <= Shape::inputs; k++) {
        a.dense[k] = a.data[k] != nullptr && (k == 0 || (it->ndim > 0 && it->strides[k][0] != 0));
        const uintptr_t bytes = static_cast<uintptr_t>(lt_element_size(it->dtype[k]) * n);
        if (a.dense[k] && reinterpret_cast<uintptr_t>(a.data[k]) % bytes != 0) a.aligned = false;
    }
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
    a.offsets.of(call.it, 0, call.it->ndim);
    return a;
}

template <class Op, class C, class S> static bool lt_pointwise_dense(const lt_pointwise_call &call)
{
    constexpr bool tests = std::is_same_v<decltype(Op::template of<C>(nullptr, nullptr)), bool>;
    if (!lt_pointwise_fits<typename Op::shape>(call, tests)) return false;
    constexpr int N = 16 / sizeof(S);
    const auto a = lt_dense_operands_of<typename Op::shape, C>(call, N);
    LT_LAUNCH((lt_dense_kernel<Op, C, S>), lt_blocks(a.n, LT_POINTWISE_BLOCK * N),
              LT_POINTWISE_BLOCK, call.stream, a);
    return true;
}

/* S: the element types that have a dense kernel. */
template <class Op, class C, class... S>
static bool lt_pointwise_launch(const lt_pointwise_call &call, lt_dtype first)
{
    int i = 0;
    const bool done = ((call.compute == first + i++ && lt_pointwise_dense<Op, C, S>(call)) || ...);
    if (done) return true;
    const auto a = lt_strided_operands_of<typename Op::shape, C>(call);
    LT_LAUNCH((lt_strided_kernel<Op, C>),
              lt_blocks(call.it->numel, LT_POINTWISE_BLOCK * LT_POINTWISE_ITEMS),
              LT_POINTWISE_BLOCK, call.stream, a);
    return true;
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
