// header.cpp - ltensor.hpp in a C++ program: values, gradients, indices, ownership and errors.
// Compiled by tests/cpp.sh with each compiler and standard.
#include <array>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif

#include "ltensor.hpp"

namespace {

using Floats = std::vector<float>;
using Sizes = std::vector<int64_t>;

void check(bool passed, const char *text, int line)
{
    if (passed) return;
    std::fprintf(stderr, "header.cpp:%d: %s\n", line, text);
    std::exit(1);
}
#define CHECK(...) check(__VA_ARGS__, #__VA_ARGS__, __LINE__)

/* The error of a call, which must fail. */
template <class F> lt::Error error_of(F &&call)
{
    try {
        call();
    } catch (const lt::Error &error) {
        return error;
    }
    return lt::Error(LT_OK, "no error");
}
bool fails(const lt::Error &error, lt_status status, const char *text)
{
    if (error.status() == status && std::strstr(error.what(), text)) return true;
    std::fprintf(stderr, "status %d: %s\n", error.status(), error.what());
    return false;
}

void factories_and_elements()
{
    const lt::Tensor x = lt::ones({2, 3}, lt::kFloat64);
    CHECK(x.dtype() == lt::kFloat64 && x.sizes().to_vector() == Sizes{2, 3});
    CHECK(x.size(-1) == 3 && x.numel() == 6 && x.device() == lt::kCPU && x.is_contiguous());
    CHECK(lt::zeros({2}).to_vector<float>() == Floats{0, 0});
    CHECK(lt::full({}, 7).item<int>() == 7);
    CHECK(lt::arange(0, 5, 2, lt::kInt32).to_vector<int>() == std::vector<int>{0, 2, 4});
    CHECK(lt::ones({1}, lt::Options(lt::kFloat64).requires_grad()).requires_grad());

    const Floats values = {1, 2, 3, 4};
    CHECK(lt::tensor(values).to_vector<float>() == values);
    CHECK(lt::tensor({{1.5, 2.5}, {3.5, 4.5}}).sizes().to_vector() == Sizes{2, 2});
    CHECK(lt::tensor({true, false}).dtype() == lt::kBool);
    CHECK(lt::tensor(std::vector<bool>{true, false}).to_vector<bool>() ==
          std::vector<bool>{true, false});
    CHECK(lt::tensor({1, 2}, lt::kFloat32).to_vector<float>() == Floats{1, 2});
    CHECK(lt::tensor(2.5).item<double>() == 2.5 && lt::tensor(2.5).ndim() == 0);
    CHECK(lt::from_data(values.data(), {2, 2})[1].to_vector<float>() == Floats{3, 4});

    const std::complex<float> i(0, 1);
    const lt::Tensor z = lt::tensor({i, 2.0f * i});
    CHECK(z.dtype() == lt::kComplex64 && (z * i)[1].item<std::complex<double>>() == -2.0);

    size_t rows = 4;
    int columns = 2;
    CHECK(lt::zeros({rows, columns}).sizes().to_vector() == Sizes{4, 2});
    CHECK(lt::zeros(std::array<int, 2>{3, 4}).numel() == 12);
    CHECK(lt::zeros(x.sizes()).numel() == 6);
#if __cplusplus >= 202002L
    const std::span<const float> part(values.data(), 3);
    CHECK(lt::tensor(part).to_vector<float>() == Floats{1, 2, 3});
    const lt::Span<double> elements = x.span<double>();
    const std::span<double> seen(elements);
    CHECK(seen.size() == 6 && seen[5] == 1);
#endif
}

void memory_is_shared_with_the_caller()
{
    Floats values = {1, 2, 3, 4, 5, 6};
    lt::Tensor x = lt::from_blob(values.data(), {2, 3});
    x += 1;
    CHECK(values[5] == 7 && x.data<float>() == values.data());
    for (float &value : x.span<float>()) value = 0;
    CHECK(lt::sum(x).item<float>() == 0);

    auto owned = std::make_shared<Floats>(Floats{1, 2});
    const std::weak_ptr<Floats> watched = owned;
    float *data = owned->data();
    x = lt::from_blob(data, {2}, std::move(owned));
    lt::Tensor view = x[0];
    x = {};
    CHECK(!watched.expired() && view.item<float>() == 1);
    view = {};
    CHECK(watched.expired());
}

void ownership()
{
    lt::Tensor x = lt::zeros({2}), same = x, moved = std::move(x);
    CHECK(!x.defined() && same.get() == moved.get());
    same.fill_(3);
    CHECK(moved.to_vector<float>() == Floats{3, 3});
    lt::Tensor copy = lt::clone(moved);
    copy.fill_(4);
    CHECK(moved[0].item<float>() == 3);
    same = *&same;
    CHECK(same.defined());
    lt_tensor *raw = copy.release();
    CHECK(!copy.defined() && lt_tensor_numel(raw) == 2);
    copy = lt::Tensor::steal(raw);
    CHECK(lt::Tensor::share(copy.get()).get() == copy.get());
    static_assert(!std::is_assignable_v<lt::Tensor &&, const lt::Tensor &>,
                  "x[0] = y would not write to x");

    const int64_t before = [] {
        int64_t used = 0;
        lt_context_memory(lt_context_process(), lt::kCPU, &used, nullptr);
        return used;
    }();
    for (int i = 0; i < 10; i++) {
        std::vector<lt::Tensor> parts = lt::split(lt::zeros({1000, 1000}), 10);
        CHECK(parts.size() == 100 && parts[99].size(0) == 10);
    }
    int64_t after = 0;
    lt_context_memory(lt_context_process(), lt::kCPU, &after, nullptr);
    CHECK(after - before < 1000000);
}

void operators()
{
    const lt::Tensor x = lt::tensor({1.0f, 2.0f, 3.0f}), y = lt::tensor({3.0f, 2.0f, 1.0f});
    CHECK((x + y).to_vector<float>() == Floats{4, 4, 4});
    CHECK((2 * x - 1).to_vector<float>() == Floats{1, 3, 5});
    CHECK((6 / x / 2 + -y).to_vector<float>() == Floats{0, -0.5f, 0});
    CHECK((x % 2).to_vector<float>() == Floats{1, 0, 1});
    CHECK((x * 0.5).dtype() == lt::kFloat32);
    CHECK((x < y).to_vector<bool>() == std::vector<bool>{true, false, false});
    CHECK((2 < x).to_vector<bool>() == std::vector<bool>{false, false, true});
    CHECK((2 <= x).to_vector<bool>() == (x >= 2).to_vector<bool>());
    CHECK((x == y).to_vector<bool>() == std::vector<bool>{false, true, false});
    CHECK((2 == x).to_vector<bool>() == (x == 2.0f).to_vector<bool>());
    CHECK((x != y).to_vector<bool>() == (~(x == y)).to_vector<bool>());
    CHECK(((x > 1) & (x < 3)).to_vector<bool>() == (y == 2).to_vector<bool>());
    CHECK(((x > 2) | (x < 2)).to_vector<bool>() == ((x > 2) ^ (x < 2)).to_vector<bool>());
    lt::Tensor z = lt::clone(x);
    z += y;
    z -= 1;
    z *= x;
    z /= 3;
    CHECK(z.to_vector<float>() == Floats{1, 2, 3});
    z[1] *= 10;
    CHECK(z[1].item<int>() == 20);
}

void operations()
{
    const lt::Tensor x = lt::tensor({{1.0f, 5.0f}, {7.0f, 3.0f}});
    const auto [values, indices] = lt::max(x, 1);
    CHECK(values.to_vector<float>() == Floats{5, 7} && indices.to_vector<int>()[1] == 0);
    CHECK(lt::max(x).item<float>() == 7);
    CHECK(lt::sum(x, {0, 1}).item<int>() == 16 && lt::sum(x, 0, true).ndim() == 2);
    CHECK(lt::sum(x, std::nullopt, false, lt::kFloat64).dtype() == lt::kFloat64);
    CHECK(lt::prod(x, lt::kFloat64).dtype() == lt::kFloat64 && lt::prod(x, 0).numel() == 2);
    CHECK(lt::var(x, 1).numel() == 2 && lt::var(x).ndim() == 0);
    CHECK(lt::softmax(x, -1).size(1) == 2);
    CHECK(lt::cat({x, x}, 1).size(1) == 4 && lt::cat(lt::unbind(x)).numel() == 4);
    CHECK(lt::stack(std::vector<lt::Tensor>(20, x)).size(0) == 20);
    CHECK(lt::clamp(x, 2, 5).to_vector<float>() == Floats{2, 5, 5, 3});
    CHECK(lt::clamp(x, std::nullopt, 2).to_vector<float>() == Floats{1, 2, 2, 2});
    CHECK(lt::squeeze(lt::unsqueeze(x, 0), 0).ndim() == 2);
    CHECK(lt::equal(lt::view(x, {4}), lt::flatten(x)));
    CHECK(lt::view(x, lt::kInt32).dtype() == lt::kInt32);
    CHECK(lt::gelu(x, "tanh").numel() == 4 && lt::gelu(x, std::string("none")).numel() == 4);
    const lt::Tensor image = lt::randn({1, 1, 5, 5}), kernel = lt::ones({2, 1, 3, 3});
    CHECK(lt::conv2d(image, kernel, {}, 1, 0).size(2) == 3);
    CHECK(lt::conv2d(image, kernel, std::nullopt, {2, 1}, {1, 0}).sizes().to_vector() ==
          Sizes{1, 2, 3, 3});
    CHECK(lt::conv2d(image, kernel, {}, 1, "same").size(2) == 5);
    CHECK(lt::cross_entropy(x, lt::tensor({0, 1}, lt::kInt64)).ndim() == 0);
    CHECK(lt::randint(10, {3}).dtype() == lt::kInt64 && lt::randint(0, 10, {3}).numel() == 3);

    lt::Tensor out = lt::zeros({2, 2});
    CHECK(lt::add_out(out, x, 1).get() == out.get() && out[0][0].item<float>() == 2);
    CHECK(lt::relu_(lt::neg(x)).to_vector<float>() == Floats{0, 0, 0, 0});

    lt::Generator first(7), second(7);
    CHECK(lt::equal(lt::rand({5}, {}, first), lt::rand({5}, lt::kFloat32, second)));
    CHECK(!lt::equal(lt::rand({5}, {}, first), lt::rand({5})));
    CHECK(x.to(lt::kInt32).dtype() == lt::kInt32 && x.to(lt::Device("cpu")).get() == x.get());
}

void indices()
{
    const lt::Tensor x = lt::reshape(lt::arange(24), {2, 3, 4});
    using lt::Slice;
    CHECK(x[1][2][3].item<int>() == 23 && x[-1].sizes().to_vector() == Sizes{3, 4});
    CHECK(lt::equal(x.index({0, Slice(1, 3)}), lt::narrow(x[0], 0, 1, 2)));
    CHECK(x.index({lt::ellipsis, 0}).sizes().to_vector() == Sizes{2, 3});
    CHECK(x.index({Slice(), lt::newaxis, -1}).sizes().to_vector() == Sizes{2, 1, 4});
    CHECK(x.index({0, 0, Slice(std::nullopt, std::nullopt, 2)}).to_vector<int>() ==
          std::vector<int>{0, 2});
    CHECK(x.index({0, 0, Slice(-3, -1)}).to_vector<int>() == std::vector<int>{1, 2});
    CHECK(x.index({0, 0, Slice(1, 100, 5)}).to_vector<int>() == std::vector<int>{1});
    CHECK(x.index({0, 0, Slice(3, 1)}).numel() == 0 && x.index({Slice(-9, 9)}).numel() == 24);
    const lt::Tensor rows = lt::tensor({{2, 0}}, lt::kInt64);
    CHECK(x.index({0, rows}).sizes().to_vector() == Sizes{1, 2, 4});
    CHECK(x.index({0, rows, 0}).to_vector<int>() == std::vector<int>{8, 0});
    CHECK(x.index({x > 21}).to_vector<int>() == std::vector<int>{22, 23});
    CHECK(x.index({1, lt::tensor({true, false, true}), 0}).to_vector<int>() ==
          std::vector<int>{12, 20});

    const lt::Tensor y = lt::zeros({2, 3}, lt::Options().requires_grad());
    lt::sum(y.index({lt::ellipsis, Slice(0, 3, 2)}) * 2).backward();
    CHECK(y.grad().to_vector<float>() == Floats{2, 0, 2, 2, 0, 2});
    lt::Tensor z = lt::zeros({2, 3});
    z.index({lt::ellipsis, 1}).fill_(5);
    z.index({0, Slice(0, 3, 2)}).copy_(lt::tensor({1.0f, 2.0f}));
    CHECK(z.to_vector<float>() == Floats{1, 5, 2, 0, 5, 0});

    CHECK(fails(error_of([&] { x[2]; }), LT_ERR_INDEX, "2"));
    CHECK(fails(error_of([&] { x.index({0, 0, 0, 0}); }), LT_ERR_INDEX, "4 indices"));
    CHECK(fails(error_of([&] { x.index({rows, rows}); }), LT_ERR_INDEX, "2 tensors"));
    CHECK(fails(error_of([&] { x.index({Slice(0, 2, -1)}); }), LT_ERR_RUNTIME, "step"));
    CHECK(fails(error_of([&] { x.index({lt::tensor({true})}); }), LT_ERR_INDEX, "mask"));
    CHECK(fails(error_of([&] { x.size(3); }), LT_ERR_INDEX, "dimension 3"));
}

void derivatives()
{
    const lt::Tensor x = lt::tensor({2.0f, 3.0f}, lt::Options().requires_grad());
    lt::sum(x * x).backward();
    CHECK(x.grad().to_vector<float>() == Floats{4, 6} && x.is_leaf());
    x.set_grad(std::nullopt);
    CHECK(!x.grad().defined());
    const lt::Tensor cube = lt::sum(lt::pow(x, 3));
    const lt::Tensor slope = lt::grad({cube}, {x}, {}, true, true)[0];
    CHECK(slope.to_vector<float>() == Floats{12, 27});
    CHECK(lt::grad({lt::sum(slope)}, {x})[0].to_vector<float>() == Floats{12, 18});
    (x * 1).backward(lt::tensor({1.0f, 10.0f}));
    CHECK(x.grad().to_vector<float>() == Floats{1, 10});
    {
        lt::NoGrad off;
        CHECK(!(x * 2).requires_grad());
    }
    CHECK((x * 2).requires_grad());
}

void errors()
{
    const lt::Tensor x = lt::zeros({2, 3});
    CHECK(fails(error_of([&] { lt::mm(x, x); }), LT_ERR_RUNTIME, "(2x3 and 2x3)"));
    CHECK(fails(error_of([&] { x.data<double>(); }), LT_ERR_TYPE, "float32, expected float64"));
    CHECK(fails(error_of([&] { lt::t(x).span<float>(); }), LT_ERR_RUNTIME, "not contiguous"));
    CHECK(fails(error_of([&] { lt::relu({}); }), LT_ERR_TYPE, "self"));
    CHECK(fails(error_of([&] { x.item<float>(); }), LT_ERR_RUNTIME, "6"));
    CHECK(fails(error_of([&] { lt::Device("gpu"); }), LT_ERR_RUNTIME, "'gpu' is not a device"));
    CHECK(fails(error_of([&] { x.copy_from(Floats{1}); }), LT_ERR_RUNTIME, "4"));
    CHECK(fails(error_of([&] { lt::zeros(Sizes(17, 1)); }), LT_ERR_RUNTIME, "17 dimensions"));
    CHECK(fails(error_of([&] { lt::tensor({{1, 2}, {3}}); }), LT_ERR_RUNTIME, "1 elements"));
    CHECK(fails(error_of([&] { lt::load("/nonexistent"); }), LT_ERR_IO, "/nonexistent"));
    CHECK(fails(error_of([&] { lt::grad({x}, {x}, {x, x}); }), LT_ERR_RUNTIME, "2 grad_outputs"));
    try {
        lt::mm(x, x);
        CHECK(false);
    } catch (const std::runtime_error &error) { // hosts that know no lt::Error
        CHECK(std::strlen(error.what()) > 0);
    }
}

void contexts_and_files()
{
    lt_context_config config = lt_context_defaults();
    config.memory_limit = 1 << 20;
    const lt::Context context(config);
    {
        const lt::ContextScope scope(context);
        CHECK(lt_context_current() == context.get());
        const lt::Tensor x = lt::zeros({100000});
        CHECK(context.used_memory() >= 400000);
        CHECK(fails(error_of([] { lt::zeros({1000000}); }), LT_ERR_MEMORY, "memory"));
    }
    CHECK(lt_context_current() == lt_context_process());

    const std::string path = "/tmp/ltensor-cpp-" + std::to_string(std::rand()) + ".safetensors";
    const lt::Tensor w = lt::randn({2, 2});
    lt::save(path, {{"w", w}, {"b", lt::zeros({2})}});
    const lt::NamedTensors read = lt::load(path);
    std::remove(path.c_str());
    CHECK(read.size() == 2 && read[0].first == "w" && lt::equal(read[0].second, w));
}

} // namespace

int main()
{
    void (*const tests[])() = {
        factories_and_elements,
        memory_is_shared_with_the_caller,
        ownership,
        operators,
        operations,
        indices,
        derivatives,
        errors,
        contexts_and_files,
    };
    for (auto *test : tests) test();
    std::printf("%zu tests\n", sizeof tests / sizeof *tests);
}
