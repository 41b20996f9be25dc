"""Sorting and what rests on it, running totals and extremes, reductions that leave nan out, counts."""

import torch
import torch.nn.functional as F

from .cases import DTYPES, FLOATS, INF, INTEGERS, NAN, Arg, Dim, Dims, Group, Idx, distinct, positive, values


def repeats(dtype, *shape):
    """Many equal elements."""
    if dtype is torch.bool:
        return values(dtype, *shape)
    return torch.randint(0, 4, shape).to(dtype)


def sorting(g):
    for dtype in DTYPES:
        for descending in (False, True):
            for dim in (0, 1):
                run = lambda t, d, desc: torch.sort(t, dim=d, descending=desc, stable=True)
                g.add("sort", Arg(repeats(dtype, 4, 5)), Dim(dim), descending, run=run, index_out=(1,), exact=True)
        g.add("argsort", Arg(repeats(dtype, 3, 6)), run=lambda t: torch.argsort(t, stable=True), index_out=(0,), exact=True)
        if dtype is not torch.bool:
            g.add("sort", Arg(distinct(dtype, 2, 40)), index_out=(1,), exact=True)
            g.add("argsort", Arg(distinct(dtype, 6)), dim=Dim(0), descending=True, index_out=(0,), exact=True)
            g.add("topk", Arg(distinct(dtype, 3, 7)), 3, index_out=(1,), exact=True)
            g.add("topk", Arg(distinct(dtype, 7, 3)), 2, Dim(0), False, index_out=(1,), exact=True)
            g.add("kthvalue", Arg(distinct(dtype, 3, 7)), 3, index_out=(1,), exact=True)
        g.add("msort", Arg(repeats(dtype, 4, 3)), exact=True)
    for dtype in (torch.float32, torch.float64):
        special = torch.tensor([[NAN, 1.0, -0.0, INF, NAN, 0.0, -INF, -1.0], [3.0, NAN, 2.0, 2.0, -1.0, 5.0, INF, 0.5]], dtype=dtype)
        for descending in (False, True):
            g.add("sort", Arg(special), Dim(-1), descending, run=lambda t, d, desc: torch.sort(t, dim=d, descending=desc, stable=True),
                  index_out=(1,), exact=True)
        g.add("sort", Arg(distinct(dtype, 3, 4), grad=True), index_out=(1,))
        g.add("sort", Arg(distinct(dtype, 3, 4, 2), grad=True), Dim(1), True, index_out=(1,))
        g.add("sort", Arg(distinct(dtype, 4, 6), "transpose"), Dim(0), index_out=(1,), exact=True)
        g.add("sort", Arg(distinct(dtype, 4, 6), "step"), index_out=(1,), exact=True)
        g.add("topk", Arg(distinct(dtype, 3, 5), grad=True), 2, index_out=(1,))
        g.add("topk", Arg(distinct(dtype, 5, 3), grad=True), 2, Dim(0), False, index_out=(1,))
        g.add("kthvalue", Arg(distinct(dtype, 3, 5), grad=True), 2, Dim(1), True, index_out=(1,))
        g.add("msort", Arg(distinct(dtype, 5, 2), grad=True))
    for op in ("sort",):
        g.add(op, Arg(torch.tensor(3.0)), index_out=(1,), exact=True)
        g.add(op, Arg(torch.ones(0)), index_out=(1,), exact=True)
        g.add(op, Arg(torch.ones(2, 0, 3)), Dim(0), index_out=(1,), exact=True)
    wide = torch.randperm(2000).to(torch.float64)[:1500]
    g.add("sort", Arg(wide), index_out=(1,), exact=True)
    g.add("sort", Arg(repeats(torch.int64, 1300)), Dim(0), True, run=lambda t, d, desc: torch.sort(t, dim=d, descending=desc, stable=True),
          index_out=(1,), exact=True)
    g.add("sort", Arg(torch.tensor([2**62, -(2**63), 2**63 - 1, 0, -1])), index_out=(1,), exact=True)
    g.fails("topk", Arg(torch.ones(3)), 4, message="selected index k out of range")


def middles(g):
    for op in ("median", "nanmedian"):
        for dtype in INTEGERS + FLOATS:
            g.add(op, Arg(distinct(dtype, 3, 5)), exact=True)
            g.add(op, Arg(distinct(dtype, 3, 6)), Dim(1), index_out=(1,), exact=True)
        for dtype in (torch.float32, torch.float64):
            holes = torch.tensor([[NAN, 1.0, 3.0, 2.0], [4.0, 2.0, 1.0, 3.0], [NAN, 7.0, NAN, 5.0]], dtype=dtype)
            g.add(op, Arg(holes), exact=True)
            g.add(op, Arg(holes), Dim(1), index_out=(1,), exact=True)
            g.add(op, Arg(distinct(dtype, 4, 3), grad=True), Dim(0), True, index_out=(1,))
            g.add(op, Arg(distinct(dtype, 5), grad=True))
        g.add(op, Arg(torch.tensor(2.5)), exact=True)
        for dtype in INTEGERS + FLOATS:
            g.add(op, Arg(torch.zeros(0, 4, dtype=dtype)), exact=True)
    for dtype in INTEGERS + FLOATS:
        g.add("mode", Arg(repeats(dtype, 9)), index_out=(1,), exact=True)
        g.add("mode", Arg(repeats(dtype, 4, 9)), Dim(1), index_out=(1,), exact=True)
        g.add("mode", Arg(repeats(dtype, 7, 2)), Dim(0), True, index_out=(1,), exact=True)
    g.add("mode", Arg(torch.tensor([[1.0, 2.0, 2.0], [3.0, 3.0, 1.0]]), grad=True), Dim(1), index_out=(1,))
    for op in ("quantile", "nanquantile"):
        for dtype in (torch.float32, torch.float64):
            x = values(dtype, 3, 5)
            g.add(op, Arg(x), 0.3)
            g.add(op, Arg(x), 0.5, Dim(1))
            g.add(op, Arg(x), 0.25, Dim(0), True)
            g.add(op, Arg(x, grad=True), 0.4, dim=Dim(1), keepdim=True)
            g.add(op, Arg(x, grad=True), Arg(torch.tensor([0.1, 0.5, 1.0], dtype=dtype)))
            g.add(op, Arg(values(dtype, 2, 3, 4)), Arg(torch.tensor([0.0, 0.6], dtype=dtype)), Dim(1))
            g.add(op, Arg(values(dtype, 2, 3, 4)), Arg(torch.tensor([0.0, 0.6], dtype=dtype)), Dim(1), True)
            holes = torch.tensor([[NAN, 1.0, 3.0, 2.0], [4.0, 2.0, 1.0, 3.0]], dtype=dtype)
            g.add(op, Arg(holes), 0.3, Dim(1))
            g.add(op, Arg(holes), 0.3)
            for how in ("linear", "lower", "higher", "midpoint", "nearest"):
                g.add(op, Arg(x), 0.37, Dim(1), interpolation=how)
    g.fails("quantile", Arg(torch.ones(3)), 1.5, message="quantile() q must be in the range [0, 1] but got 1.5")
    g.fails("quantile", Arg(torch.ones(3).long()), 0.5, message="quantile() input tensor must be either float or double dtype")
    g.fails("quantile", Arg(torch.ones(0)), 0.5, message="quantile() input tensor must be non-empty")


def running(g):
    for op in ("cummax", "cummin"):
        for dtype in DTYPES:
            g.add(op, Arg(repeats(dtype, 3, 6)), Dim(1), index_out=(1,), exact=True)
            g.add(op, Arg(values(dtype, 5, 2)), Dim(0), index_out=(1,), exact=True)
        for dtype in (torch.float32, torch.float64):
            g.add(op, Arg(torch.tensor([1.0, 3.0, NAN, 2.0, NAN, 5.0, -INF], dtype=dtype)), Dim(0), index_out=(1,), exact=True)
            g.add(op, Arg(values(dtype, 3, 5), grad=True), Dim(1), index_out=(1,))
            g.add(op, Arg(values(dtype, 4, 3), "transpose", grad=True), Dim(-1), index_out=(1,))
        g.add(op, Arg(torch.tensor(2.0)), Dim(0), index_out=(1,), exact=True)
        g.add(op, Arg(torch.ones(0, 3)), Dim(0), index_out=(1,), exact=True)
        g.add(op, Arg(values(torch.float32, 700)), Dim(0), index_out=(1,), exact=True)
    for op in ("cumprod", "logcumsumexp"):
        for dtype in DTYPES if op == "cumprod" else FLOATS:
            g.add(op, Arg(values(dtype, 3, 4)), Dim(1))
            g.add(op, Arg(values(dtype, 4, 2)), Dim(0), via="m")
        for dtype in (torch.float32, torch.float64):
            g.add(op, Arg(values(dtype, 3, 4), grad=True), Dim(1))
            g.add(op, Arg(values(dtype, 2, 3, 2), grad=True), Dim(1))
            g.add(op, Arg(values(dtype, 4, 3), "transpose", grad=True), Dim(-1))
            g.add(op, Arg(torch.tensor([1.0, 3.0, NAN, 2.0], dtype=dtype)), Dim(0))
        g.add(op, Arg(torch.tensor(2.0), grad=True), Dim(0))
        g.add(op, Arg(torch.ones(0, 3)), Dim(0))
        g.add(op, Arg(values(torch.float64, 600, low=0.9, high=1.1)), Dim(0))
    for data in ([2.0, 0.0, 3.0, 4.0], [0.0, 0.0, 3.0], [1.5, 2.0, 0.0]):
        g.add("cumprod", Arg(torch.tensor(data), grad=True), Dim(0))
    g.add("cumprod", Arg(torch.tensor([[2.0, 0.0, 3.0], [1.0, 2.0, 4.0]]), grad=True), Dim(0))
    g.add("cumprod", Arg(values(torch.int32, 3)), Dim(0), dtype=torch.float32)
    g.add("logcumsumexp", Arg(torch.tensor([-INF, -INF, 1.0, 100.0, -100.0, INF])), Dim(0))
    g.add("logcumsumexp", Arg(torch.tensor([100.0, 800.0, -800.0, 3.0]), grad=True), Dim(0))


def without_nan(g):
    holes = torch.tensor([[NAN, 1.0, 3.5], [4.0, 2.0, 1.0], [NAN, NAN, NAN]])
    for op in ("nansum", "nanmean"):
        for dtype in FLOATS:
            g.add(op, Arg(holes.to(dtype)))
            g.add(op, Arg(holes.to(dtype)), Dim(1))
            g.add(op, Arg(holes.to(dtype)), Dim(0), True)
        g.add(op, Arg(holes[:2].clone(), grad=True), Dim(1))
        g.add(op, Arg(holes.double(), grad=True), Dims(0, 1))
    g.add("nansum", Arg(values(torch.int32, 3)))
    for dtype in INTEGERS + FLOATS:
        g.add("aminmax", Arg(values(dtype, 3, 4)), exact=True)
        g.add("aminmax", Arg(values(dtype, 3, 4)), dim=Dim(1), exact=True)
    g.add("aminmax", Arg(holes), dim=Dim(0), keepdim=True, exact=True)
    for dtype in (torch.float32, torch.float64):
        g.add("softmin", Arg(values(dtype, 2, 5), grad=True), Dim(1), run=F.softmin, via="F")


def norms(g):
    run = torch.linalg.vector_norm
    for dtype in FLOATS:
        g.add("linalg_vector_norm", Arg(values(dtype, 3, 4)), run=run, via="f")
        g.add("linalg_vector_norm", Arg(values(dtype, 3, 4)), 1, Dim(1), run=run, via="f")
        g.add("linalg_vector_norm", Arg(values(dtype, 3, 4)), INF, Dim(0), True, run=run, via="f")
    for order in (0, 0.5, 3, -INF):
        g.add("linalg_vector_norm", Arg(positive(torch.float64, 3, 4)), order, Dim(0), run=run, via="f")
    g.add("linalg_vector_norm", Arg(values(torch.float64, 3, 4), grad=True), dim=Dim(1), run=run, via="f")


def failures(g):
    for op in ("median", "mode"):
        g.fails(op, Arg(torch.ones(2, 0)), Dim(1), message=op + "(): Expected reduction dim ")
    g.fails("kthvalue", Arg(torch.ones(3, 2)), 4, Dim(0), message="kthvalue(): selected number k out of range for dimension ")
    g.fails("sort", Arg(torch.ones(3, 2)), Dim(2), message="Dimension out of range")
    g.fails("cummax", Arg(torch.ones(3)), Dim(1), message="Dimension out of range")
    g.fails("aminmax", Arg(torch.ones(0)), message="aminmax(): ")
    g.fails("unique", Arg(torch.ones(2, 0)), dim=Dim(0), message="There are 0 sized dimensions")
    g.fails("bincount", Arg(torch.ones(2).long()), Arg(torch.ones(3)), message="weights should be 1-d and have the same length as input")
    for dtype in (torch.float16, torch.bfloat16):
        g.add("histc", Arg(values(dtype, 40)), 100, exact=True)
        g.add("histc", Arg(values(dtype, 40)), 30, 0, 2.1, exact=True)
    g.fails("histc", Arg(torch.ones(2)), 3, 4, 2, message="max must be larger than min")
    g.fails("nanmean", Arg(torch.ones(2).long()), message="nanmean(): ")
    g.fails("hypot", Arg(torch.ones(2).long()), Arg(torch.ones(2).long()), message="\"hypot")


def counting(g):
    for dtype in DTYPES:
        t = repeats(dtype, 3, 4)
        g.add("unique", Arg(t), exact=True)
        g.add("unique", Arg(t), return_inverse=True, return_counts=True, index_out=(1,), exact=True)
        g.add("unique", Arg(t), return_counts=True, exact=True)
        g.add("unique_consecutive", Arg(repeats(dtype, 9)), exact=True)
        g.add("unique_consecutive", Arg(repeats(dtype, 2, 5)), return_inverse=True, return_counts=True, index_out=(1,), exact=True)
    rows = torch.tensor([[1, 2], [0, 5], [1, 2], [0, 1], [1, 2]])
    for dtype in (torch.int64, torch.float32):
        g.add("unique", Arg(rows.to(dtype)), dim=Dim(0), exact=True)
        g.add("unique", Arg(rows.to(dtype)), dim=Dim(0), return_inverse=True, return_counts=True, index_out=(1,), exact=True)
        g.add("unique", Arg(rows.t().to(dtype).clone()), dim=Dim(1), return_counts=True, exact=True)
        g.add("unique_consecutive", Arg(rows.to(dtype)), dim=Dim(0), return_inverse=True, return_counts=True, index_out=(1,), exact=True)
    g.add("unique", Arg(torch.ones(0)), return_inverse=True, return_counts=True, index_out=(1,), exact=True)
    g.add("unique", Arg(torch.tensor(3.0)), exact=True)
    # a position of Lua counts from 1: the counts stand one place further on
    g.add("bincount", Idx([0, 1, 1, 3, 0]), exact=True)
    g.add("bincount", Idx([0, 1, 1, 3, 0]), minlength=6, exact=True)
    for dtype in (torch.float32, torch.float64, torch.int64):
        g.add("bincount", Idx([0, 1, 1, 3, 0]), Arg(positive(dtype, 5)))
    g.add("bincount", Idx(torch.zeros(0, dtype=torch.int64)), minlength=2, exact=True)
    g.fails("bincount", Arg(torch.ones(2, 2).long()), message="bincount only supports 1-d non-negative integral inputs.")
    for dtype in (torch.float32, torch.float64):
        x = values(dtype, 30)
        g.add("histc", Arg(x), 5, -3, 3, exact=True)
        g.add("histc", Arg(x), bins=4, min=-1, max=2, exact=True)
        g.add("histc", Arg(x), 7, exact=True)
        g.add("histc", Arg(torch.full((3,), 2.0, dtype=dtype)), 4, exact=True)
    g.fails("histc", Arg(torch.ones(2)), 0, message="bins must be > 0")


def write(path):
    g = Group()
    for part in (sorting, middles, running, without_nan, norms, counting, failures):
        part(g)
    return g.write(path, "Sorting, medians, quantiles, running totals and extremes, distinct elements, counts.")
