"""Where the elements of elementwise results lie: strides of results for operands of random geometry.

A row is {op, operands, result}: operands are {sizes, strides} each, or a number; the values are the spec's affair.
"""

import random

import torch

from . import lua

F = torch.nn.functional
UNARY = {
    "exp": torch.exp, "neg": torch.neg, "isnan": torch.isnan, "clone": torch.clone, "half": torch.Tensor.half,
    "double": torch.Tensor.double, "zeros_like": torch.zeros_like, "rand_like": torch.rand_like,
    "dropout": lambda x: F.dropout(x, 0.5), "relu": F.relu, "gelu": F.gelu, "silu": F.silu, "elu": F.elu,
    "leaky_relu": F.leaky_relu, "hardtanh": F.hardtanh, "softplus": F.softplus, "mish": F.mish, "flip": lambda x: torch.flip(x, [0]),
    "contiguous": torch.Tensor.contiguous, "clamp": lambda x: torch.clamp(x, -1, 1), "softmax": lambda x: torch.softmax(x, 0),
    "cumsum": lambda x: torch.cumsum(x, 0), "add 1": lambda x: x + 1, "pow 2": lambda x: x ** 2,
}
BINARY = {
    "add": torch.add, "mul": torch.mul, "div": torch.div, "pow": torch.pow, "eq": torch.eq, "lt": torch.lt,
    "maximum": torch.maximum, "atan2": torch.atan2, "logical_and": torch.logical_and, "remainder": torch.remainder,
    "mixed": lambda a, b: a + b.double(),
}
TERNARY = {
    "where": lambda c, a, b: torch.where(c > 0, a, b), "addcmul": torch.addcmul, "lerp": torch.lerp, "addcdiv": torch.addcdiv,
}


def geometry(rng, sizes):
    """A tensor of these sizes: a permuted block of memory, cut, stepped through or repeated in places."""
    n = len(sizes)
    order = list(range(n))
    if rng.random() < 0.75:
        rng.shuffle(order)
    block, cuts, repeated = list(sizes), [slice(None)] * n, set()
    for d in range(n):
        kind = rng.random()
        if kind < 0.12:
            block[d], cuts[d] = sizes[d] * 2, slice(None, None, 2)
        elif kind < 0.24:
            block[d], cuts[d] = sizes[d] + 1, slice(1, None)
        elif kind < 0.34:
            block[d] = 1
            repeated.add(d)
    base = torch.empty([block[d] for d in order])
    view = base.permute([order.index(d) for d in range(n)])[tuple(cuts)]
    return view.expand(sizes) if repeated else view


def broadcastable(rng, sizes):
    """Sizes that broadcast to these."""
    kind = rng.random()
    if kind < 0.55:
        return sizes
    kept = [1 if rng.random() < 0.4 else s for s in sizes]
    return kept[rng.randint(0, len(sizes)):] if kind < 0.8 else kept


def row(name, run, operands):
    out = run(*operands)
    spelled = ",".join("{%s,%s}" % (lua.items(t.shape), lua.items(t.stride())) for t in operands)
    return "{'%s',{%s},{%s,%s}}" % (name, spelled, lua.items(out.shape), lua.items(out.stride()))


def write(path):
    rng = random.Random(7)
    rows = []
    for ops, arity, count in ((UNARY, 1, 12), (BINARY, 2, 40), (TERNARY, 3, 30)):
        for name, run in ops.items():
            for _ in range(count):
                sizes = [rng.choice((1, 2, 2, 3, 4)) for _ in range(rng.choice((1, 2, 2, 3, 3, 4, 4)))]
                if rng.random() < 0.04:
                    sizes[rng.randrange(len(sizes))] = 0
                shapes = [sizes] + [broadcastable(rng, sizes) for _ in range(arity - 1)]
                rng.shuffle(shapes)
                operands = [geometry(rng, s) for s in shapes]
                if arity > 1 and rng.random() < 0.35:  # of one geometry
                    operands = [operands[0] if t.shape == operands[0].shape else t for t in operands]
                if name == "lerp":  # PyTorch's lerp wants shapes that fit self's
                    operands.sort(key=lambda t: -t.dim() * 1000 - t.numel())
                rows.append(row(name, run, operands))
    return lua.write_file(path, "Strides of results: {op, {{sizes, strides} of the operands}, {sizes, strides} of the result}.", rows)
