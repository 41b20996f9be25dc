// infer.cpp - reads a network that was trained elsewhere (train.c) from a safetensors file and
// classifies points. C++17, with ltensor.hpp.
//
//   c++ -std=c++17 infer.cpp $(pkg-config --cflags --libs ltensor) -o infer && ./infer
// network.safetensors
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "ltensor.hpp"

namespace {

class network {
  public:
    explicit network(const std::string &path)
    {
        for (const auto &[name, value] : lt::load(path)) parameters[name] = value;
    }

    lt::Tensor operator()(const lt::Tensor &points) const
    {
        const lt::Tensor hidden =
            lt::tanh(lt::linear(points, parameters.at("weight1"), parameters.at("bias1")));
        return lt::sigmoid(lt::linear(hidden, parameters.at("weight2"), parameters.at("bias2")));
    }

  private:
    std::map<std::string, lt::Tensor> parameters;
};

} // namespace

int main(int argc, char **argv)
try {
    if (argc < 2) throw std::runtime_error("usage: infer FILE");
    std::printf("ltensor %s, %d operations\n", lt_version(), lt_op_count());
    const lt::NoGrad no_grad;
    const network inside(argv[1]);
    const std::vector<float> points = {0, 0, 0.5f, -0.5f, 1.9f, 1.9f, -2, 0};
    const lt::Tensor probabilities = inside(lt::view(lt::tensor(points), {-1, 2}));
    const std::vector<float> numbers = probabilities.to_vector<float>();
    for (size_t i = 0; i < numbers.size(); i++)
        std::printf("(%g, %g) is %s\n", points[2 * i], points[2 * i + 1],
                    numbers[i] > 0.5f ? "inside" : "outside");

    // The message of an error names its cause.
    try {
        lt::mm(probabilities, probabilities);
    } catch (const lt::Error &error) {
        std::printf("an error: %s\n", error.what());
    }
    return 0;
} catch (const std::exception &error) {
    std::fprintf(stderr, "infer: %s\n", error.what());
    return 1;
}
