"""Random numbers: what the CPU generator gives after manual_seed, call after call.

A row is {seed=, calls={...}}: a sequence of calls that share the generator's state. Calls without
`exact` are compared to rounding (normals go through log, sin and cos).
"""

import torch

from . import lua
from .cases import DTYPES, Arg, Group

SEEDS = [0, 1, 42, 2**40 + 3]
FLOATS = [torch.float32, torch.float64]
HALVES = [torch.float16, torch.bfloat16]


class Sequence:
    """Calls recorded after one seed."""

    def __init__(self, rows, seed):
        self.rows, self.seed, self.calls = rows, seed, Group()
        torch.manual_seed(seed)

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        if not any(failure):
            self.rows.append(f"{{seed={self.seed},calls={{{','.join(self.calls.rows)}}}}}")

    def uniform(self, op, *args, **named):
        self.calls.add(op, *args, via="f", exact=True, **named)

    def normal(self, op, *args, **named):
        self.calls.add(op, *args, via="f", **named)

    def fill(self, op, t, *args, exact=True, layout=None):
        """An in-place fill of a tensor of zeros."""
        self.calls.add(op, Arg(t, layout), *args, via="m", exact=exact, run=lambda x, *rest: getattr(x, op)(*rest))


def permutation(s, n):
    s.calls.add("randperm", n, via="f", exact=True, index_out=(0,))


def write(path):
    rows = []
    for seed in SEEDS:
        for dtype in FLOATS:
            for n in range(1, 21):
                with Sequence(rows, seed) as s:
                    s.uniform("rand", n, dtype=dtype)
            for n in (1, 2, 5, 15, 16, 17, 31, 32, 100):
                with Sequence(rows, seed) as s:
                    s.normal("randn", n, dtype=dtype)
        for dtype in HALVES:
            for n in (5, 17):
                with Sequence(rows, seed) as s:
                    s.uniform("rand", n, dtype=dtype)
                    s.normal("randn", n, dtype=dtype)
        with Sequence(rows, seed) as s:
            s.uniform("rand", 2, 3)
            s.uniform("rand", [3, 2], dtype=torch.float64)
            s.normal("randn", 2, 3)
            s.normal("randn", 4, 5)
        with Sequence(rows, seed) as s:
            s.uniform("randint", 10, [7])
            s.uniform("randint", 0, 2, [2, 5])
            s.uniform("randint", -5, 100, [6], dtype=torch.float32)
            s.uniform("randint", 0, 256, [9], dtype=torch.uint8)
            s.uniform("randint", 0, 2**31, [3])
            s.uniform("randint", 0, 2**40, [5])
            s.uniform("randint", -(2**62), 2**62, [5])
            s.uniform("rand", 3)
        for dtype in DTYPES:
            with Sequence(rows, seed) as s:
                s.fill("random_", torch.zeros(6, dtype=dtype))
                s.fill("random_", torch.zeros(4, dtype=dtype), 2)
                if dtype is not torch.bool:
                    s.fill("random_", torch.zeros(4, dtype=dtype), 3, 100)
        with Sequence(rows, seed) as s:
            permutation(s, 10)
            permutation(s, 1)
            permutation(s, 0)
            permutation(s, 1000)
            s.uniform("rand", 2)
        for dtype in FLOATS:
            with Sequence(rows, seed) as s:
                s.fill("uniform_", torch.zeros(7, dtype=dtype))
                s.fill("uniform_", torch.zeros(7, dtype=dtype), -2.5, 4)
                s.fill("uniform_", torch.zeros(3, 6, dtype=dtype), 10, 11)
                s.fill("uniform_", torch.zeros(3, 4, dtype=dtype), 0, 1, layout="transpose")
                s.fill("uniform_", torch.zeros(20, dtype=dtype), 0.1, 0.3)  # no numbers of half types
                s.fill("uniform_", torch.zeros(40, dtype=dtype), 1, 1.007)  # where rounding reaches the bound
                s.fill("normal_", torch.zeros(7, dtype=dtype), exact=False)
                s.fill("normal_", torch.zeros(7, dtype=dtype), 3, 0.5, exact=False)
                s.fill("normal_", torch.zeros(3, 9, dtype=dtype), -1, 2, exact=False)
                s.fill("normal_", torch.zeros(4, 6, dtype=dtype), layout="transpose", exact=False)
                s.fill("normal_", torch.zeros(4, 44, dtype=dtype), layout="step", exact=False)
        # The scalar normal transform makes two numbers and keeps one for the next call.
        with Sequence(rows, seed) as s:
            s.normal("randn", 1)
            s.uniform("rand", 3)
            s.normal("randn", 3)
            s.normal("randn", 17)
            s.uniform("randint", 10, [3])
            s.normal("randn", 1, dtype=torch.float64)
            s.normal("randn", [])
            permutation(s, 5)
            s.normal("randn", 20)
            s.normal("randn", 1)
            s.normal("randn", 2)
            s.uniform("rand", 1)
        with Sequence(rows, seed) as s:
            s.normal("normal", 1.0, 2.0, [5])
            s.normal("normal", 0.0, 0.01, [4, 5])
            s.calls.add("randn_like", Arg(torch.zeros(2, 3)), via="f")
            s.calls.add("rand_like", Arg(torch.zeros(2, 3)), via="f", exact=True)
        for dtype in FLOATS:
            with Sequence(rows, seed) as s:
                s.fill("geometric_", torch.zeros(7, dtype=dtype), 0.3)
                s.fill("cauchy_", torch.zeros(2, 3, dtype=dtype), exact=False)
                s.fill("cauchy_", torch.zeros(5, dtype=dtype), -1.0, 0.5, exact=False)
                s.fill("log_normal_", torch.zeros(5, dtype=dtype), exact=False)
                s.fill("log_normal_", torch.zeros(3, 2, dtype=dtype), 0.5, 0.25, exact=False)
                s.calls.add("poisson", Arg(torch.tensor([[0.5, 3.0, 9.9], [10.0, 55.5, 0.0]], dtype=dtype)), via="f", exact=True)
                s.uniform("rand", 2)
        for dtype in (torch.float32, torch.float64):
            with Sequence(rows, seed) as s:
                for n in (7, 40):
                    s.calls.add("bernoulli", Arg(torch.linspace(0, 1, n, dtype=dtype)), exact=True, via="f")
                    s.fill("bernoulli_", torch.zeros(n, dtype=dtype), 0.4)
                    s.fill("exponential_", torch.zeros(n, dtype=dtype), 2.0, exact=False)
                    s.calls.add("normal", Arg(torch.arange(n, dtype=dtype)), 2.0, via="f")
                    s.calls.add("normal", Arg(torch.arange(n, dtype=dtype)), Arg(torch.linspace(0.5, 3, n, dtype=dtype)), via="f")
                    s.calls.add("normal", 1.5, Arg(torch.linspace(0.5, 3, n, dtype=dtype)), via="f")
        with Sequence(rows, seed) as s:
            weights = torch.tensor([[1.0, 2.0, 3.0, 4.0], [0.0, 5.0, 1.0, 0.5]])
            s.calls.add("multinomial", Arg(weights), 3, via="f", exact=True, index_out=(0,))
            s.calls.add("multinomial", Arg(weights[0]), 9, True, via="f", exact=True, index_out=(0,))
            s.calls.add("multinomial", Arg(weights.double()), 5, replacement=True, via="f", exact=True, index_out=(0,))
        with Sequence(rows, seed) as s:
            s.fill("geometric_", torch.zeros(6, dtype=torch.int64), 0.2)
            s.calls.add("randint_like", Arg(torch.zeros(2, 3)), 10, via="f", exact=True)
            s.calls.add("randint_like", Arg(torch.zeros(4, dtype=torch.int64)), -3, 100, via="f", exact=True)
        with Sequence(rows, seed) as s:
            for shape in ((4, 3), (1, 1), (20, 5)):
                s.calls.add("Linear", *shape, via="nn", exact=True, run=lambda a, b: tuple(torch.nn.Linear(a, b).parameters()))
            s.uniform("rand", 1)
    return lua.write_file(path, "Sequences of calls to the CPU's random number generator.", rows)
