/* index.cu - advanced indexing: x[index], x[index] = y, gather and scatter (gather.cu). One thread
 * per element adds the offsets of its indices to the address of the indexed tensor; if whole rows
 * are copied, one thread per 16 bytes of a row. An out-of-range index is recorded (report.cuh) and
 * its element is skipped.
 *
 * Sums and products into the same element are atomic: exact for integers; for floats the order
 * varies, except for sums of whole rows, which are sorted and added in order (row_sums.cu).
 * Assignment with duplicate indices stores any one of the values. With
 * torch.use_deterministic_algorithms, elements are sorted stably by destination, and one thread per
 * destination combines them in order. */
#include "index.cuh"

#include <string.h>

#include "kernels/element.cuh"
#include "formulas/formulas.h"
#include "kernels/launch.cuh"
#include "runtime/marks.cuh"
#include "kernels/offsets.cuh"
#include "runtime/report.cuh"

enum { BLOCK = 256, ONE_INDEX = 3 /* operands */ };

/* N operands: 0 is the result or the values, 1 the indexed tensor, the rest indices. */
template <int N> struct indexing {
    char *data[N];
    int count; /* number of indices */
    int dims[N - 2], base[N - 2];
    int64_t sizes[N - 2], strides[N - 2];
    lt_offsets<N> offsets;
    lt_cuda_report *report;
    const char *op; /* for reports */
    uint64_t value; /* the scalar, if data[0] is null */
};

/* Computes the offset in data[0] (in bytes) and the address in the indexed tensor of this thread's
 * element. Returns false if there is none, or if an index is out of range. */
template <int N>
static __device__ __forceinline__ bool locate_element(const indexing<N> &a, int64_t *dense,
                                                      char **indexed)
{
    const int64_t number = lt_thread_number();
    if (number >= a.offsets.numel) return false;
    int64_t offset[N];
    a.offsets.at(number, offset);
    *dense = offset[0];
    char *p = a.data[1] + offset[1];
    for (int k = 0; k < N - 2 && k < a.count; k++) {
        const int64_t index = lt_index_counted(
            *reinterpret_cast<const int64_t *>(a.data[k + 2] + offset[k + 2]), a.base[k]);
        if (index < -a.sizes[k] || index >= a.sizes[k]) {
            lt_report_index(a.report, a.op, index, a.sizes[k], a.dims[k]);
            return false;
        }
        p += (index < 0 ? index + a.sizes[k] : index) * a.strides[k];
    }
    *indexed = p;
    return true;
}

/* The value at that offset, or the scalar. Select between values, not between addresses: a pointer
 * into the kernel parameters would make each thread copy them to local memory. */
template <class T, int N>
static __device__ __forceinline__ T value_at(const indexing<N> &a, int64_t dense)
{
    if (a.data[0] != nullptr) return *reinterpret_cast<const T *>(a.data[0] + dense);
    T value;
    const uint64_t word[2] = {a.value, 0};
    static_assert(sizeof(T) <= sizeof word, "an element or a piece of a row");
    memcpy(&value, word, sizeof value);
    return value;
}

/* Stores 0 for an out-of-range index, because later kernels may read the result before the host
 * sees the error. */
template <int N, class T> static __global__ void __launch_bounds__(BLOCK) get(indexing<N> a)
{
    int64_t out = -1;
    char *indexed;
    if (locate_element(a, &out, &indexed))
        *reinterpret_cast<T *>(a.data[0] + out) = *reinterpret_cast<const T *>(indexed);
    else if (out >= 0)
        *reinterpret_cast<T *>(a.data[0] + out) = T{};
}

template <int N, class T> static __global__ void __launch_bounds__(BLOCK) put(indexing<N> a)
{
    int64_t value;
    char *indexed;
    if (!locate_element(a, &value, &indexed)) return;
    /* indices may be duplicates */
    LT_STORE_ANY(reinterpret_cast<T *>(indexed), value_at<T>(a, value));
}

/* ---- combining values with elements ---------------------------------------------------------- */

struct index_adding {
    template <class T> static __device__ __forceinline__ T of(T a, T b)
    {
        return lt_add(a, b, static_cast<T>(1));
    }
};
struct multiplying {
    template <class T> static __device__ __forceinline__ T of(T a, T b) { return lt_mul(a, b); }
};
struct maximizing {
    template <class T> static __device__ __forceinline__ T of(T a, T b) { return lt_maximum(a, b); }
};
struct minimizing {
    template <class T> static __device__ __forceinline__ T of(T a, T b) { return lt_minimum(a, b); }
};

/* Combines elements of type S, computing in C. */
template <class S, class C = S> struct element {
    using type = S;
    template <class Op> static __device__ __forceinline__ S join(S a, S b)
    {
        return lt_stored<S, C>::of(Op::template of<C>(lt_as<C>(a), lt_as<C>(b)));
    }
};
struct bool_element {
    using type = uint8_t;
    template <class Op> static __device__ __forceinline__ uint8_t join(uint8_t a, uint8_t b)
    {
        return std::is_same_v<Op, index_adding> || std::is_same_v<Op, maximizing> ? a | b : a & b;
    }
};

/* *p = f(*p), atomically, by compare-and-swap. W: unsigned type of p's size. */
template <class W, class T, class F> static __device__ __forceinline__ void update_word(T *p, F f)
{
    static_assert(sizeof(W) == sizeof(T), "a word holds one element");
    W *word = reinterpret_cast<W *>(p);
    W seen = atomicCAS(word, W{0}, W{0}), expected;
    do {
        expected = seen;
        T value;
        memcpy(&value, &expected, sizeof value);
        value = f(value);
        W wanted;
        memcpy(&wanted, &value, sizeof wanted);
        seen = atomicCAS(word, expected, wanted);
    } while (seen != expected);
}

/* The same for 1- and 2-byte elements, on the aligned 4-byte word that contains them. */
template <class T, class F> static __device__ __forceinline__ void update_part(T *p, F f)
{
    const uintptr_t address = reinterpret_cast<uintptr_t>(p);
    const unsigned shift = static_cast<unsigned>(address % 4 * 8);
    const unsigned mask = ((1u << 8 * sizeof(T)) - 1) << shift;
    update_word<unsigned>(reinterpret_cast<unsigned *>(address - address % 4), [=](unsigned word) {
        using part = std::conditional_t<sizeof(T) == 1, uint8_t, uint16_t>;
        part bits = static_cast<part>(word >> shift);
        T value;
        memcpy(&value, &bits, sizeof value);
        value = f(value);
        memcpy(&bits, &value, sizeof bits);
        return (word & ~mask) | static_cast<unsigned>(bits) << shift;
    });
}

/* Types for which this architecture has an atomic add instruction; half types are added as a pair
 * that fills a 4-byte word. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
constexpr bool adds_bfloat16 = false;
#else
constexpr bool adds_bfloat16 = true;
#endif
template <class T> struct halves;
template <> struct halves<__half> {
    using pair = __half2;
    static __device__ __forceinline__ __half none() { return __ushort_as_half(0x8000); }
};
template <> struct halves<__nv_bfloat16> {
    using pair = __nv_bfloat162;
    static __device__ __forceinline__ __nv_bfloat16 none() { return __ushort_as_bfloat16(0x8000); }
};
template <class T>
constexpr bool adds_as_half = std::is_same_v<T, __half> ||
                              (std::is_same_v<T, __nv_bfloat16> && adds_bfloat16);
template <class T>
constexpr bool adds_in_place = std::is_floating_point_v<T> || std::is_same_v<T, int32_t>;

/* Adds -0 to the other half of the word, which leaves any number unchanged. */
template <class T> static __device__ __forceinline__ void add_half(T *p, T value)
{
    using pair = typename halves<T>::pair;
    const uintptr_t address = reinterpret_cast<uintptr_t>(p);
    const T none = halves<T>::none();
    const bool second = address % 4 != 0;
    pair both;
    both.x = second ? none : value;
    both.y = second ? value : none;
    atomicAdd(reinterpret_cast<pair *>(address - address % 4), both);
}

template <int N, class Element, class Op>
static __global__ void __launch_bounds__(BLOCK) combine(indexing<N> a)
{
    using T = typename Element::type;
    int64_t at;
    char *indexed;
    if (!locate_element(a, &at, &indexed)) return;
    const T value = value_at<T>(a, at);
    T *const p = reinterpret_cast<T *>(indexed);
    const auto join = [=](T old) { return Element::template join<Op>(old, value); };
    if constexpr (std::is_same_v<Op, index_adding> && adds_in_place<T>)
        atomicAdd(p, value);
    else if constexpr (std::is_same_v<Op, index_adding> && adds_as_half<T>)
        add_half(p, value);
    else if constexpr (std::is_same_v<Op, index_adding> && std::is_same_v<T, int64_t>)
        atomicAdd(reinterpret_cast<unsigned long long *>(p),
                  static_cast<unsigned long long>(value));
    else if constexpr (sizeof(T) == 8)
        update_word<unsigned long long>(p, join);
    else if constexpr (sizeof(T) == 4)
        update_word<unsigned>(p, join);
    else
        update_part(p, join);
}

/* ---- deterministic variant ------------------------------------------------------------------- */

struct replacing {
    template <class T> static __device__ __forceinline__ T of(T, T b) { return b; }
};

/* Computes each element's destination: byte offset in the indexed tensor, -1 if an index is out of
 * range. */
template <int N>
static __global__ void __launch_bounds__(BLOCK) places(indexing<N> a, int64_t *place)
{
    int64_t at;
    char *indexed;
    const int64_t number = lt_thread_number();
    const bool right = locate_element(a, &at, &indexed);
    if (number < a.offsets.numel) place[number] = right ? indexed - a.data[1] : -1;
}

/* One thread per sorted element; the first thread of each run of equal destinations combines the
 * whole run. */
template <int N, class Element, class Op>
static __global__ void __launch_bounds__(BLOCK)
    combine_sorted(indexing<N> a, const int64_t *place, const int64_t *order)
{
    using T = typename Element::type;
    const int64_t first = lt_thread_number();
    if (first >= a.offsets.numel || place[first] < 0 ||
        (first > 0 && place[first - 1] == place[first]))
        return;
    T *const p = reinterpret_cast<T *>(a.data[1] + place[first]);
    T value = *p;
    for (int64_t i = first; i < a.offsets.numel && place[i] == place[first]; i++) {
        int64_t offset[N];
        a.offsets.at(order[i], offset);
        value = Element::template join<Op>(value, value_at<T>(a, offset[0]));
    }
    *p = value;
}

/* ---- launching ------------------------------------------------------------------------------- */

struct index_call {
    const lt_iter *it;
    const lt_index_args *args;
    const void *value;
    cudaStream_t stream;
};

/* Whether rows can be moved in 16-byte units: no indices along the innermost dimension, and all
 * addresses, other strides and the row size are multiples of 16 bytes. */
static bool moves_rows(const index_call &c)
{
    const lt_iter *it = c.it;
    const int64_t size = lt_element_size(it->dtype[1]);
    if (c.value != nullptr || it->ndim == 0 || it->strides[0][0] != size ||
        it->strides[1][0] != size)
        return false;
    int64_t bits = it->sizes[0] * size;
    for (int k = 0; k < 2 + c.args->count; k++) {
        if (k >= 2 && it->strides[k][0] != 0) return false;
        if (k < 2) bits |= static_cast<int64_t>(reinterpret_cast<uintptr_t>(it->data[k]));
        for (int d = 1; d < it->ndim && k < 2; d++) bits |= it->strides[k][d];
    }
    for (int k = 0; k < c.args->count; k++) bits |= c.args->strides[k];
    return bits % 16 == 0;
}

/* The op's name in reports. */
static const char *op_name()
{
    const char *name = lt_cuda_core->op_name();
    return name != nullptr ? name : "indexing";
}

template <int N> static indexing<N> operands(const index_call &c, lt_cuda_report *report, bool rows)
{
    const lt_iter *it = c.it;
    indexing<N> a = {};
    a.count = c.args->count;
    a.report = report;
    a.op = op_name();
    for (int k = 0; k < 2 + a.count; k++) a.data[k] = it->data[k];
    if (c.value != nullptr) {
        a.data[0] = nullptr;
        memcpy(&a.value, c.value, static_cast<size_t>(lt_element_size(it->dtype[1])));
    }
    for (int k = 0; k < a.count; k++) {
        a.dims[k] = c.args->dims[k];
        a.base[k] = c.args->base[k];
        a.sizes[k] = c.args->sizes[k];
        a.strides[k] = c.args->strides[k];
    }
    if (!rows) {
        a.offsets.of(it, 0, it->ndim);
        return a;
    }
    lt_iter pieces = *it;
    pieces.sizes[0] = it->sizes[0] * it->strides[0][0] / 16;
    pieces.strides[0][0] = pieces.strides[1][0] = 16;
    a.offsets.of(&pieces, 0, it->ndim);
    return a;
}

#define LAUNCH(kernel) LT_LAUNCH(kernel, lt_blocks(a.offsets.numel, BLOCK), BLOCK, c.stream, a)

template <int N, class T>
static void launch_move(const index_call &c, const indexing<N> &a, bool putting)
{
    if (putting)
        LAUNCH((put<N, T>));
    else
        LAUNCH((get<N, T>));
}

template <int N> static void launch_index(const index_call &c, lt_cuda_report *report, bool putting)
{
    const bool rows = moves_rows(c);
    const indexing<N> a = operands<N>(c, report, rows);
    switch (rows ? 16 : lt_element_size(c.it->dtype[1])) {
    case 1: launch_move<N, uint8_t>(c, a, putting); break;
    case 2: launch_move<N, uint16_t>(c, a, putting); break;
    case 4: launch_move<N, uint32_t>(c, a, putting); break;
    case 8: launch_move<N, uint64_t>(c, a, putting); break;
    default: launch_move<N, lt_bytes16>(c, a, putting); break;
    }
}

template <int N, class Op> static void launch_combine(const index_call &c, lt_cuda_report *report)
{
    const indexing<N> a = operands<N>(c, report, false);
    switch (c.it->dtype[1]) {
    case LT_BOOL: LAUNCH((combine<N, bool_element, Op>)); break;
    case LT_UINT8: LAUNCH((combine<N, element<uint8_t>, Op>)); break;
    case LT_INT8: LAUNCH((combine<N, element<int8_t>, Op>)); break;
    case LT_INT16: LAUNCH((combine<N, element<int16_t>, Op>)); break;
    case LT_INT32: LAUNCH((combine<N, element<int32_t>, Op>)); break;
    case LT_INT64: LAUNCH((combine<N, element<int64_t>, Op>)); break;
    case LT_FLOAT16: LAUNCH((combine<N, element<__half, float>, Op>)); break;
    case LT_BFLOAT16: LAUNCH((combine<N, element<__nv_bfloat16, float>, Op>)); break;
    case LT_FLOAT32: LAUNCH((combine<N, element<float>, Op>)); break;
    default: LAUNCH((combine<N, element<double>, Op>)); break;
    }
}
#undef LAUNCH

template <int N>
static lt_status launch_sorted(const index_call &c, lt_cuda_report *report, lt_scatter_mode mode)
{
    const int device = c.it->device.index;
    const indexing<N> a = operands<N>(c, report, false);
    const int64_t n = a.offsets.numel, one = 1;
    lt_cuda_scratch scratch;
    LT_TRY(scratch.take(device, static_cast<size_t>(n) * 3 * sizeof(int64_t)));
    int64_t *const place = scratch.as<int64_t>(), *const sorted = place + n,
                   *const order = sorted + n;
    LT_LAUNCH((places<N>), lt_blocks(n, BLOCK), BLOCK, c.stream, a, place);
    LT_TRY(lt_cuda_launched(device, c.stream, "index_put_"));
    const lt_array in = {place, LT_INT64, 1, &n, &one, c.it->device, 0, NULL};
    const lt_array values = {sorted, LT_INT64, 1, &n, &one, c.it->device, 0, NULL};
    const lt_array indices = {order, LT_INT64, 1, &n, &one, c.it->device, 0, NULL};
    LT_TRY(lt_cuda_sort(false, &values, &indices, &in, 0));
#define LAUNCH(...)                                                                                \
    LT_LAUNCH((combine_sorted<N, __VA_ARGS__>), lt_blocks(n, BLOCK), BLOCK, c.stream, a, sorted,   \
              order)
#define LAUNCH_FLOATS(Op)                                                                          \
    switch (c.it->dtype[1]) {                                                                      \
    case LT_FLOAT16: LAUNCH(element<__half, float>, Op); break;                                    \
    case LT_BFLOAT16: LAUNCH(element<__nv_bfloat16, float>, Op); break;                            \
    case LT_FLOAT32: LAUNCH(element<float>, Op); break;                                            \
    default: LAUNCH(element<double>, Op); break;                                                   \
    }
    if (mode == LT_SCATTER_ADD) {
        LAUNCH_FLOATS(index_adding)
    } else if (mode == LT_SCATTER_MUL) {
        LAUNCH_FLOATS(multiplying)
    } else {
        switch (lt_element_size(c.it->dtype[1])) {
        case 1: LAUNCH(element<uint8_t>, replacing); break;
        case 2: LAUNCH(element<int16_t>, replacing); break;
        case 4: LAUNCH(element<int32_t>, replacing); break;
        default: LAUNCH(element<int64_t>, replacing); break;
        }
    }
#undef LAUNCH_FLOATS
#undef LAUNCH
    return LT_OK;
}

/* Whether the result depends on the order in which values reach an element. */
static bool depends_on_order(const index_call &c, lt_scatter_mode mode)
{
    if (mode == LT_SCATTER_SET) return c.value == nullptr;
    return (mode == LT_SCATTER_ADD || mode == LT_SCATTER_MUL) && lt_is_floating(c.it->dtype[1]);
}

template <int N>
static void launch_put(const index_call &c, lt_cuda_report *report, lt_scatter_mode mode)
{
    if (mode == LT_SCATTER_SET)
        launch_index<N>(c, report, true);
    else if (mode == LT_SCATTER_ADD)
        launch_combine<N, index_adding>(c, report);
    else if (mode == LT_SCATTER_MUL)
        launch_combine<N, multiplying>(c, report);
    else if (mode == LT_SCATTER_MAX)
        launch_combine<N, maximizing>(c, report);
    else
        launch_combine<N, minimizing>(c, report);
}

lt_status lt_cuda_index_get(const lt_iter *it, const lt_index_args *args)
{
    index_call c = {it, args, nullptr, nullptr};
    lt_cuda_report *report;
    if (it->numel == 0) return LT_OK;
    LT_TRY(lt_cuda_enter(it->device.index, &c.stream));
    LT_TRY(lt_cuda_report_of(it->device.index, &report));
    if (args->count == 1)
        launch_index<ONE_INDEX>(c, report, false);
    else
        launch_index<LT_ITER_OPERANDS>(c, report, false);
    return lt_cuda_launched(it->device.index, c.stream, "index");
}

lt_status lt_cuda_index_combine(const lt_iter *it, const lt_index_args *args, lt_scatter_mode mode,
                                const void *value)
{
    index_call c = {it, args, value, nullptr};
    lt_cuda_report *report;
    if (it->numel == 0) return LT_OK;
    LT_TRY(lt_cuda_enter(it->device.index, &c.stream));
    LT_TRY(lt_cuda_report_of(it->device.index, &report));
    if (mode == LT_SCATTER_ADD && value == nullptr && lt_cuda_adds_rows(it, args))
        return lt_cuda_add_rows(it, args, report, op_name(), c.stream);
    if (lt_cuda_core->deterministic() && depends_on_order(c, mode))
        LT_TRY(args->count == 1 ? launch_sorted<ONE_INDEX>(c, report, mode)
                                : launch_sorted<LT_ITER_OPERANDS>(c, report, mode));
    else if (args->count == 1)
        launch_put<ONE_INDEX>(c, report, mode);
    else
        launch_put<LT_ITER_OPERANDS>(c, report, mode);
    return lt_cuda_launched(it->device.index, c.stream, "index_put_");
}

lt_status lt_cuda_index_put(const lt_iter *it, const lt_index_args *args, bool accumulate)
{
    return lt_cuda_index_combine(it, args, accumulate ? LT_SCATTER_ADD : LT_SCATTER_SET,
                                 it->host_scalar[0] ? it->data[0] : nullptr);
}
