"""Looking up and storing by position: take_along_dim, put, scatter_reduce, masked_scatter, sorted sequences."""

import torch

from .cases import DTYPES, INF, NAN, Arg, Dim, Group, Idx, distinct, values

GRAD = {"grad": True}
KINDS = [torch.float64, torch.float32, torch.bfloat16, torch.int64, torch.int32, torch.uint8]
FLOATING = (torch.float32, torch.float64)


def method(name):
    return lambda t, *rest, **named: getattr(t, name)(*rest, **named)


def grad_of(dtype):
    return {"grad": dtype in FLOATING}


def lookups(g):
    for dtype in DTYPES:
        x = values(dtype, 3, 4)
        g.add("take_along_dim", Arg(x, **grad_of(dtype)), Idx([[2, 0, 1, 2]]), Dim(0), exact=True)
        g.add("take_along_dim", Arg(x), Idx([[1], [0], [3]]), dim=Dim(-1), exact=True)
        g.add("take_along_dim", Arg(x), Idx([5, 0, 11]), exact=True)
        g.add("take", Arg(x, **grad_of(dtype)), Idx([[5, 0], [11, 5]]), exact=True)
    g.add("take_along_dim", Arg(values(torch.float64, 1, 4), **GRAD), Idx([[0, 1], [3, 3], [2, 0]]), Dim(1), exact=True)
    g.add("take_along_dim", Arg(values(torch.float64, 3, 4), "transpose", **GRAD), Idx([[2, 1, 0]]), Dim(0), exact=True)
    g.fails("take_along_dim", Arg(torch.ones(2, 3)), Idx([0]), Dim(1), message="torch.take_along_dim(): input and indices should have the same number of dimensions")


def stores(g):
    for dtype in KINDS + [torch.bool]:
        g.add("put", Arg(values(dtype, 2, 3), **grad_of(dtype)), Idx([5, 0, 2]), Arg(values(dtype, 3), **grad_of(dtype)), run=method("put"), via="m", exact=True)
        g.add("masked_scatter", Arg(values(dtype, 2, 3), **grad_of(dtype)), Arg(torch.tensor([[True, False, True], [False, True, False]])), Arg(values(dtype, 4), **grad_of(dtype)), exact=True)
        if dtype is not torch.bool:
            g.add("put", Arg(values(dtype, 2, 3), **grad_of(dtype)), Idx([[5, 0], [5, 2]]), Arg(values(dtype, 2, 2), **grad_of(dtype)), True, run=method("put"), via="m")
            g.add("put_", Arg(values(dtype, 3, 2), "transpose"), Idx([5, 0, 2]), Arg(values(dtype, 3)), run=method("put_"), via="m", exact=True)
    g.add("masked_scatter", Arg(values(torch.float64, 2, 3), **GRAD), Arg(torch.tensor([True, False, True])), Arg(values(torch.float64, 2, 3), **GRAD), exact=True)
    g.add("masked_scatter", Arg(values(torch.float64, 2, 3)), Arg(torch.zeros(2, 3, dtype=torch.bool)), Arg(values(torch.float64, 0)), exact=True)
    g.add("masked_scatter_", Arg(values(torch.float32, 3, 2), "transpose"), Arg(torch.tensor([[True, True, False], [False, True, False]])), Arg(values(torch.float32, 3)), run=method("masked_scatter_"), via="m", exact=True)
    g.fails("masked_scatter", Arg(torch.ones(3)), Arg(torch.ones(3)), Arg(torch.ones(3)), message="only supports boolean masks")
    g.fails("put", Arg(torch.ones(3)), Idx([0, 1]), Arg(torch.ones(3)), run=method("put"), via="m", message="Expected source and index to have the same number of elements")


def reductions(g):
    for reduce in ("sum", "prod", "mean", "amax", "amin"):
        for include in (True, False):
            for dtype in KINDS:
                x, src = distinct(dtype, 3, 4) + 1, distinct(dtype, 3, 4) + 2
                if dtype in FLOATING:
                    x, src = x + 0.37, src + 0.11
                index = Idx([[0, 2, 1, 0], [0, 0, 1, 2], [2, 2, 2, 0]])
                g.add("scatter_reduce", Arg(x, **grad_of(dtype)), Dim(0), index, Arg(src, **grad_of(dtype)), reduce, include_self=include, loose=4)
                g.add("scatter_reduce", Arg(x), Dim(1), Idx([[0, 3], [1, 1]]), Arg(src), reduce, include_self=include, loose=4)
            g.add("scatter_reduce", Arg(torch.tensor([1.0, NAN, 3.0])), Dim(0), Idx([0, 0, 2]), Arg(torch.tensor([INF, 2.0, NAN])), reduce, include_self=include)
            g.add("scatter_reduce", Arg(torch.ones(3)), Dim(0), Idx(torch.zeros(0, dtype=torch.long)), Arg(torch.ones(0)), reduce, include_self=include)
        g.add("scatter_reduce_", Arg(values(torch.float32, 4)), Dim(0), Idx([1, 1]), Arg(values(torch.float32, 2)), reduce, run=method("scatter_reduce_"), via="m", loose=4)
    g.add("scatter_reduce", Arg(torch.tensor([2.0, 2.0], dtype=torch.float64), **GRAD), Dim(0), Idx([0, 0, 1]), Arg(torch.tensor([2.0, 2.0, 3.0], dtype=torch.float64), **GRAD), "amax")
    g.fails("scatter_reduce", Arg(torch.ones(3)), Dim(0), Idx([0]), Arg(torch.ones(1)), "median", message="reduce argument must be either sum, prod, mean, amax or amin, got median")


def places(g):
    for dtype in KINDS:
        line = torch.tensor([1, 3, 3, 5, 7]).to(dtype)
        wanted = torch.tensor([[0, 1, 3], [4, 7, 9]]).to(dtype)
        for right in (False, True):
            g.add("searchsorted", Arg(line), Arg(wanted), right=right, via="f", index_out=(0,), exact=True)
            g.add("bucketize", Arg(wanted), Arg(line), right=right, via="f", index_out=(0,), exact=True)
        g.add("searchsorted", Arg(torch.stack([line, line + 1])), Arg(wanted), side="right", via="f", index_out=(0,), exact=True)
        g.add("searchsorted", Arg(line), 3, via="f", index_out=(0,), exact=True)
        g.add("bucketize", 4, Arg(line), via="f", index_out=(0,), exact=True)
        g.add("searchsorted", Arg(line), Arg(wanted, "transpose"), out_int32=True, via="f", index_out=(0,), exact=True)
    for n in range(0, 10):
        g.add("searchsorted", Arg(torch.arange(n) * 2.0), Arg(torch.arange(-1, 20).double().float()), via="f", index_out=(0,), exact=True)
    g.add("searchsorted", Arg(torch.tensor([5.0, 1.0, 3.0])), Arg(torch.tensor([2.0, 5.0])), sorter=Idx([1, 2, 0]), via="f", index_out=(0,), exact=True)
    g.add("searchsorted", Arg(torch.tensor([1.0, 2.0, INF])), Arg(torch.tensor([-INF, INF, NAN, 1.5])), via="f", index_out=(0,), exact=True)
    g.add("bucketize", Arg(values(torch.float32, 0)), Arg(torch.tensor([1.0, 2.0])), via="f", index_out=(0,), exact=True)
    g.fails("bucketize", Arg(torch.ones(2)), Arg(torch.ones(2, 2)), via="f", message="boundaries tensor must be 1 dimension, but got dim(2)")
    g.fails("searchsorted", Arg(torch.ones(2, 3)), Arg(torch.ones(3, 2)), via="f", message="torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and input value tensor must match")
    g.fails("searchsorted", Arg(torch.ones(3)), Arg(torch.ones(2)), side="middle", via="f", message="torch.searchsorted(): side can only be 'left' or 'right' but got middle")


def write(path):
    g = Group()
    for part in (lookups, stores, reductions, places):
        part(g)
    return g.write(path, "Looking up and storing by position.")
