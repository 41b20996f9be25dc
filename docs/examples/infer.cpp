// infer.cpp - a network that was trained elsewhere (train.c) is read from a safetensors file and
// asked about points. C++17;
// operations are called by name, as the binding of another language would.
//
//   c++ -std=c++17 infer.cpp $(pkg-config --cflags --libs ltensor) -o infer && ./infer
// network.safetensors
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "ltensor.h"

namespace {

struct release {
    void operator()(lt_tensor *t) const { lt_tensor_release(t); }
    void operator()(lt_archive *a) const { lt_archive_release(a); }
};
using tensor = std::unique_ptr<lt_tensor, release>;
using archive = std::unique_ptr<lt_archive, release>;

void check(lt_status status)
{
    if (status != LT_OK) throw std::runtime_error(lt_error_message());
}

// The operation's only result.
tensor call(const char *name, const std::vector<lt_value> &arguments)
{
    lt_value result = lt_value_none();
    int results = 1;
    check(lt_call(name, arguments.data(), static_cast<int>(arguments.size()), nullptr, 0, &result,
                  &results));
    return tensor(result.v.tensor);
}

tensor from(const std::vector<float> &numbers, int64_t rows, int64_t columns)
{
    const int64_t sizes[] = {rows, columns};
    lt_tensor *t = nullptr;
    check(lt_tensor_new(LT_FLOAT32, {LT_CPU, 0}, 2, sizes, &t));
    tensor owner(t);
    check(lt_tensor_copy_from(t, numbers.data(), numbers.size() * sizeof(float)));
    return owner;
}

class network {
  public:
    explicit network(const char *path)
    {
        lt_archive *read = nullptr;
        check(lt_load(path, &read));
        file.reset(read);
    }

    tensor operator()(lt_tensor *points) const
    {
        tensor sums = call("linear", {lt_value_tensor(points), get("weight1"), get("bias1")});
        tensor hidden = call("tanh", {lt_value_tensor(sums.get())});
        tensor scores =
            call("linear", {lt_value_tensor(hidden.get()), get("weight2"), get("bias2")});
        return call("sigmoid", {lt_value_tensor(scores.get())});
    }

  private:
    archive file;

    lt_value get(const char *name) const
    {
        lt_tensor *t = lt_archive_find(file.get(), name);
        if (t == nullptr) throw std::runtime_error(std::string("the file has no ") + name);
        return lt_value_tensor(t);
    }
};

} // namespace

int main(int argc, char **argv)
try {
    if (argc < 2) throw std::runtime_error("usage: infer FILE");
    std::printf("ltensor %s, %d operations\n", lt_version(), lt_op_count());
    lt_set_grad_enabled(false);
    const network inside(argv[1]);
    const std::vector<float> points = {0, 0, 0.5f, -0.5f, 1.9f, 1.9f, -2, 0};
    const int64_t n = static_cast<int64_t>(points.size()) / 2;
    tensor probabilities = inside(from(points, n, 2).get());
    std::vector<float> numbers(static_cast<size_t>(n));
    check(lt_tensor_copy_to(probabilities.get(), numbers.data(), numbers.size() * sizeof(float)));
    for (size_t i = 0; i < numbers.size(); i++)
        std::printf("(%g, %g) is %s\n", points[2 * i], points[2 * i + 1],
                    numbers[i] > 0.5f ? "inside" : "outside");

    // What fails says why.
    try {
        call("mm", {lt_value_tensor(probabilities.get()), lt_value_tensor(probabilities.get())});
    } catch (const std::runtime_error &error) {
        std::printf("an error: %s\n", error.what());
    }
    return 0;
} catch (const std::exception &error) {
    std::fprintf(stderr, "infer: %s\n", error.what());
    return 1;
}
