"""The loop of scripts/softmax_regression.lua in PyTorch, to be timed beside it.

    python tests/bench/softmax_regression.py [--epochs 5] [--threads N] [--data DIR]
"""

import argparse
import gzip
import pathlib
import time

import torch
from torch import nn


def read(path):
    data = gzip.decompress(path.read_bytes())
    ndim = data[3]
    sizes = [int.from_bytes(data[4 + 4 * i : 8 + 4 * i], "big") for i in range(ndim)]
    return torch.frombuffer(bytearray(data), dtype=torch.uint8)[4 + 4 * ndim :].reshape(sizes)


def load(folder, split):
    images = read(folder / f"{split}-images-idx3-ubyte.gz").to(torch.float32).div_(255)
    return images, read(folder / f"{split}-labels-idx1-ubyte.gz").to(torch.int64)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("/usr/share/datasets/fashion-mnist"))
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)

    images, labels = load(options.data, "train")
    test_images, test_labels = load(options.data, "t10k")
    net = nn.Sequential(nn.Flatten(), nn.Linear(784, 10))
    optimizer = torch.optim.SGD(net.parameters(), lr=options.lr, momentum=options.momentum)
    n = len(images)
    for epoch in range(1, options.epochs + 1):
        start = time.monotonic()
        for group in optimizer.param_groups:
            group["lr"] = options.lr * (1 - (epoch - 1) / options.epochs)
        order = torch.randperm(n)
        loss_sum = torch.zeros(1)
        hits = torch.zeros(1, dtype=torch.int64)
        for first in range(0, n, options.batch_size):
            picked = order[first : first + options.batch_size]
            x, y = images.index_select(0, picked), labels.index_select(0, picked)
            output = net(x)
            loss = nn.functional.cross_entropy(output, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loss_sum.add_(loss.detach(), alpha=len(picked))
            hits.add_((output.argmax(1) == y).sum())
        seconds = time.monotonic() - start
        with torch.no_grad():
            right = (net(test_images).argmax(1) == test_labels).sum().item()
        print(f"epoch {epoch}  loss {loss_sum.item() / n:.4f}  train acc {hits.item() / n:.4f}  "
              f"test acc {right / len(test_labels):.4f}  {seconds:.3f} s")


if __name__ == "__main__":
    main()
