/* ltensor.hpp - tensors, operations and derivatives for programs in C++17 and later.
 *
 *   lt::Tensor x = lt::randn({2, 3}), w = lt::ones({3}, lt::Options().requires_grad());
 *   lt::Tensor loss = lt::sum(lt::relu(x * 2 - w));
 *   loss.backward();
 *   std::vector<float> gradient = w.grad().to_vector<float>();
 *
 * Everything is inline and calls the functions of ltensor.h, which this header includes; link
 * libltensor. ltensor_ops.hpp, included at the end, has a function for each operation.
 *
 * Ownership:
 * - An object owns a reference to the object of the C library and releases it in its destructor. A
 *   copy of a Tensor refers to the same tensor; lt::clone() copies the elements.
 * - get() returns the C object, borrowed. Tensor::steal() takes over a new reference of a C
 *   function, Tensor::share() adds one.
 * - A default-constructed Tensor is undefined: it has no C object. Pass one, or std::nullopt, for an
 *   optional tensor.
 *
 * Errors:
 * - A function that fails throws lt::Error, a std::runtime_error with the lt_status.
 * - Without exceptions (-fno-exceptions, or LT_NO_EXCEPTIONS defined before the include) it returns
 *   an empty value instead: an undefined Tensor, 0, an empty list. The first error of the thread
 *   remains until lt::take_error() returns it. Operations on undefined tensors fail, too, so you may
 *   check once after several calls.
 *
 * Indices count from 0. Threads: as in ltensor.h; an object of this header may be used by one thread
 * at a time, copies of it by several. */
#ifndef LTENSOR_HPP
#define LTENSOR_HPP

#include "ltensor_arguments.hpp"

namespace lt {

/* ---- tensors --------------------------------------------------------------------------------- */

class Index;

class Tensor {
  public:
    Tensor() noexcept {}
    Tensor(std::nullopt_t) noexcept {}
    Tensor(const Tensor &other) noexcept : tensor_(lt_tensor_retain(other.tensor_)) {}
    Tensor(Tensor &&other) noexcept : tensor_(std::exchange(other.tensor_, nullptr)) {}
    ~Tensor() { lt_tensor_release(tensor_); }
    /* Makes this object refer to another tensor. x[0] = y does not compile: to write elements, call
     * x[0].copy_(y) or x[0].fill_(1). */
    Tensor &operator=(const Tensor &other) &noexcept
    {
        Tensor copy(other);
        std::swap(tensor_, copy.tensor_);
        return *this;
    }
    Tensor &operator=(Tensor &&other) &noexcept
    {
        std::swap(tensor_, other.tensor_);
        return *this;
    }

    static Tensor steal(lt_tensor *tensor) noexcept
    {
        Tensor result;
        result.tensor_ = tensor;
        return result;
    }
    static Tensor share(lt_tensor *tensor) noexcept { return steal(lt_tensor_retain(tensor)); }
    lt_tensor *get() const noexcept { return tensor_; }
    /* The reference, which you release; this object is undefined afterwards. */
    lt_tensor *release() noexcept { return std::exchange(tensor_, nullptr); }
    bool defined() const noexcept { return tensor_ != nullptr; }

    Dtype dtype() const noexcept { return static_cast<Dtype>(lt_tensor_dtype(tensor_)); }
    Device device() const noexcept { return lt_tensor_device(tensor_); }
    lt_layout layout() const noexcept { return lt_tensor_layout(tensor_); }
    int ndim() const noexcept { return lt_tensor_ndim(tensor_); }
    /* Valid as long as the tensor. */
    Span<const int64_t> sizes() const noexcept
    {
        return {lt_tensor_sizes(tensor_), static_cast<size_t>(ndim())};
    }
    Span<const int64_t> strides() const noexcept
    {
        return {lt_tensor_strides(tensor_), static_cast<size_t>(ndim())};
    }
    /* dim < 0 counts from the end. */
    int64_t size(int dim) const
    {
        const int n = ndim();
        if (dim >= -n && dim < n) return sizes()[static_cast<size_t>(dim < 0 ? dim + n : dim)];
        detail::fail(LT_ERR_INDEX, "size(): dimension " + std::to_string(dim) +
                                       " of a tensor with " + std::to_string(n) + " dimensions");
        return 0;
    }
    int64_t numel() const noexcept { return lt_tensor_numel(tensor_); }
    bool is_contiguous() const noexcept { return lt_tensor_is_contiguous(tensor_); }

    /* The first element in memory of the host. T is the type of the elements. */
    template <class T> T *data() const
    {
        if (!reads_as<std::remove_const_t<T>>("data()")) return nullptr;
        return static_cast<T *>(lt_tensor_data(tensor_));
    }
    /* All elements of a contiguous tensor in memory of the host, not copied. */
    template <class T> Span<T> span() const
    {
        if (!reads_as<std::remove_const_t<T>>("span()")) return {};
        if (!is_contiguous()) {
            detail::fail(LT_ERR_RUNTIME, "span(): the tensor is not contiguous; call "
                                         "lt::contiguous() first");
            return {};
        }
        return {static_cast<T *>(lt_tensor_data(tensor_)), static_cast<size_t>(numel())};
    }
    /* A copy of all elements in row-major order, converted to T, from any device. */
    template <class T> std::vector<T> to_vector() const;
    /* Copies elements in row-major order; their number and type are those of the tensor. */
    template <class T> void copy_from(const T *values, size_t n) const
    {
        if (!is_of<T>("copy_from()")) return;
        detail::check(lt_tensor_copy_from(tensor_, values, n * sizeof(T)));
    }
    template <class C, class T = typename C::value_type> void copy_from(const C &values) const
    {
        copy_from(values.data(), values.size());
    }
    /* The value of a tensor with one element. */
    template <class T> T item() const
    {
        lt_scalar number = lt_scalar_from_int(0);
        detail::check(lt_tensor_item(tensor_, &number));
        return Scalar(number).to<T>();
    }

    Tensor to(Dtype dtype) const { return to_both(static_cast<lt_dtype>(dtype), nullptr); }
    Tensor to(const Device &device) const { return to_both(LT_DTYPE_NONE, &device); }
    Tensor to(const Device &device, Dtype dtype) const
    {
        return to_both(static_cast<lt_dtype>(dtype), &device);
    }

    bool requires_grad() const noexcept { return lt_tensor_requires_grad(tensor_); }
    const Tensor &requires_grad_(bool on = true) const
    {
        detail::check(lt_tensor_set_requires_grad(tensor_, on));
        return *this;
    }
    bool is_leaf() const noexcept { return lt_tensor_is_leaf(tensor_); }
    /* The gradient that backward() accumulated; undefined if there is none. */
    Tensor grad() const noexcept { return share(lt_tensor_grad(tensor_)); }
    /* Replaces the gradient. std::nullopt clears it. */
    void set_grad(const Tensor &grad) const
    {
        detail::check(lt_tensor_set_grad(tensor_, grad.get()));
    }
    /* As lt_backward. An undefined gradient is 1, for a tensor with one element. */
    void backward(const Tensor &gradient = {}, bool retain_graph = false,
                  bool create_graph = false) const
    {
        detail::check(lt_backward(tensor_, gradient.get(), retain_graph, create_graph));
    }

    /* The part with that index of the first dimension, a view. */
    Tensor operator[](int64_t index) const;
    /* x.index({0, lt::Slice(1, 3)}). Views, if there is no tensor among the indices. */
    Tensor index(std::initializer_list<Index> indices) const;
    /* Write all elements: those of a tensor that broadcasts, or one number. */
    const Tensor &copy_(const Tensor &source) const;
    const Tensor &fill_(const Scalar &value) const;

    const Tensor &operator+=(const Tensor &other) const;
    const Tensor &operator+=(const Scalar &other) const;
    const Tensor &operator-=(const Tensor &other) const;
    const Tensor &operator-=(const Scalar &other) const;
    const Tensor &operator*=(const Tensor &other) const;
    const Tensor &operator*=(const Scalar &other) const;
    const Tensor &operator/=(const Tensor &other) const;
    const Tensor &operator/=(const Scalar &other) const;

  private:
    lt_tensor *tensor_ = nullptr;

    Tensor to_both(lt_dtype dtype, const lt_device *device) const
    {
        lt_tensor *out = nullptr;
        detail::check(lt_tensor_to(tensor_, dtype, device, &out));
        return steal(out);
    }
    /* True if the elements have the type T; fails otherwise. */
    template <class T> bool is_of(const char *function) const
    {
        if (defined() && dtype() == detail::dtype_of<T>()) return true;
        const char *name = lt_dtype_name(lt_tensor_dtype(tensor_));
        const auto expected = static_cast<lt_dtype>(detail::dtype_of<T>());
        detail::fail(LT_ERR_TYPE, std::string(function) + ": the dtype of the tensor is " +
                                      (name ? name : "undefined") + ", expected " +
                                      lt_dtype_name(expected) + "; convert it with to()");
        return false;
    }
    template <class T> bool reads_as(const char *function) const
    {
        if (!is_of<T>(function)) return false;
        if (device().type == LT_CPU && layout() == LT_STRIDED) return true;
        detail::fail(LT_ERR_RUNTIME, std::string(function) +
                                         ": expected a strided tensor in memory of the host; "
                                         "call to(lt::kCPU) or lt::to_dense() first");
        return false;
    }
};

/* A tensor or a number as an argument. The number becomes a tensor without dimensions, which does
 * not widen the dtype of the result. */
class Operand {
  public:
    Operand(const Tensor &tensor) noexcept : tensor_(tensor) {}
    template <class T, class = std::enable_if_t<std::is_constructible_v<Scalar, T> &&
                                                !std::is_base_of_v<Tensor, T>>>
    Operand(const T &number) : Operand(Scalar(number))
    {}
    Operand(const Scalar &number)
    {
        lt_tensor *out = nullptr;
        detail::check(lt_tensor_from_scalar(number, &out));
        tensor_ = Tensor::steal(out);
    }
    lt_tensor *get() const noexcept { return tensor_.get(); }

  private:
    Tensor tensor_;
};

/* Several tensors as an argument: lt::cat({x, y}), or a std::vector<lt::Tensor>. */
class TensorList {
  public:
    TensorList(std::initializer_list<Tensor> tensors) : TensorList(tensors.begin(), tensors.size())
    {}
    TensorList(const std::vector<Tensor> &tensors) : TensorList(tensors.data(), tensors.size()) {}
    TensorList(const Tensor *tensors, size_t n)
    {
        if (n > few) more_.resize(n);
        list_.n = static_cast<int64_t>(n);
        list_.v = n > few ? more_.data() : first_;
        for (size_t i = 0; i < n; i++) list_.v[i] = tensors[i].get();
    }
    TensorList(const TensorList &) = delete;
    TensorList &operator=(const TensorList &) = delete;
    const lt_tensor_list *get() const noexcept { return &list_; }

  private:
    static constexpr size_t few = 16;
    lt_tensor *first_[few];
    std::vector<lt_tensor *> more_;
    lt_tensor_list list_;
};

namespace detail {
/* The tensors of a list that an operation returned, which is released. */
inline std::vector<Tensor> steal_list(lt_tensor_list *list)
{
    std::vector<Tensor> tensors;
    tensors.reserve(static_cast<size_t>(list->n));
    for (int64_t i = 0; i < list->n; i++) tensors.push_back(Tensor::share(list->v[i]));
    lt_tensor_list_release(list);
    return tensors;
}

inline Tensor with_options(lt_tensor *made, const Options &options)
{
    Tensor tensor = Tensor::steal(made);
    if (options.requires_grad() && tensor.defined()) tensor.requires_grad_();
    return tensor;
}
} // namespace detail

/* ---- new tensors from elements --------------------------------------------------------------- */

/* A copy of n elements in row-major order, with these sizes. */
template <class T> Tensor from_data(const T *values, const Dims &sizes, const Options &options = {})
{
    const lt_dims *dims = sizes.get();
    lt_tensor *out = nullptr;
    if (dims == nullptr ||
        !detail::check(lt_tensor_new(static_cast<lt_dtype>(detail::dtype_of<T>()), kCPU, dims->n,
                                     dims->v, &out)))
        return {};
    Tensor tensor = Tensor::steal(out);
    tensor.copy_from(values, static_cast<size_t>(tensor.numel()));
    lt_tensor *there = nullptr;
    detail::check(lt_tensor_to(out, options.dtype(), options.device(), &there));
    return detail::with_options(there, options);
}

/* A copy of the elements of a container: one dimension, or the given sizes. */
template <class C, class T = std::remove_const_t<typename C::value_type>>
Tensor tensor(const C &values, const Options &options = {})
{
    if constexpr (std::is_same_v<C, std::vector<bool>>) {
        const std::vector<unsigned char> bytes(values.begin(), values.end());
        return from_data(reinterpret_cast<const bool *>(bytes.data()), Dims(bytes.size()), options);
    } else {
        return from_data(values.data(), Dims(values.size()), options);
    }
}
/* lt::tensor({1.0f, 2.0f}). */
template <class T, class = std::enable_if_t<std::is_constructible_v<Scalar, T>>>
Tensor tensor(std::initializer_list<T> values, const Options &options = {})
{
    return from_data(values.begin(), Dims(values.size()), options);
}
/* lt::tensor({{1.0f, 2.0f}, {3.0f, 4.0f}}): rows of equal length. */
template <class T, class = std::enable_if_t<std::is_constructible_v<Scalar, T>>>
Tensor tensor(std::initializer_list<std::initializer_list<T>> rows, const Options &options = {})
{
    const size_t n = rows.size() == 0 ? 0 : rows.begin()->size();
    std::vector<std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>> values;
    for (const auto &row : rows) {
        if (row.size() != n) {
            detail::fail(LT_ERR_RUNTIME, "tensor(): a row has " + std::to_string(row.size()) +
                                             " elements, expected " + std::to_string(n) +
                                             " as in the first row");
            return {};
        }
        values.insert(values.end(), row.begin(), row.end());
    }
    return from_data(reinterpret_cast<const T *>(values.data()), Dims(rows.size(), n), options);
}
/* A number, as a tensor without dimensions. */
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
Tensor tensor(T value, const Options &options = {})
{
    return from_data(&value, Dims(), options);
}

/* Memory of the caller as a row-major tensor, without a copy; it must outlive every tensor over
 * it. */
template <class T> Tensor from_blob(T *data, const Dims &sizes)
{
    const lt_dims *dims = sizes.get();
    lt_tensor *out = nullptr;
    if (dims != nullptr)
        detail::check(lt_tensor_wrap(data, static_cast<lt_dtype>(detail::dtype_of<T>()), dims->n,
                                     dims->v, nullptr, nullptr, &out));
    return Tensor::steal(out);
}
/* As above; the owner, such as a std::shared_ptr or a std::vector, is destroyed when the last tensor
 * over the memory is released. */
template <class T, class Owner> Tensor from_blob(T *data, const Dims &sizes, Owner owner)
{
    const lt_dims *dims = sizes.get();
    auto *kept = new Owner(std::move(owner));
    const auto destroy = [](void *ctx) { delete static_cast<Owner *>(ctx); };
    lt_tensor *out = nullptr;
    const lt_status status =
        lt_tensor_wrap(data, static_cast<lt_dtype>(detail::dtype_of<T>()), dims ? dims->n : -1,
                       dims ? dims->v : nullptr, destroy, kept, &out);
    if (status != LT_OK) destroy(kept);
    detail::check(status);
    return Tensor::steal(out);
}

/* ---- derivatives ----------------------------------------------------------------------------- */

/* Operations in its scope are not recorded (or are, with `on`). */
class NoGrad {
  public:
    explicit NoGrad(bool on = false) noexcept : previous_(lt_set_grad_enabled(on)) {}
    ~NoGrad() { lt_set_grad_enabled(previous_); }
    NoGrad(const NoGrad &) = delete;
    NoGrad &operator=(const NoGrad &) = delete;

  private:
    bool previous_;
};

/* The gradients of outputs by inputs, as lt_grad; undefined where allow_unused permits it. */
inline std::vector<Tensor> grad(const TensorList &outputs, const TensorList &inputs,
                                const std::vector<Tensor> &grad_outputs = {},
                                bool retain_graph = false, bool create_graph = false,
                                bool allow_unused = false)
{
    const lt_tensor_list *ys = outputs.get(), *xs = inputs.get();
    std::vector<lt_tensor *> grads(static_cast<size_t>(xs->n), nullptr);
    const TensorList given(grad_outputs);
    if (!grad_outputs.empty() && given.get()->n != ys->n) {
        detail::fail(LT_ERR_RUNTIME, "grad(): " + std::to_string(given.get()->n) +
                                         " grad_outputs, expected " + std::to_string(ys->n));
        return {};
    }
    detail::check(lt_grad(ys->v, static_cast<int>(ys->n), xs->v, static_cast<int>(xs->n),
                          grad_outputs.empty() ? nullptr : given.get()->v, retain_graph,
                          create_graph, allow_unused, grads.data()));
    std::vector<Tensor> result;
    for (lt_tensor *gradient : grads) result.push_back(Tensor::steal(gradient));
    return result;
}

/* ---- generators and contexts ----------------------------------------------------------------- */

/* A generator of random numbers for tensors on a device. */
class Generator {
  public:
    explicit Generator(const Device &device = kCPU)
    {
        detail::check(lt_generator_new(device, &generator_));
    }
    explicit Generator(uint64_t seed, const Device &device = kCPU) : Generator(device)
    {
        this->seed(seed);
    }
    Generator(Generator &&other) noexcept : generator_(std::exchange(other.generator_, nullptr)) {}
    Generator &operator=(Generator &&other) noexcept
    {
        std::swap(generator_, other.generator_);
        return *this;
    }
    ~Generator() { lt_generator_release(generator_); }
    void seed(uint64_t seed) { detail::check(lt_generator_seed(generator_, seed)); }
    lt_generator *get() const noexcept { return generator_; }

  private:
    lt_generator *generator_ = nullptr;
};

/* A generator as an argument. std::nullopt: the default one of the device. */
class GeneratorArgument {
  public:
    GeneratorArgument(std::nullopt_t) noexcept {}
    GeneratorArgument(const Generator &generator) noexcept : generator_(generator.get()) {}
    lt_generator *get() const noexcept { return generator_; }

  private:
    lt_generator *generator_ = nullptr;
};

/* A context of ltensor.h: seed, settings and limits of one user of the library. */
class Context {
  public:
    explicit Context(const lt_context_config &config = lt_context_defaults())
    {
        detail::check(lt_context_new(&config, &context_));
    }
    Context(const Context &other) noexcept : context_(lt_context_retain(other.context_)) {}
    Context(Context &&other) noexcept : context_(std::exchange(other.context_, nullptr)) {}
    Context &operator=(Context other) noexcept
    {
        std::swap(context_, other.context_);
        return *this;
    }
    ~Context() { lt_context_release(context_); }
    lt_context *get() const noexcept { return context_; }

    void set_memory_limit(const Device &device, int64_t bytes)
    {
        detail::check(lt_context_set_memory_limit(context_, device, bytes));
    }
    int64_t used_memory(const Device &device = kCPU) const
    {
        int64_t used = 0;
        detail::check(lt_context_memory(context_, device, &used, nullptr));
        return used;
    }
    void set_deadline(double seconds) { detail::check(lt_context_set_deadline(context_, seconds)); }
    void interrupt() noexcept { lt_context_interrupt(context_); }
    void clear_interrupt() noexcept { lt_context_interrupt_clear(context_); }

  private:
    lt_context *context_ = nullptr;
};

/* The thread is in the context while this object exists. */
class ContextScope {
  public:
    explicit ContextScope(const Context &context) noexcept
        : context_(context), previous_(lt_context_enter(context.get()))
    {}
    ~ContextScope() { lt_context_enter(previous_); }
    ContextScope(const ContextScope &) = delete;
    ContextScope &operator=(const ContextScope &) = delete;

  private:
    Context context_;
    lt_context *previous_;
};

/* ---- files ----------------------------------------------------------------------------------- */

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/* Writes a safetensors file: lt::save("net.safetensors", {{"weight", w}, {"bias", b}}). */
inline void save(const std::string &path, const NamedTensors &tensors)
{
    std::vector<const char *> names;
    std::vector<lt_tensor *> values;
    for (const auto &[name, value] : tensors) {
        names.push_back(name.c_str());
        values.push_back(value.get());
    }
    detail::check(
        lt_save(path.c_str(), names.data(), values.data(), static_cast<int64_t>(tensors.size())));
}
/* Reads one, in the order of the file. */
inline NamedTensors load(const std::string &path)
{
    lt_archive *archive = nullptr;
    NamedTensors tensors;
    if (!detail::check(lt_load(path.c_str(), &archive))) return tensors;
    for (int64_t i = 0; i < lt_archive_count(archive); i++)
        tensors.emplace_back(lt_archive_name(archive, i),
                             Tensor::share(lt_archive_tensor(archive, i)));
    lt_archive_release(archive);
    return tensors;
}

} // namespace lt

#include "ltensor_ops.hpp" /* generated: one function per op */

#include "ltensor_operators.hpp"

#endif
