"""Reductions, norms, softmax: over everything, one dim, several dims; empty, 0-d, strided, nan."""

import torch

from .cases import DTYPES, FLOATS, INF, INTEGERS, NAN, Arg, Dim, Dims, Group, distinct, positive, values

SUMS = ["sum", "mean", "prod"]
EXTREMES = ["max", "min"]


def strided(dtype, *shape):
    """A base whose every second column is a hole (nan) that must not be read."""
    t = values(dtype, *shape)
    t[..., 1::2] = NAN
    return t


def sums(g):
    for op in SUMS:
        dtypes = FLOATS if op == "mean" else DTYPES
        for dtype in dtypes:
            g.add(op, Arg(values(dtype, 2, 3, low=0.5, high=2.0)))
            g.add(op, Arg(values(dtype, 3, 4, low=0.5, high=2.0)), Dim(1))
            g.add(op, Arg(values(dtype, 3, 4, low=0.5, high=2.0)), dim=Dim(0), keepdim=True)
            g.add(op, Arg(values(dtype, 3, 4, low=0.5, high=2.0), "transpose"), Dim(-1), via="m")
        for dtype in (torch.float32, torch.float64):
            g.add(op, Arg(values(dtype, 2, 3, 4), grad=True))
            g.add(op, Arg(values(dtype, 2, 3, 4), grad=True), Dim(1))
            g.add(op, Arg(values(dtype, 2, 3, 4), grad=True), Dim(-1), True)
            g.add(op, Arg(strided(dtype, 3, 8), "step"), Dim(0))
            g.add(op, Arg(strided(dtype, 3, 8), "step"))
            g.add(op, Arg(values(dtype), grad=True))
            g.add(op, Arg(values(dtype)), Dim(0))
        g.add(op, Arg(torch.ones(0, 3)))
        g.add(op, Arg(torch.ones(0, 3)), Dim(0))
        g.add(op, Arg(torch.ones(0, 3)), Dim(1))
        g.add(op, Arg(torch.tensor([[1.0, NAN], [INF, 2.0]])), Dim(1))
        g.add(op, Arg(torch.tensor([INF, -INF, 1.0])))
        g.add(op, Arg(values(torch.float32, 3, 4)), dtype=torch.float64)
        g.add(op, Arg(values(torch.int32, 3, 4)), Dim(0), dtype=torch.float32)
        g.add(op, Arg(values(torch.float32, 3), "expand", grad=True), Dim(0))
    for op in ("sum", "mean"):
        for dtype in (torch.float32, torch.float64, torch.bfloat16):
            g.add(op, Arg(values(dtype, 2, 3, 4)), Dims(0, 2))
            g.add(op, Arg(values(dtype, 2, 3, 4), grad=True), dim=Dims(0, -1), keepdim=True)
            g.add(op, Arg(values(dtype, 2, 3, 4)), Dims(0, 1, 2))
    g.add("prod", Arg(torch.tensor([[2.0, 0.0, 3.0], [0.0, 0.0, 1.0], [1.0, 2.0, 4.0]]), grad=True), Dim(1))
    g.add("prod", Arg(torch.tensor([2.0, 0.0, 3.0]), grad=True))
    g.add("sum", Arg(torch.full((5000,), 0.1)))
    g.add("sum", Arg(torch.full((3000,), 1.0, dtype=torch.float16)), loose=1)
    g.add("mean", Arg(torch.full((3000,), 0.1, dtype=torch.bfloat16)))
    g.add("sum", Arg(torch.tensor([2**62, 2**62, -5])), exact=True)


def extremes(g):
    for op in EXTREMES:
        arg = "arg" + op
        for dtype in DTYPES:
            if dtype is not torch.bool:
                g.add(op, Arg(distinct(dtype, 3, 4)), exact=True)
                g.add(op, Arg(distinct(dtype, 3, 4)), Dim(1), index_out=(1,), exact=True)
                g.add(arg, Arg(distinct(dtype, 3, 4)), index_out=(0,), exact=True)
                g.add(arg, Arg(distinct(dtype, 3, 4)), Dim(0), index_out=(0,), exact=True)
            else:
                g.add(op, Arg(values(dtype, 3, 4)), exact=True)
        for dtype in (torch.float32, torch.float64):
            g.add(op, Arg(distinct(dtype, 2, 3, 4), grad=True))
            g.add(op, Arg(distinct(dtype, 2, 3, 4), grad=True), Dim(1), index_out=(1,))
            g.add(op, Arg(distinct(dtype, 2, 3, 4), grad=True), Dim(-1), True, index_out=(1,))
            g.add(op, Arg(torch.tensor([1.0, 3.0, 3.0, 1.0], dtype=dtype), grad=True))
            g.add(op, Arg(strided(dtype, 4, 6), "step"), Dim(1), index_out=(1,), exact=True)
            g.add(arg, Arg(distinct(dtype, 4, 6), "transpose"), Dim(1), index_out=(0,), exact=True)
            g.add(arg, Arg(distinct(dtype, 4, 6)), dim=Dim(1), keepdim=True, index_out=(0,), exact=True)
            g.add(op, Arg(torch.tensor([[1.0, NAN, 3.0], [INF, 2.0, -INF]], dtype=dtype)), Dim(1), index_out=(1,), exact=True)
            g.add(op, Arg(torch.tensor([1.0, NAN, 3.0], dtype=dtype)), exact=True)
            g.add(arg, Arg(torch.tensor([1.0, NAN, 3.0], dtype=dtype)), index_out=(0,), exact=True)
            g.add(op, Arg(values(dtype)), exact=True)
            g.add(op, Arg(values(dtype)), Dim(0), index_out=(1,), exact=True)
            g.add(arg, Arg(values(dtype)), index_out=(0,), exact=True)
        g.add(op, Arg(torch.ones(0, 3)), Dim(1), index_out=(1,))
        g.add(op, Arg(torch.tensor([-(2**63), 2**63 - 1, 0])), exact=True)
        g.add(op, Arg(distinct(torch.float32, 300)), Dim(0), index_out=(1,), exact=True)
        g.add(arg, Arg(torch.tensor([2.0, 5.0, 5.0, 2.0])), index_out=(0,), exact=True)
    g.fails("max", Arg(torch.ones(0)), message="max(): Expected reduction dim to be specified for input.numel() == 0")
    g.fails("argmax", Arg(torch.ones(0)), message="argmax(): Expected reduction dim to be specified for input.numel() == 0")
    g.fails("mean", Arg(torch.ones(2).long()), message="mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype")


def logical(g):
    for op in ("any", "all"):
        for dtype in DTYPES:
            t = torch.tensor([[0, 1, 1], [0, 0, 0], [1, 1, 1]]).to(dtype)
            g.add(op, Arg(t), exact=True)
            g.add(op, Arg(t), Dim(1), exact=True)
            g.add(op, Arg(t, "transpose"), dim=Dim(1), keepdim=True, exact=True)
        g.add(op, Arg(torch.tensor([NAN, 0.0])), exact=True)
        g.add(op, Arg(torch.zeros(0, 2)), exact=True)
        g.add(op, Arg(torch.zeros(0, 2)), Dim(0), exact=True)
        g.add(op, Arg(torch.tensor(True)), exact=True)


def norms(g):
    for dtype in FLOATS:
        g.add("norm", Arg(values(dtype, 3, 4)))
        g.add("norm", Arg(values(dtype, 3, 4)), p=1)
    for p in (0, 1, 2, 3, 1.5, INF, -INF):
        g.add("norm", Arg(values(torch.float32, 3, 4)), p)
        g.add("norm", Arg(values(torch.float64, 3, 4)), p, Dim(1))
    for p in (1, 2, 3):
        g.add("norm", Arg(values(torch.float64, 3, 4), grad=True), p)
        g.add("norm", Arg(values(torch.float64, 3, 4), grad=True), p, dim=Dim(0), keepdim=True)
    g.add("norm", Arg(values(torch.float32, 2, 3, 4), grad=True), dim=Dims(0, 2))
    g.add("norm", Arg(torch.zeros(3), grad=True))
    g.add("norm", Arg(torch.zeros(0)))
    g.add("norm", Arg(strided(torch.float32, 3, 8), "step"))
    for dtype in INTEGERS + [torch.float32, torch.float64]:
        g.add("trace", Arg(values(dtype, 3, 4)))
        g.add("trace", Arg(values(dtype, 4, 2), "transpose"))
    g.add("trace", Arg(values(torch.float64, 3, 5), grad=True))
    g.add("trace", Arg(torch.ones(0, 3)))
    g.fails("trace", Arg(torch.ones(3)), message="trace: expected a matrix")


def softmax(g):
    for op in ("softmax", "log_softmax"):
        for dtype in FLOATS:
            g.add(op, Arg(values(dtype, 3, 5)), Dim(1), loose=4)
            g.add(op, Arg(values(dtype, 3, 5)), Dim(0), via="m", loose=4)
        for dtype in (torch.float32, torch.float64):
            g.add(op, Arg(values(dtype, 2, 3, 4), grad=True), Dim(1))
            g.add(op, Arg(values(dtype, 2, 3, 4), grad=True), dim=Dim(-1))
            g.add(op, Arg(values(dtype, 4, 3), "transpose", grad=True), Dim(0))
            g.add(op, Arg(strided(dtype, 3, 8), "step"), Dim(1))
            g.add(op, Arg(torch.tensor([[1000.0, 1001.0], [-1000.0, 5.0], [INF, 1.0], [NAN, 1.0], [-INF, 1.0]], dtype=dtype)), Dim(1))
            g.add(op, Arg(values(dtype)), Dim(0))
        g.add(op, Arg(torch.ones(0, 3)), Dim(1))
        g.add(op, Arg(torch.ones(2, 0)), Dim(1))
        g.add(op, Arg(values(torch.float16, 4)), Dim(0), dtype=torch.float32)
        g.add(op, Arg(torch.tensor([-INF, -INF])), Dim(0))
        g.add(op, Arg(values(torch.float32, 2, 100)), Dim(1))


def write(path):
    g = Group()
    for part in (sums, extremes, logical, norms, softmax):
        part(g)
    return g.write(path, "Reductions, norms and softmax.")
