/* complex.cu - elementwise kernels of complex numbers, for the ops in the generated list.
 * Counterpart of cpu/pointwise/complex.c. Kernels are templates over the real type only (float or
 * double); they switch on the op at run time, which is uniform over threads. Functions are
 * thrust's. Operands may have any dtype and layout; arithmetic of dense operands uses 16-byte
 * accesses. */
#include <thrust/complex.h>

#include "cuda.h"
#include "kernels/element.cuh"
#include "kernels/launch.cuh"
#include "kernels/offsets.cuh"
#include "pointwise.cuh"

#include "pointwise_ops.h" /* generated from the declarations */

enum { BLOCK = 256, ITEMS = 2 };

/* A complex number in memory. */
template <class T> struct alignas(2 * sizeof(T)) number {
    T re, im;
};

/* ---- formulas -------------------------------------------------------------------------------- */

template <class T> static __device__ __forceinline__ number<T> complex_of(T re, T im)
{
    return {re, im};
}
template <class T> static __device__ __forceinline__ number<T> complex_of(thrust::complex<T> z)
{
    return {z.real(), z.imag()};
}
template <class T> static __device__ __forceinline__ thrust::complex<T> to(number<T> z)
{
    return {z.re, z.im};
}
template <class T> static __device__ __forceinline__ number<T> plus(number<T> a, number<T> b)
{
    return {a.re + b.re, a.im + b.im};
}
template <class T> static __device__ __forceinline__ number<T> minus(number<T> a, number<T> b)
{
    return {a.re - b.re, a.im - b.im};
}
template <class T>
static __device__ __forceinline__ number<T> multiply_complex(number<T> a, number<T> b)
{
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T> static __device__ __forceinline__ number<T> scaled(number<T> z, T factor)
{
    return {z.re * factor, z.im * factor};
}

/* Smith's algorithm, which avoids overflow in intermediate results. */
template <class T> static __device__ number<T> over(number<T> a, number<T> b)
{
    const T c = fabs(b.re), d = fabs(b.im);
    if (c >= d) {
        if (c == 0 && d == 0) return {a.re / c, a.im / d};
        const T ratio = b.im / b.re, scale = 1 / (b.re + b.im * ratio);
        return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
    }
    const T ratio = b.re / b.im, scale = 1 / (b.re * ratio + b.im);
    return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
}

/* log|1 + z| = log1p(x (2 + x) + y^2) / 2, accurate for small z. */
template <class T> static __device__ number<T> log_of_one_more(number<T> z)
{
    if (!(fabs(z.re) <= T(0.5) && fabs(z.im) <= T(0.5)))
        return complex_of(thrust::log(to(complex_of(1 + z.re, z.im))));
    return {log1p(z.re * (2 + z.re) + z.im * z.im) / 2, atan2(z.im, 1 + z.re)};
}

/* The real part exp(x) cos y - 1 = expm1(x) cos y - 2 sin(y / 2)^2, accurate for small z. */
template <class T> static __device__ number<T> exp_less_one(number<T> z)
{
    const T half = sin(z.im / 2);
    return {expm1(z.re) * cos(z.im) - 2 * half * half, z.im == 0 ? z.im : exp(z.re) * sin(z.im)};
}

template <class T> static __device__ number<T> power(number<T> a, number<T> b)
{
    if (b.im == 0) {
        if (b.re == 0) return {1, 0};
        if (b.re == 1) return a;
        if (b.re == 2) return multiply_complex(a, a);
        if (b.re == 3) return multiply_complex(multiply_complex(a, a), a);
        if (b.re == T(0.5)) return complex_of(thrust::sqrt(to(a)));
        if (b.re == -1) return over(complex_of(T(1), T(0)), a);
        if (b.re == -2) return over(complex_of(T(1), T(0)), multiply_complex(a, a));
        if (b.re == T(-0.5)) return over(complex_of(T(1), T(0)), complex_of(thrust::sqrt(to(a))));
        if (a.re == 0 && a.im == 0 && b.re > 0) return {0, 0};
    }
    return complex_of(thrust::pow(to(a), to(b)));
}

template <class T> static __device__ __forceinline__ number<T> sigmoid(number<T> z)
{
    return over(number<T>{1, 0},
                plus(number<T>{1, 0}, complex_of(thrust::exp(to(number<T>{-z.re, -z.im})))));
}

/* log(exp(a) + exp(b)) = log1p(exp(small - large)) + large, where large has the larger real part,
 * so that the exponential does not overflow. */
template <class T> static __device__ number<T> log_add_exp(number<T> a, number<T> b)
{
    if (a.re != a.re || a.im != a.im || b.re != b.re || b.im != b.im) return {T(NAN), T(NAN)};
    const number<T> small = a.re < b.re ? a : b, large = a.re < b.re ? b : a;
    if (small.re == large.re && fabs(large.re) == T(INFINITY))
        return large.re < 0
                   ? small
                   : complex_of(thrust::log(thrust::exp(to(small)) + thrust::exp(to(large))));
    if (small.re == -T(INFINITY)) return large;
    return plus(log_of_one_more(complex_of(thrust::exp(to(minus(small, large))))), large);
}

template <class T> static __device__ number<T> sine_over_argument(number<T> z)
{
    const number<T> x = scaled(z, T(3.14159265358979323846));
    return z.re == 0 && z.im == 0 ? number<T>{1, 0} : over(complex_of(thrust::sin(to(x))), x);
}

/* lerp from the nearer end, as in PyTorch. */
template <class T>
static __device__ number<T> lerp_complex(number<T> a, number<T> b, number<T> weight)
{
    const number<T> way = minus(b, a), one = {1, 0};
    return hypot(weight.re, weight.im) < T(0.5)
               ? plus(a, multiply_complex(weight, way))
               : minus(b, multiply_complex(way, minus(one, weight)));
}

template <class T> static __device__ __forceinline__ bool is_nonzero(number<T> z)
{
    return z.re != 0 || z.im != 0;
}
template <class T> static __device__ __forceinline__ number<T> flag(bool yes)
{
    return {T(yes), 0};
}

/* x: the inputs, p: the op's scalar parameter. Real and boolean results are in the real part. */
template <class T> static __device__ number<T> simple(int op, const number<T> *x, number<T> p)
{
    const number<T> z = x[0], w = x[1], one = {1, 0};
    switch (op) {
    case LT_PW_ADD: return plus(z, multiply_complex(p, w));
    case LT_PW_SUB: return minus(z, multiply_complex(p, w));
    case LT_PW_MUL: return multiply_complex(z, w);
    case LT_PW_DIV: return over(z, w);
    case LT_PW_NEG: return {-z.re, -z.im};
    case LT_PW_SQUARE: return multiply_complex(z, z);
    case LT_PW_RECIPROCAL: return over(one, z);
    case LT_PW_CONJ: return {z.re, -z.im};
    case LT_PW_ABS: return {hypot(z.re, z.im), 0};
    case LT_PW_SGN: {
        const T size = hypot(z.re, z.im);
        return size == 0 ? number<T>{0, 0} : number<T>{z.re / size, z.im / size};
    }
    case LT_PW_ADDCMUL: return plus(z, multiply_complex(multiply_complex(p, w), x[2]));
    case LT_PW_ADDCDIV: return plus(z, over(multiply_complex(p, w), x[2]));
    case LT_PW_LERP: return lerp_complex(z, w, x[2]);
    case LT_PW_WHERE: return is_nonzero(z) ? w : x[2];
    case LT_PW_TANH_BACKWARD: return multiply_complex(z, minus(one, multiply_complex(w, w)));
    case LT_PW_SIGMOID_BACKWARD: return multiply_complex(z, multiply_complex(minus(one, w), w));
    case LT_PW_EQ: return flag<T>(z.re == w.re && z.im == w.im);
    case LT_PW_NE: return flag<T>(!(z.re == w.re && z.im == w.im));
    case LT_PW_LOGICAL_AND: return flag<T>(is_nonzero(z) && is_nonzero(w));
    case LT_PW_LOGICAL_OR: return flag<T>(is_nonzero(z) || is_nonzero(w));
    case LT_PW_LOGICAL_XOR: return flag<T>(is_nonzero(z) != is_nonzero(w));
    case LT_PW_LOGICAL_NOT: return flag<T>(!is_nonzero(z));
    case LT_PW_ISNAN: return flag<T>(z.re != z.re || z.im != z.im);
    case LT_PW_ISINF: return flag<T>(fabs(z.re) == T(INFINITY) || fabs(z.im) == T(INFINITY));
    default: return flag<T>(fabs(z.re) < T(INFINITY) && fabs(z.im) < T(INFINITY)); /* ISFINITE */
    }
}

template <class T> static __device__ number<T> function(int op, const number<T> *x, number<T>)
{
    const number<T> z = x[0], one = {1, 0};
    switch (op) {
    case LT_PW_ANGLE: return {atan2(z.im, z.re), 0};
    case LT_PW_EXP: return complex_of(thrust::exp(to(z)));
    case LT_PW_EXP2: return complex_of(thrust::exp(to(scaled(z, T(0.693147180559945309417)))));
    case LT_PW_EXPM1: return exp_less_one(z);
    case LT_PW_LOG: return complex_of(thrust::log(to(z)));
    case LT_PW_LOG2: return scaled(complex_of(thrust::log(to(z))), T(1.44269504088896340736));
    case LT_PW_LOG10: return scaled(complex_of(thrust::log(to(z))), T(0.434294481903251827651));
    case LT_PW_LOG1P: return log_of_one_more(z);
    case LT_PW_SQRT: return complex_of(thrust::sqrt(to(z)));
    case LT_PW_RSQRT: return over(one, complex_of(thrust::sqrt(to(z))));
    case LT_PW_POW: return power(z, x[1]);
    case LT_PW_SIGMOID: return sigmoid(z);
    case LT_PW_SILU: return multiply_complex(z, sigmoid(z));
    case LT_PW_SILU_BACKWARD: {
        const number<T> w = x[1], s = sigmoid(w);
        return multiply_complex(z,
                                multiply_complex(s, plus(one, multiply_complex(w, minus(one, s)))));
    }
    case LT_PW_SINC: return sine_over_argument(z);
    case LT_PW_LOGADDEXP: return log_add_exp(z, x[1]);
    case LT_PW_SIN: return complex_of(thrust::sin(to(z)));
    case LT_PW_COS: return complex_of(thrust::cos(to(z)));
    case LT_PW_TAN: return complex_of(thrust::tan(to(z)));
    case LT_PW_ASIN: return complex_of(thrust::asin(to(z)));
    case LT_PW_ACOS: return complex_of(thrust::acos(to(z)));
    case LT_PW_ATAN: return complex_of(thrust::atan(to(z)));
    case LT_PW_SINH: return complex_of(thrust::sinh(to(z)));
    case LT_PW_COSH: return complex_of(thrust::cosh(to(z)));
    case LT_PW_TANH: return complex_of(thrust::tanh(to(z)));
    case LT_PW_ASINH: return complex_of(thrust::asinh(to(z)));
    case LT_PW_ACOSH: return complex_of(thrust::acosh(to(z)));
    default: return complex_of(thrust::atanh(to(z))); /* ATANH */
    }
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* Operand 0 is the output. */
template <class T> struct complex_operands {
    int op, inputs;
    char *data[4]; /* null: the scalar in value */
    lt_dtype dtype[4];
    number<T> value[4], param;
    lt_offsets_32<4> places;
};

template <class T>
static __device__ __forceinline__ number<T> load_complex(lt_dtype dtype, const char *p)
{
    switch (dtype) {
    case LT_COMPLEX64: {
        const number<float> z = *reinterpret_cast<const number<float> *>(p);
        return {T(z.re), T(z.im)};
    }
    case LT_COMPLEX128: {
        const number<double> z = *reinterpret_cast<const number<double> *>(p);
        return {T(z.re), T(z.im)};
    }
    case LT_COMPLEX32:
        return {lt_as<T>(reinterpret_cast<const __half *>(p)[0]),
                lt_as<T>(reinterpret_cast<const __half *>(p)[1])};
    default: return {lt_load<T>(dtype, p), 0};
    }
}

template <class T>
static __device__ __forceinline__ void store_complex(lt_dtype dtype, char *p, number<T> z)
{
    switch (dtype) {
    case LT_COMPLEX64: *reinterpret_cast<number<float> *>(p) = {float(z.re), float(z.im)}; break;
    case LT_COMPLEX128:
        *reinterpret_cast<number<double> *>(p) = {double(z.re), double(z.im)};
        break;
    default: lt_store<T>(dtype, p, z.re); break;
    }
}

template <class T, bool FUNCTION>
static __global__ void __launch_bounds__(BLOCK) complex_kernel(complex_operands<T> a)
{
    const uint32_t first = blockIdx.x * (ITEMS * BLOCK) + threadIdx.x;
    for (int i = 0; i < ITEMS; i++) {
        const uint32_t index = first + i * BLOCK;
        if (index >= a.places.numel) return;
        int32_t offset[1][4];
        a.places.template at<1>(&index, offset);
        number<T> x[3] = {};
        for (int k = 0; k < 3; k++)
            if (k < a.inputs)
                x[k] = a.data[k + 1] == nullptr
                           ? a.value[k + 1]
                           : load_complex<T>(a.dtype[k + 1], a.data[k + 1] + offset[0][k + 1]);
        const number<T> y = FUNCTION ? function(a.op, x, a.param) : simple(a.op, x, a.param);
        store_complex(a.dtype[0], a.data[0] + offset[0][0], y);
    }
}

/* For contiguous operands of the compute dtype, aligned to 16 bytes. */
template <class T>
static __global__ void __launch_bounds__(BLOCK) dense_kernel(complex_operands<T> a)
{
    constexpr uint32_t N = 16 / sizeof(number<T>);
    using vector = lt_vector<number<T>, N>;
    const uint32_t n = a.places.numel, first = (blockIdx.x * BLOCK + threadIdx.x) * N;
    if (first >= n) return;
    const bool whole = n - first >= N;
    vector x[3], y;
    LT_UNROLLED
    for (int k = 0; k < 3; k++) {
        LT_UNROLLED
        for (uint32_t i = 0; i < N; i++) x[k].v[i] = a.value[k + 1];
        if (k >= a.inputs || a.data[k + 1] == nullptr) continue;
        const auto *const from = reinterpret_cast<const number<T> *>(a.data[k + 1]) + first;
        if (whole)
            x[k] = *reinterpret_cast<const vector *>(from);
        else
            x[k].v[0] = *from;
    }
    LT_UNROLLED
    for (uint32_t i = 0; i < N; i++) {
        const number<T> in[3] = {x[0].v[i], x[1].v[i], x[2].v[i]};
        y.v[i] = simple(a.op, in, a.param);
    }
    auto *const to = reinterpret_cast<number<T> *>(a.data[0]) + first;
    if (whole)
        *reinterpret_cast<vector *>(to) = y;
    else
        *to = y.v[0];
}

/* ---- entry ----------------------------------------------------------------------------------- */

template <class T> static number<T> host_number(lt_dtype dtype, const void *p)
{
    if (dtype == LT_COMPLEX64)
        return {T(static_cast<const float *>(p)[0]), T(static_cast<const float *>(p)[1])};
    if (dtype == LT_COMPLEX128)
        return {T(static_cast<const double *>(p)[0]), T(static_cast<const double *>(p)[1])};
    return {lt_load<T>(dtype, p), 0};
}

static bool iter_is_dense(const lt_iter *it, lt_dtype compute)
{
    if (it->ndim != 1 || it->host_scalar[0]) return false;
    for (int k = 0; k < it->operands; k++) {
        if (it->host_scalar[k]) continue;
        if (it->dtype[k] != compute || it->strides[k][0] != lt_element_size(compute) ||
            reinterpret_cast<uintptr_t>(it->data[k]) % 16 != 0)
            return false;
    }
    return true;
}

template <class T>
static void launch_complex(const lt_pointwise_call &call, bool function, int params)
{
    lt_iter it = *call.it;
    complex_operands<T> a = {};
    a.op = call.op;
    a.inputs = it.operands - 1;
    for (int k = 0; k < it.operands; k++) {
        a.data[k] = it.host_scalar[k] ? nullptr : it.data[k];
        a.dtype[k] = it.dtype[k];
        if (it.host_scalar[k]) a.value[k] = host_number<T>(it.dtype[k], it.data[k]);
    }
    for (int k = it.operands; k < 4; k++)
        for (int d = 0; d < it.ndim; d++) it.strides[k][d] = 0;
    if (params > 0) {
        const lt_scalar p = call.params[0];
        a.param = {T(p.kind >= LT_SCALAR_FLOAT ? p.v.d : static_cast<double>(p.v.i)),
                   T(p.imaginary)};
    }
    a.places.of(&it, 1, nullptr);
    if (!function && iter_is_dense(&it, call.compute)) {
        const int numbers = 16 / static_cast<int>(sizeof(number<T>));
        LT_LAUNCH(dense_kernel<T>, lt_blocks(a.places.numel, BLOCK * numbers), BLOCK, call.stream,
                  a);
        return;
    }
    const unsigned blocks = lt_blocks(a.places.numel, BLOCK * ITEMS);
    if (function)
        LT_LAUNCH((complex_kernel<T, true>), blocks, BLOCK, call.stream, a);
    else
        LT_LAUNCH((complex_kernel<T, false>), blocks, BLOCK, call.stream, a);
}

/* Whether the op is supported; *function: it needs function(), not simple(); *params: its number of
 * scalar parameters. */
static bool find_operation(int op, bool *function, int *params)
{
    switch (op) {
#define CASE_OF(NAME, n)                                                                           \
    case LT_PW_##NAME:                                                                             \
        *params = n;                                                                               \
        break;
#define UNARY(NAME)             CASE_OF(NAME, 0)
#define UNARY_REAL(NAME)        CASE_OF(NAME, 0)
#define UNARY_TEST(NAME)        CASE_OF(NAME, 0)
#define BINARY(NAME)            CASE_OF(NAME, 0)
#define BINARY_TEST(NAME)       CASE_OF(NAME, 0)
#define BINARY_SCALED(NAME)     CASE_OF(NAME, 1)
#define TERNARY(NAME)           CASE_OF(NAME, 0)
#define TERNARY_SCALED(NAME)    CASE_OF(NAME, 1)
#define SELECT(NAME)            CASE_OF(NAME, 0)
#define CASE(SHAPE, name, NAME) SHAPE(NAME)
        LT_COMPLEX_LIST(CASE)
#undef CASE
    default: return false;
    }
    const bool arithmetic = op >= LT_PW_ARITHMETIC && op < LT_PW_ARITHMETIC_END &&
                            op != LT_PW_SQRT && op != LT_PW_RSQRT;
    *function = !arithmetic && !(op >= LT_PW_COMPARE && op < LT_PW_COMPARE_END);
    return true;
}

bool lt_cuda_complex(const lt_pointwise_call &call)
{
    bool function;
    int params = 0;
    if (call.compute == LT_COMPLEX32 || !find_operation(call.op, &function, &params)) return false;
    if (call.compute == LT_COMPLEX64)
        launch_complex<float>(call, function, params);
    else
        launch_complex<double>(call, function, params);
    return true;
}
