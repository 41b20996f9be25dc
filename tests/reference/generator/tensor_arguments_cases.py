"""Ops that take a tensor where there is also a form with a number: clamp_min and clamp_max, index_fill,
repeat_interleave, and scatter with reduce."""

import torch

from .cases import NAN, Arg, Dim, Group, Idx, values

KINDS = [torch.float64, torch.float32, torch.int64, torch.int32]
FLOATING = (torch.float32, torch.float64)


def method(name):
    return lambda t, *rest, **named: getattr(t, name)(*rest, **named)


def grad_of(dtype):
    return {"grad": dtype in FLOATING}


def bounds(g):
    for name in ("clamp_min", "clamp_max"):
        for dtype in KINDS:
            x, row, column = values(dtype, 3, 4), values(dtype, 4), values(dtype, 3, 1)
            g.add(name, Arg(x, **grad_of(dtype)), Arg(row, **grad_of(dtype)), exact=True)
            g.add(name, Arg(values(dtype, 4, 3), "transpose", **grad_of(dtype)), Arg(column, **grad_of(dtype)), exact=True)
            g.add(name + "_", Arg(x), Arg(row), run=method(name + "_"), via="m", exact=True)
            g.add(name, Arg(x), Arg(torch.tensor(1.5)), exact=True)
        g.add(name, Arg(torch.tensor([1.0, NAN, 3.0])), Arg(torch.tensor([2.0, 2.0, NAN])), exact=True)
    for dtype in KINDS:
        x, low, high = values(dtype, 3, 4), values(dtype, 4), values(dtype, 3, 1)
        g.add("clamp", Arg(x, **grad_of(dtype)), Arg(low, **grad_of(dtype)), Arg(high, **grad_of(dtype)), exact=True)
        g.add("clamp", Arg(x, **grad_of(dtype)), max=Arg(high, **grad_of(dtype)), exact=True)
        g.add("clamp_", Arg(x), Arg(low), Arg(high), run=method("clamp_"), via="m", exact=True)


def fills(g):
    for dtype in KINDS:
        x, number = values(dtype, 3, 4), values(dtype, 2)[1].clone()
        g.add("index_fill", Arg(x, **grad_of(dtype)), Dim(1), Idx([3, 0]), Arg(number, **grad_of(dtype)), exact=True)
        g.add("index_fill_", Arg(x, "transpose"), Dim(0), Idx([1]), Arg(number), run=method("index_fill_"), via="m", exact=True)
    g.fails("index_fill", Arg(torch.ones(3)), Dim(0), Idx([0]), Arg(torch.ones(1)), message="only supports a 0-dimensional value tensor, but got tensor with 1 dimension")


def repeats(g):
    for dtype in KINDS:
        x = values(dtype, 3, 2)
        g.add("repeat_interleave", Arg(x, **grad_of(dtype)), Arg(torch.tensor([2, 0, 3])), Dim(0), exact=True)
        g.add("repeat_interleave", Arg(x, "transpose"), Arg(torch.tensor([1, 2, 0])), dim=Dim(-1), exact=True)
        g.add("repeat_interleave", Arg(x), Arg(torch.tensor([2])), exact=True)
        g.add("repeat_interleave", Arg(x), Arg(torch.tensor([1, 2, 0, 0, 1, 3], dtype=torch.int32)), output_size=7, exact=True)
    g.add("repeat_interleave", Arg(torch.tensor([2, 0, 3, 1])), via="f", index_out=(0,), exact=True)
    g.fails("repeat_interleave", Arg(torch.ones(3)), Arg(torch.tensor([1, 2])), message="repeats must have the same size as input along dim")
    g.fails("repeat_interleave", Arg(torch.ones(2)), Arg(torch.tensor([1, -2])), message="repeats can not be negative")


def scatters(g):
    index = Idx([[0, 2, 1, 0], [0, 0, 1, 2]])
    for reduce in ("add", "multiply"):
        for dtype in KINDS:
            x, src = values(dtype, 3, 4), values(dtype, 2, 4)
            g.add("scatter", Arg(x), Dim(0), index, Arg(src), reduce=reduce, loose=4)
            g.add("scatter", Arg(x, "transpose"), Dim(1), Idx([[1], [2]]), 3, reduce=reduce, loose=4)
            g.add("scatter_", Arg(x), Dim(0), index, Arg(src), reduce=reduce, run=method("scatter_"), via="m", loose=4)
            g.add("scatter_", Arg(x), Dim(0), index, 2, reduce=reduce, run=method("scatter_"), via="m", loose=4)
    g.fails("scatter", Arg(torch.ones(3)), Dim(0), Idx([0]), Arg(torch.ones(1)), reduce="mean", message="reduce argument must be either add or multiply")


def write(path):
    g = Group()
    for part in (bounds, fills, repeats, scatters):
        part(g)
    return g.write(path, "Ops that take a tensor where there is also a form with a number.")
