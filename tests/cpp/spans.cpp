// spans.cpp - the code in the sentences of docs/guide/embedding.md about C++, as it stands there. Run with
// a simulated GPU. tests/cpp.sh compares the guide with tests/cpp.
#include <cstdio>
#include <type_traits>
#include <vector>

#include "ltensor.hpp"

static_assert(!std::is_assignable_v<decltype(std::declval<lt::Tensor>()[0]), lt::Tensor>,
              "x[0] = y compiles");

static int failures;
static void check(bool passed, const char *text)
{
    if (!passed) std::fprintf(stderr, "spans.cpp: %s\n", text);
    failures += !passed;
}
#define CHECK(...) check(__VA_ARGS__, #__VA_ARGS__)

int main()
{
    const std::vector<float> vector = {1, 2, 3, 4, 5, 6};
    std::vector<float> memory = vector;
    float *pointer = memory.data();
    CHECK(lt::tensor({1.0f, 2.0f}).numel() == 2);
    CHECK(lt::tensor(vector).numel() == 6);
    CHECK(lt::ones({2, 3}, lt::kFloat64).dtype() == lt::kFloat64);
    CHECK(lt::ones({2}, lt::Device::cuda(0)).device() == lt::Device::cuda(0));
    {
        const lt::Tensor x = lt::from_blob(pointer, {2, 3});
        const lt::Tensor y = lt::tensor({7.0f, 8.0f, 9.0f});
        CHECK(x.to_vector<float>() == vector && x.span<float>().size() == 6);
        CHECK(x[0][1].item<float>() == 2);
        const auto [values, indices] = lt::max(x, 1);
        CHECK(values.to_vector<float>() == std::vector<float>{3, 6});
        CHECK(indices.to_vector<int64_t>() == std::vector<int64_t>{2, 2});
        x[0].fill_(1);
        CHECK(memory[2] == 1);
        x[0].copy_(y);
        CHECK(memory[2] == 9 && lt_tensor_numel(x.get()) == 6);
    }
    {
        const lt::Tensor x = lt::ones({4, 2, 3});
        CHECK(x.index({lt::Slice(1, 3), lt::ellipsis, -1}).sizes().to_vector() ==
              std::vector<int64_t>{2, 2});
    }
    {
        const lt::Tensor x = lt::tensor(3.5f);
        CHECK(x.item<float>() == 3.5f);
    }
    try {
        lt::mm(lt::ones({2, 3}), lt::ones({2, 3}));
        CHECK(false);
    } catch (const lt::Error &error) {
        CHECK(error.status() == LT_ERR_RUNTIME);
    }
    return failures;
}
