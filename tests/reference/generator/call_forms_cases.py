"""Further forms of calls: squeeze of several dimensions, memory as another dtype, rounding to decimals, chances that
are numbers, cdist's way of computing, names of axes, comparisons and running sums in place, and where the elements of
results lie that start as a copy of self."""

import torch

from .cases import DTYPES, FLOATS, INF, NAN, Arg, Dim, Dims, Group, Idx, values

KINDS = (torch.float32, torch.float64)
GRAD = {"grad": True}


def method(name):
    return lambda t, *rest, **named: getattr(t, name)(*rest, **named)


def shapes(g):
    for dtype in KINDS:
        for dims in ((0, 2), (1,), (-1, 0), (1, 3)):
            g.add("squeeze", Arg(values(dtype, 1, 3, 1, 2), **GRAD), Dims(*dims), exact=True)
            g.add("squeeze_", Arg(values(dtype, 1, 3, 1, 2)), Dims(*dims), run=method("squeeze_"), via="m", exact=True)
        g.add("swapaxes", Arg(values(dtype, 2, 3, 4), **GRAD), Dim(0), Dim(-1), exact=True)
        g.add("swapaxes", Arg(values(dtype, 2, 3, 4)), axis0=Dim(1), axis1=Dim(0), exact=True)
        g.add("swapdims", Arg(values(dtype, 2, 3, 4)), dim0=Dim(1), dim1=Dim(0), exact=True)
    g.fails("squeeze", Arg(torch.ones(1, 1)), Dims(0, 0), message="appears multiple times in the list of dims")


def other_dtypes(g):
    view = method("view")
    x = values(torch.float32, 4, 6)
    for dtype in (torch.int32, torch.float32, torch.int16, torch.bfloat16, torch.uint8, torch.float64, torch.int64):
        g.add("view", Arg(x), dtype, run=view, via="m", exact=True)
        g.add("view", Arg(x, "offset"), dtype, run=view, via="m", exact=True)
    g.add("view", Arg(x, "transpose"), torch.int32, run=view, via="m", exact=True)
    g.add("view", Arg(values(torch.float64, 2, 3), "expand"), torch.int8, run=view, via="m", exact=True)
    g.add("view", Arg(torch.tensor(1.5)), torch.int32, run=view, via="m", exact=True)
    g.add("view", Arg(torch.ones(0, 4)), torch.float64, run=view, via="m", exact=True)
    g.add("view", Arg(torch.tensor([True, False])), torch.bool, run=view, via="m", exact=True)
    for tensor, dtype, message in (
            (torch.ones(3), torch.float64, "self.size(-1) must be divisible by 2 to view Float as Double (different element sizes), but got 3"),
            (torch.tensor(1.0), torch.int16, "self.dim() cannot be 0 to view Float as Short (different element sizes)"),
            (torch.ones(4, 0), torch.float64, "must be divisible by 2 to view Float as Double (different element sizes), but got 1")):
        g.fails("view", Arg(tensor), dtype, run=view, via="m", message=message)
    g.fails("view", Arg(x, "transpose"), torch.float64, run=view, via="m", message="self.stride(-1) must be 1 to view Float as Double (different element sizes), but got 6")
    g.fails("view", Arg(torch.ones(4, 3), "offset"), torch.float64, run=view, via="m", message="must be divisible by 2 to view Float as Double (different element sizes), but got 3")


def rounding(g):
    for dtype in FLOATS:
        for decimals in (2, 1, 0, -1):
            g.add("round", Arg(values(dtype, 3, 4)), decimals=decimals, exact=dtype in KINDS)
    for dtype in KINDS:
        x = torch.tensor([0.125, 2.675, 125.0, 135.0, -0.004, -5.0, NAN, INF, 1e20], dtype=dtype)
        for decimals in (3, 2, -1, -2):
            g.add("round", Arg(x), decimals=decimals, exact=True)
            g.add("round_", Arg(x), decimals=decimals, run=method("round_"), via="m", exact=True)
        g.add("round", Arg(values(dtype, 3), **GRAD), decimals=1, exact=True)
    g.fails("round", Arg(torch.tensor([1])), decimals=1, message="not implemented for 'Long'")


def chances(g):
    for dtype in DTYPES:
        for p in (0.0, 1.0):
            g.add("bernoulli", Arg(values(dtype, 2, 3)), p, exact=True)
            g.add("bernoulli_", Arg(values(dtype, 2, 3)), Arg(torch.tensor([p, 1 - p, p])), run=method("bernoulli_"), via="m", exact=True)
    g.fails("bernoulli", Arg(torch.ones(2)), 1.5, message="expects p to be in [0, 1], but got p=1.5")


def distances(g):
    for dtype in KINDS:
        for mode in ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"):
            g.add("cdist", Arg(values(dtype, 3, 4)), Arg(values(dtype, 2, 4)), 2.0, mode, via="f", loose=20)
    for first, second in (((26, 3), (2, 3)), ((2, 3), (40, 3)), ((2, 1, 30, 3), (3, 4, 3))):
        g.add("cdist", Arg(values(torch.float64, *first)), Arg(values(torch.float64, *second)), 2.0, via="f", loose=20)
    g.fails("cdist", Arg(torch.ones(2, 2)), Arg(torch.ones(2, 2)), 2.0, "fast", via="f", message="fast is not a valid value for compute_mode")


def in_place(g):
    for name in ("eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor"):
        for dtype in DTYPES:
            g.add(name + "_", Arg(values(dtype, 3, 4)), Arg(values(dtype, 4)), run=method(name + "_"), via="m", exact=True)
        if not name.startswith("logical"):
            g.add(name + "_", Arg(values(torch.float32, 3, 4), "transpose"), 0.5, run=method(name + "_"), via="m", exact=True)
    for alias in ("not_equal_", "less_", "less_equal_", "greater_", "greater_equal_"):
        g.add(alias, Arg(values(torch.float64, 5)), 0.0, run=method(alias), via="m", exact=True)
    for dtype in DTYPES:
        g.add("logical_not_", Arg(values(dtype, 3, 4)), run=method("logical_not_"), via="m", exact=True)
    for name in ("cumsum_", "cumprod_"):
        for dtype in DTYPES[1:]:
            g.add(name, Arg(values(dtype, 3, 4)), Dim(1), run=method(name), via="m", loose=4)
        g.add(name, Arg(values(torch.float32, 3, 4), "transpose"), Dim(0), run=method(name), via="m", loose=4)


def dense_results(g):
    x, index, row = values(torch.float32, 3, 4), Idx([1, 0]), torch.ones(2, 3)
    flags = values(torch.bool, 4, 3)
    g.add("index_add", Arg(x, "transpose"), Dim(0), index, Arg(row), exact=True)
    g.add("index_copy", Arg(x, "transpose"), Dim(0), index, Arg(row), exact=True)
    g.add("index_fill", Arg(x, "transpose"), Dim(0), index, 5.0, exact=True)
    g.add("masked_fill", Arg(x, "transpose"), Arg(flags), 5.0, exact=True)
    g.add("masked_scatter", Arg(x, "transpose"), Arg(flags), Arg(values(torch.float32, 12)), exact=True)
    for op in ("scatter", "scatter_add"):
        g.add(op, Arg(x, "transpose"), Dim(0), Idx([[1, 0, 3]]), Arg(values(torch.float32, 1, 3)), exact=True)
    g.add("scatter_reduce", Arg(x, "transpose"), Dim(0), Idx([[1, 0, 3]]), Arg(values(torch.float32, 1, 3)), "amax", exact=True)


def write(path):
    g = Group()
    for part in (shapes, other_dtypes, rounding, chances, distances, in_place, dense_results):
        part(g)
    return g.write(path, "Further forms of calls.")
