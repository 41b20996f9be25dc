"""PyTorch's side of the training rows of make bench: as training.lua, name TAB unit TAB value.

    python tests/bench/training.py [--data DIR]
    python tests/bench/training.py --losses 100    the losses of scripts/lenet.lua's first steps, for the same seed
"""

import argparse
import gzip
import os
import pathlib
import time

import torch
from torch import nn
from torch.nn import functional as F

IMAGES, BATCH = 6400, 64


def read(path):
    data = gzip.decompress(path.read_bytes())
    ndim = data[3]
    sizes = [int.from_bytes(data[4 + 4 * i : 8 + 4 * i], "big") for i in range(ndim)]
    return torch.frombuffer(bytearray(data), dtype=torch.uint8)[4 + 4 * ndim :].reshape(sizes)


def load(folder):
    images = read(folder / "train-images-idx3-ubyte.gz").to(torch.float32).div_(255)
    return images, read(folder / "train-labels-idx1-ubyte.gz").to(torch.int64)


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))


def losses(folder, steps, seed=0):
    images, labels = load(folder)
    torch.manual_seed(seed)
    net = lenet()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    order = torch.randperm(len(images))
    for step in range(steps):
        picked = order[step * BATCH : (step + 1) * BATCH]
        loss = F.cross_entropy(net(images.index_select(0, picked).unsqueeze(1)), labels.index_select(0, picked))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


def report(name, unit, seconds):
    scale = {"us": 1e6, "ms": 1e3, "s": 1}[unit]
    print(f"{name}\t{unit}\t{seconds * scale:.6g}")


def median(run, samples):
    run()
    times = []
    for _ in range(samples):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return sorted(times)[samples // 2]


def step_of(net, optimizer, x, y, loss_of):
    def step():
        loss = loss_of(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def many(step, n):
    def run():
        for _ in range(n):
            step()

    return run


class Recurrent(nn.Module):
    def __init__(self, kinds, hidden):
        super().__init__()
        self.embedding, self.rnn = nn.Embedding(kinds, hidden), nn.GRU(hidden, hidden, batch_first=True)
        self.head = nn.Linear(hidden, kinds)

    def forward(self, x):
        return self.head(self.rnn(self.embedding(x))[0]).flatten(0, 1)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, width = x.shape
        q, k, v = (part.reshape(b, t, self.heads, -1).transpose(1, 2) for part in self.qkv(self.norm1(x)).chunk(3, 2))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(b, t, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self, kinds, length, width, heads, layers):
        super().__init__()
        self.tokens, self.places = nn.Embedding(kinds, width), nn.Parameter(torch.zeros(length, width))
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, kinds)

    def forward(self, x):
        return self.head(self.norm(self.blocks(self.tokens(x) + self.places))).flatten(0, 1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--losses", type=int, default=0)
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("/usr/share/datasets/fashion-mnist"))
    options = parser.parse_args()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count())))
    if options.losses:
        for loss in losses(options.data, options.losses):
            print(f"{loss:.9g}")
        return

    torch.manual_seed(0)
    for inputs in (20, 784):
        net = nn.Sequential(nn.Linear(inputs, 256), nn.ReLU(), nn.Linear(256, 10))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        step = step_of(net, optimizer, torch.rand(32, inputs), torch.randint(10, (32,)), F.cross_entropy)
        report(f"MLP training step, 32 x {inputs}, 256, 10", "us", median(many(step, 200), 7) / 200)

    net = lenet()
    images, labels = torch.rand(IMAGES, 1, 28, 28), torch.randint(10, (IMAGES,))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)

    def epoch():
        order = torch.randperm(IMAGES)
        for first in range(0, IMAGES, BATCH):
            picked = order[first : first + BATCH]
            loss = F.cross_entropy(net(images.index_select(0, picked)), labels.index_select(0, picked))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    report(f"LeNet training epoch, {IMAGES} images", "s", median(epoch, 3))

    net = Recurrent(64, 128)
    step = step_of(net, torch.optim.Adam(net.parameters()), torch.randint(64, (32, 32)), torch.randint(64, (1024,)), F.cross_entropy)
    report("GRU training step, 32 x 32", "ms", median(many(step, 3), 5) / 3)

    net = Transformer(64, 64, 128, 4, 2)
    step = step_of(net, torch.optim.AdamW(net.parameters()), torch.randint(64, (16, 64)), torch.randint(64, (1024,)), F.cross_entropy)
    report("transformer training step, 16 x 64", "ms", median(many(step, 3), 5) / 3)

    params = [torch.rand(1000, 1000, requires_grad=True) for _ in range(5)]
    for p in params:
        p.grad = torch.rand(1000, 1000)
    optimizer = torch.optim.Adam(params)
    report("Adam, 5 million parameters", "ms", median(optimizer.step, 9))


if __name__ == "__main__":
    main()
