/* ltensor_arguments.hpp - the argument types of ltensor.hpp, which includes this header: errors,
 * dtypes, devices, numbers, sizes, options. Includes ltensor.h. */
#ifndef LTENSOR_ARGUMENTS_HPP
#define LTENSOR_ARGUMENTS_HPP

#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "ltensor.h"

#if !defined(LT_NO_EXCEPTIONS) && !defined(__cpp_exceptions)
#define LT_NO_EXCEPTIONS
#endif

namespace lt {

/* ---- errors ---------------------------------------------------------------------------------- */

class Error : public std::runtime_error {
  public:
    Error(lt_status status, const std::string &message)
        : std::runtime_error(message), status_(status)
    {}
    lt_status status() const noexcept { return status_; }

  private:
    lt_status status_;
};

namespace detail {
inline std::optional<Error> &first_error()
{
    thread_local std::optional<Error> error;
    return error;
}

inline void fail(lt_status status, const std::string &message)
{
#ifdef LT_NO_EXCEPTIONS
    if (!first_error()) first_error().emplace(status, message);
#else
    throw Error(status, message);
#endif
}

/* False if the call failed; only without exceptions. */
inline bool check(lt_status status)
{
    if (status != LT_OK) fail(status, lt_error_message());
    return status == LT_OK;
}
} // namespace detail

/* The first error of this thread since the last call, and clears it. Only without exceptions. */
inline std::optional<Error> take_error()
{
    return std::exchange(detail::first_error(), std::nullopt);
}

/* ---- dtypes, devices, numbers, sizes --------------------------------------------------------- */

enum class Dtype : int {
    none = LT_DTYPE_NONE,
    bool_ = LT_BOOL,
    uint8 = LT_UINT8,
    int8 = LT_INT8,
    int16 = LT_INT16,
    int32 = LT_INT32,
    int64 = LT_INT64,
    float16 = LT_FLOAT16,
    bfloat16 = LT_BFLOAT16,
    float32 = LT_FLOAT32,
    float64 = LT_FLOAT64,
    complex32 = LT_COMPLEX32,
    complex64 = LT_COMPLEX64,
    complex128 = LT_COMPLEX128,
    uint16 = LT_UINT16,
    uint32 = LT_UINT32,
    uint64 = LT_UINT64,
    float8_e5m2 = LT_FLOAT8_E5M2,
    float8_e4m3fn = LT_FLOAT8_E4M3FN,
    float8_e5m2fnuz = LT_FLOAT8_E5M2FNUZ,
    float8_e4m3fnuz = LT_FLOAT8_E4M3FNUZ,
    float8_e8m0fnu = LT_FLOAT8_E8M0FNU
};
inline constexpr Dtype kBool = Dtype::bool_, kUInt8 = Dtype::uint8, kInt8 = Dtype::int8,
                       kInt16 = Dtype::int16, kInt32 = Dtype::int32, kInt64 = Dtype::int64,
                       kFloat16 = Dtype::float16, kBFloat16 = Dtype::bfloat16,
                       kFloat32 = Dtype::float32, kFloat64 = Dtype::float64,
                       kComplex64 = Dtype::complex64, kComplex128 = Dtype::complex128;

namespace detail {
template <class T> using if_integer = std::enable_if_t<std::is_integral_v<T>>;
/* std::complex, without its header. */
template <class T>
using if_complex =
    decltype(std::declval<typename T::value_type>() + std::declval<const T &>().imag());

/* The dtype with elements of the C++ type T. */
template <class T> constexpr Dtype dtype_of()
{
    if constexpr (std::is_same_v<T, bool>) {
        return Dtype::bool_;
    } else if constexpr (std::is_same_v<T, float>) {
        return Dtype::float32;
    } else if constexpr (std::is_same_v<T, double>) {
        return Dtype::float64;
    } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
        return sizeof(T) == 1   ? Dtype::int8
               : sizeof(T) == 2 ? Dtype::int16
               : sizeof(T) == 4 ? Dtype::int32
                                : Dtype::int64;
    } else if constexpr (std::is_integral_v<T>) {
        return sizeof(T) == 1   ? Dtype::uint8
               : sizeof(T) == 2 ? Dtype::uint16
               : sizeof(T) == 4 ? Dtype::uint32
                                : Dtype::uint64;
    } else {
        using Part = typename T::value_type; /* std::complex */
        static_assert(std::is_floating_point_v<Part> && sizeof(T) == 2 * sizeof(Part),
                      "no dtype has elements of this type");
        return sizeof(Part) == 4 ? Dtype::complex64 : Dtype::complex128;
    }
}

template <class T> const T *pointer_to(const std::optional<T> &value)
{
    return value ? &*value : nullptr;
}
inline lt_dtype dtype_or_none(const std::optional<Dtype> &dtype)
{
    return static_cast<lt_dtype>(dtype.value_or(Dtype::none));
}
} // namespace detail

/* A number as an argument: bool, integer, float or std::complex. */
struct Scalar : lt_scalar {
    Scalar(bool value) : lt_scalar(lt_scalar_from_bool(value)) {}
    template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
    Scalar(T value) : lt_scalar(lt_scalar_from_int(static_cast<int64_t>(value)))
    {}
    template <class T, std::enable_if_t<std::is_floating_point_v<T>, int> = 0>
    Scalar(T value) : lt_scalar(lt_scalar_from_float(static_cast<double>(value)))
    {}
    template <class T, class = detail::if_complex<T>>
    Scalar(const T &value) : lt_scalar(lt_scalar_from_complex(value.real(), value.imag()))
    {}
    explicit Scalar(const lt_scalar &value) : lt_scalar(value) {}

    /* The number as T: a bool, a number or std::complex. The real part of a complex number. */
    template <class T> T to() const
    {
        const bool exact = kind == LT_SCALAR_BOOL || kind == LT_SCALAR_INT;
        if constexpr (std::is_same_v<T, bool>) {
            return exact ? v.i != 0 : v.d != 0 || imaginary != 0;
        } else if constexpr (std::is_arithmetic_v<T>) {
            return exact ? static_cast<T>(v.i) : static_cast<T>(v.d);
        } else {
            using Part = typename T::value_type;
            return T(exact ? static_cast<Part>(v.i) : static_cast<Part>(v.d),
                     static_cast<Part>(imaginary));
        }
    }
};

struct Device : lt_device {
    Device(const lt_device &device) : lt_device(device) {}
    /* "cpu", "cuda", "cuda:1". */
    explicit Device(const std::string &name) : lt_device{LT_CPU, 0}
    {
        const bool numbered = name.size() == 6 && name.compare(0, 5, "cuda:") == 0 &&
                              name[5] >= '0' && name[5] <= '9';
        if (numbered || name == "cuda")
            type = LT_CUDA, index = static_cast<int8_t>(numbered ? name[5] - '0' : -1);
        else if (name != "cpu")
            detail::fail(LT_ERR_RUNTIME, "Device(): '" + name +
                                             "' is not a device; expected 'cpu', 'cuda' or a "
                                             "GPU with its number, such as 'cuda:1'");
    }
    /* The GPU of that number; -1 is the current one. */
    static Device cuda(int index = -1)
    {
        return Device(lt_device{LT_CUDA, static_cast<int8_t>(index)});
    }
    friend bool operator==(const Device &a, const Device &b)
    {
        return a.type == b.type && a.index == b.index;
    }
    friend bool operator!=(const Device &a, const Device &b) { return !(a == b); }
};
inline const Device kCPU(lt_device{LT_CPU, 0});

/* Elements in a row that belong to another object: std::vector, std::array, std::span, a tensor. */
template <class T> class Span {
  public:
    using Container = std::vector<std::remove_const_t<T>>;
    constexpr Span() noexcept = default;
    constexpr Span(T *data, size_t size) noexcept : data_(data), size_(size) {}
    template <size_t N> constexpr Span(T (&array)[N]) noexcept : data_(array), size_(N) {}
    template <class C, class = std::enable_if_t<
                           std::is_convertible_v<decltype(std::declval<C &>().data()), T *>>>
    constexpr Span(C &&container) : data_(container.data()), size_(container.size())
    {}
    constexpr T *data() const noexcept { return data_; }
    constexpr size_t size() const noexcept { return size_; }
    constexpr bool empty() const noexcept { return size_ == 0; }
    constexpr T *begin() const noexcept { return data_; }
    constexpr T *end() const noexcept { return data_ + size_; }
    constexpr T &operator[](size_t i) const { return data_[i]; }
    Container to_vector() const { return Container(begin(), end()); }

  private:
    T *data_ = nullptr;
    size_t size_ = 0;
};

/* Sizes, strides or dimensions as an argument: integers in braces, one integer, or a container of
 * them. std::nullopt: absent, where the argument is optional. */
class Dims {
  public:
    Dims(std::nullopt_t) : present_(false) {}
    template <class... N, std::enable_if_t<(std::is_integral_v<N> && ...), int> = 0>
    Dims(N... sizes)
    {
        static_assert(sizeof...(N) <= LT_MAX_DIMS, "more than LT_MAX_DIMS dimensions");
        (push(static_cast<int64_t>(sizes)), ...);
    }
    template <class C, class = detail::if_integer<typename C::value_type>> Dims(const C &container)
    {
        if (container.size() > LT_MAX_DIMS)
            detail::fail(LT_ERR_RUNTIME, "Dims(): " + std::to_string(container.size()) +
                                             " dimensions, expected at most " +
                                             std::to_string(LT_MAX_DIMS));
        else
            for (auto size : container) push(static_cast<int64_t>(size));
    }
    Dims(const Span<const int64_t> &sizes) : Dims(sizes.to_vector()) {}

    const lt_dims *get() const noexcept { return present_ ? &dims_ : nullptr; }
    int64_t numel() const noexcept
    {
        int64_t product = 1;
        for (int i = 0; i < dims_.n; i++) product *= dims_.v[i];
        return product;
    }

  private:
    lt_dims dims_{0, {0}};
    bool present_ = true;

    void push(int64_t size) { dims_.v[dims_.n++] = size; }
};

/* A text as an argument. std::nullopt: absent, where the argument is optional. */
class Text {
  public:
    Text(std::nullopt_t) noexcept {}
    Text(const std::string &text) noexcept : text_(text.c_str()) {}
    template <class T, class = std::enable_if_t<std::is_same_v<T, const char *> ||
                                                std::is_same_v<T, char *>>>
    Text(T text) noexcept : text_(text)
    {}
    const char *get() const noexcept { return text_; }

  private:
    const char *text_ = nullptr;
};

/* Dtype, device and gradient of a new tensor: lt::zeros({3}, lt::kFloat64),
 * lt::zeros({3}, lt::Device::cuda(0)), lt::zeros({3}, lt::Options(lt::kFloat64).requires_grad()). */
class Options {
  public:
    Options() noexcept = default;
    Options(Dtype dtype) noexcept : dtype_(dtype) {}
    Options(const Device &device) noexcept : device_(device) {}
    Options &dtype(Dtype dtype) noexcept { return dtype_ = dtype, *this; }
    Options &device(const Device &device) noexcept { return device_ = device, *this; }
    Options &requires_grad(bool on = true) noexcept { return requires_grad_ = on, *this; }

    lt_dtype dtype() const noexcept { return static_cast<lt_dtype>(dtype_); }
    const lt_device *device() const noexcept { return detail::pointer_to(device_); }
    bool requires_grad() const noexcept { return requires_grad_; }

  private:
    Dtype dtype_ = Dtype::none;
    std::optional<Device> device_;
    bool requires_grad_ = false;
};

} // namespace lt

#endif
