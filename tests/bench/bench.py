"""PyTorch's side of make bench: the same rows as bench.lua, name TAB unit TAB value."""

import os
import time

import torch

UNITS = {"ns": 1e9, "us": 1e6, "ms": 1e3}
SAMPLES, SECONDS = 5, 0.1

torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count())))
torch.manual_seed(0)


def measure(name, unit, run):
    n = 1
    run(1)
    while True:
        start = time.perf_counter()
        run(n)
        took = time.perf_counter() - start
        if took > SECONDS / 4:
            n = max(1, int(n * SECONDS / took))
            break
        n *= 2
    samples = []
    for _ in range(SAMPLES):
        start = time.perf_counter()
        run(n)
        samples.append((time.perf_counter() - start) / n)
    print(f"{name}\t{unit}\t{sorted(samples)[SAMPLES // 2] * UNITS[unit]:.6g}")


def add(a, b):
    def run(n):
        for _ in range(n):
            a + b

    return run


def mm(a, b):
    def run(n):
        for _ in range(n):
            a.mm(b)

    return run


def method(name, a):
    def run(n):
        call = getattr(a, name)
        for _ in range(n):
            call()

    return run


def backward(x):
    def run(n):
        for _ in range(n):
            (x * x).sum().backward()

    return run


measure("a + b, 2x3", "ns", add(torch.rand(2, 3), torch.rand(2, 3)))
for size in (5, 1000):
    measure(f"mm, {size}x{size}", "ns" if size < 100 else "ms", mm(torch.rand(size, size), torch.rand(size, size)))
big, other = torch.rand(10_000_000), torch.rand(10_000_000)
measure("+, 10 million", "ms", add(big, other))
for op in ("exp", "tanh", "sum"):
    measure(f"{op}, 10 million", "ms", method(op, big))
measure("(x * x):sum():backward()", "us", backward(torch.rand(3, requires_grad=True)))
