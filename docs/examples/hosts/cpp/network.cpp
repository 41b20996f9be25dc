// network.cpp - trains a network in C++, computes with it in a forked process, and ends.
#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include "ltensor.hpp"

class Network {
  public:
    Network()
    {
        lt_manual_seed(1);
        parameters = {lt::randn({16, 1}), lt::zeros({16}), 0.25 * lt::randn({1, 16}),
                      lt::zeros({1})};
        for (lt::Tensor &p : parameters) p.requires_grad_();
    }

    lt::Tensor operator()(const lt::Tensor &x) const
    {
        const lt::Tensor hidden = lt::tanh(lt::linear(x, parameters[0], parameters[1]));
        return lt::linear(hidden, parameters[2], parameters[3]);
    }

    // One step of gradient descent; returns the loss before it.
    float train(const lt::Tensor &x, const lt::Tensor &y)
    {
        const lt::Tensor loss = lt::mse_loss((*this)(x), y);
        loss.backward();
        const lt::NoGrad no_grad;
        for (lt::Tensor &p : parameters) {
            p -= 0.2 * p.grad();
            p.set_grad(std::nullopt);
        }
        return loss.item<float>();
    }

  private:
    std::vector<lt::Tensor> parameters;
};

int main()
{
    const lt::Tensor x = lt::reshape(lt::linspace(-1, 1, 64), {64, 1});
    Network network;
    float loss = 0;
    for (int step = 0; step < 2000; step++) loss = network.train(x, x * x);
    std::printf("loss %.4f\n", loss);
    std::fflush(stdout);
    const pid_t worker = fork();
    if (worker == 0) {
        const lt::NoGrad no_grad;
        std::printf("value %.4f\n", network(lt::full({1, 1}, 0.5)).item<float>());
        return 0;
    }
    int status = 1;
    waitpid(worker, &status, 0);
    return status == 0 ? 0 : 1;
}
