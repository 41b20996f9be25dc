"""The programs of programs.lua in PyTorch: PROGRAMS has a maker of each, which is given a compiler of functions and returns a step.

DEVICE: where they run (cpu). A step without gradients is compiled whole; of a training step what gives the loss, and so its derivative, as the optimizers are PyTorch's own.
"""

import os
import sys

import torch
from torch import nn, rand, randint, randn
from torch.nn import functional as F

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from training import Recurrent, Transformer, lenet  # noqa: E402

DEVICE = os.environ.get("DEVICE", "cpu")
PROGRAMS = {}


def program(name):
    def keep(make):
        def made(compile):
            torch.set_default_device(DEVICE)  # while the program is made: in a step it would cost each call time
            step = make(compile)
            torch.set_default_device(None)
            return step

        PROGRAMS[name] = made
        return made

    return keep


def train(optimizer, loss_of):
    def step():
        optimizer.zero_grad()
        loss_of().backward()
        optimizer.step()

    return step


def without_gradients(f):
    return torch.no_grad()(f)


def classify(net, optimizer, x, y, compile):
    return train(optimizer, compile(lambda: F.cross_entropy(net(x), y)))


@program("MLP, training, 32 of 784")
def _(compile):
    net = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
    return classify(net, torch.optim.SGD(net.parameters(), lr=0.1), rand(32, 784), randint(10, (32,)), compile)


@program("LeNet, training, 64 images")
def _(compile):
    net = lenet()
    return classify(net, torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9), rand(64, 1, 28, 28), randint(10, (64,)), compile)


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1, stride=stride, bias=False)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn1, self.bn2 = nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)
        self.shortcut = nn.Identity()
        if stride != 1:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        return F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))) + self.shortcut(x))


def resnet18():
    layers = [nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, stride=2, padding=1)]
    for stage in range(4):
        inputs, outputs = 64 << max(stage - 1, 0), 64 << stage
        layers += [Residual(inputs, outputs, 1 if stage == 0 else 2), Residual(outputs, outputs, 1)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


@program("ResNet-18, training, 8 of 3x96x96")
def _(compile):
    net = resnet18()
    return classify(net, torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9), rand(8, 3, 96, 96), randint(10, (8,)), compile)


@program("ResNet-18, inference, 8 of 3x96x96")
def _(compile):
    net, x = resnet18().eval(), rand(8, 3, 96, 96)
    return without_gradients(compile(lambda: net(x)))


@program("GPT, training, 16 x 64")
def _(compile):
    net = Transformer(64, 64, 128, 4, 2)
    return classify(net, torch.optim.AdamW(net.parameters()), randint(64, (16, 64)), randint(64, (1024,)), compile)


@program("GPT, inference, 1 x 64")
def _(compile):
    net, x = Transformer(64, 64, 128, 4, 2), randint(64, (1, 64))
    return without_gradients(compile(lambda: net(x)))


@program("GRU, training, 32 x 32")
def _(compile):
    net = Recurrent(64, 128)
    return classify(net, torch.optim.Adam(net.parameters()), randint(64, (32, 32)), randint(64, (1024,)), compile)


@program("LSTM, training, 35 steps of 32x128")
def _(compile):
    net, x = nn.LSTM(128, 128), randn(35, 32, 128)
    return train(torch.optim.SGD(net.parameters(), lr=0.1), compile(lambda: net(x)[0].square().mean()))


@program("LSTM, inference, 35 steps of 4x256")
def _(compile):
    net, x = nn.LSTM(256, 256), randn(35, 4, 256)
    return without_gradients(compile(lambda: net(x)[0]))


@program("RNN by hand, training, 35 steps of 32x128")
def _(compile):
    w, u, x = (randn(128, 128) * 0.05).requires_grad_(), (randn(128, 128) * 0.05).requires_grad_(), randn(35, 32, 128)

    def loss():
        h = torch.zeros(32, 128, device=DEVICE)
        for t in range(35):
            h = torch.tanh(x[t].mm(w) + h.mm(u))
        return h.square().mean()

    return train(torch.optim.SGD([w, u], lr=0.1), compile(loss))


@program("scalar loop with gradient, 100 steps")
def _(compile):
    w = torch.tensor(0.9, requires_grad=True)

    def loss():
        h = torch.tensor(1.0, device=DEVICE)
        for _ in range(100):
            h = torch.tanh(h * w)
        return h

    return train(torch.optim.SGD([w], lr=0.01), compile(loss))


@program("k-means, 20000 of 32, 64 centres")
def _(compile):
    points, centres, ones = rand(20000, 32), rand(64, 32), torch.ones(20000)

    def step():
        nearest = torch.cdist(points, centres).argmin(1)
        sums = torch.zeros(64, 32, device=DEVICE).index_add(0, nearest, points)
        counts = torch.zeros(64, device=DEVICE).index_add(0, nearest, ones)
        return sums / counts.clamp_min(1).unsqueeze(1)

    return without_gradients(compile(step))


@program("DCGAN, generator and critic, 16 of 32x32")
def _(compile):
    g = nn.Sequential(
        nn.ConvTranspose2d(64, 64, 4), nn.BatchNorm2d(64), nn.ReLU(), nn.ConvTranspose2d(64, 32, 4, stride=2, padding=1),
        nn.BatchNorm2d(32), nn.ReLU(), nn.ConvTranspose2d(32, 16, 4, stride=2, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
        nn.ConvTranspose2d(16, 3, 4, stride=2, padding=1), nn.Tanh())
    d = nn.Sequential(
        nn.Conv2d(3, 16, 4, stride=2, padding=1), nn.LeakyReLU(0.2), nn.Conv2d(16, 32, 4, stride=2, padding=1),
        nn.BatchNorm2d(32), nn.LeakyReLU(0.2), nn.Conv2d(32, 1, 8), nn.Flatten())
    noise, real, one, zero = randn(16, 64, 1, 1), rand(16, 3, 32, 32), torch.ones(16, 1), torch.zeros(16, 1)
    judged = F.binary_cross_entropy_with_logits
    teach_d = train(
        torch.optim.Adam(d.parameters(), lr=2e-4), compile(lambda: judged(d(real), one) + judged(d(g(noise).detach()), zero)))
    teach_g = train(torch.optim.Adam(g.parameters(), lr=2e-4), compile(lambda: judged(d(g(noise)), one)))

    def step():
        teach_d()
        teach_g()

    return step


@program("word2vec, training, 512 pairs, 5 others each")
def _(compile):
    inner, outer = nn.Embedding(5000, 64), nn.Embedding(5000, 64)
    centre, near, others = randint(5000, (512,)), randint(5000, (512, 1)), randint(5000, (512, 5))

    def loss():
        v = inner(centre).unsqueeze(2)
        return -(F.logsigmoid(outer(near).bmm(v)).sum() + F.logsigmoid(-outer(others).bmm(v)).sum()) / 512

    return train(torch.optim.SGD([inner.weight, outer.weight], lr=0.05), compile(loss))


@program("attention by hand, 4x8x256x64")
def _(compile):
    q, k, v = randn(4, 8, 256, 64), randn(4, 8, 256, 64), randn(4, 8, 256, 64)
    return without_gradients(compile(lambda: F.softmax(q.matmul(k.transpose(2, 3)) / 8, -1).matmul(v)))


@program("Adam, 200 parameters of 100x100")
def _(compile):
    parameters = [rand(100, 100, requires_grad=True) for _ in range(200)]
    for p in parameters:
        p.grad = rand(100, 100)
    return compile(torch.optim.Adam(parameters).step)


@program("Gaussian process, 300 points")
def _(compile):
    x, at = rand(300, 2), rand(100, 2)
    y = torch.sin(x.sum(1, True) * 3)

    def kernel(a, b):
        return torch.exp(-torch.cdist(a, b).square() * 2)

    def step():
        lower = torch.linalg.cholesky(kernel(x, x) + 0.01 * torch.eye(300, device=DEVICE))
        across = kernel(at, x)
        spread = torch.linalg.solve_triangular(lower, across.t(), upper=False)
        return across.mm(torch.cholesky_solve(y, lower)), 1 - spread.square().sum(0)

    return without_gradients(compile(step))


@program("images resized and normalized, 8 of 3x256x256")
def _(compile):
    x = randint(256, (8, 3, 256, 256)).to(torch.uint8)
    mean, std = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1), torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1)
    return without_gradients(
        compile(lambda: (F.interpolate(x.float() / 255, size=(224, 224), mode="bilinear", align_corners=False) - mean) / std))


@program("beam search, 16 steps, 8 of 10000 words")
def _(compile):
    w, h = randn(64, 10000), randn(8, 64)

    def step():
        scores, state = torch.zeros(8, 1, device=DEVICE), h
        for _ in range(16):
            best, place = (F.log_softmax(state.mm(w), 1) + scores).flatten().topk(8)
            scores = best.unsqueeze(1)
            state = torch.tanh(state.index_select(0, place.div(10000, rounding_mode="floor")) + h)
        return scores

    return without_gradients(compile(step))


@program("game of life, 512x512")
def _(compile):
    board = rand(512, 512).gt(0.5).float()

    def step():
        near = -board
        for down in (-1, 0, 1):
            for right in (-1, 0, 1):
                near = near + board.roll((down, right), (0, 1))
        return (near.eq(3) | (near.eq(2) & board.gt(0))).float()

    return without_gradients(compile(step))


@program("linear layers of 8 rows, inference")
def _(compile):
    net = nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 1024), nn.GELU(), nn.Linear(1024, 256))
    x = randn(8, 256)
    return without_gradients(compile(lambda: net(x)))


@program("1-d convolution and pooling, 8x16x20000")
def _(compile):
    w, x = randn(16, 16, 5), randn(8, 16, 20000)
    return without_gradients(compile(lambda: F.avg_pool1d(F.max_pool1d(F.relu(F.conv1d(x, w)), 3, stride=1), 4)))
