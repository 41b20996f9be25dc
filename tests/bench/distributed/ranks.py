"""What two ranks of PyTorch with gloo, or of mpi4py (--mpi4py), need for what ranks.lua measures: the same lines."""
import os
import statistics
import sys
import time

SIZES = [4, 1 << 10, 4 << 10, 64 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20]


def seconds(calls, rounds, barrier, *functions):
    """Seconds of one call of each function, of many together, in rounds that alternate between them."""
    samples = [[] for _ in functions]
    for f in functions:
        for _ in range(max(1, calls // 5)):
            f()
    for _ in range(rounds):
        for f, times in zip(functions, samples):
            barrier()
            start = time.perf_counter()
            for _ in range(calls):
                f()
            times.append((time.perf_counter() - start) / calls)
    return [statistics.median(times) for times in samples]


def say(rank, name, unit, value):
    if rank == 0:
        print(f"{name}\t{unit}\t{value:.6g}", flush=True)


def all_reduces(rank, barrier, make):
    for size in SIZES:
        (t,) = seconds(2000 if size <= 4096 else max(4, (64 << 20) // size), 5, barrier, make(size))
        name = f"{size} B" if size < 1024 else f"{size >> 10} KiB" if size < 1 << 20 else f"{size >> 20} MiB"
        if size <= 4096:
            say(rank, f"all_reduce, {name}", "us", t * 1e6)
        else:
            say(rank, f"all_reduce, {name}", "GB/s", size / t / 1e9)


def with_mpi4py():
    import numpy
    from mpi4py import MPI

    comm = MPI.COMM_WORLD

    def make(size):
        x = numpy.zeros(size // 4, numpy.float32)
        return lambda: comm.Allreduce(MPI.IN_PLACE, x, op=MPI.SUM)

    all_reduces(comm.Get_rank(), comm.Barrier, make)


def with_gloo():
    import torch
    import torch.distributed as dist
    from torch import nn
    from torch.nn import functional as F

    os.environ.setdefault("RANK", os.environ["OMPI_COMM_WORLD_RANK"])
    os.environ.setdefault("WORLD_SIZE", os.environ["OMPI_COMM_WORLD_SIZE"])
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29511")
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()

    def make(size):
        x = torch.zeros(size // 4)
        return lambda: dist.all_reduce(x)

    all_reduces(rank, dist.barrier, make)

    def efficiency(name, build, loss_of, steps):
        def trained(wrap):
            torch.manual_seed(1)
            net = wrap(build())
            optimizer = torch.optim.SGD(net.parameters(), lr=0.01)

            def step():
                optimizer.zero_grad()
                loss_of(net).backward()
                optimizer.step()

            return step

        alone, together = seconds(
            steps, 15, dist.barrier, trained(lambda net: net),
            trained(lambda net: nn.parallel.DistributedDataParallel(net, gradient_as_bucket_view=True)))
        say(rank, f"{name}, step of one rank", "ms", alone * 1e3)
        say(rank, f"{name}, efficiency of DDP", "1", alone / together)

    def lenet():
        return nn.Sequential(
            nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))

    class Block(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.heads = heads
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x):
            n, length, width = x.shape
            q, k, v = (t.reshape(n, length, self.heads, -1).transpose(1, 2) for t in self.qkv(self.norm1(x)).chunk(3, 2))
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(mixed.transpose(1, 2).reshape(n, length, width))
            return x + self.down(F.gelu(self.up(self.norm2(x))))

    class GPT(nn.Module):
        def __init__(self, kinds, width, heads, layers, length):
            super().__init__()
            self.tokens, self.places = nn.Embedding(kinds, width), nn.Embedding(length, width)
            self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, kinds)

        def forward(self, x):
            return self.head(self.norm(self.blocks(self.tokens(x) + self.places(torch.arange(x.shape[1])))))

    images, classes = torch.rand(64, 1, 28, 28), torch.randint(0, 10, (64,))
    efficiency("LeNet", lenet, lambda net: F.cross_entropy(net(images), classes), 20)
    kinds = 64
    symbols = torch.randint(0, kinds, (16, 65))
    x, y = symbols[:, :64].contiguous(), symbols[:, 1:].reshape(-1)
    efficiency("GPT", lambda: GPT(kinds, 128, 4, 2, 64), lambda net: F.cross_entropy(net(x).reshape(-1, kinds), y), 10)
    dist.destroy_process_group()


with_mpi4py() if "--mpi4py" in sys.argv else with_gloo()
