/* ltensor_operators.hpp - operators, indices and elements of the tensors of ltensor.hpp, which
 * includes this header after the operations. A library of selected operations (make MINIMAL=1) has
 * the operators of these operations. */
#ifndef LTENSOR_OPERATORS_HPP
#define LTENSOR_OPERATORS_HPP

namespace lt {

/* ---- elements -------------------------------------------------------------------------------- */

template <class T> std::vector<T> Tensor::to_vector() const
{
    /* std::vector<bool> has no array of bools. */
    using Element = std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>;
    const Tensor same = dtype() == detail::dtype_of<T>() ? *this : to(detail::dtype_of<T>());
    std::vector<Element> values(static_cast<size_t>(same.numel()));
    if (!detail::check(lt_tensor_copy_to(same.get(), values.data(), values.size() * sizeof(T))))
        values.clear();
    if constexpr (std::is_same_v<T, bool>)
        return {values.begin(), values.end()};
    else
        return values;
}

#ifndef LT_WITHOUT_copy_
inline const Tensor &Tensor::copy_(const Tensor &source) const
{
    detail::check(lt_copy_(tensor_, source.get(), false));
    return *this;
}
#endif
#ifndef LT_WITHOUT_fill_
inline const Tensor &Tensor::fill_(const Scalar &value) const
{
    detail::check(lt_fill_(tensor_, value));
    return *this;
}
#endif

/* ---- indices --------------------------------------------------------------------------------- */

#ifndef LT_WITHOUT_select
inline Tensor Tensor::operator[](int64_t index) const { return select(*this, 0, index); }
#endif

/* Indices from start to stop, without stop; negative ones count from the end, and both are clamped
 * to the size. step is positive. */
struct Slice {
    Slice(std::optional<int64_t> first = std::nullopt, std::optional<int64_t> last = std::nullopt,
          int64_t distance = 1)
        : start(first), stop(last), step(distance)
    {}
    std::optional<int64_t> start, stop;
    int64_t step;
};

enum class Whole { ellipsis, newaxis };
/* As many whole dimensions as the other indices leave; a new dimension of size 1. */
inline constexpr Whole ellipsis = Whole::ellipsis, newaxis = Whole::newaxis;

/* An index of Tensor::index: a number, a Slice, lt::ellipsis, lt::newaxis, or a tensor with integers
 * (indices) or bools (a mask, over as many dimensions as it has). */
class Index {
  public:
    enum class Kind { number, slice, whole, added, tensor };
    template <class T, class = detail::if_integer<T>>
    Index(T number) : kind(Kind::number), slice(static_cast<int64_t>(number))
    {}
    Index(const Slice &range) : kind(Kind::slice), slice(range) {}
    Index(Whole whole) : kind(whole == Whole::ellipsis ? Kind::whole : Kind::added) {}
    Index(const Tensor &chosen) : kind(Kind::tensor), tensor(chosen) {}

    /* The number of dimensions of the tensor that the index applies to. */
    int dims() const
    {
        if (kind == Kind::whole || kind == Kind::added) return 0;
        return kind == Kind::tensor && tensor.dtype() == Dtype::bool_ ? tensor.ndim() : 1;
    }

    Kind kind;
    Slice slice; /* a number is its start */
    Tensor tensor;
};

#if !defined(LT_WITHOUT_narrow) && !defined(LT_WITHOUT_as_strided)
namespace detail {
/* x[..., slice, ...] at a dimension, a view. */
inline Tensor slice_at(const Tensor &x, int dim, const Slice &slice)
{
    const int64_t n = x.size(dim);
    const auto clamped = [n](int64_t i) { return i < -n ? 0 : i < 0 ? i + n : i > n ? n : i; };
    if (slice.step < 1) {
        fail(LT_ERR_RUNTIME, "index(): the step of a slice is " + std::to_string(slice.step) +
                                 ", expected at least 1; call lt::flip() to reverse a dimension");
        return {};
    }
    const int64_t start = clamped(slice.start.value_or(0)), stop = clamped(slice.stop.value_or(n));
    const int64_t length = stop > start ? stop - start : 0;
    Tensor part = narrow(x, dim, start, length);
    if (slice.step == 1 || !part.defined()) return part;
    std::vector<int64_t> sizes = part.sizes().to_vector(), strides = part.strides().to_vector();
    sizes[static_cast<size_t>(dim)] = (length + slice.step - 1) / slice.step;
    strides[static_cast<size_t>(dim)] *= slice.step;
    return as_strided(part, sizes, strides);
}
} // namespace detail
#endif

#if !defined(LT_WITHOUT_index_select) && !defined(LT_WITHOUT_reshape) &&                           \
    !defined(LT_WITHOUT_nonzero)
namespace detail {
/* x[..., tensor, ...] at a dimension, a copy: the dimensions of the tensor replace the ones that it
 * applies to. */
inline Tensor tensor_at(const Tensor &x, int dim, const Index &index)
{
    const auto first = static_cast<size_t>(dim), last = first + static_cast<size_t>(index.dims());
    const std::vector<int64_t> before = x.sizes().to_vector();
    std::vector<int64_t> joined(before.begin(), before.begin() + dim), after = joined;
    Tensor flat = index.tensor;
    if (index.tensor.dtype() == Dtype::bool_) {
        const std::vector<int64_t> mask = index.tensor.sizes().to_vector();
        if (last > before.size() ||
            mask !=
                std::vector<int64_t>(before.begin() + dim, before.begin() + dim + (last - first))) {
            fail(LT_ERR_INDEX, "index(): the shape of the mask differs from the shape of the "
                               "dimensions of the tensor that it applies to");
            return {};
        }
        flat = nonzero(reshape(flat, Dims(-1)));
    }
    flat = reshape(flat, Dims(-1));
    int64_t n = 1;
    for (size_t d = first; d < last; d++) n *= before[d];
    joined.push_back(n);
    if (index.tensor.dtype() == Dtype::bool_)
        after.push_back(flat.numel());
    else
        for (int64_t size : index.tensor.sizes()) after.push_back(size);
    joined.insert(joined.end(), before.begin() + static_cast<std::ptrdiff_t>(last), before.end());
    after.insert(after.end(), before.begin() + static_cast<std::ptrdiff_t>(last), before.end());
    return reshape(index_select(reshape(x, joined), dim, flat), after);
}
} // namespace detail
#endif

#if !defined(LT_WITHOUT_select) && !defined(LT_WITHOUT_unsqueeze) &&                               \
    !defined(LT_WITHOUT_narrow) && !defined(LT_WITHOUT_as_strided) &&                              \
    !defined(LT_WITHOUT_index_select) && !defined(LT_WITHOUT_reshape) &&                           \
    !defined(LT_WITHOUT_nonzero)
inline Tensor Tensor::index(std::initializer_list<Index> indices) const
{
    Tensor result = *this;
    int used = 0, tensors = 0, dim = 0;
    for (const Index &index : indices) {
        used += index.dims();
        tensors += index.kind == Index::Kind::tensor;
    }
    if (used > ndim() || tensors > 1) {
        detail::fail(LT_ERR_INDEX,
                     tensors > 1
                         ? "index(): " + std::to_string(tensors) +
                               " tensors among the indices, expected at most one; call "
                               "lt::gather() or lt::index_put() instead"
                         : "index(): " + std::to_string(used) + " indices for a tensor with " +
                               std::to_string(ndim()) + " dimensions");
        return {};
    }
    for (const Index &index : indices) {
        switch (index.kind) {
        case Index::Kind::number: result = select(result, dim, *index.slice.start); break;
        case Index::Kind::slice: result = detail::slice_at(result, dim++, index.slice); break;
        case Index::Kind::whole: dim += ndim() - used; break;
        case Index::Kind::added: result = unsqueeze(result, dim++); break;
        case Index::Kind::tensor:
            result = detail::tensor_at(result, dim, index);
            dim += index.tensor.dtype() == Dtype::bool_ ? 1 : index.tensor.ndim();
            break;
        }
        if (!result.defined()) break;
    }
    return result;
}
#endif

/* ---- operators ------------------------------------------------------------------------------- */

/* Each operator has the forms tensor and tensor, tensor and number, number and tensor. Instantiates
 * a binary operator as a call of an operation. */
#define LT_BINARY(symbol, operation)                                                               \
    inline Tensor operator symbol(const Tensor &a, const Tensor &b) { return operation(a, b); }    \
    inline Tensor operator symbol(const Tensor &a, const Scalar &b) { return operation(a, b); }    \
    inline Tensor operator symbol(const Scalar &a, const Tensor &b) { return operation(a, b); }
/* The same for a comparison, with the operation of exchanged operands. */
#define LT_COMPARE(symbol, operation, exchanged)                                                   \
    inline Tensor operator symbol(const Tensor &a, const Tensor &b) { return operation(a, b); }    \
    inline Tensor operator symbol(const Tensor &a, const Scalar &b) { return operation(a, b); }    \
    inline Tensor operator symbol(const Scalar &a, const Tensor &b) { return exchanged(b, a); }
/* An operator that writes to its left operand; expression is the status of the operation on
 * tensor_ and b. */
#define LT_UPDATE(symbol, expression)                                                              \
    inline const Tensor &Tensor::operator symbol(const Tensor &b) const                            \
    {                                                                                              \
        detail::check(expression);                                                                 \
        return *this;                                                                              \
    }                                                                                              \
    inline const Tensor &Tensor::operator symbol(const Scalar &number) const                       \
    {                                                                                              \
        const Operand b(number);                                                                   \
        detail::check(expression);                                                                 \
        return *this;                                                                              \
    }
#ifndef LT_WITHOUT_add
LT_BINARY(+, add)
LT_UPDATE(+=, lt_add_(tensor_, b.get(), lt_scalar_from_int(1)))
#endif
#ifndef LT_WITHOUT_sub
LT_BINARY(-, sub)
LT_UPDATE(-=, lt_sub_(tensor_, b.get(), lt_scalar_from_int(1)))
#endif
#ifndef LT_WITHOUT_mul
LT_BINARY(*, mul)
LT_UPDATE(*=, lt_mul_(tensor_, b.get()))
#endif
#ifndef LT_WITHOUT_div
LT_BINARY(/, div)
LT_UPDATE(/=, lt_div_(tensor_, b.get()))
#endif
#ifndef LT_WITHOUT_eq
LT_COMPARE(==, eq, eq)
#endif
#ifndef LT_WITHOUT_ne
LT_COMPARE(!=, ne, ne)
#endif
#if !defined(LT_WITHOUT_lt) && !defined(LT_WITHOUT_gt)
LT_COMPARE(<, lt, gt)
#endif
#if !defined(LT_WITHOUT_le) && !defined(LT_WITHOUT_ge)
LT_COMPARE(<=, le, ge)
#endif
#if !defined(LT_WITHOUT_gt) && !defined(LT_WITHOUT_lt)
LT_COMPARE(>, gt, lt)
#endif
#if !defined(LT_WITHOUT_ge) && !defined(LT_WITHOUT_le)
LT_COMPARE(>=, ge, le)
#endif
#ifndef LT_WITHOUT_bitwise_and
LT_BINARY(&, bitwise_and)
#endif
#ifndef LT_WITHOUT_bitwise_or
LT_BINARY(|, bitwise_or)
#endif
#ifndef LT_WITHOUT_bitwise_xor
LT_BINARY(^, bitwise_xor)
#endif
#ifndef LT_WITHOUT_remainder
LT_BINARY(%, remainder)
#endif
#undef LT_BINARY
#undef LT_COMPARE
#undef LT_UPDATE

#ifndef LT_WITHOUT_neg
inline Tensor operator-(const Tensor &a) { return neg(a); }
#endif
#ifndef LT_WITHOUT_bitwise_not
inline Tensor operator~(const Tensor &a) { return bitwise_not(a); }
#endif

} // namespace lt

#endif
