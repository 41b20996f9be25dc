// product_torch.cpp - the same as product.c with libtorch.
#include <cstdio>

#include <torch/torch.h>

constexpr int N = 64;
static float a[N * N], b[N * N];

int main()
{
    for (int i = 0; i < N * N; i++)
        a[i] = static_cast<float>(i % 7), b[i] = static_cast<float>(i % 5);
    torch::Tensor x = torch::from_blob(a, {N, N}), y = torch::from_blob(b, {N, N});
    std::printf("%g\n", torch::mm(x, y).data_ptr<float>()[N * N - 1]);
}
