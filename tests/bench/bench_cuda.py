"""PyTorch's side of make bench-cuda: the same rows as bench_cuda.lua, name TAB unit TAB value."""

import time

import torch

SAMPLES, SECONDS, QUEUED = 7, 0.05, 400
device = torch.device("cuda")
torch.manual_seed(0)


def row(name, unit, value):
    print(f"{name}\t{unit}\t{value:.6g}")


def sample(f, n, host_only=False):
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(n):
        f()
    queued = time.perf_counter()
    torch.cuda.synchronize()
    return ((queued if host_only else time.perf_counter()) - start) / n


def measure(f):
    f()
    n = max(1, int(SECONDS / sample(f, 1)))
    n = max(1, int(SECONDS / sample(f, min(n, 100))))
    return sorted(sample(f, n) for _ in range(SAMPLES))[SAMPLES // 2]


def host_cost(f):
    sample(f, QUEUED, True)
    return sorted(sample(f, QUEUED, True) for _ in range(SAMPLES * 3))[SAMPLES * 3 // 2]


def rand(*sizes):
    return torch.rand(*sizes, device=device)


def launches():
    a, b, m = rand(2, 3), rand(2, 3), rand(5, 5)
    for name, f in [
        ("a + b, 2x3", lambda: a + b),
        ("a:add_(b), 2x3", lambda: a.add_(b)),
        ("relu, 2x3", lambda: a.relu()),
        ("sum, 2x3", lambda: a.sum()),
        ("mm, 5x5", lambda: m.mm(m)),
    ]:
        row("launch: " + name, "us", host_cost(f) * 1e6)

    def wait():
        a + b
        torch.cuda.synchronize()

    row("launch and wait: a + b, 2x3", "us", measure(wait) * 1e6)


def copies():
    n = 64 * 1024 * 1024
    on_device, pageable = rand(n), torch.rand(n)
    pinned = pageable.pin_memory()
    for name, f in [
        ("host to device, pageable", lambda: on_device.copy_(pageable)),
        ("host to device, pinned", lambda: on_device.copy_(pinned, non_blocking=True)),
        ("device to host, pageable", lambda: pageable.copy_(on_device)),
        ("device to host, pinned", lambda: pinned.copy_(on_device, non_blocking=True)),
    ]:
        row(name + ", 256 MiB", "GB/s", n * 4 / measure(f) / 1e9)


def memory():
    n, side = 256 * 1024 * 1024, 16384
    a, b, out = rand(n), rand(n), torch.empty(n, device=device)
    square, turned = a.view(side, -1), torch.empty(n // side, side, device=device)
    for name, tensors, f in [
        ("copy", 2, lambda: out.copy_(a)),
        ("add", 3, lambda: torch.add(a, b, out=out)),
        ("mul by a number", 2, lambda: torch.mul(a, 2.0, out=out)),
        ("exp", 2, lambda: torch.exp(a, out=out)),
        ("sum", 1, lambda: a.sum()),
        ("fill", 1, lambda: out.fill_(1.0)),
        ("copy of a transpose", 2, lambda: turned.copy_(square.T)),
        ("std", 1, lambda: a.std()),
        ("var of rows", 1, lambda: square.var(1)),
        ("logsumexp of rows", 1, lambda: square.logsumexp(1)),
        ("softmax of rows", 2, lambda: square.softmax(1)),
        ("log_softmax of rows", 2, lambda: square.log_softmax(1)),
    ]:
        row(name + ", 1 GiB", "GB/s", tensors * n * 4 / measure(f) / 1e9)


def products():
    for name, n in [("float32", 4096), ("float32, TF32", 8192), ("float16", 8192), ("bfloat16", 8192)]:
        dtype = getattr(torch, name.split(",")[0])
        a, b = rand(n, n).to(dtype), rand(n, n).to(dtype)
        out = torch.empty_like(a)
        torch.backends.cuda.matmul.allow_tf32 = name == "float32, TF32"
        row(f"mm {name}, {n}x{n}", "TFLOP/s", 2 * n**3 / measure(lambda: torch.mm(a, b, out=out)) / 1e12)
        torch.backends.cuda.matmul.allow_tf32 = False


def allocations():
    def empty(size):
        return torch.empty(size, device=device, dtype=torch.uint8)

    row("allocate 512 B, cached", "ns", host_cost(lambda: empty(512)) * 1e9)
    row("allocate 1 MiB, cached", "ns", host_cost(lambda: empty(1 << 20)) * 1e9)

    def uncached():
        empty(1 << 28)
        torch.cuda.empty_cache()

    row("allocate 256 MiB, nothing cached", "us", measure(uncached) * 1e6)


def exercises():
    start, steps = rand(100, 100), 1000

    def step(a):
        a = a.mm(a)
        a.div_(a.norm())
        return a, a.mm(a.T).trace()

    def on_host():
        a, log = start, []
        for _ in range(steps):
            a, number = step(a)
            log.append(number.item())

    def on_device():
        a, log = start, torch.empty(steps, device=device)
        for i in range(steps):
            a, log[i] = step(a)
        return log.cpu()

    row("1000 products, each logged on the host", "ms", measure(on_host) * 1e3)
    row("1000 products, logged on the device", "ms", measure(on_device) * 1e3)


launches()
copies()
memory()
torch.cuda.empty_cache()
products()
allocations()
exercises()
